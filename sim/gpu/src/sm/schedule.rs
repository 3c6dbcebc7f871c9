//! A schedule: a run of consecutive cycles in which a scheduler issues from one warp alone (LATTE-CC, section III-B2).

/// A scheduler's last schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    warp: u8,
    /// Its cycles so far; 0 before the first one.
    cycles: u64,
    /// Its last cycle.
    last: u64,
}

impl Schedule {
    /// The scheduler issues from `warp` in cycle `now`, in which `candidates` of its warps could issue. Gives the schedule
    /// that has ended by that: its cycles, and the warps that could issue in the cycle after it.
    pub fn issue(&mut self, warp: u8, now: u64, candidates: u32) -> Option<(u64, u32)> {
        let is_next = self.last + 1 == now;
        if is_next && self.warp == warp {
            self.cycles += 1;
            self.last = now;
            return None;
        }
        let ended = *self;
        *self = Schedule { warp, cycles: 1, last: now };
        // Had any warp been able to issue, one would have issued.
        (ended.cycles > 0).then_some((ended.cycles, if is_next { candidates } else { 0 }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_ends_with_another_warp_or_a_cycle_without_issue() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.issue(3, 10, 5), None);
        assert_eq!(schedule.issue(3, 11, 4), None);
        assert_eq!(schedule.issue(7, 12, 6), Some((2, 6)));
        assert_eq!(schedule.issue(7, 14, 2), Some((1, 0)));
        assert_eq!(schedule.issue(7, 15, 2), None);
        assert_eq!(schedule.issue(1, 16, 1), Some((2, 1)));
    }
}
