//! Max numbers of programs and of kernels that run at the same time.

/// Max programs that can share the GPU.
pub const PROGRAMS: usize = 4;

/// Max kernels that can run at the same time.
pub const KERNEL_SLOTS: usize = 128;
