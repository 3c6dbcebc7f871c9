//! Allowed location of the files that a launch file or a list of traces names.
use selvedge_hw::file::real_path;
use std::path::{Path, PathBuf};

/// Allowed location of the files that a launch file or a list of traces names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileReach {
    /// Files may lie anywhere.
    Anywhere,
    /// Files to read may lie anywhere. Files to write must lie in the folder of the file that names them.
    #[default]
    WritesWithin,
    /// All files must lie in the folder of the file that names them. For files of unknown origin.
    Within,
}

/// A file outside its allowed location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} lies outside this file's folder: must be within it {unless}", path.display())]
pub struct OutOfReach {
    /// Path of the file.
    pub path: PathBuf,
    /// Option that would allow the file, for the message.
    pub unless: &'static str,
}

impl FileReach {
    /// Checks a file to read, named by a file in `folder`.
    ///
    /// # Errors
    /// Returns [`OutOfReach`] if the location is not allowed.
    pub fn check_read(self, folder: &Path, path: &Path) -> Result<(), OutOfReach> {
        match self {
            FileReach::Anywhere | FileReach::WritesWithin => Ok(()),
            FileReach::Within => self.check(folder, path),
        }
    }

    /// Checks a file to write, named by a file in `folder`.
    ///
    /// # Errors
    /// Returns [`OutOfReach`] if the location is not allowed.
    pub fn check_write(self, folder: &Path, path: &Path) -> Result<(), OutOfReach> {
        match self {
            FileReach::Anywhere => Ok(()),
            FileReach::WritesWithin | FileReach::Within => self.check(folder, path),
        }
    }

    fn check(self, folder: &Path, path: &Path) -> Result<(), OutOfReach> {
        let real = real_path(folder).and_then(|folder| Ok((folder, real_path(path)?)));
        if real.is_ok_and(|(folder, path)| path.starts_with(folder)) {
            return Ok(());
        }
        let unless =
            if self == FileReach::Within { "under --sandbox" } else { "unless --allow-outside is given" };
        Err(OutOfReach { path: path.into(), unless })
    }
}
