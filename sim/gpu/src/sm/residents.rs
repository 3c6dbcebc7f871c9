//! The CTAs and warps on an SM, and the resources that they leave free.
use super::cta_slot::{CtaBarrier, CtaSlot};
use super::feed::Feed;
use super::launch::LaunchedKernel;
use super::scheduler::WarpMask;
use super::warp_slot::WarpSlot;
use crate::config::SmConfig;
use crate::kernel_slots::{KERNEL_SLOTS, PROGRAMS};
use selvedge_ptx::clusters::ClusterMember;
use selvedge_state::State;
use std::sync::Arc;

/// Resources of an SM that no CTA occupies.
#[derive(Clone, Copy, Debug, State)]
pub struct Free {
    pub registers: u32,
    pub shared_bytes: u32,
    pub threads: u32,
}

/// The CTAs and warps on an SM.
#[derive(State)]
pub struct Residents {
    pub warps: Vec<Option<Box<WarpSlot>>>,
    /// Slots of ended warps, whose memory new warps reuse.
    #[state(skip = "only memory for warps to come")]
    #[expect(
        clippy::vec_box,
        reason = "the slots move between this list and the resident ones, not their contents"
    )]
    spare: Vec<Box<WarpSlot>>,
    pub ctas: Vec<Option<CtaSlot>>,
    free: Free,
    /// Warp slots by program.
    pub program_warps: [WarpMask; PROGRAMS],
    /// Number of resident CTAs by kernel slot, and of all kernels.
    pub kernel_ctas: [u32; KERNEL_SLOTS],
    pub all_ctas: u32,
    /// The kernel of the last CTA of each kernel slot in this SM.
    pub kernels: [Option<Arc<LaunchedKernel>>; KERNEL_SLOTS],
    /// Kernel slots of the CTAs that have finished and were not reported.
    finished: Vec<u8>,
}

impl Residents {
    /// Returns an SM without CTAs.
    pub fn new(sm: &SmConfig) -> Self {
        Residents {
            warps: (0..sm.warps).map(|_| None).collect(),
            spare: Vec::new(),
            ctas: (0..sm.ctas).map(|_| None).collect(),
            free: Free { registers: sm.registers, shared_bytes: sm.shared_bytes, threads: sm.threads },
            program_warps: [0; PROGRAMS],
            kernel_ctas: [0; KERNEL_SLOTS],
            all_ctas: 0,
            kernels: [const { None }; KERNEL_SLOTS],
            finished: Vec::new(),
        }
    }

    /// Returns the warp in a slot.
    ///
    /// # Panics
    /// Panics if the slot is empty.
    #[inline(always)]
    pub fn warp(&self, warp: u8) -> &WarpSlot {
        self.warps[usize::from(warp)].as_ref().expect("the warp is resident")
    }

    /// Returns the warp in a slot, for changes.
    ///
    /// # Panics
    /// Panics if the slot is empty.
    #[inline(always)]
    pub fn warp_mut(&mut self, warp: u8) -> &mut WarpSlot {
        self.warps[usize::from(warp)].as_mut().expect("the warp is resident")
    }

    /// Returns the CTA in a slot, for changes.
    ///
    /// # Panics
    /// Panics if the slot is empty.
    #[inline(always)]
    pub fn cta_mut(&mut self, cta: u8) -> &mut CtaSlot {
        self.ctas[usize::from(cta)].as_mut().expect("the CTA is resident")
    }

    /// Returns the warp in a slot with its CTA, for changes.
    ///
    /// # Panics
    /// Panics if the slot is empty.
    #[inline(always)]
    pub fn warp_and_cta(&mut self, warp: u8) -> (&mut WarpSlot, &mut CtaSlot) {
        let slot = self.warps[usize::from(warp)].as_mut().expect("the warp is resident");
        let cta = self.ctas[usize::from(slot.cta)].as_mut().expect("a resident warp's CTA is resident");
        (slot, cta)
    }

    /// Returns the bytes of shared memory that no CTA occupies.
    pub fn free_shared_bytes(&self) -> u32 {
        self.free.shared_bytes
    }

    /// Returns how many more CTAs of `kernel` fit.
    pub fn room_for(&self, kernel: &LaunchedKernel) -> u32 {
        let by = |have: u32, need: u32| have.checked_div(need).unwrap_or(u32::MAX);
        let free_warps = self.warps.iter().filter(|w| w.is_none()).count() as u32;
        let free_ctas = self.ctas.iter().filter(|cta| cta.is_none()).count() as u32;
        [
            by(free_warps, kernel.warps_per_cta),
            by(self.free.registers, kernel.registers_per_cta),
            by(self.free.shared_bytes, kernel.shared_bytes),
            by(self.free.threads, kernel.warps_per_cta * 32),
        ]
        .into_iter()
        .fold(free_ctas, u32::min)
    }

    /// Returns whether one more CTA of `kernel` fits.
    pub fn can_launch(&self, kernel: &LaunchedKernel) -> bool {
        let free_warps = self.warps.iter().filter(|w| w.is_none()).count() as u32;
        self.ctas.iter().any(Option::is_none)
            && free_warps >= kernel.warps_per_cta
            && self.free.registers >= kernel.registers_per_cta
            && self.free.shared_bytes >= kernel.shared_bytes
            && self.free.threads >= kernel.warps_per_cta * 32
    }

    /// Makes CTA `cta` of `kernel` resident, without its warps. Returns the slot of the CTA. [`Self::can_launch`] must have
    /// returned `true`.
    pub fn launch_cta(
        &mut self,
        kernel: &Arc<LaunchedKernel>,
        cta: [u32; 3],
        member: Option<ClusterMember>,
    ) -> u8 {
        let slot = self.ctas.iter().position(Option::is_none).expect("can_launch was checked");
        self.free.registers -= kernel.registers_per_cta;
        self.free.shared_bytes -= kernel.shared_bytes;
        self.free.threads -= kernel.warps_per_cta * 32;
        self.kernel_ctas[usize::from(kernel.slot)] += 1;
        self.all_ctas += 1;
        self.kernels[usize::from(kernel.slot)] = Some(Arc::clone(kernel));
        self.ctas[slot] = Some(CtaSlot {
            kernel: Arc::clone(kernel),
            cta,
            shared: vec![0; if member.is_some() { 0 } else { kernel.shared_bytes as usize }],
            member,
            live: kernel.warps_per_cta,
            resident: kernel.warps_per_cta,
            barriers: [CtaBarrier::default(); 16],
        });
        slot as u8
    }

    /// Makes warp `index` of the CTA in slot `cta` resident, and returns its slot. `memoizes`: a mechanism may know results of
    /// regions.
    pub fn launch_warp(&mut self, cta: u8, index: u32, memoizes: bool) -> u8 {
        let free = self.warps.iter().position(Option::is_none).expect("can_launch was checked");
        let resident = self.ctas[usize::from(cta)].as_ref().expect("the CTA is resident");
        let kernel = &resident.kernel;
        let mut warp = match self.spare.pop() {
            Some(spare) if Arc::ptr_eq(&spare.kernel, kernel) => spare.renewed(resident.cta, index),
            _ => Box::new(WarpSlot::new(kernel, resident.cta, index)),
        };
        warp.cta = cta;
        warp.asks = memoizes && matches!(kernel.feed, Feed::Execute) && !kernel.kernel.regions.is_empty();
        self.program_warps[usize::from(kernel.program)] |= 1 << free;
        self.warps[free] = Some(warp);
        free as u8
    }

    /// Removes a warp. Returns the slot of its CTA if the warp was its last.
    pub fn remove_warp(&mut self, warp: u8) -> Option<u8> {
        let slot = self.warps[usize::from(warp)].take().expect("the warp is resident");
        self.program_warps[usize::from(slot.kernel.program)] &= !(1 << warp);
        let cta = slot.cta;
        self.spare.push(slot);
        let resident = &mut self.cta_mut(cta).resident;
        *resident -= 1;
        (*resident == 0).then_some(cta)
    }

    /// Removes a CTA without warps. Returns its kernel slot.
    pub fn remove_cta(&mut self, cta: u8) -> u8 {
        let kernel = self.ctas[usize::from(cta)].take().expect("the CTA is resident").kernel;
        self.free.registers += kernel.registers_per_cta;
        self.free.shared_bytes += kernel.shared_bytes;
        self.free.threads += kernel.warps_per_cta * 32;
        self.kernel_ctas[usize::from(kernel.slot)] -= 1;
        self.all_ctas -= 1;
        self.finished.push(kernel.slot);
        kernel.slot
    }

    /// Moves the kernel slots of the CTAs that finished since the last call to `out`, one entry per CTA.
    #[inline(always)]
    pub fn take_finished(&mut self, out: &mut Vec<u8>) {
        if !self.finished.is_empty() {
            out.append(&mut self.finished);
        }
    }
}
