//! The warp schedulers: which ready warp issues next.
use crate::config::SchedulerPolicy;

/// A set of warp slots, one bit each.
pub type WarpMask = u128;

/// One scheduler of an SM; warp slot w belongs to scheduler w mod schedulers.
pub struct Scheduler {
    policy: SchedulerPolicy,
    /// Warp slots of this scheduler.
    pub mine: WarpMask,
    last: Option<u8>,
    /// Resident warp slots in order of arrival, the oldest first.
    by_age: Vec<u8>,
}

impl Scheduler {
    /// Scheduler number `index` of `count`.
    pub fn new(policy: SchedulerPolicy, index: u32, count: u32, warps: u32) -> Self {
        let mine = (0..warps).filter(|w| w % count == index).fold(0, |m, w| m | 1 << w);
        Scheduler { policy, mine, last: None, by_age: Vec::with_capacity(warps as usize) }
    }

    /// A warp has arrived in `slot`.
    pub fn arrive(&mut self, slot: u8) {
        self.by_age.push(slot);
    }

    /// The warp in `slot` has finished.
    pub fn leave(&mut self, slot: u8) {
        self.by_age.retain(|s| *s != slot);
        if self.last == Some(slot) {
            self.last = None;
        }
    }

    /// Chooses among `ready`, which must be a subset of this scheduler's warps.
    pub fn choose(&mut self, ready: WarpMask) -> Option<u8> {
        if ready == 0 {
            return None;
        }
        let chosen = match self.policy {
            SchedulerPolicy::Gto => match self.last {
                Some(last) if ready >> last & 1 == 1 => last,
                _ => *self.by_age.iter().find(|s| ready >> **s & 1 == 1)?,
            },
            SchedulerPolicy::Lrr => {
                let after = self.last.map_or(0, |l| u32::from(l) + 1);
                let later = if after >= 128 { 0 } else { ready >> after << after };
                (if later != 0 { later } else { ready }).trailing_zeros() as u8
            }
        };
        self.last = Some(chosen);
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gto_stays_with_its_warp_then_takes_the_oldest() {
        let mut s = Scheduler::new(SchedulerPolicy::Gto, 0, 1, 8);
        for slot in [5, 2, 7] {
            s.arrive(slot);
        }
        assert_eq!(s.choose(0b1000_0100), Some(2));
        assert_eq!(s.choose(0b1010_0100), Some(2));
        assert_eq!(s.choose(0b1010_0000), Some(5));
        s.leave(5);
        assert_eq!(s.choose(0b1000_0000), Some(7));
        assert_eq!(s.choose(0), None);
    }

    #[test]
    fn lrr_takes_turns() {
        let mut s = Scheduler::new(SchedulerPolicy::Lrr, 0, 1, 8);
        let order: Vec<_> = (0..5).map(|_| s.choose(0b1010_0001).unwrap()).collect();
        assert_eq!(order, [0, 5, 7, 0, 5]);
    }

    #[test]
    fn schedulers_share_the_warps_without_overlap() {
        let a = Scheduler::new(SchedulerPolicy::Gto, 0, 2, 48).mine;
        let b = Scheduler::new(SchedulerPolicy::Gto, 1, 2, 48).mine;
        assert_eq!((a & b, a | b), (0, (1 << 48) - 1));
    }
}
