//! Accel-Sim traces of SASS instructions: `kernelslist.g`, and one file per kernel, `.traceg`, `.traceg.xz` or `.tracez`.
//! [`kernel_text()`] writes them.
//!
//! They contain addresses but no values. The format is the post-processed output of the NVBit tracer, versions 1 to 6.
mod copies;
mod header;
mod instruction;
mod kernel;
mod kernel_text;
mod lines;
mod opcode;
#[cfg(test)]
mod tests;
mod tracez;

pub use kernel_text::kernel_text;

use super::error::TraceError;
use super::launch::TraceLaunch;
use crate::limits::Limits;
use lines::LineFile;
use std::path::{Path, PathBuf};

/// The kernels of a program, in launch order.
#[derive(Clone, Debug)]
pub struct AccelTrace {
    kernels: Vec<PathBuf>,
    /// Max bytes to which a kernel's packed trace unpacks, if given.
    unpacked: Option<u64>,
}

/// Returns whether `name` has the extension of a kernel's trace.
pub(super) fn is_kernel(name: &str) -> bool {
    [".traceg", ".traceg.xz", ".tracez"].iter().any(|end| name.ends_with(end))
}

impl AccelTrace {
    /// Loads the kernel of a file, or all kernels of a list. Files of a list must lie within the allowed location.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not a list, or names files that are missing or not allowed.
    pub fn load(path: &Path, limits: &Limits) -> Result<Self, TraceError> {
        let Limits { unpacked, reach, .. } = *limits;
        if is_kernel(&path.to_string_lossy()) {
            LineFile::open(path, unpacked)?;
            return Ok(Self { kernels: vec![path.to_owned()], unpacked });
        }
        let mut lines = LineFile::open(path, unpacked)?;
        let (mut line, mut kernels) = (String::new(), Vec::new());
        let folder = path.parent().unwrap_or(Path::new(""));
        while lines.next(&mut line)? {
            if line.is_empty() || is_copy(&line) {
                continue;
            }
            if !is_kernel(&line) {
                let shown: String = line.chars().take(60).collect();
                let allowed = "must be names of kernels' traces, NAME.traceg, NAME.traceg.xz or NAME.tracez, and \
                               MemcpyHtoD,address,bytes";
                return Err(lines.bad(format!("`{shown}`: {allowed}")));
            }
            let file = folder.join(&line);
            // Traces are often packed after the list was written.
            let packed = folder.join(format!("{line}.xz"));
            let file = if !file.is_file() && packed.is_file() { packed } else { file };
            reach.check_read(folder, &file).map_err(|why| lines.bad(why.to_string()))?;
            if !file.is_file() {
                return Err(lines.bad(format!("there is no file {}", file.display())));
            }
            kernels.push(file);
        }
        if kernels.is_empty() {
            return Err(lines.bad("the list names no kernel's trace"));
        }
        Ok(Self { kernels, unpacked })
    }

    /// Returns the kernels' files in launch order.
    pub fn kernels(&self) -> &[PathBuf] {
        &self.kernels
    }

    /// Returns the number of launches.
    pub fn launches(&self) -> usize {
        self.kernels.len()
    }

    /// Reads launch `index`. Returns `None` after the last launch.
    ///
    /// # Errors
    /// Returns an error if its file violates the format.
    pub fn launch(&self, index: usize) -> Result<Option<TraceLaunch>, TraceError> {
        self.kernels.get(index).map(|path| kernel::read(LineFile::open(path, self.unpacked)?)).transpose()
    }
}

/// Returns whether the line is a copy between host and device. Copies take no GPU time and leave no data in the caches.
fn is_copy(line: &str) -> bool {
    let mut words = line.split(',');
    let is_copy = words.next().is_some_and(|word| matches!(word, "MemcpyHtoD" | "MemcpyDtoH"));
    let address = words.next().is_some_and(|word| header::hexadecimal(word.trim()).is_some());
    let bytes = words.next().is_some_and(|word| word.trim().parse::<u64>().is_ok());
    is_copy && address && bytes && words.next().is_none()
}
