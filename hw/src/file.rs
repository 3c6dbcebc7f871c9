//! Files of bounded size: a device that never ends, or a disk image given by mistake, is refused and not read to its end.
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Most bytes of a file of settings, options or results, as JSON or TOML.
pub const MOST_TEXT_BYTES: u64 = 64 << 20;

/// Reads a file of at most `most` bytes; a pipe may be read too.
///
/// # Errors
/// Why it cannot be read, or that it is larger ([`io::ErrorKind::FileTooLarge`]).
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_known(path, &[], most)
}

/// Reads a file that begins with `magic`, as [`read`]; of another file, no more than as many bytes.
///
/// # Errors
/// As [`read`].
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

/// Reads text, as [`read`].
///
/// # Errors
/// As [`read`], or that it is not text.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(read(path, most)?).map_err(|e| {
        io::Error::other(format!("not text (byte {} is not UTF-8)", e.utf8_error().valid_up_to()))
    })
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
}
