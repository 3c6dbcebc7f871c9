//! A launched kernel: its code with issue classes, geometry, arguments, and the SM resources of a CTA.
use crate::config::{BUILT_IN, GpuConfig, SmConfig};
use crate::sm::fault::SimFault;
use crate::sm::feed::Feed;
use crate::sm::pipes::IssueInfo;
use crate::sm::scoreboard::Operands;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::{Env, Kernel, LaunchDims};
use selvedge_state::SharedObject;
use std::sync::Arc;

/// Bytes of an instruction, unless program counters of a trace show another number.
pub const INSTRUCTION_BYTES: u64 = 8;

/// One launch of a kernel.
pub struct LaunchedKernel {
    /// The decoded kernel.
    pub kernel: Arc<Kernel>,
    /// Grid and block.
    pub dims: LaunchDims,
    /// The source of the warps' instructions.
    pub feed: Feed,
    /// The packed arguments.
    pub params: Vec<u8>,
    /// Issue class of each instruction.
    pub info: Vec<IssueInfo>,
    /// Registers of each instruction.
    pub operands: Operands,
    /// Program, below [`PROGRAMS`](crate::kernel_slots::PROGRAMS). It selects the address space. Mechanisms see all launches of a program as one kernel.
    pub program: u8,
    /// Kernel slot, below [`KERNEL_SLOTS`](crate::kernel_slots::KERNEL_SLOTS). It numbers the kernels that run at the same time.
    pub slot: u8,
    /// CTAs of launches with a larger number start before the CTAs of other launches.
    pub priority: u8,
    /// Warps of a CTA.
    pub warps_per_cta: u32,
    /// 32-bit registers of a CTA.
    pub registers_per_cta: u32,
    /// Static and dynamic shared memory of a CTA, bytes.
    pub shared_bytes: u32,
    /// `true`: the CTAs run in clusters.
    pub in_clusters: bool,
    /// Byte address of the first instruction within the code's region.
    pub code_offset: u64,
    /// Bytes of an instruction.
    pub instruction_bytes: u64,
    /// Core clock in MHz, for kernels that read the time.
    core_mhz: u32,
}

impl SharedObject for LaunchedKernel {
    fn key(&self) -> u64 {
        self.slot.into()
    }
}

impl LaunchedKernel {
    /// Prepares a launch of a program, in the kernel slot of the same number, and checks that a CTA fits an SM.
    ///
    /// # Errors
    /// Returns [`SimFault::Launch`] if the kernel or every GPU rejects the launch ([`Kernel::check_launch`]). Returns
    /// [`SimFault::TooLarge`] if a CTA does not fit an SM of the configuration.
    pub fn new(
        kernel: Arc<Kernel>,
        dims: LaunchDims,
        params: Vec<u8>,
        program: u8,
        config: &GpuConfig,
    ) -> Result<Self, SimFault> {
        let dims = kernel.with_clusters(dims);
        kernel.check_launch(&dims, &params).map_err(|refused| SimFault::Launch(refused.to_string()))?;
        let warps_per_cta = dims.warps_per_cta();
        let registers = kernel.registers.min(config.sm.registers_per_thread);
        let registers_per_cta = (registers + config.sm.extra_registers).saturating_mul(warps_per_cta * 32);
        let shared_bytes = kernel.shared_bytes.saturating_add(dims.dynamic_shared);
        let sm = &config.sm;
        let needs = CtaResources { warps: warps_per_cta, registers: registers_per_cta, shared_bytes };
        if let Some((need, have)) = needs.beyond(sm) {
            return Err(SimFault::TooLarge {
                kernel: kernel.name.clone(),
                need,
                config: config.name.clone(),
                have: have.to_string(),
                fits: needs.fitting(),
            });
        }
        let info = kernel.code.iter().map(|i| IssueInfo::of(i, sm)).collect();
        let code_offset = code_offset(&kernel.name);
        let in_clusters = kernel.runs_in_clusters(&dims);
        let launched = LaunchedKernel {
            code_offset,
            operands: Operands::of(&kernel.code, kernel.register_count),
            instruction_bytes: INSTRUCTION_BYTES,
            core_mhz: config.clock.core_mhz,
            kernel,
            dims,
            feed: Feed::Execute,
            params,
            info,
            program,
            slot: program,
            priority: 0,
            warps_per_cta,
            registers_per_cta,
            shared_bytes,
            in_clusters,
        };
        launched.check_cluster(config)?;
        Ok(launched)
    }

    /// Returns the max CTAs of a cluster of this launch.
    fn most_cluster_ctas(&self, sm: &SmConfig) -> u32 {
        sm.cluster.ctas.min(self.most_ctas(sm).saturating_mul(sm.cluster.sms.min(sm.count)))
    }

    /// Checks that a cluster fits a group of SMs.
    fn check_cluster(&self, config: &GpuConfig) -> Result<(), SimFault> {
        let (most, ctas) = (self.most_cluster_ctas(&config.sm), self.dims.cluster_ctas());
        if ctas <= most {
            return Ok(());
        }
        let fits = |name: &&str| GpuConfig::load(name).is_ok_and(|c| ctas <= self.most_cluster_ctas(&c.sm));
        let fits = BUILT_IN.iter().map(|built_in| built_in.name).find(fits);
        let (kernel, config) = (self.kernel.name.clone(), config.name.clone());
        Err(SimFault::Cluster { kernel, ctas, config, most, fits })
    }

    /// Returns the max number of CTAs of this launch that an SM holds at the same time.
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

    /// Returns the max number of clusters of this launch that all SMs hold at the same time.
    pub fn most_clusters(&self, sm: &SmConfig) -> u32 {
        let (ctas, group) = (self.most_ctas(sm), sm.cluster.sms);
        let of = |sms: u32| ctas.saturating_mul(sms) / self.dims.cluster_ctas();
        sm.count / group * of(group) + of(sm.count % group)
    }

    /// Returns the max number of warps that all SMs hold at the same time.
    fn most_warps(&self, sm: &SmConfig) -> u64 {
        let resident = u64::from(self.most_ctas(sm)) * u64::from(sm.count);
        resident.min(self.dims.ctas()) * u64::from(self.warps_per_cta)
    }

    /// Returns the bytes of local memory of all warps that can be resident at the same time.
    pub fn local_bytes(&self, sm: &SmConfig) -> u64 {
        self.kernel.local_bytes_of(self.most_warps(sm))
    }

    /// Checks that the device has enough memory for the local memory of this launch. Other launches use `beside` bytes.
    ///
    /// # Errors
    /// Returns [`SimFault::Launch`] if too little memory is left.
    pub fn check_room(&self, sm: &SmConfig, beside: u64, memory: &DeviceMemory) -> Result<(), SimFault> {
        let bytes = self.local_bytes(sm);
        if bytes == 0 {
            return Ok(());
        }
        let needed = bytes.saturating_add(beside);
        let room = self.kernel.check_room(needed, self.most_warps(sm), memory);
        room.map_err(|refused| SimFault::Launch(refused.to_string()))
    }

    /// Returns the environment in which the executor runs an instruction of a CTA.
    pub fn environment<'a>(
        &'a self,
        memory: &'a mut DeviceMemory,
        shared: &'a mut [u8],
        place: ClockAndSm,
    ) -> Env<'a> {
        Env {
            memory,
            shared,
            params: &self.params,
            constants: &self.kernel.constants,
            launch: &self.dims,
            slot: self.slot,
            clock: place.clock,
            core_mhz: self.core_mhz,
            sm: place.sm,
            sms: place.sms,
        }
    }
}

/// SM resources of a CTA.
struct CtaResources {
    warps: u32,
    registers: u32,
    shared_bytes: u32,
}

impl CtaResources {
    /// Returns the first resource that the SM has too little of: the CTA's need, and the amount in the SM.
    fn beyond(&self, sm: &SmConfig) -> Option<(String, u32)> {
        [
            ("warps", self.warps, sm.warps.min(sm.threads / 32)),
            ("registers", self.registers, sm.registers),
            ("bytes of shared memory", self.shared_bytes, sm.shared_bytes),
        ]
        .into_iter()
        .find(|(_, need, have)| need > have)
        .map(|(what, need, have)| (format!("{need} {what}"), have))
    }

    /// Returns the first built-in configuration whose SMs fit the CTA.
    fn fitting(&self) -> Option<&'static str> {
        let fits = |name: &&str| GpuConfig::load(name).is_ok_and(|config| self.beyond(&config.sm).is_none());
        BUILT_IN.iter().map(|built_in| built_in.name).find(fits)
    }
}

/// Bytes between the code addresses of two kernels, and number of such addresses.
const CODE_BYTES: u64 = 1 << 20;
const CODE_PLACES: u64 = 1 << 11;

/// Returns the code address of a kernel, which depends only on its name (FNV-1a).
fn code_offset(name: &str) -> u64 {
    let hash = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    name.bytes().fold(0xcbf2_9ce4_8422_2325, hash) % CODE_PLACES * CODE_BYTES
}

/// The core cycle and SM of an instruction's execution, for the special registers that return them.
#[derive(Clone, Copy, Debug)]
pub struct ClockAndSm {
    /// Core cycle.
    pub clock: u64,
    /// Number of the SM.
    pub sm: u32,
    /// Number of SMs.
    pub sms: u32,
}
