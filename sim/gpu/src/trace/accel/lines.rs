//! Reads a text file line by line, with optional decompression.
use super::tracez::TracezText;
use crate::trace::error::TraceError;
use lzma_rust2::XzReader;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek};
use std::path::Path;

/// Limit for the bytes of a line; the address list of a bulk copy of 256 KiB takes about 320,000.
const LONGEST: u64 = 1 << 20;

/// Max memory for decompression in KiB; the highest level of xz needs 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// Max ratio of unpacked to packed size, unless a limit is given.
const MOST_TIMES: u64 = 1000;

/// Min of the limit for unpacked bytes, for small files.
const LEAST_UNPACKED: u64 = 256 << 20;

/// Packing of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Xz,
    /// The pieces of a `.tracez` file.
    Tracez,
}

impl Packing {
    /// Returns the packing by the extension of the file's name.
    fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()) {
            Some("xz") => Packing::Xz,
            Some("tracez") => Packing::Tracez,
            _ => Packing::None,
        }
    }
}

/// A file that is read line by line.
pub(super) struct LineFile {
    file: String,
    number: u64,
    input: Box<dyn BufRead>,
    bytes: Vec<u8>,
    /// Unpacked bytes that may still follow.
    left: u64,
    /// Error message for more bytes.
    excess: String,
}

impl LineFile {
    /// Opens `path`, and unpacks it if its name ends in `.xz` or `.tracez`. It may unpack to `most` bytes; with `None`, to a multiple
    /// of its size. A file that is not packed may have any size.
    ///
    /// # Errors
    /// Returns an error if the file cannot be opened.
    pub fn open(path: &Path, most: Option<u64>) -> Result<Self, TraceError> {
        let unreadable = |why| TraceError::unreadable(path, why);
        let file = File::open(path).map_err(unreadable)?;
        let packing = Packing::of(path);
        let size = file.metadata().map_err(unreadable)?.len();
        let lines = Self::new(&path.display().to_string(), BufReader::new(file), packing);
        Ok(if packing == Packing::None { lines } else { lines.limited(size, most) })
    }

    /// Limits the unpacked bytes of a packed file of `size` bytes.
    fn limited(self, size: u64, most: Option<u64>) -> Self {
        let (left, rule) = match most {
            Some(most) => (most, "the limit of --max-unpacked".to_owned()),
            None => {
                let most = size.saturating_mul(MOST_TIMES).max(LEAST_UNPACKED);
                (most, format!("{MOST_TIMES} times its size, or 256 MiB; --max-unpacked allows more"))
            }
        };
        let excess = format!("{size} bytes unpack to more than {left}: must be at most {rule}");
        Self { left, excess, ..self }
    }

    /// Reads lines from any input, without a limit.
    pub fn new(file: &str, input: impl BufRead + Seek + 'static, packing: Packing) -> Self {
        let input: Box<dyn BufRead> = match packing {
            Packing::None => Box::new(input),
            Packing::Xz => Box::new(BufReader::new(XzReader::new_mem_limit(input, true, XZ_MEMORY_KIB))),
            Packing::Tracez => Box::new(BufReader::new(TracezText::new(input))),
        };
        let (file, excess) = (file.to_owned(), String::new());
        Self { file, number: 0, input, bytes: Vec::new(), left: u64::MAX, excess }
    }

    /// Reads the next line into `line`, without its end. Returns `false` after the last line.
    ///
    /// # Errors
    /// Returns an error if the file ends early, is damaged, is not text or unpacks to too many bytes.
    pub fn next(&mut self, line: &mut String) -> Result<bool, TraceError> {
        line.clear();
        self.bytes.clear();
        let read = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.bytes);
        self.number += 1;
        let read = read.map_err(|why| self.bad(format!("cannot read on: {why}")))?;
        if read as u64 == LONGEST {
            return Err(self.bad(format!("the line is longer than {LONGEST} bytes: it is no trace")));
        }
        self.left = self.left.checked_sub(read as u64).ok_or_else(|| self.bad(&self.excess))?;
        let text = std::str::from_utf8(&self.bytes);
        line.push_str(text.map_err(|_| self.bad("the line is not text: it is no trace"))?.trim());
        Ok(read > 0)
    }

    /// Returns an error for the line that was read last.
    pub fn bad(&self, message: impl Into<String>) -> TraceError {
        TraceError::Bad { file: self.file.clone(), line: self.number, message: message.into() }
    }

    pub fn file(&self) -> &str {
        &self.file
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &'static str) -> LineFile {
        LineFile::new("k.traceg.xz", std::io::Cursor::new(text), Packing::None)
    }

    #[test]
    fn a_file_may_unpack_to_its_limit_and_no_further() {
        let count = |most| {
            let (mut lines, mut line) = (plain("12\n45\n78").limited(5, Some(most)), String::new());
            while lines.next(&mut line)? {}
            Ok(())
        };
        assert_eq!(count(8), Ok(()));
        let refused: Result<(), TraceError> = count(7);
        assert_eq!(
            refused.map_err(|error| error.to_string()),
            Err("k.traceg.xz:3: 5 bytes unpack to more than 7: must be at most the limit of --max-unpacked"
                .into())
        );
    }

    #[test]
    fn the_limit_is_in_proportion_to_the_size_unless_stated() {
        let left = |size| plain("").limited(size, None).left;
        assert_eq!((left(1), left(1 << 20), plain("").left), (256 << 20, 1000 << 20, u64::MAX));
    }
}
