//! The pools of a two-level scheduler: a few active warps, which issue round-robin, and pending warps.
//!
//! The first pending warp that can run replaces an active warp that waits for memory or at a barrier. This is the scheduler of
//! Narasiman et al. (MICRO 2011), with a set that refills warp by warp.
use crate::sm::scheduler::WarpMask;
use selvedge_state::State;
use std::collections::VecDeque;

/// Active and pending warps.
#[derive(State)]
pub struct Pools {
    capacity: usize,
    active: Vec<u8>,
    pending: VecDeque<u8>,
    /// The warps of `active` and `pending` as sets.
    active_set: WarpMask,
    pending_set: WarpMask,
}

impl Pools {
    /// Returns empty pools for at most `active` active warps.
    pub fn new(active: u32) -> Self {
        Pools {
            capacity: active as usize,
            active: Vec::new(),
            pending: VecDeque::new(),
            active_set: 0,
            pending_set: 0,
        }
    }

    /// Adds a warp, as active if there is room.
    pub fn arrive(&mut self, slot: u8) {
        if self.active.len() < self.capacity {
            self.active.push(slot);
            self.active_set |= 1 << slot;
        } else {
            self.pending.push_back(slot);
            self.pending_set |= 1 << slot;
        }
    }

    /// Removes a finished warp. Another one replaces it at the end of the cycle.
    pub fn leave(&mut self, slot: u8) {
        self.active.retain(|s| *s != slot);
        self.pending.retain(|s| *s != slot);
        self.active_set &= !(1 << slot);
        self.pending_set &= !(1 << slot);
    }

    /// Returns the active warps.
    #[inline]
    pub fn active(&self) -> WarpMask {
        self.active_set
    }

    /// Moves active warps that are `waiting` to the end of the pending ones. The first pending warps that are not waiting replace
    /// them. A second exchange with the same `waiting` changes nothing.
    #[inline]
    pub fn exchange(&mut self, waiting: WarpMask) {
        let has_room = self.active.len() < self.capacity;
        if self.active_set & waiting != 0 || has_room && self.pending_set & !waiting != 0 {
            self.exchange_some(waiting);
        }
    }

    fn exchange_some(&mut self, waiting: WarpMask) {
        let waits = |slot: &u8| waiting >> *slot & 1 == 1;
        self.pending.extend(self.active.iter().filter(|s| waits(s)));
        self.active.retain(|s| !waits(s));
        while self.active.len() < self.capacity {
            let Some(at) = self.pending.iter().position(|s| !waits(s)) else { break };
            self.active.extend(self.pending.remove(at));
        }
        let all = self.active_set | self.pending_set;
        self.active_set = self.active.iter().fold(0, |set, slot| set | 1 << slot);
        self.pending_set = all & !self.active_set;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_warp_is_lost_and_none_that_could_run_is_left_out(
            capacity in 1u32..9, warps in 1u8..17, steps in prop::collection::vec(any::<u16>(), 1..40)
        ) {
            let mut pools = Pools::new(capacity);
            (0..warps).for_each(|slot| pools.arrive(slot));
            for waiting in steps {
                let waiting = WarpMask::from(waiting);
                pools.exchange(waiting);
                let active = pools.active();
                let able = (!waiting & ((1 << warps) - 1)).count_ones();
                prop_assert_eq!(active & waiting, 0);
                prop_assert_eq!(active.count_ones(), able.min(capacity));
                prop_assert_eq!(pools.active.len() + pools.pending.len(), usize::from(warps));
                pools.exchange(waiting);
                prop_assert_eq!(pools.active(), active);
            }
        }
    }
}
