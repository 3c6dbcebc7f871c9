//! Counters of an SM.
use crate::events::{InstructionWork, WorkDone};
use crate::kernel_slots::KERNEL_SLOTS;
use crate::stats::{
    CacheCounters, ISSUE_CYCLES, IssueCycle, KernelCounters, SchedulerCycles, SlotWork, SmCounters,
};
use selvedge_state::State;

/// Counters of an SM, without the counters of its caches.
#[derive(State)]
pub struct SmTally {
    /// The counters that nothing else here holds.
    pub counters: SmCounters,
    /// The schedulers' cycles by [`IssueCycle`].
    scheduler_cycles: [u64; ISSUE_CYCLES],
    /// The last cycle that is included in `scheduler_cycles`.
    pub counted_until: u64,
    /// The work of the instructions that have issued.
    work_done: WorkDone,
    /// Counters of each kernel slot, except the L1D's.
    by_kernel: Vec<KernelCounters>,
    /// The last cycle that is included in the kernels' residence.
    residence_until: u64,
}

impl SmTally {
    /// Returns counters that are zero.
    pub fn new() -> Self {
        SmTally {
            counters: SmCounters::default(),
            scheduler_cycles: [0; ISSUE_CYCLES],
            counted_until: 0,
            work_done: WorkDone::default(),
            by_kernel: Vec::new(),
            residence_until: 0,
        }
    }

    /// Counts an issued instruction of a kernel slot, which executes in `lanes` lanes.
    #[inline(always)]
    pub fn issued(&mut self, kernel: u8, work: InstructionWork, lanes: u64) {
        let mine = &mut self.by_kernel[usize::from(kernel)];
        mine.warp_instructions += 1;
        mine.thread_instructions += lanes;
        self.work_done.count(work, lanes);
    }

    /// Counts a memory instruction of a kernel slot.
    #[inline]
    pub fn accessed(&mut self, kernel: u8, transactions: u64) {
        let mine = &mut self.by_kernel[usize::from(kernel)];
        mine.memory_instructions += 1;
        mine.transactions += transactions;
    }

    /// Counts a finished CTA of a kernel slot.
    pub fn finished(&mut self, kernel: u8) {
        self.by_kernel[usize::from(kernel)].ctas += 1;
    }

    /// Expects work of a kernel slot from now on.
    pub fn expect(&mut self, slot: u8) {
        let slots = self.by_kernel.len().max(usize::from(slot) + 1);
        self.by_kernel.resize(slots, KernelCounters::default());
    }

    /// Counts residence up to `cycle` for the kernels with CTAs. Must be called before a CTA comes or leaves.
    pub fn count_residence_until(&mut self, cycle: u64, kernel_ctas: &[u32; KERNEL_SLOTS]) {
        let cycles = cycle - self.residence_until;
        for (counters, ctas) in self.by_kernel.iter_mut().zip(kernel_ctas) {
            counters.resident_cycles += if *ctas > 0 { cycles } else { 0 };
        }
        self.residence_until = cycle;
    }

    /// Counts `cycles` cycles of a scheduler.
    #[inline(always)]
    pub fn count_cycles(&mut self, class: IssueCycle, cycles: u64) {
        self.scheduler_cycles[class as usize] += cycles;
    }

    /// Returns the number of warp instructions that have issued.
    pub fn warp_instructions(&self) -> u64 {
        self.sum(|kernel| kernel.warp_instructions)
    }

    /// Returns the number of thread instructions that have issued.
    pub fn thread_instructions(&self) -> u64 {
        self.sum(|kernel| kernel.thread_instructions)
    }

    /// Returns the work of all launches so far in a kernel slot.
    pub fn work_of(&self, slot: u8) -> SlotWork {
        let KernelCounters { warp_instructions, thread_instructions, .. } = self.of_slot(slot.into());
        SlotWork { warp_instructions, thread_instructions }
    }

    fn of_slot(&self, slot: usize) -> KernelCounters {
        self.by_kernel.get(slot).copied().unwrap_or_default()
    }

    fn sum(&self, of: fn(&KernelCounters) -> u64) -> u64 {
        self.by_kernel.iter().map(of).sum()
    }

    /// Returns the counters of a kernel slot up to cycle `now`, with the counters `l1d` of its accesses to the L1D.
    pub fn of_kernel(&self, slot: usize, l1d: CacheCounters, is_resident: bool, now: u64) -> KernelCounters {
        let counters = self.of_slot(slot);
        let since = if is_resident { now.saturating_sub(self.residence_until) } else { 0 };
        KernelCounters { l1d, resident_cycles: counters.resident_cycles + since, ..counters }
    }

    /// Returns all counters of the SM up to cycle `now`. `stalls` are the classes of the schedulers' uncounted cycles.
    pub fn total(&self, now: u64, stalls: impl Iterator<Item = IssueCycle>) -> SmCounters {
        let mut cycles = self.scheduler_cycles;
        for class in stalls {
            cycles[class as usize] += now - self.counted_until;
        }
        let mut counters = SmCounters {
            scheduler_cycles: SchedulerCycles::of(cycles),
            warp_instructions: self.warp_instructions(),
            thread_instructions: self.thread_instructions(),
            memory_instructions: self.sum(|kernel| kernel.memory_instructions),
            transactions: self.sum(|kernel| kernel.transactions),
            ctas: self.sum(|kernel| kernel.ctas),
            ..self.counters
        };
        self.work_done.add_to(&mut counters.events);
        counters
    }
}
