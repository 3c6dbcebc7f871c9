//! A schedule: the instructions that a scheduler issues from one warp before it switches to another (LATTE-CC, section III-B2).

use selvedge_state::State;

/// A scheduler's last schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Schedule {
    warp: u8,
    /// Cycles in which it issued; 0 before the first schedule.
    cycles: u64,
}

impl Schedule {
    /// Records an issue from `warp`, which was one of `candidates` of the scheduler's warps that could issue. If that ends a
    /// schedule, returns the cycles in which it issued, and `candidates`.
    ///
    /// Cycles in which no warp can issue neither end a schedule nor count in it: "the scheduler tries to execute as many
    /// instructions as possible from each available warp before switching to the next".
    pub fn issue(&mut self, warp: u8, candidates: u32) -> Option<(u64, u32)> {
        if self.warp == warp && self.cycles > 0 {
            self.cycles += 1;
            return None;
        }
        let ended = *self;
        *self = Schedule { warp, cycles: 1 };
        (ended.cycles > 0).then_some((ended.cycles, candidates))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_ends_when_the_scheduler_switches_to_another_warp() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.issue(3, 5), None);
        assert_eq!(schedule.issue(3, 4), None);
        assert_eq!(schedule.issue(7, 6), Some((2, 6)));
        assert_eq!(schedule.issue(7, 2), None);
        assert_eq!(schedule.issue(1, 1), Some((2, 1)));
    }

    #[test]
    fn warp_0_is_a_warp_like_any_other() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.issue(0, 2), None);
        assert_eq!(schedule.issue(4, 3), Some((1, 3)));
    }
}
