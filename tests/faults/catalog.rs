//! Catalog of planted faults: small wrong changes to the source, each with the tests that must fail on it. The faults of a
//! folder are in its `faults.toml`.

use serde::Deserialize;
use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// One planted fault, from a table `[[fault]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Name of the fault, unique in the catalog.
    pub id: String,
    /// Effect of the wrong text, in one sentence.
    pub what: String,
    /// Source file, relative to the folder of the `faults.toml`. [`read`] makes it relative to the root of the repository.
    pub file: String,
    /// Text that occurs once in the file and contains `find`. If absent, `find` must occur once in the file.
    pub at: Option<String>,
    /// Text to replace. For a switched fault, it is an expression or complete statements.
    pub find: String,
    /// Wrong text that replaces it.
    pub replace: String,
    /// Way of inserting the fault.
    #[serde(default)]
    pub how: How,
    /// Package whose tests must fail; by default that of the source file.
    #[serde(default)]
    pub package: String,
    /// Test program of the package: `lib`, or the name of an integration test.
    #[serde(default = "lib")]
    pub target: String,
    /// Block to which tests over all blocks are restricted.
    pub block: Option<String>,
    /// Names or prefixes of names of tests. At least one of these tests must fail.
    pub test: Vec<String>,
    /// Folder of the `faults.toml`, relative to the root of the repository.
    #[serde(skip)]
    pub folder: String,
}

fn lib() -> String {
    "lib".into()
}

/// Returns the folder of each package of the workspace, by the package's name.
pub fn packages(root: &Path) -> HashMap<String, String> {
    #[derive(Deserialize)]
    struct Manifest {
        workspace: Option<Workspace>,
        package: Package,
    }
    #[derive(Deserialize)]
    struct Workspace {
        members: Vec<String>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
    }
    let manifest = |folder: &str| -> Manifest {
        let text = std::fs::read_to_string(root.join(folder).join("Cargo.toml")).expect("a manifest");
        toml::from_str(&text).expect("a manifest is TOML")
    };
    let members = manifest("").workspace.expect("the root is a workspace").members;
    members.into_iter().map(|folder| (manifest(&folder).package.name, folder)).collect()
}

/// Way of inserting a fault.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Inserted next to the correct text and selected at run time. One build serves all such faults.
    #[default]
    Switch,
    /// Replaces the correct text, with a separate build. Serves RTL bodies and constants.
    Patch,
}

/// A file of the catalog.
#[derive(Deserialize)]
struct Tables {
    fault: Vec<Fault>,
}

/// Reads the catalog: every `faults.toml` in the folders of the workspace's packages.
pub fn read(root: &Path) -> Vec<Fault> {
    let packages = packages(root);
    let mut files: Vec<PathBuf> = Vec::new();
    for top in ["capi", "gen", "hw", "sim"] {
        find(&root.join(top), &mut files);
    }
    files.sort();
    files.iter().flat_map(|file| read_file(root, file, &packages)).collect()
}

/// Adds each `faults.toml` in the folder and its subfolders to `files`.
fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the source is readable") {
        let path = entry.expect("the folder's entries are readable").path();
        if path.is_dir() {
            find(&path, files);
        } else if path.ends_with("faults.toml") {
            files.push(path);
        }
    }
}

fn read_file(root: &Path, file: &Path, packages: &HashMap<String, String>) -> Vec<Fault> {
    let text = std::fs::read_to_string(file).expect("a file of the catalog is readable");
    let tables: Tables = toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let folder =
        file.parent().and_then(|folder| folder.strip_prefix(root).ok()).expect("a folder of the root");
    let own = packages.iter().filter(|(_, of)| folder.starts_with(of));
    let own = own.max_by_key(|(_, of)| of.len()).map(|(package, _)| package.clone()).expect("a package");
    let mut faults = tables.fault;
    for fault in &mut faults {
        fault.file = folder.join(&fault.file).display().to_string();
        fault.folder = folder.display().to_string();
        if fault.package.is_empty() {
            fault.package.clone_from(&own);
        }
    }
    faults
}

impl Fault {
    /// Returns the range of the text to replace in the file's source.
    ///
    /// # Errors
    /// Fails with a line that explains why the text is not unique, or that the fault changes nothing.
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

/// Returns the range of `part` in `text`, or the number of occurrences if that is not 1.
fn only(text: &str, part: &str) -> Result<Range<usize>, usize> {
    let mut places = text.match_indices(part);
    match (places.next(), places.next()) {
        (Some((start, _)), None) => Ok(start..start + part.len()),
        _ => Err(text.matches(part).count()),
    }
}

/// Faults of a file, as index in the catalog and range of the text, in the order of the file.
pub type Places = Vec<(usize, Range<usize>)>;

/// Returns the places of faults by file.
///
/// # Errors
/// Fails with every fault that has no unique place, and every two faults that overlap.
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
