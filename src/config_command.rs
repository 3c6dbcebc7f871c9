//! `selvedge config`: configurations shown, checked, and translated from GPGPU-Sim's options.
use crate::arguments::{ConfigAction, ConfigOptions};
use crate::error::{Failure, one_line};
use crate::output::{Plan, print, print_table, say};
use selvedge_area::Table;
use selvedge_hw::file::read_text;
use selvedge_sim::config::explain;
use selvedge_sim::config::import::import;
use selvedge_sim::config::{ConfigError, GpuConfig, MOST_BYTES, source};
use selvedge_sim::printable::printable;
use std::path::Path;

/// Does what the options ask for.
pub fn run(options: &ConfigOptions) -> Result<(), Failure> {
    match &options.action {
        ConfigAction::Show { name } => show(name),
        ConfigAction::Explain { key, markdown } => explain(key.as_deref(), *markdown),
        ConfigAction::Check { file } => check(file),
        ConfigAction::Import { file, icnt, output } => translate(file, icnt.as_deref(), output),
    }
}

/// Every value, those of the base included.
fn show(name: &str) -> Result<(), Failure> {
    let config = GpuConfig::load(name).map_err(Failure::usage)?;
    let text = toml::to_string(&config)
        .map_err(|e| Failure::simulation(format!("the configuration has no TOML form: {e}")))?;
    print(&text)
}

/// Prints one key in full, or all in a table.
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
    if markdown { print(&table.markdown()) } else { print_table(&table) }
}

/// All mistakes at once.
fn check(file: &str) -> Result<(), Failure> {
    let text = source(file).map_err(Failure::usage)?;
    let config = GpuConfig::examine(file, &text).map_err(all)?;
    print(&format!("{}: no mistake in configuration {}\n", printable(file), printable(&config.name)))
}

fn translate(file: &Path, icnt: Option<&Path>, output: &str) -> Result<(), Failure> {
    let text = read(file)?;
    let network = icnt.map(|path| Ok::<_, Failure>((path.display().to_string(), read(path)?))).transpose()?;
    let network = network.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let done = import(&name, &file.display().to_string(), &text, network).map_err(all)?;
    let mut plan = Plan::default();
    [file].into_iter().chain(icnt).for_each(|path| plan.read(path));
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

/// One failure of several mistakes, a line each.
fn all(found: Vec<ConfigError>) -> Failure {
    let mut mistakes: Vec<Failure> = found.iter().map(Failure::usage).collect();
    let last = mistakes.pop().unwrap_or_else(|| unreachable!("a refused text has a mistake"));
    last.after(mistakes)
}
