//! `selvedge run --energy-from`: takes energies of blocks' operations from a report of `selvedge area --energy` instead
//! of the configuration's table.
use crate::error::Failure;
use schemars::JsonSchema;
use selvedge_area::AreaError;
use selvedge_area::report_file::Energies;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::mechanism::blocks_with_energy;
use selvedge_sim::printable::printable;
use serde::Serialize;
use std::path::Path;

/// Source of the energy of a block's operation.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct EnergySource {
    /// Name of the block.
    block: String,
    /// Energy of an operation, fJ.
    femtojoules: u32,
    /// Report of `selvedge area` with the energy. If absent, the energy is from the configuration's table.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Library of the cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<String>,
}

impl EnergySource {
    /// Returns the line for the statistics.
    pub fn statistic(&self) -> String {
        let source = match (&self.file, &self.library) {
            (Some(file), Some(library)) => format!("{file} ({library})"),
            _ => "the configuration's table".into(),
        };
        format!("energy_of_{}_fJ = {} from {}\n", self.block, self.femtojoules, printable(&source))
    }
}

/// Replaces energies in the configuration's table with energies of the report in `path`. Returns the source of each
/// block's energy.
///
/// # Errors
/// Fails if the file is not such a report, or if it has several energies of a block or none.
pub fn apply(path: &Path, config: &mut GpuConfig) -> Result<Vec<EnergySource>, Failure> {
    let wrong = |error: AreaError| Failure::usage(format!("--energy-from {error}"));
    let energies = Energies::load(path).map_err(wrong)?;
    let name = path.display().to_string();
    let blocks = blocks_with_energy(config);
    let mut sources = Vec::new();
    for block in &blocks {
        let known = energies.femtojoules(block).map_err(wrong)?;
        let in_table = config.energy.blocks.get(block).copied();
        let Some(femtojoules) = known.or(in_table) else { continue };
        config.energy.blocks.insert(block.clone(), femtojoules);
        sources.push(EnergySource {
            block: block.clone(),
            femtojoules,
            file: known.map(|_| name.clone()),
            library: known.map(|_| energies.library().to_string()),
        });
    }
    if sources.iter().all(|one| one.file.is_none()) {
        let names: Vec<&str> = blocks.iter().map(String::as_str).collect();
        return Err(Failure::usage(format!(
            "--energy-from {name}: has no block whose operations are counted: must be one of {}",
            names.join(", ")
        )));
    }
    Ok(sources)
}

/// Returns two lines: the replaced energies, and the configuration's energies.
pub fn summary(sources: &[EnergySource]) -> String {
    let list = |replaced: bool| {
        let some = sources.iter().filter(|one| one.file.is_some() == replaced);
        let words: Vec<String> =
            some.map(|one| format!("{} {} nJ", one.block, f64::from(one.femtojoules) / 1e6)).collect();
        if words.is_empty() { "none".into() } else { words.join(", ") }
    };
    let from = sources.iter().find_map(|one| Some((one.file.as_ref()?, one.library.as_ref()?)));
    let from = from.map_or(String::new(), |(file, library)| format!("{file} ({library})"));
    let from = printable(&from);
    format!("energies of {from}: {}\nenergies of the configuration's table: {}\n", list(true), list(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> GpuConfig {
        GpuConfig::load("gtx480").expect("built in")
    }

    fn apply_text(text: &str, machine: &mut GpuConfig) -> Result<Vec<EnergySource>, Failure> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        apply(file.path(), machine)
    }

    fn report(blocks: &str) -> String {
        format!(r#"{{"format_version": 1, "library": {{"name": "lib"}}, "blocks": [{blocks}]}}"#)
    }

    const BDI: &str = r#"{"block": "bdi_compressor", "mappings": [{"energy": {"per_operation": {"value": 2.5, "unit": "nJ"}}}]}"#;

    #[test]
    fn what_the_file_has_replaces_the_tables_and_the_rest_stays() {
        let mut changed = machine();
        let sources = apply_text(&report(BDI), &mut changed).expect("a report");
        let mut expected = machine().energy;
        expected.blocks.insert("bdi_compressor".into(), 2_500_000);
        assert_eq!(changed.energy, expected);
        let from_file: Vec<&str> =
            sources.iter().filter(|one| one.file.is_some()).map(|one| one.block.as_str()).collect();
        assert_eq!(from_file, ["bdi_compressor"]);
        let text = summary(&sources);
        assert!(
            text.contains("(lib): bdi_compressor 2.5 nJ\n") && text.contains("bdi_decompressor 0.056 nJ"),
            "{text}"
        );
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let cases = [
            ("hello".to_string(), "must be JSON"),
            ("{}".into(), "format_version 1"),
            (report(""), "has no block whose operations are counted: must be one of bdi_compressor, "),
            (report(&format!("{BDI}, {BDI}")), "bdi_compressor is in it 2 times"),
            (report(&BDI.replace("nJ", "pJ")), "no energy per operation in nJ"),
            (report(&BDI.replace("2.5", "-1")), "-1 nJ: must be"),
        ];
        for (text, says) in cases {
            let error = format!("{:?}", apply_text(&text, &mut machine()).expect_err(says));
            assert!(error.contains(says), "`{error}` should say `{says}`");
        }
    }
}
