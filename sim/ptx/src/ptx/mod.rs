//! PTX front end: parses PTX text, decodes it once, and executes it 32 lanes a step with real values.
//!
//! [`Module::parse`] refuses what it cannot run, with file and line. A [`Kernel`] is immutable and shared; a [`Warp`]
//! holds registers and the stack of diverged paths, and [`Warp::step`] executes one instruction completely: a timing
//! model calls it at issue, then delays what depends on it. [`run_functional`] runs a whole grid without timing.
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
mod global;
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
pub use global::{AccessLog, Global};
pub use instr::{AtomicOp, CacheOp, Instr, Kernel, OpClass, Param, ParamKind, Space};
pub use module::{ConstantError, Module};
pub use pointer_uses::PointerUse;
pub use region::{Region, RegionValue};
pub use spin::{Spin, find as find_spin};
pub use texture_uses::{TextureSource, TextureUse};
pub use warp::{Ballot, Step, Warp};

/// Bytes of each window of generic addressing.
pub const WINDOW_BYTES: u64 = 0x0100_0000;
/// Generic addresses of a CTA's shared memory start here.
pub const SHARED_WINDOW: u64 = 0x0100_0000;
/// Generic addresses of a thread's local memory start here.
pub const LOCAL_WINDOW: u64 = 0x0200_0000;
/// Generic addresses of the constant bank start here.
pub const CONST_WINDOW: u64 = 0x0300_0000;
/// Generic addresses of kernel parameters start here.
pub const PARAM_WINDOW: u64 = 0x0400_0000;
/// Values of function pointers start here; no data lies there.
pub(crate) const FUNCTIONS_BASE: u64 = 0x0600_0000;
/// Device address of a module's `.global` variables.
pub const GLOBALS_BASE: u64 = 0x0800_0000;
/// Addresses that [`MemAccess`] gives local memory start here: beyond every buffer.
pub const LOCAL_REGION: u64 = 1 << 40;
/// Where the timing model sees the constant bank: beyond all local memory.
pub const CONST_REGION: u64 = 3 << 40;
/// Where the timing model sees kernel parameters.
pub const PARAM_REGION: u64 = CONST_REGION + (1 << 32);
/// Where the timing model sees code.
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
    /// A launch without dynamic shared memory.
    #[must_use]
    pub fn new(grid: [u32; 3], block: [u32; 3]) -> Self {
        Self { grid, block, dynamic_shared: 0 }
    }

    /// Threads of a CTA.
    #[must_use]
    pub fn threads_per_cta(&self) -> u32 {
        self.block.iter().fold(1u32, |product, &side| product.saturating_mul(side))
    }

    /// Warps of a CTA.
    #[must_use]
    pub fn warps_per_cta(&self) -> u32 {
        self.threads_per_cta().div_ceil(32)
    }

    /// CTAs of the grid.
    #[must_use]
    #[inline]
    pub fn ctas(&self) -> u64 {
        self.grid.iter().fold(1, |product: u64, &side| product.saturating_mul(u64::from(side)))
    }

    /// Place of CTA number `index`, counted along x first.
    #[must_use]
    pub fn cta(&self, index: u64) -> [u32; 3] {
        let [x, y] = [u64::from(self.grid[0]), u64::from(self.grid[1])];
        [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32]
    }
}

/// What a warp sees while it executes an instruction.
#[derive(Debug)]
pub struct Env<'a> {
    /// Global memory.
    pub memory: Global<'a>,
    /// The CTA's shared memory: [`Kernel::shared_bytes`] plus [`LaunchDims::dynamic_shared`] bytes.
    pub shared: &'a mut [u8],
    /// Parameter bytes as [`Kernel::pack`] lays them out.
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
