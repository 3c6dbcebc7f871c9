//! Writes files completely or not at all, through temporary files next to them that are then renamed.
use crate::error::Failure;
use crate::interrupt::hold_off;
use selvedge_hw::file::real_path;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Prefix of the names of temporary files.
const PREFIX: &str = ".selvedge";

/// Writes `bytes` to `path`. Replaces the target of a link, not the link. Writes to a pipe or device without replacing
/// it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> std::result::Result<(), Failure> {
    write_set(&[(path, bytes)])
}

/// Writes all of `files`, or none. If one cannot be renamed, the others get back their old contents.
///
/// A signal does not end the command while files are written, unless a file is a stream, which may block forever.
pub fn write_set(files: &[(impl AsRef<Path>, impl AsRef<[u8]>)]) -> std::result::Result<(), Failure> {
    let is_stream = |path: &Path| matches!(Place::of(path), Ok(Place::Stream));
    let _whole = files.iter().all(|(path, _)| !is_stream(path.as_ref())).then(hold_off);
    let mut drafts = Vec::new();
    for (path, bytes) in files {
        let draft = Draft::new(path.as_ref(), bytes.as_ref()).map_err(|e| cannot(path.as_ref(), &e))?;
        drafts.push((path.as_ref(), draft));
    }
    take_places(drafts)
}

/// Renames all drafts to the paths next to them, or none.
fn take_places(drafts: Vec<(&Path, Draft)>) -> std::result::Result<(), Failure> {
    let mut taken: Vec<Taken> = Vec::new();
    for (path, draft) in drafts {
        match draft.take_place() {
            Ok(place) => taken.extend(place),
            Err(e) => {
                taken.into_iter().for_each(Taken::undo);
                return Err(cannot(path, &e));
            }
        }
    }
    let mut folders: Vec<&Path> = taken.iter().map(|file| folder_of(&file.path)).collect();
    folders.dedup();
    folders.into_iter().try_for_each(|folder| sync_folder(folder).map_err(|e| cannot(folder, &e)))
}

/// Writes `bytes` to `path`, which must not exist.
pub fn write_new(path: &Path, bytes: &[u8]) -> std::result::Result<(), Failure> {
    let _whole = hold_off();
    let folder = folder_of(path);
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| fill(temporary(folder, None)?, bytes))
        .and_then(|file| file.persist_noclobber(path).map_err(|e| e.error))
        .and_then(|_| sync_folder(folder));
    written.map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("{} exists already: it is not overwritten", path.display()))
        }
        _ => cannot(path, &e),
    })
}

/// Fails if `path` cannot be written, so that a long run does not lose its results. Creates its folder.
pub fn check_writable(path: &Path) -> std::result::Result<(), Failure> {
    let checked = Place::of(path).and_then(|place| match place {
        Place::Stream => Ok(()),
        Place::File { path, .. } => temporary(folder_of(&path), None).map(drop),
    });
    checked.map_err(|e| cannot(path, &e))
}

fn cannot(path: &Path, why: &Error) -> Failure {
    Failure::usage(format!("cannot write {}: {why}", path.display()))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Target of an output's path.
enum Place {
    /// A pipe, a device, or a file that another program has opened for this one.
    Stream,
    /// A regular file, or no file yet, at a path without links. `old` is the metadata of an existing file.
    File { path: PathBuf, old: Option<Metadata> },
}

impl Place {
    /// Examines `path`, and creates its folder.
    ///
    /// # Errors
    /// Fails for a folder, or for a file that cannot be written.
    fn of(path: &Path) -> Result<Self> {
        let inherited = ["/dev/fd", "/dev/stderr", "/proc"].into_iter().any(|of| path.starts_with(of));
        match path.metadata() {
            Ok(old) if old.is_dir() => Err(Error::from(ErrorKind::IsADirectory)),
            Ok(old) if !old.is_file() || inherited => Ok(Place::Stream),
            Ok(old) => {
                OpenOptions::new().write(true).open(path)?;
                Ok(Place::File { path: real_path(path)?, old: Some(old) })
            }
            Err(_) => {
                let path = real_path(path)?;
                std::fs::create_dir_all(folder_of(&path))?;
                Ok(Place::File { path, old: None })
            }
        }
    }
}

/// An output that is not yet at its path.
enum Draft {
    /// Bytes to write to the stream at this path.
    Stream { path: PathBuf, bytes: Vec<u8> },
    /// A complete temporary file, to be renamed to `path`.
    File { file: NamedTempFile, path: PathBuf },
}

impl Draft {
    fn new(path: &Path, bytes: &[u8]) -> Result<Self> {
        Ok(match Place::of(path)? {
            Place::Stream => Draft::Stream { path: path.into(), bytes: bytes.into() },
            Place::File { path, old } => {
                let file = fill(temporary(folder_of(&path), old.as_ref())?, bytes)?;
                Draft::File { file, path }
            }
        })
    }

    /// Makes the draft the output. Returns the file at its new name, or `None` for a stream.
    fn take_place(self) -> Result<Option<Taken>> {
        match self {
            Draft::Stream { path, bytes } => {
                OpenOptions::new().append(true).open(path)?.write_all(&bytes)?;
                Ok(None)
            }
            Draft::File { file, path } => {
                let old = path.exists().then(|| second_name(&path));
                file.persist(&path).map_err(|e| e.error)?;
                Ok(Some(Taken { path, old }))
            }
        }
    }
}

/// An output that is at its path.
struct Taken {
    path: PathBuf,
    /// Second name of the replaced file. `None` if no file was replaced, an error if the file system has no hard links.
    old: Option<Result<NamedTempFile<()>>>,
}

impl Taken {
    /// Restores the replaced file, if the file system allows it.
    fn undo(self) {
        match self.old {
            None => drop(std::fs::remove_file(self.path)),
            Some(Ok(old)) => drop(old.persist(self.path)),
            Some(Err(_)) => {}
        }
    }
}

/// Links a temporary name to the file at `path`. Drop removes the name.
fn second_name(path: &Path) -> Result<NamedTempFile<()>> {
    tempfile::Builder::new().prefix(PREFIX).make_in(folder_of(path), |name| std::fs::hard_link(path, name))
}

/// Fills a temporary file and syncs it to the disk.
fn fill(mut file: NamedTempFile, bytes: &[u8]) -> Result<NamedTempFile> {
    // The wrapper would add the temporary name to the error.
    file.as_file_mut().write_all(bytes)?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// Creates a temporary file in `folder`, with owner and mode of the `old` file or else the mode of a new file.
#[cfg(unix)]
fn temporary(folder: &Path, old: Option<&Metadata>) -> Result<NamedTempFile> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    let make = |mode: u32| {
        let mode = std::fs::Permissions::from_mode(mode);
        tempfile::Builder::new().prefix(PREFIX).permissions(mode).tempfile_in(folder)
    };
    let Some(old) = old else { return make(0o666) };
    let file = make(0o600)?;
    let new = file.as_file().metadata()?;
    if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
        // Only root may change the owner. Others can keep the group if they are members.
        let _ = fchown(file.as_file(), Some(old.uid()), Some(old.gid()))
            .or_else(|_| fchown(file.as_file(), None, Some(old.gid())));
    }
    file.as_file().set_permissions(std::fs::Permissions::from_mode(old.mode() & 0o777))?;
    Ok(file)
}

#[cfg(not(unix))]
fn temporary(folder: &Path, _: Option<&Metadata>) -> Result<NamedTempFile> {
    tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder)
}

/// Syncs the names in a folder to the disk, if the file system supports that.
fn sync_folder(folder: &Path) -> Result<()> {
    let Ok(opened) = File::open(folder) else { return Ok(()) };
    opened.sync_all().or_else(|e| match e.kind() {
        ErrorKind::InvalidInput | ErrorKind::Unsupported => Ok(()),
        _ => Err(e),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_take_its_name_gives_the_others_back_what_they_had() {
        let folder = tempfile::tempdir().expect("a folder");
        let paths = ["old", "new", "folder"].map(|name| folder.path().join(name));
        std::fs::write(&paths[0], "before").expect("written");
        let drafts = paths.iter().map(|path| (path.as_path(), Draft::new(path, b"after").expect("written")));
        let drafts = drafts.collect();
        std::fs::create_dir(&paths[2]).expect("a folder");
        assert!(take_places(drafts).is_err());
        assert_eq!(std::fs::read(&paths[0]).expect("there"), b"before");
        let names =
            std::fs::read_dir(folder.path()).expect("a folder").map(|file| file.expect("there").path());
        let mut names: Vec<PathBuf> = names.collect();
        names.sort();
        assert_eq!(names, [paths[2].clone(), paths[0].clone()]);
    }
}
