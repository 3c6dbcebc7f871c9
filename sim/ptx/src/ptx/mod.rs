//! PTX front end: parses PTX text, decodes it once, and executes it for 32 lanes per step, with real values.
//!
//! [`Module::parse`] rejects unsupported PTX with file and line; [`Module::find`] rejects each kernel separately. A
//! [`Kernel`] is immutable and shared. A [`Warp`] holds registers and the stack of diverged paths. [`Warp::step`]
//! executes one instruction completely: a timing model calls it at issue and then delays dependent instructions.
//! [`run_functional`] runs a whole grid without timing.
//!
//! Generic addresses below [`crate::memory::HEAP_BASE`] are windows onto the other state spaces.

mod access;
mod alu;
mod args;
mod ast;
mod bits;
mod control_flow;
mod convert;
mod decode;
mod error;
mod exchange;
mod float;
mod functional;
mod half;
mod inline;
mod instr;
mod lane;
mod lexer;
mod matrix;
mod memory_ops;
mod module;
mod parser;
mod pointer_uses;
mod pressure;
mod print;
mod promote;
mod region;
mod small_float;
mod special;
mod spin;
mod surface_ops;
mod system;
#[cfg(test)]
mod tests;
mod texture_ops;
mod texture_uses;
mod warp;

pub use access::{AccessKind, Fault, MemAccess};
pub use args::{Arg, ArgError};
pub use error::PtxError;
pub use float::{Rounding, half_to_single, to_half};
pub use functional::{
    FunctionalStats, RunError, run_cta, run_functional, run_kernel, run_limited, run_while, watch_functional,
};
pub use instr::{AtomicOp, CacheOp, Instr, Kernel, OpClass, Param, ParamKind, Space};
pub use module::{ConstantError, KernelError, Module, RefusedKernel};
pub use pointer_uses::PointerUse;
pub use region::{Region, RegionValue};
pub use spin::{Spin, find as find_spin};
pub use texture_uses::{TextureSource, TextureUse};
pub use warp::{Ballot, Step, Warp};

use crate::memory::DeviceMemory;

/// Bytes of each window of generic addressing.
pub const WINDOW_BYTES: u64 = 0x0100_0000;
/// First generic address of a CTA's shared memory.
pub const SHARED_WINDOW: u64 = 0x0100_0000;
/// First generic address of a thread's local memory.
pub const LOCAL_WINDOW: u64 = 0x0200_0000;
/// First generic address of the constant bank.
pub const CONST_WINDOW: u64 = 0x0300_0000;
/// First generic address of kernel parameters.
pub const PARAM_WINDOW: u64 = 0x0400_0000;
/// First value of a function pointer. No data has such an address.
pub(crate) const FUNCTIONS_BASE: u64 = 0x0600_0000;
/// First device address of a module's `.global` variables.
pub const GLOBALS_BASE: u64 = 0x0800_0000;
/// First address of local memory in [`MemAccess`], beyond every buffer.
pub const LOCAL_REGION: u64 = 1 << 40;
/// First address of the constant bank in the timing model, beyond all local memory.
pub const CONST_REGION: u64 = 3 << 40;
/// First address of kernel parameters in the timing model.
pub const PARAM_REGION: u64 = CONST_REGION + (1 << 32);
/// First address of code in the timing model.
pub const CODE_REGION: u64 = CONST_REGION + (2 << 32);

/// Size of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchDims {
    /// CTAs in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a CTA in x, y and z.
    pub block: [u32; 3],
    /// Bytes of `.extern .shared` memory per CTA.
    pub dynamic_shared: u32,
}

impl LaunchDims {
    /// Returns a launch without dynamic shared memory.
    #[must_use]
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared: 0 }
    }

    /// Returns the threads per CTA.
    #[must_use]
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().fold(1u32, |product, &side| product.saturating_mul(side))
    }

    /// Returns the warps per CTA.
    #[must_use]
    pub fn warps_per_cta(&self) -> u32 {
        self.threads_per_cta().div_ceil(32)
    }

    /// Returns the CTAs of the grid.
    #[must_use]
    #[inline]
    pub fn ctas(&self) -> u64 {
        self.grid.iter().fold(1, |product: u64, &side| product.saturating_mul(u64::from(side)))
    }

    /// Returns the position in the grid of CTA number `index`, counted along x first.
    #[must_use]
    pub fn cta(&self, index: u64) -> [u32; 3] {
        let [x, y] = [u64::from(self.grid[0]), u64::from(self.grid[1])];
        [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
    }
}

/// Environment of a warp that executes an instruction.
#[derive(Debug)]
pub struct Env<'a> {
    /// Global memory.
    pub memory: &'a mut DeviceMemory,
    /// The CTA's shared memory: [`Kernel::shared_bytes`] plus [`LaunchDims::dynamic_shared`] bytes.
    pub shared: &'a mut [u8],
    /// Parameter bytes, in the layout of [`Kernel::pack`].
    pub params: &'a [u8],
    /// Constant bank: [`Kernel::constants`], or a copy that the host has changed.
    pub constants: &'a [u8],
    /// Size of the launch.
    pub launch: &'a LaunchDims,
    /// Value of `%clock64`, in cycles.
    pub clock: u64,
    /// Cycles in a microsecond, for `%globaltimer`.
    pub core_mhz: u32,
    /// Value of `%smid`.
    pub sm: u32,
    /// Value of `%nsmid`.
    pub sms: u32,
}

impl Env<'_> {
    /// Returns the time since cycle 0, in nanoseconds.
    fn nanoseconds(&self) -> u64 {
        (u128::from(self.clock) * 1000 / u128::from(self.core_mhz.max(1))) as u64
    }
}
