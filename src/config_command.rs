//! `selvedge config`: shows, explains and checks configurations, and translates GPGPU-Sim's options.
use crate::arguments::{ConfigAction, ConfigOptions};
use crate::error::{Failure, one_line};
use crate::output::{Plan, print, print_table, say};
use selvedge_area::Table;
use selvedge_hw::file::read_text;
use selvedge_sim::config::import::import;
use selvedge_sim::config::{ConfigError, GpuConfig, MOST_BYTES, explain, source};
use selvedge_sim::printable::printable;
use std::path::{Path, PathBuf};

/// Executes the action of the options.
pub fn run(options: &ConfigOptions) -> Result<(), Failure> {
    match &options.action {
        ConfigAction::Show { name, json } => show(name, *json),
        ConfigAction::Explain { key, markdown } => explain(key.as_deref(), *markdown),
        ConfigAction::Check { file } => check(file),
        ConfigAction::Import { files, icnt, output } => translate(files, icnt.as_deref(), output),
    }
}

/// Prints every value, including the base's.
fn show(name: &str, json: bool) -> Result<(), Failure> {
    let config = GpuConfig::load(name).map_err(Failure::usage)?;
    if json {
        let text = serde_json::to_string_pretty(&config)
            .map_err(|e| Failure::simulation(format!("the configuration has no JSON form: {e}")))?;
        return print(&(text + "\n"));
    }
    let text = toml::to_string(&config)
        .map_err(|e| Failure::simulation(format!("the configuration has no TOML form: {e}")))?;
    print(&text)
}

/// First lines of the page `docs/reference/configuration.md`.
const PAGE_HEAD: &str =
    "<!-- Written by `selvedge config explain --markdown` -->\n\n# Configuration keys\n\n";

/// Prints one key in full, or a table of all keys.
fn explain(key: Option<&str>, markdown: bool) -> Result<(), Failure> {
    if let Some(key) = key {
        let info = explain::explain(key).map_err(Failure::usage)?;
        let mut text = format!("{}: {}\n", info.key, info.meaning);
        text += &format!("default  {}\nmust be  {}\n", info.default, info.allowed);
        for (name, value) in &info.others {
            text += &format!("{value} in {name}\n");
        }
        return print(&text);
    }
    let mut table = Table::new(&["key", "default", "must be", "meaning"]);
    for info in explain::keys() {
        table.row(vec![info.key, info.default, info.allowed, info.meaning]);
    }
    if markdown { print(&format!("{PAGE_HEAD}{}", table.markdown())) } else { print_table(&table) }
}

/// Reports all mistakes of a file together.
fn check(file: &str) -> Result<(), Failure> {
    let text = source(file).map_err(Failure::usage)?;
    let config = GpuConfig::examine(file, &text).map_err(all)?;
    print(&format!("{}: no mistake in configuration {}\n", printable(file), printable(&config.name)))
}

fn translate(files: &[PathBuf], icnt: Option<&Path>, output: &str) -> Result<(), Failure> {
    let named = |path: &Path| Ok::<_, Failure>((path.display().to_string(), read(path)?));
    let texts = files.iter().map(|path| named(path)).collect::<Result<Vec<_>, _>>()?;
    let texts: Vec<_> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let network = icnt.map(named).transpose()?;
    let network = network.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let name = files.first().and_then(|path| path.file_stem()).unwrap_or_default().to_string_lossy();
    let done = import(&name, &texts, network).map_err(all)?;
    let mut plan = Plan::default();
    files.iter().map(PathBuf::as_path).chain(icnt).for_each(|path| plan.read(path));
    plan.write_or_print("--output", output);
    let mut outputs = plan.check()?;
    for note in &done.notes {
        say(one_line(note) + "\n");
    }
    outputs.write_or_print(output, &done.toml);
    outputs.finish(None)
}

fn read(path: &Path) -> Result<String, Failure> {
    read_text(path, MOST_BYTES)
        .map_err(|why| Failure::usage(format!("cannot read {}: {why}", path.display())))
}

/// Combines several mistakes into one failure with a line for each.
fn all(found: Vec<ConfigError>) -> Failure {
    let mut mistakes: Vec<Failure> = found.iter().map(Failure::usage).collect();
    let last = mistakes.pop().unwrap_or_else(|| unreachable!("a refused text has a mistake"));
    last.after(mistakes)
}
