//! A resident warp: its instructions, the results that it waits for, and its position in regions.
use super::feed::WarpFeed;
use super::launch::LaunchedKernel;
use super::needs::Need;
use super::scoreboard::Scoreboard;
use selvedge_ptx::ptx::RegionValue;
use selvedge_state::State;
use std::sync::Arc;

/// The reason why a resident warp cannot issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Hold {
    /// None except operands.
    None,
    /// The instruction after a control instruction is being fetched.
    Control,
    /// The warp waits at a barrier.
    Barrier(u32),
    /// The warp waits for its memory accesses, and at least until cycle `until`.
    Fence {
        /// First cycle in which the next instruction may issue.
        until: u64,
    },
    /// The warp waits for a phase of an mbarrier or of its cluster's barrier, at most until cycle `until`.
    Suspended {
        /// First cycle in which the warp no longer waits.
        until: u64,
    },
    /// The warp waits until its bulk copies have read shared memory, and at least until cycle `until`.
    Reads {
        /// First cycle in which the next instruction may issue.
        until: u64,
    },
    /// All lanes have exited; results are in flight.
    Exited,
}

/// The position of a warp with respect to regions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub enum RegionState {
    /// In no region, or in one for which it has not asked.
    #[default]
    Outside,
    /// The warp has asked for the results and waits.
    Asked { region: u16, mask: u32 },
    /// The warp executes the region.
    Inside {
        region: u16,
        mask: u32,
        /// `true` until the first instruction of the region executes.
        at_start: bool,
        /// `true` if the mechanism needs the results.
        is_wanted: bool,
    },
}

/// A border that a warp has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub enum Border {
    Start(u16),
    End(u16),
}

/// A resident warp.
#[derive(State)]
pub struct WarpSlot {
    pub warp: WarpFeed,
    pub kernel: Arc<LaunchedKernel>,
    pub cta: u8,
    /// The warp's number in the CTA.
    pub index: u8,
    pub hold: Hold,
    /// Registers whose values are in flight.
    pub scoreboard: Scoreboard,
    /// Number of instructions whose results are in flight.
    pub in_flight: u32,
    /// Number of stores that the L2 has not acknowledged.
    pub stores: u32,
    /// `true` if the kernel has regions whose results the mechanism may know.
    pub asks: bool,
    /// The warp's position in such regions.
    pub region: RegionState,
    /// The region border that the warp crosses before its next instruction.
    pub border: Option<Border>,
    /// The line of code that was fetched last; only maintained with an instruction cache.
    pub code_line: Option<u64>,
}

impl WarpSlot {
    /// Returns the need of the warp's next instruction, at `pc`.
    #[inline(always)]
    pub fn need_at(&self, pc: u32) -> Need {
        if self.in_flight > 0 && self.scoreboard.meets(&self.kernel.operands, pc) {
            return Need::OPERANDS;
        }
        Need::pipe(self.kernel.info[pc as usize].pipe)
    }

    /// Returns warp `index` of CTA `cta` of a kernel, in CTA slot 0.
    pub fn new(kernel: &Arc<LaunchedKernel>, cta: [u32; 3], index: u32) -> Self {
        let registers = kernel.kernel.register_count;
        WarpSlot {
            warp: WarpFeed::new(kernel, cta, index),
            kernel: Arc::clone(kernel),
            cta: 0,
            index: index as u8,
            hold: Hold::None,
            scoreboard: Scoreboard::new(registers),
            in_flight: 0,
            stores: 0,
            asks: false,
            region: RegionState::default(),
            border: None,
            code_line: None,
        }
    }

    /// Returns another warp of the same kernel, as [`WarpSlot::new`] does. Reuses the memory of this warp, which must have ended.
    pub fn renewed(mut self: Box<Self>, cta: [u32; 3], index: u32) -> Box<Self> {
        let WarpFeed::Execute(warp) = &mut self.warp else {
            return Box::new(WarpSlot::new(&self.kernel, cta, index));
        };
        warp.renew(&self.kernel.kernel, &self.kernel.dims, cta, index);
        debug_assert!(self.scoreboard.is_empty(), "all results have come");
        debug_assert!(self.in_flight == 0 && self.stores == 0, "nothing is in flight");
        self.index = index as u8;
        self.hold = Hold::None;
        self.region = RegionState::default();
        self.border = None;
        self.code_line = None;
        self
    }

    /// Returns the border before the warp's next instruction.
    pub fn border(&self, pc: u32) -> Option<Border> {
        let regions = &self.kernel.kernel.regions;
        let mut is_entering = false;
        if let RegionState::Inside { region, mask, at_start, is_wanted } = self.region {
            let is_there = regions[usize::from(region)].end == pc && self.warp.active_mask() & mask == mask;
            if is_there && is_wanted {
                return Some(Border::End(region));
            }
            is_entering = at_start;
        }
        let at = regions.binary_search_by_key(&pc, |region| region.start).ok();
        at.filter(|_| !is_entering).map(|at| Border::Start(at as u16))
    }

    /// Records that the warp executes its next instruction, which may be the first one of a region.
    pub fn enter_region(&mut self) {
        if let RegionState::Inside { at_start, .. } = &mut self.region {
            *at_start = false;
        }
    }

    /// Returns the registers that must be written before the warp crosses a border.
    pub fn awaited_at(&self, border: Border) -> impl Iterator<Item = &RegionValue> {
        let regions = &self.kernel.kernel.regions;
        let (region, inputs) = match border {
            Border::Start(region) => (&regions[usize::from(region)], true),
            Border::End(region) => (&regions[usize::from(region)], false),
        };
        region.inputs.iter().filter(move |_| inputs).chain(&region.results)
    }
}
