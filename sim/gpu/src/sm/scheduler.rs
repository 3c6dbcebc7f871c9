//! The warp schedulers, which choose the next warp among the ready ones.
use crate::config::{SchedulerPolicy, SmConfig};
use crate::sm::two_level::Pools;
use selvedge_state::State;

/// A set of warp slots, one bit each.
pub type WarpMask = u128;

/// Returns the warp slots of a mask in ascending order.
pub fn warps_of(mut mask: WarpMask) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let warp = (mask != 0).then(|| mask.trailing_zeros() as u8);
        mask &= mask.wrapping_sub(1);
        warp
    })
}

/// A scheduler of an SM. Warp slot w belongs to scheduler w modulo the number of schedulers.
#[derive(State)]
pub struct Scheduler {
    #[state(skip = "the configuration")]
    policy: SchedulerPolicy,
    /// Warp slots of this scheduler.
    pub mine: WarpMask,
    /// The warp that issued last, until it leaves. GTO prefers it.
    greedy: Option<u8>,
    /// The slot that issued last, after which round-robin continues. Another warp may be in it now.
    turn: Option<u8>,
    /// Resident warp slots in order of arrival, the oldest first.
    by_age: Vec<u8>,
    /// Max length that `by_age` has had.
    most: usize,
    /// Number of warps that may issue; `None` if all may.
    limit: Option<usize>,
    pools: Pools,
}

impl Scheduler {
    /// Returns scheduler number `index` of an SM.
    pub fn new(sm: &SmConfig, index: u32) -> Self {
        let mine = (0..sm.warps).filter(|w| w % sm.schedulers == index).fold(0, |m, w| m | 1 << w);
        Scheduler {
            policy: sm.scheduler,
            mine,
            greedy: None,
            turn: None,
            by_age: Vec::with_capacity(sm.warps as usize),
            most: 0,
            limit: (sm.wavefront_limit > 0).then_some(sm.wavefront_limit as usize),
            pools: Pools::new(sm.active_warps),
        }
    }

    /// Adds a warp in `slot`. CTAs arrive one after the other, so that warps of older CTAs are older.
    pub fn arrive(&mut self, slot: u8) {
        self.by_age.push(slot);
        self.most = self.most.max(self.by_age.len());
        if self.policy == SchedulerPolicy::TwoLevel {
            self.pools.arrive(slot);
        }
    }

    /// Removes the finished warp in `slot`.
    pub fn leave(&mut self, slot: u8) {
        self.by_age.retain(|s| *s != slot);
        self.pools.leave(slot);
        if self.greedy == Some(slot) {
            self.greedy = None;
        }
    }

    /// Returns the max number of warps that were resident at the same time.
    pub fn most_warps(&self) -> usize {
        self.most
    }

    /// Returns whether the scheduler considers only some of its warps.
    pub fn is_selective(&self) -> bool {
        self.limit.is_some() || self.policy == SchedulerPolicy::TwoLevel
    }

    /// Returns the warps that may issue when ready. Under a wavefront limit these are the oldest that are not `parked`. Under
    /// two-level scheduling these are the active ones, and else all.
    ///
    /// Parked warps (at a barrier, or exited) do not count: a warp within the limit must not wait at a barrier for a warp beyond
    /// it.
    #[inline]
    pub fn eligible(&self, parked: WarpMask) -> WarpMask {
        match (self.policy, self.limit) {
            (SchedulerPolicy::TwoLevel, _) => self.pools.active(),
            (_, None) => self.mine,
            (_, Some(limit)) => self.oldest_running(limit, parked),
        }
    }

    /// Returns the `limit` oldest warps that are not `parked`.
    fn oldest_running(&self, limit: usize, parked: WarpMask) -> WarpMask {
        let running = self.by_age.iter().filter(|slot| parked >> **slot & 1 == 0);
        running.take(limit).fold(0, |mask, slot| mask | 1 << slot)
    }

    /// Ends a cycle. Under two-level scheduling, pending warps replace active ones in `waiting`, which wait for memory or at a
    /// barrier.
    #[inline]
    pub fn end_cycle(&mut self, waiting: WarpMask) {
        if self.policy == SchedulerPolicy::TwoLevel {
            self.pools.exchange(waiting);
        }
    }

    /// Returns the warp of `ready` that arrived first.
    fn oldest(&self, ready: WarpMask) -> Option<u8> {
        if ready & (ready - 1) == 0 {
            return Some(ready.trailing_zeros() as u8);
        }
        // Two 64-bit words, because shifting a 128-bit mask for each slot is slower.
        let words = [ready as u64, (ready >> 64) as u64];
        self.by_age.iter().copied().find(|slot| words[usize::from(slot / 64)] >> (slot % 64) & 1 == 1)
    }

    /// Chooses a warp from `ready`, which must be a subset of this scheduler's eligible warps.
    pub fn choose(&mut self, ready: WarpMask) -> Option<u8> {
        if ready == 0 {
            return None;
        }
        let chosen = match self.policy {
            SchedulerPolicy::Gto => match self.greedy {
                Some(slot) if ready >> slot & 1 == 1 => slot,
                _ => self.oldest(ready)?,
            },
            SchedulerPolicy::OldestCtaFirst => self.oldest(ready)?,
            SchedulerPolicy::Lrr | SchedulerPolicy::TwoLevel => {
                let after = self.turn.map_or(0, |l| u32::from(l) + 1);
                let later = if after >= WarpMask::BITS { 0 } else { ready >> after << after };
                (if later != 0 { later } else { ready }).trailing_zeros() as u8
            }
        };
        self.greedy = Some(chosen);
        self.turn = Some(chosen);
        Some(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::GpuConfig;

    /// Returns the only scheduler of an SM, with warps in `slots`.
    fn scheduler(keys: &str, slots: &[u8]) -> Scheduler {
        let text = format!("base = \"gtx480\"\n[sm]\nschedulers = 1\n{keys}");
        let config = GpuConfig::parse("my.toml", &text).expect("valid");
        let mut scheduler = Scheduler::new(&config.sm, 0);
        slots.iter().for_each(|slot| scheduler.arrive(*slot));
        scheduler
    }

    #[test]
    fn the_most_warps_at_a_time_are_remembered() {
        let mut s = scheduler("scheduler = \"gto\"", &[5, 2, 7]);
        s.leave(5);
        s.leave(2);
        s.arrive(4);
        assert_eq!(s.most_warps(), 3);
    }

    #[test]
    fn only_limits_and_pools_select() {
        let is_selective = |keys: &str| scheduler(keys, &[]).is_selective();
        assert!(!is_selective("scheduler = \"gto\""));
        assert!(is_selective("scheduler = \"gto\"\nwavefront_limit = 2"));
        assert!(is_selective("scheduler = \"two-level\""));
    }

    #[test]
    fn gto_stays_with_its_warp_then_takes_the_oldest() {
        let mut s = scheduler("scheduler = \"gto\"", &[5, 2, 7]);
        assert_eq!(s.choose(0b1000_0100), Some(2));
        assert_eq!(s.choose(0b1010_0100), Some(2));
        assert_eq!(s.choose(0b1010_0000), Some(5));
        s.leave(5);
        assert_eq!(s.choose(0b1000_0000), Some(7));
        assert_eq!(s.choose(0), None);
    }

    #[test]
    fn gto_is_not_greedy_for_a_new_warp_in_the_old_ones_slot() {
        let mut s = scheduler("scheduler = \"gto\"", &[5, 2]);
        assert_eq!(s.choose(0b10_0000), Some(5));
        s.leave(5);
        s.arrive(5);
        assert_eq!(s.choose(0b10_0100), Some(2));
    }

    #[test]
    fn lrr_takes_turns() {
        let mut s = scheduler("scheduler = \"lrr\"", &[0, 5, 7]);
        let order: Vec<_> = (0..5).map(|_| s.choose(0b1010_0001).expect("ready")).collect();
        assert_eq!(order, [0, 5, 7, 0, 5]);
    }

    #[test]
    fn lrr_goes_on_after_a_warp_that_left() {
        let mut s = scheduler("scheduler = \"lrr\"", &[0, 5, 7]);
        assert_eq!((s.choose(0b1010_0001), s.choose(0b1010_0001)), (Some(0), Some(5)));
        s.leave(5);
        assert_eq!(s.choose(0b1000_0001), Some(7));
    }

    #[test]
    fn oldest_cta_first_is_not_greedy() {
        let mut s = scheduler("scheduler = \"oldest-cta-first\"", &[4, 5, 0, 1]);
        assert_eq!(s.choose(0b00_0010), Some(1));
        assert_eq!(s.choose(0b10_0010), Some(5));
        assert_eq!(s.choose(0b11_0011), Some(4));
    }

    #[test]
    fn a_wavefront_limit_lets_the_oldest_issue_that_are_not_at_a_barrier() {
        let mut s = scheduler("wavefront_limit = 2", &[5, 2, 7, 3]);
        assert_eq!(s.eligible(0), 0b10_0100);
        assert_eq!(s.eligible(1 << 5), 0b1000_0100);
        s.leave(2);
        assert_eq!(s.eligible(0), 0b1010_0000);
    }

    #[test]
    fn only_active_warps_are_eligible_under_two_level_scheduling() {
        let mut s = scheduler("scheduler = \"two-level\"\nactive_warps = 2", &[0, 1, 2, 3]);
        assert_eq!(s.eligible(0), 0b0011);
        s.end_cycle(0b0001);
        assert_eq!(s.eligible(0), 0b0110);
        let order: Vec<_> = (0..3).map(|_| s.choose(0b0110).expect("ready")).collect();
        assert_eq!(order, [1, 2, 1]);
    }

    #[test]
    fn schedulers_share_the_warps_without_overlap() {
        let config = GpuConfig::load("gtx480").expect("built in");
        let [a, b] = [0, 1].map(|index| Scheduler::new(&config.sm, index).mine);
        assert_eq!((a & b, a | b), (0, (1 << 48) - 1));
    }
}
