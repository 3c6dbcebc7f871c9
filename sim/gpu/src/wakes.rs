//! The cycle in which each of several units, such as SMs or L2 slices, must run again. A unit can also sleep until an event.
use crate::id_set::IdSet;
use selvedge_state::State;

/// The next cycle in which each unit must run.
#[derive(State)]
pub(crate) struct Wakes {
    at: Vec<u64>,
    /// Units that must run in the next cycle.
    next: IdSet,
    /// Units that must run in a later cycle. May hold units whose cycle was changed since; [`Self::take_timed`] removes them.
    timed: IdSet,
    /// Lower bound of the cycles of the units in `timed`.
    later: u64,
}

impl Wakes {
    /// Returns the state of `count` units that all sleep.
    pub fn new(count: usize) -> Self {
        Wakes {
            at: vec![u64::MAX; count],
            next: IdSet::new(count),
            timed: IdSet::new(count),
            later: u64::MAX,
        }
    }

    /// Returns the state of `count` units that all must run in cycle 1.
    pub fn of_awake(count: usize) -> Self {
        let mut wakes = Wakes::new(count);
        (0..count).for_each(|id| wakes.set(id, 0, 1));
        wakes
    }

    /// Lets a unit run in cycle `at`, which is later than cycle `now`; `u64::MAX` lets it sleep.
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

    /// Adds the units of `timed` that must run in cycle `now` to `due`, and removes units that sleep.
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

    /// Returns whether any unit must run in the next cycle.
    #[inline]
    pub fn has_next(&self) -> bool {
        !self.next.is_empty()
    }

    /// Returns the first cycle in which a unit must run; `u64::MAX` while all sleep.
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
                // A unit whose cycle was changed stays in `next` and would run one extra time.
                if delay != 1 && wakes.next.next(id) == Some(id) {
                    wakes.next.remove(id);
                }
                prop_assert_eq!(wakes.first(), expected.iter().copied().min().expect("there are some"));
            }
        }
    }
}
