//! Import of a GPGPU-Sim configuration as a TOML file. Options with a counterpart are translated, all others are listed.
//!
//! Each line of the result names its option. Keys without an option have the values of the GTX480 configuration of GPGPU-Sim. The
//! result is checked like any configuration. An error names the file and line of the option.
mod caches;
mod collector;
mod cores;
mod dram;
mod effects;
mod options;
mod reader;
mod settings;
#[cfg(test)]
mod tested_tests;
#[cfg(test)]
mod tests;

use super::{ConfigError, GpuConfig};
use options::{Syntax, is_name, parse};
use reader::OptionReader;

/// Configuration on which the result is based.
const BASE: &str = "gtx480-3.2.1";

/// Error for a file without options.
const NO_OPTION: &str =
    "no option: must be a GPGPU-Sim configuration with options such as `-gpgpu_n_clusters 15`";

/// Result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The configuration as TOML text.
    pub toml: String,
    /// One line per option that was not translated, or only approximately, with file and line.
    pub notes: Vec<String>,
}

/// Translates GPGPU-Sim's `files` (names and texts) into a configuration called `name`. `interconnect` is the optional
/// configuration of the interconnect. An option in a later file replaces the same option of an earlier file.
///
/// # Errors
/// Returns the errors in the options, with one line each: values that are not numbers, or that a configuration cannot have.
pub fn import(
    name: &str,
    files: &[(&str, &str)],
    interconnect: Option<(&str, &str)>,
) -> Result<Import, Vec<ConfigError>> {
    let mut options = Vec::new();
    let mut empty = Vec::new();
    for (order, (file, text)) in files.iter().enumerate() {
        let own = parse(order, file, text, Syntax::Simulator);
        if !own.iter().any(|option| is_name(&option.name)) {
            empty.push(ConfigError::Syntax { file: (*file).into(), line: 1, message: NO_OPTION.into() });
        }
        options.extend(own);
    }
    if !empty.is_empty() {
        return Err(empty);
    }
    if let Some((file, text)) = interconnect {
        options.extend(parse(files.len(), file, text, Syntax::Interconnect));
    }
    let mut reader = OptionReader::new(options);
    read(&mut reader, interconnect.is_some()).map_err(|e| vec![e])?;
    let (settings, notes) = reader.finish();
    let names: Vec<&str> = files.iter().map(|(file, _)| *file).collect();
    let toml = settings.render(name, BASE, &names.join(", "));
    match GpuConfig::examine(names.first().copied().unwrap_or_default(), &toml) {
        Ok(_) => Ok(Import { toml, notes }),
        Err(found) => Err(found.into_iter().map(|e| settings.trace(e)).collect()),
    }
}

fn read(reader: &mut OptionReader, has_interconnect: bool) -> Result<(), ConfigError> {
    let clocks = cores::clocks(reader)?;
    cores::cores(reader)?;
    let has_integer_pipes = cores::pipes(reader)?;
    let has_tensor_cores = cores::tensor(reader)?;
    collector::collector(reader, has_integer_pipes, has_tensor_cores)?;
    caches::l1d(reader)?;
    caches::l1d_use(reader)?;
    caches::read_only(reader)?;
    caches::l2(reader, clocks)?;
    caches::partitions(reader)?;
    caches::interconnect(reader, has_interconnect)?;
    let mapping = dram::channel(reader, clocks)?;
    dram::timing(reader, mapping)?;
    dram::bank_groups(reader)
}
