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

/// A number as written: an integer keeps all its digits.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
enum Number {
    Int(i64),
    Float(f64),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RawArg {
    r#type: toml::Spanned<Type>,
    value: Option<Number>,
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

/// A buffer that is allocated and filled before the launch.
#[derive(Clone, Copy, Debug)]
struct Buffer {
    kind: Type,
    count: u64,
    init: Init,
    seed: u64,
}

/// A checked argument.
#[derive(Clone, Debug)]
enum Argument {
    Scalar(Arg),
    Buffer(Buffer),
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
    args: Vec<Argument>,
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
        let argument = |arg: &RawArg| arg.checked().map_err(|message| bad(arg.r#type.span().start, message));
        let args = raw.arg.iter().map(argument).collect::<Result<_, _>>()?;
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
            args,
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
            args.push(match arg {
                Argument::Scalar(value) => value.clone(),
                Argument::Buffer(buffer) => place(memory, index, buffer)?,
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

impl RawArg {
    /// The argument, or what is allowed instead.
    fn checked(&self) -> Result<Argument, String> {
        let kind = *self.r#type.get_ref();
        let bytes = self.count.unwrap_or(1).saturating_mul(8);
        match (self.value, self.count) {
            (Some(value), None) => Ok(Argument::Scalar(scalar(kind, value)?)),
            (None, Some(count)) if (1..=MAX_BUFFER_BYTES).contains(&bytes) => {
                Ok(Argument::Buffer(Buffer { kind, count, init: self.init, seed: self.seed }))
            }
            _ => {
                Err("an argument has either `value` or `count`, of 1 or more elements and at most 4 GiB"
                    .into())
            }
        }
    }
}

/// A value that its type can hold whole.
fn scalar(kind: Type, value: Number) -> Result<Arg, String> {
    let float = match value {
        Number::Int(int) => int as f64,
        Number::Float(float) => float,
    };
    let whole = |low: i64, high: i64| match value {
        Number::Int(int) if (low..=high).contains(&int) => Ok(int),
        Number::Int(int) => Err(format!("value = {int}: allowed are whole numbers from {low} to {high}")),
        Number::Float(float) => {
            Err(format!("value = {float}: allowed are whole numbers from {low} to {high}"))
        }
    };
    Ok(match kind {
        Type::U32 => Arg::U32(whole(0, u32::MAX.into())? as u32),
        Type::S32 => Arg::U32(whole(i32::MIN.into(), i32::MAX.into())? as u32),
        Type::U64 => Arg::U64(whole(0, i64::MAX)? as u64),
        Type::F32 => Arg::F32(float as f32),
        Type::F64 => Arg::F64(float),
    })
}

/// Allocates and fills the buffer of argument `index`; the argument is its address.
fn place(memory: &mut DeviceMemory, index: usize, buffer: &Buffer) -> Result<Arg, WorkloadError> {
    let Buffer { kind, count, init, seed } = *buffer;
    let size = if matches!(kind, Type::U64 | Type::F64) { 8 } else { 4 };
    let address = memory.alloc(count * size, &format!("arg{index}"))?;
    let mut state = seed;
    let mut bytes = Vec::with_capacity((count * size) as usize);
    for i in 0..count {
        let number = match init {
            Init::Zeros => break,
            Init::Iota => i,
            Init::Random => next_random(&mut state),
        };
        push_element(&mut bytes, kind, init, number);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn scalar_of(kind: Type, text: &str) -> Result<Arg, String> {
        #[derive(Deserialize)]
        struct Line {
            value: Number,
        }
        let line: Line = toml::from_str(&format!("value = {text}")).expect("a number");
        scalar(kind, line.value)
    }

    #[test]
    fn a_number_that_its_type_cannot_hold_is_refused_not_bent() {
        for (kind, text) in [
            (Type::U32, "-1"),
            (Type::U32, "4294967296"),
            (Type::U32, "1.5"),
            (Type::U32, "nan"),
            (Type::S32, "2147483648"),
            (Type::U64, "-1"),
        ] {
            let refused = scalar_of(kind, text).expect_err(text);
            assert!(refused.contains("allowed are whole numbers from"), "{refused}");
        }
    }

    #[test]
    fn integers_keep_all_their_digits() {
        assert_eq!(scalar_of(Type::U64, "9007199254740993"), Ok(Arg::U64(9_007_199_254_740_993)));
        assert_eq!(scalar_of(Type::S32, "-2147483648"), Ok(Arg::U32(0x8000_0000)));
        assert_eq!(scalar_of(Type::F32, "3"), Ok(Arg::F32(3.0)));
    }
}
