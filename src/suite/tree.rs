//! Copy of a program's folder with links to the rest of its suite, so that nothing is written to the suite itself.
//!
//! Relative paths between the folder and the suite, such as `../../data`, have the same meaning in the copy.
use std::fs;
use std::io::{Error, Result};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// Copies `suite/folder` to `root/folder`, links everything next to it, and returns the path of the copy. An older copy is replaced.
///
/// # Errors
/// A file or folder cannot be read, written or linked.
pub fn copy(suite: &Path, folder: &Path, root: &Path) -> Result<PathBuf> {
    if root.exists() {
        fs::remove_dir_all(root)?;
    }
    let (mut from, mut to) = (fs::canonicalize(suite)?, root.to_path_buf());
    for part in folder {
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(&from)? {
            let name = entry?.file_name();
            if name != part {
                symlink(from.join(&name), to.join(&name))?;
            }
        }
        from.push(part);
        to.push(part);
    }
    copy_all(&from, &to)?;
    Ok(to)
}

fn copy_all(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if entry.file_type()?.is_dir() {
            copy_all(&source, &target)?;
        } else if source.is_file() {
            fs::copy(&source, &target).map_err(|why| named(&source, &why))?;
        }
    }
    Ok(())
}

fn named(path: &Path, why: &Error) -> Error {
    Error::other(format!("{}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copy_reads_the_suite_and_writes_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let suite = folder.path().join("suite");
        for (file, text) in
            [("apps/a/main.cu", "main"), ("apps/a/sub/x.h", "x"), ("apps/b/y.h", "y"), ("data/in", "in")]
        {
            let path = suite.join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, text).expect("written");
        }
        for _ in 0..2 {
            let copy = copy(&suite, Path::new("apps/a"), &folder.path().join("tree")).expect("copied");
            for (file, text) in
                [("main.cu", "main"), ("sub/x.h", "x"), ("../b/y.h", "y"), ("../../data/in", "in")]
            {
                assert_eq!(fs::read_to_string(copy.join(file)).expect(file), text);
            }
            fs::write(copy.join("main.cu"), "changed").expect("written");
            fs::write(copy.join("out.txt"), "out").expect("written");
            assert_eq!(fs::read_to_string(suite.join("apps/a/main.cu")).expect("there"), "main");
            assert!(!suite.join("apps/a/out.txt").exists());
        }
    }
}
