//! Output files: written whole or not at all.
use crate::error::Failure;
use std::io::Write;
use std::path::Path;

/// Writes `text` to `path` through a temporary file beside it; a pipe or device is written to, never replaced.
pub fn write_whole(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let fail = |e: std::io::Error| Failure::usage(format!("cannot write {}: {e}", path.display()));
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    if path.is_dir() {
        return Err(fail(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
    }
    if is_special(path) {
        let mut file = std::fs::OpenOptions::new().write(true).open(path).map_err(fail)?;
        return file.write_all(text).map_err(fail);
    }
    temporary(folder, text).map_err(fail)?.persist(path).map_err(|e| fail(e.error))?;
    Ok(())
}

/// As [`write_whole`], but whatever is at `path` already stays and is an error.
pub fn write_new(path: &Path, text: &[u8]) -> Result<(), Failure> {
    let fail = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("{} exists already: it is not overwritten", path.display()))
        }
        _ => Failure::usage(format!("cannot write {}: {e}", path.display())),
    };
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if !folder.is_dir() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    temporary(folder, text).map_err(fail)?.persist_noclobber(path).map_err(|e| fail(e.error))?;
    Ok(())
}

/// A temporary file in `folder` that holds `text`.
fn temporary(folder: &Path, text: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix(".selvedge").tempfile_in(folder)?;
    file.write_all(text)?;
    set_usual_permissions(file.as_file())?;
    Ok(file)
}

/// Is there something at `path` that is no regular file?
fn is_special(path: &Path) -> bool {
    path.metadata().is_ok_and(|at| !at.is_file())
}

/// Temporary files are private; an output file is as readable as any other.
#[cfg(unix)]
fn set_usual_permissions(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

#[cfg(not(unix))]
fn set_usual_permissions(_: &std::fs::File) -> std::io::Result<()> {
    Ok(())
}

/// Writes to a file, or to standard output for `-`.
pub fn write_or_print(target: &str, text: &str) -> Result<(), Failure> {
    if target != "-" {
        return write_whole(Path::new(target), text.as_bytes());
    }
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::usage(format!("cannot write to standard output: {e}")))
        }
        _ => Ok(()),
    }
}

/// Fails early when `path` cannot be written, so that a long run does not end in vain.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let fail = |e: std::io::Error| Failure::usage(format!("cannot write {}: {e}", path.display()));
    if path.is_dir() {
        return Err(fail(std::io::Error::from(std::io::ErrorKind::IsADirectory)));
    }
    if is_special(path) {
        return Ok(());
    }
    if !folder.is_dir() {
        std::fs::create_dir_all(folder).map_err(fail)?;
    }
    tempfile::Builder::new().prefix(".selvedge").tempfile_in(folder).map_err(fail)?;
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_written_to_and_stays() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("null");
        std::os::unix::fs::symlink("/dev/null", &link).expect("a link");
        check_writable(&link).expect("writable");
        write_whole(&link, b"text").expect("written");
        assert!(is_special(&link), "the link to the device was replaced by a file");
    }
}
