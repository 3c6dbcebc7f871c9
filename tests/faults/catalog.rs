//! The catalog of planted faults: small wrong changes to the source, each with the tests that must fail on it.

use serde::Deserialize;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One planted fault, as its table `[[fault]]` describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// The fault's name, unique in the catalog.
    pub id: String,
    /// What is wrong with the changed source, in one sentence.
    pub what: String,
    /// The source file, from the root of the repository.
    pub file: String,
    /// Text that occurs once in the file and contains `find`; without it `find` itself occurs once in the file.
    at: Option<String>,
    /// The text that is replaced: an expression or whole statements if the fault is switched.
    pub find: String,
    /// The wrong text in its place.
    pub replace: String,
    /// How the fault is put in.
    #[serde(default)]
    pub how: How,
    /// The package whose tests must fail.
    pub package: String,
    /// The test program of the package: `lib`, or the name of an integration test.
    pub target: String,
    /// The block to which tests over all blocks are restricted.
    pub block: Option<String>,
    /// Names of the tests that must fail, or what these names begin with: at least one test fails.
    pub test: Vec<String>,
}

/// Returns the folder of one of the workspace's packages.
pub fn folder_of(package: &str) -> &str {
    match package {
        "selvedge-area" => "gen/area",
        "selvedge-gen" => "gen/verilog",
        "selvedge-hw" => "hw/kit",
        "selvedge-blocks" => "hw/blocks",
        "selvedge-cudart" => "sim/cudart",
        "selvedge-gpu" => "sim/gpu",
        "selvedge-mechanisms" => "sim/mechanisms",
        "selvedge-ptx" => "sim/ptx",
        "selvedge-sim" => "sim/run",
        "selvedge-study" => "sim/study",
        "selvedge-workloads" => "sim/workloads",
        _ => package.strip_prefix("selvedge-").unwrap_or_default(),
    }
}

/// How a fault is put in.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Beside the right text, chosen when the program runs: one build serves all such faults.
    #[default]
    Switch,
    /// In the place of the right text, with a build of its own: for RTL bodies and constants.
    Patch,
}

/// A file of the catalog.
#[derive(Deserialize)]
struct Tables {
    fault: Vec<Fault>,
}

/// Reads the catalog: every TOML file beside this module.
pub fn read(root: &Path) -> Vec<Fault> {
    let folder = root.join("tests/faults");
    let mut files: Vec<PathBuf> = std::fs::read_dir(&folder)
        .expect("the catalog's folder is readable")
        .map(|entry| entry.expect("the folder's entries are readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    files.iter().flat_map(|file| read_file(file)).collect()
}

fn read_file(file: &Path) -> Vec<Fault> {
    let text = std::fs::read_to_string(file).expect("a file of the catalog is readable");
    let tables: Tables = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    tables.fault
}

impl Fault {
    /// Returns where the text to replace lies in the file's source.
    ///
    /// # Errors
    /// A line that says why the place is not unique or the fault changes nothing.
    pub fn place(&self, source: &str) -> Result<Range<usize>, String> {
        let at = self.at.as_deref().unwrap_or(&self.find);
        let around = only(source, at).map_err(|count| self.wrong(&format!("`{at}` occurs {count} times")))?;
        let inside = only(at, &self.find)
            .map_err(|count| self.wrong(&format!("`{}` occurs {count} times in `at`", self.find)))?;
        if self.find == self.replace {
            return Err(self.wrong("`replace` is the same as `find`"));
        }
        Ok(around.start + inside.start..around.start + inside.end)
    }

    fn wrong(&self, what: &str) -> String {
        format!("fault {} in {}: {what}", self.id, self.file)
    }
}

/// Returns where `part` lies in `text`, or how often it occurs when that is not once.
fn only(text: &str, part: &str) -> Result<Range<usize>, usize> {
    let mut places = text.match_indices(part);
    match (places.next(), places.next()) {
        (Some((start, _)), None) => Ok(start..start + part.len()),
        _ => Err(text.matches(part).count()),
    }
}

/// Where faults lie in a file: their numbers in the catalog and their texts' places, in the order of the file.
pub type Places = Vec<(usize, Range<usize>)>;

/// Returns the places of faults, file by file.
///
/// # Errors
/// Every fault that has no unique place, and every two that overlap.
pub fn places(root: &Path, faults: &[Fault]) -> Result<HashMap<String, Places>, Vec<String>> {
    let mut files: HashMap<String, Places> = HashMap::new();
    let mut wrong = Vec::new();
    for (number, fault) in faults.iter().enumerate() {
        let source = std::fs::read_to_string(root.join(&fault.file));
        let place =
            source.map_err(|error| fault.wrong(&error.to_string())).and_then(|text| fault.place(&text));
        match place {
            Ok(place) => files.entry(fault.file.clone()).or_default().push((number, place)),
            Err(line) => wrong.push(line),
        }
    }
    for places in files.values_mut() {
        places.sort_by_key(|(_, place)| place.start);
        for pair in places.windows(2).filter(|pair| pair[0].1.end > pair[1].1.start) {
            wrong.push(faults[pair[1].0].wrong(&format!("overlaps {}", faults[pair[0].0].id)));
        }
    }
    if wrong.is_empty() { Ok(files) } else { Err(wrong) }
}
