//! From a GPGPU-Sim configuration to a TOML file: what has a counterpart is translated, the rest is listed.
//!
//! Each line of the result names the option that it comes from. What no option states is as in the GTX480 that
//! GPGPU-Sim brings along. The result is checked like any configuration; a value that it cannot have is reported with
//! its option's place.
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
use reader::Reader;

/// The configuration that the result is based on.
const BASE: &str = "gtx480-3.2.1";

/// What is wrong with a file without an option.
const NO_OPTION: &str =
    "no option: must be a GPGPU-Sim configuration with options such as `-gpgpu_n_clusters 15`";

/// A translated configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The TOML text.
    pub toml: String,
    /// What could not be translated, or only nearly: a line each, with file and line.
    pub notes: Vec<String>,
}

/// Translates `text`, the GPGPU-Sim configuration `file`, and the interconnect's configuration if there is one, into a
/// configuration called `name`.
///
/// # Errors
/// Mistakes in the options, each in one line: numbers that are none, or values that a configuration here cannot have.
pub fn import(
    name: &str,
    file: &str,
    text: &str,
    interconnect: Option<(&str, &str)>,
) -> Result<Import, Vec<ConfigError>> {
    let mut options = parse(file, text, Syntax::Simulator);
    if !options.iter().any(|option| is_name(&option.name)) {
        return Err(vec![ConfigError::Syntax { file: file.into(), line: 1, message: NO_OPTION.into() }]);
    }
    if let Some((file, text)) = interconnect {
        options.extend(parse(file, text, Syntax::Interconnect));
    }
    let mut reader = Reader::new(options);
    read(&mut reader, interconnect.is_some()).map_err(|e| vec![e])?;
    let (settings, notes) = reader.finish();
    let toml = settings.render(name, BASE, file);
    match GpuConfig::examine(file, &toml) {
        Ok(_) => Ok(Import { toml, notes }),
        Err(found) => Err(found.into_iter().map(|e| settings.trace(e)).collect()),
    }
}

fn read(reader: &mut Reader, has_interconnect: bool) -> Result<(), ConfigError> {
    let clocks = cores::clocks(reader)?;
    cores::cores(reader)?;
    let has_sub_cores = cores::pipes(reader)?;
    collector::collector(reader, has_sub_cores)?;
    caches::l1d(reader)?;
    caches::l1d_use(reader)?;
    caches::read_only(reader)?;
    caches::l2(reader, clocks)?;
    caches::partitions(reader)?;
    caches::interconnect(reader, has_interconnect)?;
    let mapping = dram::channel(reader, clocks)?;
    dram::timing(reader, mapping)
}
