//! A user's own kernel: a `.toml` launch file that names PTX, kernel, geometry and arguments.
//!
//! ```toml
//! ptx = "saxpy.ptx"          # beside this file
//! kernel = "saxpy"
//! grid = [64]                # one to three numbers
//! block = [256]
//!
//! [[arg]]
//! type = "f32"
//! value = 2.5
//!
//! [[arg]]                    # a buffer; the argument is its address
//! type = "f32"
//! count = 16384
//! init = "random"            # zeros (default), iota, or random from `seed`
//! seed = 7
//! ```
use crate::memory::DeviceMemory;
use crate::workload::{Arg, HostProgram, Launch, LaunchDims, WorkloadError};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// PTX files larger than this are refused before they are read.
const MAX_PTX_BYTES: u64 = 64 << 20;
/// A buffer larger than this is refused.
const MAX_BUFFER_BYTES: u64 = 4 << 30;

/// A mistake in a launch file, in one line.
#[derive(Debug, thiserror::Error)]
pub enum LaunchFileError {
    /// The file or its PTX cannot be read.
    #[error("{file}: cannot read it: {why}")]
    Unreadable {
        /// The file.
        file: String,
        /// Why not.
        why: String,
    },
    /// A value is not what the format allows there.
    #[error("{file}:{line}: {message}")]
    Bad {
        /// The file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what is allowed.
        message: String,
    },
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Type {
    U32,
    S32,
    U64,
    F32,
    F64,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Init {
    #[default]
    Zeros,
    Iota,
    Random,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawArg {
    r#type: toml::Spanned<Type>,
    value: Option<f64>,
    count: Option<u64>,
    #[serde(default)]
    init: Init,
    #[serde(default)]
    seed: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    ptx: String,
    kernel: String,
    grid: toml::Spanned<Vec<u32>>,
    block: toml::Spanned<Vec<u32>>,
    #[serde(default)]
    dynamic_shared: u32,
    #[serde(default)]
    arg: Vec<RawArg>,
}

/// A launch file, read and checked, with its PTX.
#[derive(Clone, Debug)]
pub struct LaunchFile {
    /// The launch file's path as given.
    pub name: String,
    /// The PTX file's path.
    pub ptx_name: String,
    /// The PTX text.
    pub ptx: String,
    kernel: String,
    grid: [u32; 3],
    block: [u32; 3],
    dynamic_shared: u32,
    args: Vec<RawArg>,
}

impl LaunchFile {
    /// Reads the launch file and the PTX that it names.
    ///
    /// # Errors
    /// [`LaunchFileError`] in one line.
    pub fn load(path: &Path) -> Result<Self, LaunchFileError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| unreadable(path, &e.to_string()))?;
        let line =
            |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1;
        let bad =
            |at: usize, message: String| LaunchFileError::Bad { file: name.clone(), line: line(at), message };
        let raw: RawFile = toml::from_str(&text).map_err(|e| {
            let message = e.message().split_whitespace().collect::<Vec<_>>().join(" ");
            bad(e.span().map_or(0, |s| s.start), message)
        })?;
        let triple = |key: &str, value: &toml::Spanned<Vec<u32>>| match value.get_ref().as_slice() {
            [x] => Ok([*x, 1, 1]),
            [x, y] => Ok([*x, *y, 1]),
            [x, y, z] => Ok([*x, *y, *z]),
            _ => Err(bad(value.span().start, format!("{key}: allowed are one to three numbers"))),
        };
        for arg in &raw.arg {
            let bytes = arg.count.unwrap_or(1).saturating_mul(8);
            if arg.value.is_some() == arg.count.is_some() || !(1..=MAX_BUFFER_BYTES).contains(&bytes) {
                let allowed =
                    "an argument has either `value` or `count`, of 1 or more elements and at most 4 GiB";
                return Err(bad(arg.r#type.span().start, allowed.into()));
            }
        }
        let (grid, block) = (triple("grid", &raw.grid)?, triple("block", &raw.block)?);
        let ptx_path = path.parent().unwrap_or(Path::new("")).join(&raw.ptx);
        let ptx = read_ptx(&ptx_path)?;
        Ok(LaunchFile {
            name,
            ptx_name: ptx_path.display().to_string(),
            ptx,
            kernel: raw.kernel,
            grid,
            block,
            dynamic_shared: raw.dynamic_shared,
            args: raw.arg,
        })
    }

    /// The host program: allocate, fill, launch once.
    pub fn start(&self) -> Box<dyn HostProgram> {
        Box::new(Program { file: self.clone(), launched: false })
    }
}

fn unreadable(path: &Path, why: &str) -> LaunchFileError {
    LaunchFileError::Unreadable { file: path.display().to_string(), why: why.into() }
}

fn read_ptx(path: &PathBuf) -> Result<String, LaunchFileError> {
    let size = std::fs::metadata(path).map_err(|e| unreadable(path, &e.to_string()))?.len();
    if size > MAX_PTX_BYTES {
        return Err(unreadable(path, &format!("{size} bytes, allowed are at most {MAX_PTX_BYTES}")));
    }
    let bytes = std::fs::read(path).map_err(|e| unreadable(path, &e.to_string()))?;
    String::from_utf8(bytes).map_err(|e| LaunchFileError::Bad {
        file: path.display().to_string(),
        line: e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1,
        message: "not text: PTX is ASCII".into(),
    })
}

/// The host side of a launch file.
struct Program {
    file: LaunchFile,
    launched: bool,
}

impl HostProgram for Program {
    fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Launch>, WorkloadError> {
        if std::mem::replace(&mut self.launched, true) {
            return Ok(None);
        }
        let mut args = Vec::with_capacity(self.file.args.len());
        for (index, arg) in self.file.args.iter().enumerate() {
            args.push(match (arg.value, arg.count) {
                (Some(value), _) => scalar(*arg.r#type.get_ref(), value),
                (None, count) => place(memory, index, arg, count.unwrap_or(1))?,
            });
        }
        Ok(Some(Launch {
            kernel: self.file.kernel.clone(),
            dims: LaunchDims {
                grid: self.file.grid,
                block: self.file.block,
                dynamic_shared: self.file.dynamic_shared,
            },
            args,
        }))
    }

    /// A launch file states no expected output, so there is nothing to compare.
    fn verify(&self, _: &DeviceMemory) -> Result<(), WorkloadError> {
        Ok(())
    }
}

fn scalar(kind: Type, value: f64) -> Arg {
    match kind {
        Type::U32 => Arg::U32(value as u32),
        Type::S32 => Arg::U32(value as i32 as u32),
        Type::U64 => Arg::U64(value as u64),
        Type::F32 => Arg::F32(value as f32),
        Type::F64 => Arg::F64(value),
    }
}

/// Allocates and fills the buffer of argument `index`; the argument is its address.
fn place(memory: &mut DeviceMemory, index: usize, arg: &RawArg, count: u64) -> Result<Arg, WorkloadError> {
    let kind = *arg.r#type.get_ref();
    let size = if matches!(kind, Type::U64 | Type::F64) { 8 } else { 4 };
    let address = memory.alloc(count * size, &format!("arg{index}"))?;
    let mut state = arg.seed;
    let mut bytes = Vec::with_capacity((count * size) as usize);
    for i in 0..count {
        let number = match arg.init {
            Init::Zeros => break,
            Init::Iota => i,
            Init::Random => next_random(&mut state),
        };
        push_element(&mut bytes, kind, arg.init, number);
    }
    memory.write(address, &bytes)?;
    Ok(Arg::Ptr(address))
}

/// Appends `number` in the element's type; random floats are uniform in [0, 1).
fn push_element(bytes: &mut Vec<u8>, kind: Type, init: Init, number: u64) {
    let unit = (number >> 11) as f64 / (1u64 << 53) as f64;
    let float = if matches!(init, Init::Random) { unit } else { number as f64 };
    match kind {
        Type::U32 | Type::S32 => bytes.extend_from_slice(&(number as u32).to_le_bytes()),
        Type::U64 => bytes.extend_from_slice(&number.to_le_bytes()),
        Type::F32 => bytes.extend_from_slice(&(float as f32).to_le_bytes()),
        Type::F64 => bytes.extend_from_slice(&float.to_le_bytes()),
    }
}

/// Splitmix64: every seed, zero too, gives a full-period sequence.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}
