//! The lines of a text file, compressed or not, one at a time.
use crate::trace::TraceError;
use lzma_rust2::XzReader;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

/// Longest line that a trace may have, in bytes; an address list of 32 lanes takes about 700.
const LONGEST: u64 = 1 << 16;

/// Memory that unpacking may take, in KiB: xz's highest level needs 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;

/// A file that is read line by line.
pub(super) struct Lines {
    file: String,
    number: u64,
    input: Box<dyn BufRead>,
    bytes: Vec<u8>,
}

impl Lines {
    /// Opens `path`, which is unpacked when its name ends in `.xz`.
    ///
    /// # Errors
    /// It cannot be opened.
    pub fn open(path: &Path) -> Result<Self, TraceError> {
        let file = File::open(path).map_err(|why| TraceError::unreadable(path, why))?;
        let packed = path.extension().is_some_and(|end| end == "xz");
        Ok(Self::new(&path.display().to_string(), BufReader::new(file), packed))
    }

    /// As [`Lines::open`], of anything that can be read.
    pub fn new(file: &str, input: impl BufRead + 'static, packed: bool) -> Self {
        let input: Box<dyn BufRead> = if packed {
            Box::new(BufReader::new(XzReader::new_mem_limit(input, true, XZ_MEMORY_KIB)))
        } else {
            Box::new(input)
        };
        Self { file: file.to_owned(), number: 0, input, bytes: Vec::new() }
    }

    /// Reads the next line into `line`, without its end; false after the last.
    ///
    /// # Errors
    /// The file ends early, is damaged or is not text.
    pub fn next(&mut self, line: &mut String) -> Result<bool, TraceError> {
        line.clear();
        self.bytes.clear();
        let read = self.input.by_ref().take(LONGEST).read_until(b'\n', &mut self.bytes);
        self.number += 1;
        let read = read.map_err(|why| self.bad(format!("cannot read on: {why}")))?;
        if read as u64 == LONGEST {
            return Err(self.bad(format!("the line is longer than {LONGEST} bytes: it is no trace")));
        }
        let text = std::str::from_utf8(&self.bytes);
        line.push_str(text.map_err(|_| self.bad("the line is not text: it is no trace"))?.trim());
        Ok(read > 0)
    }

    /// What is wrong with the line that was read last.
    pub fn bad(&self, message: impl Into<String>) -> TraceError {
        TraceError::Bad { file: self.file.clone(), line: self.number, message: message.into() }
    }

    pub fn file(&self) -> &str {
        &self.file
    }
}
