//! A launch, and the environment in which its warps execute.

use crate::memory::DeviceMemory;

/// Number of barriers a CTA has.
pub(crate) const BARRIERS: u32 = 16;

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
    /// The CTA's shared memory: [`Kernel::shared_bytes`](super::Kernel::shared_bytes) plus [`LaunchDims::dynamic_shared`] bytes.
    pub shared: &'a mut [u8],
    /// Parameter bytes, in the layout of [`Kernel::pack`](super::Kernel::pack).
    pub params: &'a [u8],
    /// Constant bank: [`Kernel::constants`](super::Kernel::constants), or a copy that the host has changed.
    pub constants: &'a [u8],
    /// Size of the launch.
    pub launch: &'a LaunchDims,
    /// Kernel slot of the launch, which requests of the kernel state.
    pub slot: u8,
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
    pub(crate) fn nanoseconds(&self) -> u64 {
        (u128::from(self.clock) * 1000 / u128::from(self.core_mhz.max(1))) as u64
    }
}
