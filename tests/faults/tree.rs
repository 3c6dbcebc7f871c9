//! A copy of the source in which faults are planted.

use crate::catalog::{self, Fault, How};
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Variable that selects the switched fault by name.
pub const SELECTED: &str = "SELVEDGE_FAULT";

/// Folders that are not copied: build results and the history.
const LEFT_OUT: [&str; 2] = ["target", ".git"];

/// First line of crates with switched faults. A switch puts its texts in parentheses, even where they are redundant.
const PARENTHESES: &str = "#![allow(unused_parens)] ";

/// Last lines of these crates: the switch.
const SWITCH: &str = r#"
/// Reports whether the planted fault of this name is selected.
pub(crate) fn planted_fault(id: &str) -> bool {
    static SELECTED: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    SELECTED.get_or_init(|| std::env::var("SELVEDGE_FAULT").unwrap_or_default()) == id
}
"#;

/// A copy of the source.
pub struct Tree<'a> {
    root: &'a Path,
    /// Folder of the copy.
    pub folder: PathBuf,
}

impl<'a> Tree<'a> {
    /// Returns the copy of `root` at `folder`, which [`Tree::plant`] creates.
    pub fn new(root: &'a Path, folder: PathBuf) -> Self {
        Tree { root, folder }
    }

    /// Updates the copy with all switched faults and the given patches.
    ///
    /// Correct files keep their times, so that cargo builds only changed crates.
    pub fn plant(&self, faults: &[Fault], patches: &[usize]) -> io::Result<()> {
        let places = catalog::places(self.root, faults);
        let places = places.map_err(|wrong| io::Error::other(wrong.join("\n")))?;
        let is_planted = |number: usize| faults[number].how == How::Switch || patches.contains(&number);
        let switches = faults.iter().filter(|fault| fault.how == How::Switch).filter_map(Fault::crate_root);
        let switches: BTreeSet<String> = switches.collect();
        let mut files = Vec::new();
        list(self.root, &mut PathBuf::new(), &mut files)?;
        for file in files {
            let name = file.to_string_lossy();
            let mut content = fs::read(self.root.join(&file))?;
            if let Some(places) = places.get(name.as_ref()) {
                let planted = places.iter().filter(|(number, _)| is_planted(*number));
                let texts = planted.map(|(number, place)| (place.clone(), faults[*number].text()));
                content = with_texts(&String::from_utf8_lossy(&content), texts).into_bytes();
            }
            if switches.contains(name.as_ref()) {
                content = [PARENTHESES.as_bytes(), &content, SWITCH.as_bytes()].concat();
            }
            write_changed(&self.folder.join(&file), &content)?;
        }
        Ok(())
    }
}

impl Fault {
    /// Returns the text to insert: both texts with a switch, or the wrong text alone.
    fn text(&self) -> String {
        let (id, right, wrong) = (&self.id, &self.find, &self.replace);
        let is_statement = right.trim_end().ends_with([';', '}']);
        match self.how {
            How::Patch => wrong.clone(),
            How::Switch if is_statement => {
                format!("if crate::planted_fault({id:?}) {{ {wrong} }} else {{ {right} }}")
            }
            How::Switch => format!("(if crate::planted_fault({id:?}) {{ {wrong} }} else {{ {right} }})"),
        }
    }

    /// Returns the root file of the fault's crate.
    fn crate_root(&self) -> Option<String> {
        let (package, _) = self.file.split_once("/src/")?;
        Some(format!("{package}/src/lib.rs"))
    }
}

/// Lists the files under `folder` of `root`.
fn list(root: &Path, folder: &mut PathBuf, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(root.join(&folder))? {
        let entry = entry?;
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        folder.push(entry.file_name());
        if entry.file_type()?.is_dir() {
            list(root, folder, files)?;
        } else {
            files.push(folder.clone());
        }
        folder.pop();
    }
    Ok(())
}

/// Returns the source with the texts of some ranges replaced. The ranges must be in ascending order.
fn with_texts(source: &str, texts: impl Iterator<Item = (Range<usize>, String)>) -> String {
    let mut out = String::new();
    let mut end = 0;
    for (place, text) in texts {
        out.push_str(&source[end..place.start]);
        out.push_str(&text);
        end = place.end;
    }
    out + &source[end..]
}

/// Writes a file unless it has this content already.
fn write_changed(path: &Path, content: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|old| old == content) {
        return Ok(());
    }
    fs::create_dir_all(path.parent().expect("a file lies in a folder"))?;
    fs::write(path, content)
}
