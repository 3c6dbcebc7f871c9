//! Shared test helpers: input files with a given text.
use std::path::Path;

use super::WorkloadError;

/// Calls `read` with a file called `name` that contains `text`, alone in a new folder.
pub(super) fn with_file<T>(name: &str, text: &str, read: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    std::fs::write(&file, text).unwrap();
    read(&file)
}

/// Returns the error with which `read` rejects a file called `name` that contains `text`, without the file's folder.
pub(super) fn refusal<T>(
    name: &str,
    text: &str,
    read: impl FnOnce(&Path) -> Result<T, WorkloadError>,
) -> String {
    with_file(name, text, |file| {
        let refused = read(file).err().expect("the file is refused").to_string();
        let folder = format!("{}/", file.parent().unwrap().display());
        assert!(refused.starts_with(&folder) && refused.lines().count() == 1, "{refused}");
        refused.replace(&folder, "")
    })
}
