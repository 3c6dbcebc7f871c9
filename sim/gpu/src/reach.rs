//! Where the files lie that a launch file or a list of traces names.
use selvedge_hw::file::real_path;
use std::path::Path;

/// Where the files may lie that a launch file or a list of traces names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Anywhere.
    Anywhere,
    /// Those that are read, anywhere; those that are written, within the folder of the file that names them.
    #[default]
    WritesWithin,
    /// Within the folder of the file that names them: for files of unknown origin.
    Within,
}

impl Reach {
    /// Refuses a file to read, in words; `folder` is that of the file that names it.
    pub fn check_read(self, folder: &Path, path: &Path) -> Result<(), String> {
        match self {
            Reach::Anywhere | Reach::WritesWithin => Ok(()),
            Reach::Within => self.check(folder, path),
        }
    }

    /// Refuses a file to write, in words.
    pub fn check_write(self, folder: &Path, path: &Path) -> Result<(), String> {
        match self {
            Reach::Anywhere => Ok(()),
            Reach::WritesWithin | Reach::Within => self.check(folder, path),
        }
    }

    fn check(self, folder: &Path, path: &Path) -> Result<(), String> {
        let real = real_path(folder).and_then(|folder| Ok((folder, real_path(path)?)));
        if real.is_ok_and(|(folder, path)| path.starts_with(folder)) {
            return Ok(());
        }
        let unless =
            if self == Reach::Within { "under --sandbox" } else { "unless --allow-outside is given" };
        Err(format!("{} lies outside this file's folder: must be within it {unless}", path.display()))
    }
}
