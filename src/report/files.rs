//! Input files of a page, each read as a whole and listed with its checksum.
use crate::error::Failure;
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::path::Path;

/// A file that the page is made of.
#[derive(Serialize)]
pub struct Source {
    name: String,
    /// Description of the contents, for the reader.
    what: String,
    bytes: usize,
    sha256: String,
}

/// Input files that have been read.
#[derive(Default)]
pub struct Files {
    sources: Vec<Source>,
}

impl Files {
    /// Reads a text file that contains `what`, and returns the text.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is too large, or is not text.
    pub fn read(&mut self, path: &Path, what: &str) -> Result<String, Failure> {
        let name = path.display().to_string();
        let text = read_text(path, MOST_TEXT_BYTES)
            .map_err(|why| Failure::usage(format!("cannot read {name}: {why}")))?;
        let digest = Sha256::digest(text.as_bytes());
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        self.sources.push(Source { name, what: what.into(), bytes: text.len(), sha256 });
        Ok(text)
    }

    /// Returns the number of files read.
    pub fn count(&self) -> usize {
        self.sources.len()
    }

    /// Returns the files in the order in which they were read.
    pub fn finish(self) -> Vec<Source> {
        self.sources
    }
}
