//! Parameters and constants of the QBMI.
use selvedge_hw::block_params;
use selvedge_hw::params::Allowed;

/// Maximum requests of a memory instruction: one per lane of a warp.
pub const MOST_REQUESTS: u32 = 32;

/// Width of the counters of instructions and of requests.
pub(super) const COUNT_BITS: usize = 10;

/// Width of the requests per instruction of a kernel.
pub(super) const REQUESTS_BITS: usize = 6;

/// Width of a remainder modulo the requests per instruction.
pub(super) const REST_BITS: usize = 5;

block_params! {
    /// Parameters of a QBMI.
    pub struct QbmiParams {
        /// Kernels that share the SM.
        kernels: u32 = 2, Allowed::OneOf(&[2, 3, 4]);
    }
}

impl QbmiParams {
    /// Width of a kernel's number and of its rank.
    pub const fn kernel_bits(&self) -> usize {
        if self.kernels == 2 { 1 } else { 2 }
    }

    /// Width of a quota in a set: the least common multiple of all kernels but one can be 32, 32 x 31 or 32 x 31 x 29.
    pub const fn set_bits(&self) -> usize {
        match self.kernels {
            2 => 6,
            3 => 10,
            _ => 15,
        }
    }

    /// Width of a kernel's current quota, which holds two sets.
    pub const fn quota_bits(&self) -> usize {
        self.set_bits() + 1
    }

    /// Maximum current quota, at which it saturates.
    pub fn most_quota(&self) -> u32 {
        (1 << self.quota_bits()) - 1
    }
}
