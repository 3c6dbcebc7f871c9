//! The list of mechanisms.
use super::page::{Listed, Page, Selection, Setting, values};
use crate::error::Failure;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::mechanism::{self, MechanismInfo, MechanismSpec};
use serde::Serialize;

/// A mechanism.
#[derive(JsonSchema, Serialize)]
#[schemars(rename = "Mechanism")]
pub(crate) struct ListedMechanism {
    /// Name of the mechanism.
    name: &'static str,
    /// Summary in one line.
    summary: &'static str,
    /// Paper and section that describe the mechanism.
    source: &'static str,
    /// Requirements on the program and the configuration.
    needs: Vec<&'static str>,
    /// Blocks of the mechanism.
    blocks: &'static [&'static str],
    /// Options of the mechanism.
    options: Vec<Setting>,
    /// Storage or area that the paper states.
    published: &'static str,
}

impl ListedMechanism {
    fn new(info: &MechanismInfo) -> Self {
        let configuration = Some(info.configuration_needs).filter(|needs| !needs.is_empty());
        let choice = |option: &mechanism::OptionInfo| Setting {
            name: option.name,
            default: option.default_text(),
            values: values(&option.allowed()),
            meaning: option.help,
        };
        ListedMechanism {
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

/// Returns all mechanisms, or the mechanism `name`.
///
/// # Errors
/// Fails if no mechanism has this name.
pub(super) fn select(name: Option<&str>) -> Result<Selection<ListedMechanism>, Failure> {
    let Some(name) = name else {
        return Ok(Selection {
            entries: mechanism::all().into_iter().map(ListedMechanism::new).collect(),
            is_one: false,
        });
    };
    // The error of the parser suggests similar names.
    name.parse::<MechanismSpec>().map_err(Failure::usage)?;
    let entries: Vec<_> =
        mechanism::all().into_iter().filter(|info| info.name == name).map(ListedMechanism::new).collect();
    if entries.is_empty() {
        return Err(Failure::usage(format!(
            "list mechanisms {name}: must be the name of one, without options"
        )));
    }
    Ok(Selection { entries, is_one: true })
}

impl Listed for ListedMechanism {
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
