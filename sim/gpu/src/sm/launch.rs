//! A kernel as launched: code with its issue classes, geometry, arguments and what a CTA needs of an SM.
use crate::config::{GpuConfig, Sm as SmConfig};
use crate::sm::fault::SimFault;
use crate::sm::feed::Feed;
use crate::sm::pipes::IssueInfo;
use crate::sm::scoreboard::Operands;
use selvedge_ptx::ptx::{Env, Global, Kernel, LaunchDims};
use selvedge_state::Shared;
use std::sync::Arc;

/// Most kernels that can run at the same time.
pub const KERNEL_SLOTS: usize = 4;

/// Bytes of an instruction where no program counters show them.
pub const INSTRUCTION_BYTES: u64 = 8;

/// One launch of a kernel.
pub struct LaunchedKernel {
    /// The decoded kernel.
    pub kernel: Arc<Kernel>,
    /// Grid and block.
    pub dims: LaunchDims,
    /// Where the warps' instructions come from.
    pub feed: Feed,
    /// The packed arguments.
    pub params: Vec<u8>,
    /// Issue class of each instruction.
    pub info: Vec<IssueInfo>,
    /// Registers of each instruction.
    pub operands: Operands,
    /// Kernel slot: which of the concurrent kernels this is, and whose address space it works in; below
    /// [`KERNEL_SLOTS`].
    pub slot: u8,
    /// Warps of a CTA.
    pub warps_per_cta: u32,
    /// 32-bit registers of a CTA.
    pub registers_per_cta: u32,
    /// Static and dynamic shared memory of a CTA, bytes.
    pub shared_bytes: u32,
    /// Byte address of its first instruction within the code's region.
    pub code_offset: u64,
    /// Bytes of an instruction.
    pub instruction_bytes: u64,
    /// Core clock in MHz, for the kernel that asks for the time.
    core_mhz: u32,
}

impl Shared for LaunchedKernel {
    fn key(&self) -> u64 {
        self.slot.into()
    }
}

impl LaunchedKernel {
    /// Prepares a launch and checks that a CTA fits an SM.
    ///
    /// # Errors
    /// The launch is none that the kernel or any GPU allows ([`Kernel::check_launch`]), or too large for the
    /// configuration.
    pub fn new(
        kernel: Arc<Kernel>,
        dims: LaunchDims,
        params: Vec<u8>,
        slot: u8,
        config: &GpuConfig,
    ) -> Result<Self, SimFault> {
        kernel.check_launch(&dims, &params).map_err(|refused| SimFault::Launch(refused.to_string()))?;
        let warps_per_cta = dims.warps_per_cta();
        let registers = kernel.registers.min(config.sm.registers_per_thread);
        let registers_per_cta = (registers + config.sm.extra_registers).saturating_mul(warps_per_cta * 32);
        let shared_bytes = kernel.shared_bytes.saturating_add(dims.dynamic_shared);
        let sm = &config.sm;
        for (what, need, have) in [
            ("warps", warps_per_cta, sm.warps.min(sm.threads / 32)),
            ("registers", registers_per_cta, sm.registers),
            ("bytes of shared memory", shared_bytes, sm.shared_bytes),
        ] {
            if need > have {
                return Err(SimFault::TooLarge {
                    kernel: kernel.name.clone(),
                    need: format!("{need} {what}"),
                    config: config.name.clone(),
                    have: have.to_string(),
                });
            }
        }
        let info = kernel.code.iter().map(|i| IssueInfo::of(i, sm)).collect();
        let code_offset = code_offset(&kernel.name);
        Ok(LaunchedKernel {
            code_offset,
            operands: Operands::of(&kernel.code, kernel.register_count),
            instruction_bytes: INSTRUCTION_BYTES,
            core_mhz: config.clock.core_mhz,
            kernel,
            dims,
            feed: Feed::Execute,
            params,
            info,
            slot,
            warps_per_cta,
            registers_per_cta,
            shared_bytes,
        })
    }

    /// Returns the most CTAs that an SM holds.
    pub fn most_ctas(&self, sm: &SmConfig) -> u32 {
        let by = |have: u32, need: u32| have.checked_div(need).unwrap_or(u32::MAX);
        [
            by(sm.warps.min(sm.threads / 32), self.warps_per_cta),
            by(sm.registers, self.registers_per_cta),
            by(sm.shared_bytes, self.shared_bytes),
        ]
        .into_iter()
        .fold(sm.ctas, u32::min)
    }

    /// What the executor needs to run an instruction of one CTA.
    pub fn environment<'a>(&'a self, memory: Global<'a>, shared: &'a mut [u8], place: Place) -> Env<'a> {
        Env {
            memory,
            shared,
            params: &self.params,
            constants: &self.kernel.constants,
            launch: &self.dims,
            clock: place.clock,
            core_mhz: self.core_mhz,
            sm: place.sm,
            sms: place.sms,
        }
    }
}

/// Bytes between the places of two kernels' code, and how many places there are.
const CODE_BYTES: u64 = 1 << 20;
const CODE_PLACES: u64 = 1 << 11;

/// A place for a kernel's code that depends on its name alone (FNV-1a).
fn code_offset(name: &str) -> u64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, hash) % CODE_PLACES * CODE_BYTES
}

/// Where and when an instruction executes, for the special registers that hold it.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// Core cycle.
    pub clock: u64,
    /// Number of the SM.
    pub sm: u32,
    /// Number of SMs.
    pub sms: u32,
}
