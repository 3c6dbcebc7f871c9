//! First addresses of state spaces.

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
/// First address of local memory in [`MemAccess`](super::MemAccess), beyond every buffer.
pub const LOCAL_REGION: u64 = 1 << 40;
/// First address of the constant bank in the timing model, beyond all local memory.
pub const CONST_REGION: u64 = 3 << 40;
/// First address of kernel parameters in the timing model.
pub const PARAM_REGION: u64 = CONST_REGION + (1 << 32);
/// First address of code in the timing model.
pub const CODE_REGION: u64 = CONST_REGION + (2 << 32);
