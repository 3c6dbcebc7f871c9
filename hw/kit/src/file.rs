//! Reads files with a max size, so that an endless device or a disk image is rejected at once, and resolves paths.
use std::fs::File;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

/// Max bytes of a JSON or TOML file with settings, options or results.
pub const MOST_TEXT_BYTES: u64 = 64 << 20;

/// Max symbolic links that a path may contain.
const MOST_LINKS: usize = 40;

/// Reads a file or pipe of at most `most` bytes.
///
/// # Errors
/// If the file cannot be read, or is larger ([`io::ErrorKind::FileTooLarge`]).
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_known(path, &[], most)
}

/// Reads a file that begins with `magic`, as [`read`]. Of another file, it returns only the first `magic.len()` bytes.
///
/// # Errors
/// The errors of [`read`].
pub fn read_known(path: &Path, magic: &[u8], most: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let mut bytes = Vec::new();
    file.by_ref().take(magic.len() as u64).read_to_end(&mut bytes)?;
    if bytes != magic {
        return Ok(bytes);
    }
    let size = file.metadata()?.len();
    if size > most {
        return Err(too_large(&size.to_string(), most));
    }
    let rest = (most + 1).saturating_sub(bytes.len() as u64);
    file.take(rest).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(&format!("more than {most}"), most));
    }
    Ok(bytes)
}

fn too_large(size: &str, most: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("{size} bytes: must be at most {most}"))
}

/// Reads a UTF-8 file, as [`read`].
///
/// # Errors
/// The errors of [`read`], or bytes that are not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|e| {
        io::Error::other(format!("not text (byte {} is not UTF-8)", e.utf8_error().valid_up_to()))
    })
}

/// Returns the absolute path of a file without links, `.` and `..`. The file and its folders need not exist.
///
/// # Errors
/// If links form a loop, or the current folder is unknown.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let start = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    let mut rest = std::path::absolute(start)?;
    let mut real = PathBuf::new();
    let mut links = 0;
    while let Some(first) = rest.components().next() {
        let behind: PathBuf = rest.components().skip(1).collect();
        match first {
            Component::Prefix(_) | Component::RootDir => real.push(first),
            Component::CurDir => {}
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => {
                let Ok(target) = real.join(name).read_link() else {
                    real.push(name);
                    rest = behind;
                    continue;
                };
                links += 1;
                if links > MOST_LINKS {
                    return Err(io::Error::other(format!("more than {MOST_LINKS} symbolic links")));
                }
                if target.is_absolute() {
                    real.clear();
                }
                rest = target.join(behind);
                continue;
            }
        }
        rest = behind;
    }
    Ok(real)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said<T>(read: io::Result<T>) -> Result<T, String> {
        read.map_err(|error| error.to_string())
    }

    #[test]
    fn a_file_of_the_most_bytes_is_read_and_one_more_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "1234").expect("written");
        assert_eq!(said(read(&path, 4)), Ok(b"1234".to_vec()));
        assert_eq!(said(read(&path, 3)), Err("4 bytes: must be at most 3".into()));
        std::fs::write(&path, [b'a', 0xff]).expect("written");
        assert_eq!(said(read_text(&path, 3)), Err("not text (byte 1 is not UTF-8)".into()));
        assert!(read(folder.path(), 3).is_err() && read(&folder.path().join("b"), 3).is_err());
    }

    #[test]
    fn a_file_of_another_kind_is_not_read_on() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "1234").expect("written");
        for (magic, most, bytes) in [("12", 4, "1234"), ("x", 1, "1"), ("12345", 1, "1234")] {
            assert_eq!(said(read_known(&path, magic.as_bytes(), most)), Ok(bytes.into()), "{magic}");
        }
        assert!(read_known(&path, b"12", 3).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let refused = said(read(Path::new("/dev/zero"), 1000));
        assert_eq!(refused, Err("more than 1000 bytes: must be at most 1000".into()));
    }

    #[cfg(unix)]
    #[test]
    fn a_real_path_has_no_links_and_no_way_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it is there");
        std::fs::create_dir_all(root.join("a/b")).expect("a folder");
        for (link, target) in [("to_b", "a/b"), ("a/loop", "../a/loop"), ("a/none", "../new/x")] {
            std::os::unix::fs::symlink(target, root.join(link)).expect("a link");
        }
        let real =
            |path: &str| real_path(&root.join(path)).map(|path| path.strip_prefix(&root).map(PathBuf::from));
        for (path, wanted) in [
            ("a/./b/../x", "a/x"),
            ("to_b/x", "a/b/x"),
            ("to_b/../x", "a/x"),
            ("a/none", "new/x"),
            ("new/../y/z", "y/z"),
        ] {
            assert_eq!(real(path).expect("no loop"), Ok(PathBuf::from(wanted)), "{path}");
        }
        assert!(real("a/loop").is_err());
    }
}
