//! `selvedge config`: machines shown, checked, and translated from GPGPU-Sim's options.
use crate::cli::{ConfigAction, ConfigOptions};
use crate::error::{Failure, one_line};
use crate::interrupt::hold_off;
use crate::output::write_or_print;
use selvedge_hw::file::read_text;
use selvedge_sim::config::import::import;
use selvedge_sim::config::{ConfigError, GpuConfig, MOST_BYTES, source};
use selvedge_sim::printable::printable;
use std::path::Path;

/// Does what the options ask for.
pub fn run(options: &ConfigOptions) -> Result<(), Failure> {
    match &options.action {
        ConfigAction::Show { name } => show(name),
        ConfigAction::Check { file } => check(file),
        ConfigAction::Import { file, icnt, output } => translate(file, icnt.as_deref(), output),
    }
}

/// Every value, those of the base included.
fn show(name: &str) -> Result<(), Failure> {
    let config = GpuConfig::load(name).map_err(Failure::usage)?;
    let text = toml::to_string(&config)
        .map_err(|e| Failure::simulation(format!("the machine has no TOML form: {e}")))?;
    write_or_print("-", &text)
}

/// All mistakes at once.
fn check(file: &str) -> Result<(), Failure> {
    let text = source(file).map_err(Failure::usage)?;
    let config = GpuConfig::examine(file, &text).map_err(all)?;
    write_or_print("-", &format!("{}: no mistake in machine {}\n", printable(file), printable(&config.name)))
}

fn translate(file: &Path, icnt: Option<&Path>, output: &str) -> Result<(), Failure> {
    let text = read(file)?;
    let network = icnt.map(|path| Ok::<_, Failure>((path.display().to_string(), read(path)?))).transpose()?;
    let network = network.as_ref().map(|(name, text)| (name.as_str(), text.as_str()));
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let done = import(&name, &file.display().to_string(), &text, network).map_err(all)?;
    for note in &done.notes {
        eprintln!("{}", one_line(note));
    }
    let _whole = (output != "-").then(hold_off);
    write_or_print(output, &done.toml)
}

fn read(path: &Path) -> Result<String, Failure> {
    read_text(path, MOST_BYTES)
        .map_err(|why| Failure::usage(format!("cannot read {}: {why}", path.display())))
}

/// One failure of several mistakes, a line each.
fn all(found: Vec<ConfigError>) -> Failure {
    let mut lines: Vec<String> = found.iter().map(ToString::to_string).collect();
    let last = lines.pop().unwrap_or_default();
    lines.iter().for_each(|line| eprintln!("selvedge: {}", one_line(line)));
    Failure::usage(last)
}
