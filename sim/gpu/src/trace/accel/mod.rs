//! Accel-Sim's traces of SASS instructions: `kernelslist.g`, and a `.traceg` file for each kernel, packed by xz or not.
//!
//! They have addresses but no values. The format is that of the NVBit tracer's output after post-processing, tracer
//! versions 1 to 5.
mod header;
mod instruction;
mod kernel;
mod lines;
mod opcode;
#[cfg(test)]
mod tests;

use super::TraceError;
use super::launch::TraceLaunch;
use crate::limits::Limits;
use lines::Lines;
use std::path::{Path, PathBuf};

/// The kernels of a program, in the order of their launches.
#[derive(Debug)]
pub struct AccelTrace {
    kernels: Vec<PathBuf>,
    /// Most bytes that a kernel's packed trace unpacks to, where that is stated.
    unpacked: Option<u64>,
}

/// Returns whether the name ends as a kernel's trace does.
pub(super) fn is_kernel(name: &str) -> bool {
    name.ends_with(".traceg") || name.ends_with(".traceg.xz")
}

impl AccelTrace {
    /// The kernel of a `.traceg` file, or those that a list names, whose files lie within `reach`.
    ///
    /// # Errors
    /// The list cannot be read, is none, or names files that are not there or out of reach.
    pub fn load(path: &Path, limits: &Limits) -> Result<Self, TraceError> {
        let Limits { unpacked, reach, .. } = *limits;
        if is_kernel(&path.to_string_lossy()) {
            Lines::open(path, unpacked)?;
            return Ok(Self { kernels: vec![path.to_owned()], unpacked });
        }
        let mut lines = Lines::open(path, unpacked)?;
        let (mut line, mut kernels) = (String::new(), Vec::new());
        let folder = path.parent().unwrap_or(Path::new(""));
        while lines.next(&mut line)? {
            if line.is_empty() || is_copy(&line) {
                continue;
            }
            if !is_kernel(&line) {
                let shown: String = line.chars().take(60).collect();
                let allowed = "must be names of kernels' traces, NAME.traceg or NAME.traceg.xz, and \
                               MemcpyHtoD,address,bytes";
                return Err(lines.bad(format!("`{shown}`: {allowed}")));
            }
            let file = folder.join(&line);
            // Traces are often packed after the list has been written.
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

    /// Returns the kernels' files, in the order of the launches.
    pub fn kernels(&self) -> &[PathBuf] {
        &self.kernels
    }

    /// Number of launches.
    pub fn launches(&self) -> usize {
        self.kernels.len()
    }

    /// Reads launch `index`; none after the last.
    ///
    /// # Errors
    /// Its file is not what the format allows.
    pub fn launch(&self, index: usize) -> Result<Option<TraceLaunch>, TraceError> {
        self.kernels.get(index).map(|path| kernel::read(Lines::open(path, self.unpacked)?)).transpose()
    }
}

/// A copy between host and device, which takes no time of the GPU and leaves nothing in its caches.
fn is_copy(line: &str) -> bool {
    let mut words = line.split(',');
    let is_copy = words.next().is_some_and(|word| matches!(word, "MemcpyHtoD" | "MemcpyDtoH"));
    let address = words.next().is_some_and(|word| header::hexadecimal(word.trim()).is_some());
    let bytes = words.next().is_some_and(|word| word.trim().parse::<u64>().is_ok());
    is_copy && address && bytes && words.next().is_none()
}
