//! Reads only plain files: kept results, checkpoints and inputs that are read more than once. A pipe would block, a device may
//! have no end, and a folder has no content.
use std::fs::FileType;
use std::io::{self, ErrorKind, Result};
use std::path::Path;

/// Checks that a path leads to a plain file or does not exist.
///
/// # Errors
/// The path leads to another kind of file, which the error names.
pub fn check(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if found.is_file() => Ok(()),
        Ok(found) => Err(io::Error::other(format!("{}: must be a plain file", kind(found.file_type())))),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// Reads a plain file of at most `most` bytes.
///
/// # Errors
/// It is not a plain file, is larger, or cannot be read.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>> {
    check(path)?;
    selvedge_hw::file::read(path, most)
}

fn kind(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_fifo() {
            return "a pipe";
        }
        if found.is_socket() {
            return "a socket";
        }
        if found.is_char_device() || found.is_block_device() {
            return "a device";
        }
    }
    if found.is_dir() { "a folder" } else { "no file" }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn only_plain_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let [pipe, file, link] = ["pipe", "file", "link"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs").success());
        std::fs::write(&file, "text").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("a link");
        let said = |path: &Path| read(path, 10).map_err(|error| error.to_string());
        assert_eq!(said(&pipe), Err("a pipe: must be a plain file".into()));
        assert_eq!(said(folder.path()), Err("a folder: must be a plain file".into()));
        assert_eq!(said(Path::new("/dev/zero")), Err("a device: must be a plain file".into()));
        assert_eq!(said(&link), Ok(b"text".to_vec()));
        assert!(check(&folder.path().join("none")).is_ok(), "what is not there can be made");
    }
}
