//! The list of mechanisms.
use super::{Listed, Page, Selection, Setting, values};
use crate::error::Failure;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::mechanism::{self, MechanismInfo, MechanismSpec};
use serde::Serialize;

/// A mechanism.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Mechanism")]
pub(crate) struct Entry {
    /// Its name.
    name: &'static str,
    /// What it does, in one line.
    summary: &'static str,
    /// The paper and the section that describe it.
    source: &'static str,
    /// What it requires of the program and the configuration.
    needs: Vec<&'static str>,
    /// The blocks that it is made of.
    blocks: &'static [&'static str],
    /// Its options.
    options: Vec<Setting>,
    /// What its paper states of its storage or area.
    published: &'static str,
}

impl Entry {
    fn new(info: &MechanismInfo) -> Self {
        let configuration = Some(info.machine_needs).filter(|needs| !needs.is_empty());
        let choice = |option: &mechanism::OptionInfo| Setting {
            name: option.name,
            default: option.default_text(),
            values: values(&option.allowed()),
            meaning: option.help,
        };
        Entry {
            name: info.name,
            summary: info.summary,
            source: info.source,
            needs: info.needs.words().into_iter().chain(configuration).collect(),
            blocks: info.blocks,
            options: info.options.iter().map(choice).collect(),
            published: info.published,
        }
    }
}

/// Returns all mechanisms, or the one of this name.
///
/// # Errors
/// There is none of this name.
pub(super) fn select(name: Option<&str>) -> Result<Selection<Entry>, Failure> {
    let Some(name) = name else {
        return Ok(Selection {
            entries: mechanism::all().into_iter().map(Entry::new).collect(),
            is_one: false,
        });
    };
    // The parser knows the nearest names.
    name.parse::<MechanismSpec>().map_err(Failure::usage)?;
    let entries: Vec<_> =
        mechanism::all().into_iter().filter(|info| info.name == name).map(Entry::new).collect();
    if entries.is_empty() {
        return Err(Failure::usage(format!(
            "list mechanisms {name}: must be the name of one, without options"
        )));
    }
    Ok(Selection { entries, is_one: true })
}

impl Listed for Entry {
    fn table(entries: &[Self]) -> Table {
        let mut table = Table::new(&["mechanism", "what", "source"]);
        entries.iter().for_each(|of| table.row(vec![of.name.into(), of.summary.into(), of.source.into()]));
        table
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line(format!("{}: {}", self.name, self.summary));
        page.fact("source", self.source);
        page.fact("needs", &self.needs.join("; "));
        page.fact("blocks", &self.blocks.join(" "));
        page.fact("published", self.published);
        page.table(Setting::table("option", &self.options));
        page
    }
}
