//! Packs kernel arguments into parameter bytes.

use super::kernel::{Kernel, Param, ParamKind};

/// A kernel argument.
#[derive(Debug, Clone, PartialEq)]
pub enum Arg {
    /// A 32-bit word.
    U32(u32),
    /// A 64-bit word.
    U64(u64),
    /// A device address.
    Ptr(u64),
    /// A single-precision number.
    F32(f32),
    /// A double-precision number.
    F64(f64),
    /// Any bytes: a structure by value, or an integer of 1 or 2 bytes.
    Bytes(Vec<u8>),
}

impl Arg {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::U32(value) => value.to_le_bytes().to_vec(),
            Self::U64(value) | Self::Ptr(value) => value.to_le_bytes().to_vec(),
            Self::F32(value) => value.to_le_bytes().to_vec(),
            Self::F64(value) => value.to_le_bytes().to_vec(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }

    fn fits(&self, param: &Param) -> bool {
        let kind_fits = match self {
            Self::U32(_) | Self::U64(_) | Self::Ptr(_) => param.kind == ParamKind::Integer,
            // `.param .b32` may also hold a floating-point number.
            Self::F32(_) | Self::F64(_) => param.kind != ParamKind::Bytes,
            Self::Bytes(_) => true,
        };
        let bytes = match self {
            // 32-bit modules take addresses in 4 bytes.
            Self::Ptr(address) if u32::try_from(*address).is_ok() && param.bytes == 4 => 4,
            _ => self.bytes().len(),
        };
        kind_fits && bytes == param.bytes as usize
    }

    fn describe(&self) -> String {
        match self {
            Self::U32(value) => format!("the 32-bit integer {value}"),
            Self::U64(value) => format!("the 64-bit integer {value}"),
            Self::Ptr(value) => format!("the address {value:#x}"),
            Self::F32(value) => format!("the single-precision number {value}"),
            Self::F64(value) => format!("the double-precision number {value}"),
            Self::Bytes(bytes) => format!("{} bytes", bytes.len()),
        }
    }
}

/// Error of arguments that do not fit a kernel's parameters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArgError {
    /// Wrong number of arguments.
    #[error("kernel '{kernel}' takes {wanted} arguments, got {given}")]
    Count {
        /// Name of the kernel.
        kernel: String,
        /// Number of its parameters.
        wanted: usize,
        /// Number of arguments.
        given: usize,
    },
    /// Wrong type or size.
    #[error("argument {index} of kernel '{kernel}' ('{name}') is {wanted}, got {given}")]
    Type {
        /// Name of the kernel.
        kernel: String,
        /// Position of the argument, from 0.
        index: usize,
        /// Name of the parameter.
        name: String,
        /// Description of the expected argument.
        wanted: String,
        /// Description of the given argument.
        given: String,
    },
}

impl Kernel {
    /// Returns the parameter bytes for `arguments`.
    ///
    /// # Errors
    /// [`ArgError`] when the number, a type or a size differs from the kernel's parameters.
    pub fn pack(&self, arguments: &[Arg]) -> Result<Vec<u8>, ArgError> {
        if arguments.len() != self.params.len() {
            let (wanted, given) = (self.params.len(), arguments.len());
            return Err(ArgError::Count { kernel: self.name.clone(), wanted, given });
        }
        let mut out = vec![0; self.param_bytes as usize];
        for (index, (param, argument)) in self.params.iter().zip(arguments).enumerate() {
            if !argument.fits(param) {
                let noun = match param.kind {
                    ParamKind::Integer => "an integer",
                    ParamKind::Float => "a floating-point number",
                    ParamKind::Bytes => "a structure",
                };
                return Err(ArgError::Type {
                    kernel: self.name.clone(),
                    index,
                    name: param.name.clone(),
                    wanted: format!("{noun} of {} bytes", param.bytes),
                    given: argument.describe(),
                });
            }
            let place = param.offset as usize..(param.offset + param.bytes) as usize;
            let bytes = argument.bytes();
            let length = place.len();
            out[place].copy_from_slice(&bytes[..length]);
        }
        Ok(out)
    }
}
