//! A block's page of the documentation: `selvedge list blocks NAME --markdown`.
use super::blocks::verilog_parameters;
use selvedge_area::Table;
use selvedge_hw::rtl::describe::Description;
use selvedge_hw::{BlockEntry, Direction};
use selvedge_sim::mechanism;
use std::fmt::Write;

/// Panic message. The kit checks the defaults when a block is declared.
const VALID: &str = "the default parameters are valid";

/// Returns the page of a block in Markdown.
pub fn of(entry: &dyn BlockEntry) -> String {
    let name = entry.name();
    let mut page = format!(
        "<!-- Written by `selvedge list blocks {name} --markdown` -->\n\n# {name}\n\n{}\n",
        sentence(entry.summary())
    );
    write!(page, "\n{}\n", facts(entry).markdown()).expect("a string takes it");
    page += &demoted(&entry.documentation());
    write!(page, "\n## Every port\n\n{}", ports(entry).markdown()).expect("a string takes it");
    write!(
        page,
        "\n## Corner cases\n\nModel, RTL and Verilog are compared over {} operations. Their stimulus reaches each of these cases at least as many \
         times as the table states:\n\n{}",
        entry.operations(),
        corners(entry).markdown()
    )
    .expect("a string takes it");
    write!(
        page,
        "\n## Use\n\n```\nselvedge gen {name} -o FOLDER\nselvedge wave {name} -o {name}.vcd\nselvedge area {name}\n```\n\n\
         They write its [Verilog](../../how-to/emit-verilog.md), record [waveforms](../../how-to/record-waveforms.md), and estimate its [area](../../how-to/measure-area.md).\n"
    )
    .expect("a string takes it");
    page
}

/// Returns a summary as a sentence.
fn sentence(summary: &str) -> String {
    let mut letters = summary.chars();
    letters.next().map_or_else(String::new, |first| format!("{}{}.", first.to_uppercase(), letters.as_str()))
}

/// Returns the text with each heading one level lower, because the page has its own title.
fn demoted(text: &str) -> String {
    let mut is_code = false;
    let line = |line: &str| {
        is_code ^= line.starts_with("```");
        let mark = if line.starts_with('#') && !is_code { "#" } else { "" };
        format!("{mark}{line}\n")
    };
    text.lines().map(line).collect()
}

fn facts(entry: &dyn BlockEntry) -> Table {
    let defaults = entry.defaults();
    let facts = entry.facts(&defaults).expect(VALID);
    let mut table = Table::new(&["property", "at the default parameters"]);
    let mut row = |name: &str, value: String| table.row(vec![name.into(), value]);
    row("source", entry.source().into());
    if let Some(folder) = folder(entry) {
        row("folder", format!("`{folder}`"));
    }
    row("bits of storage", entry.storage(&defaults).expect(VALID));
    row("cycles from an input to its output", facts.latency.to_string());
    row("cycles from one input to the next", facts.interval.to_string());
    let parameters: Vec<String> =
        verilog_parameters(entry).into_iter().map(|name| format!("`{name}`")).collect();
    if !parameters.is_empty() {
        row("parameters of the Verilog module", parameters.join(", "));
    }
    let users = mechanism::built_in().iter().filter(|info| info.blocks.contains(&entry.name()));
    let users: Vec<String> = users.map(|info| format!("[{0}](../../mechanisms/{0}.md)", info.name)).collect();
    if !users.is_empty() {
        row("mechanisms made of it", users.join(", "));
    }
    table
}

/// Returns the folder with the RTL of a block of this workspace.
fn folder(entry: &dyn BlockEntry) -> Option<String> {
    let block = entry.elaborate(&entry.defaults()).expect(VALID);
    let module = Description::of(&*block)?.module;
    let (folder, _file) = module.strip_prefix("selvedge_hw_")?.rsplit_once("::")?;
    let (name, path) = folder.split_once("::")?;
    Some(format!("hw/{name}/src/{}", path.trim_end_matches("::rtl").replace("::", "/")))
}

fn ports(entry: &dyn BlockEntry) -> Table {
    let mut table = Table::new(&["port", "direction", "bits", "valid with", "meaning"]);
    for port in entry.ports(&entry.defaults()).expect(VALID) {
        let code = |name: &str| format!("`{name}`");
        table.row(vec![
            code(port.name),
            if port.direction == Direction::Input { "in" } else { "out" }.into(),
            port.bits.to_string(),
            port.valid.map_or_else(|| "-".into(), code),
            port.doc.trim().into(),
        ]);
    }
    table
}

fn corners(entry: &dyn BlockEntry) -> Table {
    let mut table = Table::new(&["corner case", "times"]);
    for corner in entry.corners(&entry.defaults()).expect(VALID).seen() {
        table.row(vec![corner.name.into(), corner.demanded.to_string()]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_becomes_a_sentence() {
        assert_eq!(sentence("counts lines"), "Counts lines.");
        assert_eq!(sentence(""), "");
    }

    #[test]
    fn the_folder_of_every_block_is_there() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        for entry in selvedge_blocks::built_in() {
            let folder = root.join(folder(*entry).expect("a block of this workspace"));
            assert!(folder.join("mod.rs").is_file(), "{}: {}", entry.name(), folder.display());
        }
    }

    #[test]
    fn headings_are_demoted_and_code_is_not() {
        assert_eq!(demoted("# A\n```\n# b\n```\n## C"), "## A\n```\n# b\n```\n### C\n");
    }

    #[test]
    fn every_block_has_documentation_with_ports_parameters_and_timing() {
        for entry in selvedge_blocks::built_in() {
            let text = entry.documentation();
            for heading in ["# Ports and timing", "```text"] {
                assert!(text.contains(heading), "{}: {heading}", entry.name());
            }
            for spec in entry.schema() {
                let row = format!("| `{}` | ", spec.name);
                assert!(text.contains(&row), "{}: {}", entry.name(), spec.name);
            }
        }
    }
}
