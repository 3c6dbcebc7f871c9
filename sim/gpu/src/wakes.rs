//! When each of several units, as SMs or L2 slices, must run again: in the next cycle, later, or not before something comes
//! for it.
use crate::id_set::IdSet;
use selvedge_state::State;

/// The cycles in which units must run again.
#[derive(State)]
pub(crate) struct Wakes {
    at: Vec<u64>,
    /// Those that must run in the next cycle.
    next: IdSet,
    /// Those that must run in some later cycle, and some that need not any more.
    timed: IdSet,
    /// None of them must run before this cycle.
    later: u64,
}

impl Wakes {
    /// Returns the state of `count` units that sleep.
    pub fn new(count: usize) -> Self {
        Wakes {
            at: vec![u64::MAX; count],
            next: IdSet::new(count),
            timed: IdSet::new(count),
            later: u64::MAX,
        }
    }

    /// Returns the state of `count` units that must run in the first cycle.
    pub fn of_awake(count: usize) -> Self {
        let mut wakes = Wakes::new(count);
        (0..count).for_each(|id| wakes.set(id, 0, 1));
        wakes
    }

    /// Lets a unit run in cycle `at`, which lies after cycle `now`; `u64::MAX` for none.
    #[inline]
    pub fn set(&mut self, id: usize, now: u64, at: u64) {
        self.at[id] = at;
        if at == now + 1 {
            self.next.insert(id);
        } else if at != u64::MAX {
            self.timed.insert(id);
            self.later = self.later.min(at);
        }
    }

    /// Adds the units that must run in cycle `now` to `due`.
    #[inline]
    pub fn take_due(&mut self, now: u64, due: &mut IdSet) {
        due.take_all(&mut self.next);
        if self.later <= now {
            self.take_timed(now, due);
        }
    }

    /// Adds the units of the set that must run in cycle `now` to `due`.
    fn take_timed(&mut self, now: u64, due: &mut IdSet) {
        let mut later = u64::MAX;
        let mut from = 0;
        while let Some(id) = self.timed.next(from) {
            from = id + 1;
            let at = self.at[id];
            if at <= now {
                due.insert(id);
            }
            if at <= now || at == u64::MAX {
                self.timed.remove(id);
            } else {
                later = later.min(at);
            }
        }
        self.later = later;
    }

    /// Lets a unit sleep and returns the cycle after `now` in which it would have run.
    pub fn suspend(&mut self, id: usize, now: u64) -> u64 {
        let at = std::mem::replace(&mut self.at[id], u64::MAX);
        if self.next.contains(id) {
            self.next.remove(id);
            return now + 1;
        }
        at
    }

    /// Returns whether a unit must run in a cycle up to `end`.
    pub fn is_due_by(&self, id: usize, end: u64) -> bool {
        self.at[id] <= end || self.next.contains(id)
    }

    /// Returns whether a unit must run in the next cycle.
    #[inline]
    pub fn has_next(&self) -> bool {
        !self.next.is_empty()
    }

    /// Returns the first cycle in which a unit must run; `u64::MAX` when none must.
    pub fn first(&self) -> u64 {
        self.at.iter().copied().min().unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn due_is_who_asked_for_a_cycle_up_to_now(asks in prop::collection::vec((0usize..70, 1u64..9), 1..99)) {
            let mut wakes = Wakes::new(70);
            let mut expected = [u64::MAX; 70];
            for (now, (id, delay)) in (0u64..).zip(asks) {
                let mut due = IdSet::new(70);
                wakes.take_due(now, &mut due);
                for (other, at) in expected.iter_mut().enumerate() {
                    prop_assert_eq!(due.next(other) == Some(other), *at <= now);
                    if *at <= now {
                        *at = u64::MAX;
                        wakes.set(other, now, u64::MAX);
                    }
                }
                expected[id] = now + delay;
                wakes.set(id, now, now + delay);
                // A unit that has asked for a cycle in vain runs in the next one, too.
                if delay != 1 && wakes.next.next(id) == Some(id) {
                    wakes.next.remove(id);
                }
                prop_assert_eq!(wakes.first(), expected.iter().copied().min().expect("there are some"));
            }
        }
    }
}
