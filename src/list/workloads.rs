//! The list of workloads.
use super::page::{Listed, Page, Selection, print_json};
use crate::arguments::ListWorkloads;
use crate::classify::Paper;
use crate::error::Failure;
use crate::output::print_table;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::workload::{self, Size, Workload};
use serde::Serialize;

/// Work of a workload at one size.
#[derive(JsonSchema, Serialize)]
struct AtSize {
    /// The size.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    size: Size,
    /// The input at this size.
    input: String,
    /// Number of launches; null if the work is not measured.
    launches: Option<u64>,
    /// Warp instructions of all launches.
    warp_instructions: Option<u64>,
    /// Memory instructions among them.
    memory_instructions: Option<u64>,
    /// Line transactions of the memory instructions.
    lines: Option<u64>,
}

/// A workload.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Workload")]
pub(crate) struct ListedWorkload {
    /// Name of the workload.
    name: &'static str,
    /// Summary in one line.
    summary: &'static str,
    /// Group of the workload.
    group: String,
    /// Papers that evaluate the workload.
    papers: &'static str,
    /// Work at each size.
    sizes: Vec<AtSize>,
}

impl ListedWorkload {
    fn new(workload: &dyn Workload) -> Self {
        let at_size = |size: Size| {
            let counts = workload::measured(workload.name(), size);
            let count = |of: fn(&workload::WorkloadWork) -> u64| counts.as_ref().map(of);
            AtSize {
                size,
                input: workload.description(size),
                launches: count(|c| c.launches),
                warp_instructions: count(|c| c.warp_instructions),
                memory_instructions: count(|c| c.memory_instructions),
                lines: count(|c| c.lines),
            }
        };
        ListedWorkload {
            name: workload.name(),
            summary: workload.summary(),
            group: workload.group().to_string(),
            papers: workload.papers(),
            sizes: Size::ALL.into_iter().map(at_size).collect(),
        }
    }

    fn counts(&self, size: Size) -> Vec<String> {
        let Some(at) = self.sizes.iter().find(|at| at.size == size) else { return Vec::new() };
        [at.launches, at.warp_instructions, at.memory_instructions, at.lines]
            .map(|count| count.map_or("-".into(), |count| count.to_string()))
            .to_vec()
    }
}

/// Writes a size as its name.
fn as_text<S: serde::Serializer>(size: &Size, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(size)
}

/// Returns every workload.
pub(super) fn all() -> Vec<ListedWorkload> {
    workload::all().iter().map(|workload| ListedWorkload::new(*workload)).collect()
}

/// Prints the selected workloads.
pub(super) fn run(options: &ListWorkloads) -> Result<(), Failure> {
    let entries = match &options.name {
        Some(name) => vec![ListedWorkload::new(workload::find(name).map_err(Failure::usage)?)],
        None => select(options),
    };
    let selection = Selection { entries, is_one: options.name.is_some() };
    if options.json {
        return print_json(&selection);
    }
    match &selection.entries[..] {
        [one] if selection.is_one => one.page().print(),
        all => print_table(&table(all, options.size)),
    }
}

fn select(options: &ListWorkloads) -> Vec<ListedWorkload> {
    let of_paper = |entry: &ListedWorkload| options.paper.is_none_or(|paper| is_in(entry.papers, paper));
    let of_group =
        |entry: &ListedWorkload| options.group.is_none_or(|group| entry.group == group.to_string());
    all().into_iter().filter(|entry| of_paper(entry) && of_group(entry)).collect()
}

/// Returns whether the text `papers` names the paper.
fn is_in(papers: &str, paper: Paper) -> bool {
    match paper {
        Paper::Caba => papers.contains("CABA"),
        Paper::Lamar => papers.contains("LAMAR"),
        Paper::LatteCc => papers.contains("LATTE-CC"),
        Paper::Dai2 => has_chapter(papers, '2'),
        Paper::Dai3 => has_chapter(papers, '3'),
        Paper::Dai4 => has_chapter(papers, '4'),
    }
}

/// Returns whether `papers` names a chapter of the dissertation, as in "Dai, chapters 2 and 3 (ATX) and 4 (ax)".
fn has_chapter(papers: &str, chapter: char) -> bool {
    let Some((_, dai)) = papers.split_once("Dai") else { return false };
    dai.split(';')
        .next()
        .is_some_and(|dai| dai.split(|c: char| !c.is_alphanumeric()).any(|word| word == chapter.to_string()))
}

/// Returns the table of workloads, one per line. With `size`, it shows the counts of that size.
pub(super) fn table(entries: &[ListedWorkload], size: Option<Size>) -> Table {
    let Some(size) = size else { return ListedWorkload::table(entries) };
    let mut table =
        Table::new(&["workload", "launches", "warp instr", "memory instr", "lines", "input", "what"])
            .dispensable(&["what", "input"]);
    for entry in entries {
        let input =
            entry.sizes.iter().find(|at| at.size == size).map_or(String::new(), |at| at.input.clone());
        let counts = entry.counts(size).into_iter();
        table.row(
            [entry.name.to_string()].into_iter().chain(counts).chain([input, entry.summary.into()]).collect(),
        );
    }
    table
}

impl Listed for ListedWorkload {
    fn table(entries: &[Self]) -> Table {
        let mut table = Table::new(&["workload", "group", "papers", "what"]).dispensable(&["papers"]);
        for of in entries {
            table.row(vec![of.name.into(), of.group.clone(), of.papers.into(), of.summary.into()]);
        }
        table
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line(format!("{}: {}", self.name, self.summary));
        page.fact("group", &self.group);
        page.fact("papers", self.papers);
        let mut table = Table::new(&["size", "launches", "warp instr", "memory instr", "lines", "input"]);
        for at in &self.sizes {
            let counts = self.counts(at.size).into_iter();
            table.row([at.size.to_string()].into_iter().chain(counts).chain([at.input.clone()]).collect());
        }
        page.table(table);
        page
    }
}
