//! The list of mechanisms.
use super::page::{Listed, Page, Selection, Setting, values};
use crate::error::Failure;
use schemars::JsonSchema;
use selvedge_area::Table;
use selvedge_sim::best::settled;
use selvedge_sim::config::{BUILT_IN, BuiltIn, GpuConfig};
use selvedge_sim::mechanism::{self, MechanismError, MechanismInfo, MechanismSpec};
use serde::Serialize;

/// A built-in configuration that refuses a mechanism with default options.
#[derive(JsonSchema, Serialize)]
pub(crate) struct RefusedConfiguration {
    /// Name of the configuration.
    configuration: &'static str,
    /// Key and value of the configuration, and the requirement on them.
    reason: String,
}

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
    /// Built-in configurations that refuse the mechanism with default options; it runs on all others.
    refused: Vec<RefusedConfiguration>,
}

/// Returns the built-in configurations that refuse a mechanism with default options.
fn refusals(info: &MechanismInfo) -> Vec<RefusedConfiguration> {
    let Ok(mechanism) = info.name.parse::<MechanismSpec>() else { return Vec::new() };
    let refusal = |built_in: &BuiltIn| {
        let config = GpuConfig::load(built_in.name).ok()?;
        match settled(&mechanism, &config).machine(&config) {
            Err(MechanismError::Machine { key, value, allowed, .. }) => {
                let reason = format!("{key} = {value}: {allowed}");
                Some(RefusedConfiguration { configuration: built_in.name, reason })
            }
            // An option without a default is no refusal.
            _ => None,
        }
    };
    BUILT_IN.iter().filter_map(refusal).collect()
}

impl ListedMechanism {
    /// Returns the configurations that refuse the mechanism, by reason.
    fn refused(&self) -> Vec<(&str, Vec<&str>)> {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for RefusedConfiguration { configuration, reason } in &self.refused {
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, configurations)) => configurations.push(configuration),
                None => reasons.push((reason, vec![configuration])),
            }
        }
        reasons
    }

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
            refused: refusals(info),
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
        let mut table = Table::new(&["mechanism", "GPUs", "what", "source"]);
        for of in entries {
            let runs = format!("{} of {}", BUILT_IN.len() - of.refused.len(), BUILT_IN.len());
            table.row(vec![of.name.into(), runs, of.summary.into(), of.source.into()]);
        }
        table
    }

    fn page(&self) -> Page {
        let mut page = Page::default();
        page.line(format!("{}: {}", self.name, self.summary));
        page.fact("source", self.source);
        page.fact("needs", &self.needs.join("; "));
        page.fact("blocks", &self.blocks.join(" "));
        page.fact("published", self.published);
        for (reason, configurations) in self.refused() {
            page.fact("refused by", &format!("{}: {reason}", configurations.join(" ")));
        }
        page.table(Setting::table("option", &self.options));
        page
    }
}
