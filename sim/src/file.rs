//! Files of bounded size: a device that never ends, or a disk image given by mistake, is refused and not read to its end.
use std::io::Read;
use std::path::Path;

/// The bytes of a file of at most `most` bytes; a pipe may be read too.
///
/// # Errors
/// Why it cannot be read, or that it is larger, in words.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let too_large = |size: String| format!("{size} bytes, allowed are at most {most}");
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    let size = file.metadata().map_err(|e| e.to_string())?.len();
    if size > most {
        return Err(too_large(size.to_string()));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > most {
        return Err(too_large(format!("more than {most}")));
    }
    Ok(bytes)
}

/// As [`read`], for text.
///
/// # Errors
/// As [`read`], or that it is not text.
pub fn read_text(path: &Path, most: u64) -> Result<String, String> {
    String::from_utf8(read(path, most)?)
        .map_err(|e| format!("not text (byte {} is not UTF-8)", e.utf8_error().valid_up_to()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_most_bytes_is_read_and_one_more_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a");
        std::fs::write(&path, "1234").expect("written");
        assert_eq!(read(&path, 4), Ok(b"1234".to_vec()));
        assert_eq!(read(&path, 3), Err("4 bytes, allowed are at most 3".into()));
        std::fs::write(&path, [b'a', 0xff]).expect("written");
        assert_eq!(read_text(&path, 3), Err("not text (byte 1 is not UTF-8)".into()));
        assert!(read(folder.path(), 3).is_err() && read(&folder.path().join("b"), 3).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_device_without_an_end_is_refused() {
        let refused = read(Path::new("/dev/zero"), 1000);
        assert_eq!(refused, Err("more than 1000 bytes, allowed are at most 1000".into()));
    }
}
