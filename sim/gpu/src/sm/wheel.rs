//! The event wheel, which finds the events of later cycles without polling.

use selvedge_state::State;

/// Events of type `T`, each due at most `horizon` cycles ahead.
#[derive(State)]
pub struct EventWheel<T> {
    slots: Vec<Vec<T>>,
    occupied: Vec<u64>,
    len: usize,
}

impl<T> EventWheel<T> {
    /// Returns an empty wheel for events at most `horizon` cycles ahead.
    pub fn new(horizon: u32) -> Self {
        let size = (horizon as usize + 2).next_power_of_two().max(64);
        EventWheel { slots: (0..size).map(|_| Vec::new()).collect(), occupied: vec![0; size / 64], len: 0 }
    }

    /// Adds an event in cycle `at`, which must be later than `now` and within the horizon.
    pub fn push(&mut self, now: u64, at: u64, event: T) {
        debug_assert!(at > now && at - now < self.slots.len() as u64, "event outside the horizon");
        let slot = at as usize & (self.slots.len() - 1);
        self.slots[slot].push(event);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.len += 1;
    }

    /// Returns whether any event is due in cycle `now`.
    #[inline]
    pub fn has(&self, now: u64) -> bool {
        let slot = now as usize & (self.slots.len() - 1);
        self.occupied[slot / 64] >> (slot % 64) & 1 == 1
    }

    /// Moves the events of cycle `now` into `due`, which must be empty, in the order in which they were pushed.
    pub fn take(&mut self, now: u64, due: &mut Vec<T>) {
        debug_assert!(due.is_empty(), "the events of the cycle before are done");
        let slot = now as usize & (self.slots.len() - 1);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        self.len -= self.slots[slot].len();
        std::mem::swap(due, &mut self.slots[slot]);
    }

    /// Returns the cycle of the next event after `now`, if there is any.
    #[inline(always)]
    pub fn next_after(&self, now: u64) -> Option<u64> {
        if self.len == 0 {
            return None;
        }
        let mask = self.slots.len() - 1;
        let start = (now + 1) as usize & mask;
        // Most events are due soon, so that the rest of the first word usually contains the next one.
        let soon = self.occupied[start / 64] >> (start % 64);
        if soon != 0 {
            return Some(now + 1 + u64::from(soon.trailing_zeros()));
        }
        let words = self.occupied.len();
        for step in 0..=words {
            let word = (start / 64 + step) % words;
            let mut bits = self.occupied[word];
            if step == 0 {
                bits &= !0 << (start % 64);
            } else if step == words {
                bits &= !(!0 << (start % 64));
            }
            if bits != 0 {
                let slot = word * 64 + bits.trailing_zeros() as usize;
                return Some(now + 1 + (slot.wrapping_sub(start) & mask) as u64);
            }
        }
        None
    }

    /// Returns whether no event is left.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn the_wheel_agrees_with_a_sorted_map(delays in prop::collection::vec((0u64..9, 1u64..500), 1..200)) {
            let mut wheel = EventWheel::new(500);
            let mut map: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
            let mut now = 0;
            for (id, (advance, delay)) in delays.into_iter().enumerate() {
                for _ in 0..advance {
                    now += 1;
                    let mut due = Vec::new();
                    wheel.take(now, &mut due);
                    prop_assert_eq!(due, map.remove(&now).unwrap_or_default());
                }
                wheel.push(now, now + delay, id);
                map.entry(now + delay).or_default().push(id);
                prop_assert_eq!(wheel.next_after(now), map.keys().next().copied());
            }
        }
    }
}
