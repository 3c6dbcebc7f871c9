//! A set of small numbers, such as port or SM numbers.

use selvedge_state::State;

/// A set of numbers below a bound.
#[derive(Clone, Debug, State)]
pub(crate) struct IdSet {
    /// Numbers below 64. Most sets hold no others, and find them without following a pointer.
    low: u64,
    /// Numbers from 64 on; empty if the bound is at most 64.
    high: Box<[u64]>,
}

impl IdSet {
    /// Returns an empty set for numbers below `bound`.
    pub fn new(bound: usize) -> Self {
        IdSet { low: 0, high: vec![0; bound.div_ceil(64).saturating_sub(1)].into() }
    }

    /// Adds a number.
    #[inline]
    pub fn insert(&mut self, id: usize) {
        match id.checked_sub(64) {
            None => self.low |= 1 << id,
            Some(above) => self.high[above / 64] |= 1 << (above % 64),
        }
    }

    /// Removes a number.
    #[inline]
    pub fn remove(&mut self, id: usize) {
        match id.checked_sub(64) {
            None => self.low &= !(1 << id),
            Some(above) => self.high[above / 64] &= !(1 << (above % 64)),
        }
    }

    /// Returns whether the set contains `id`.
    #[inline]
    pub fn contains(&self, id: usize) -> bool {
        match id.checked_sub(64) {
            None => self.low >> id & 1 == 1,
            Some(above) => self.high[above / 64] >> (above % 64) & 1 == 1,
        }
    }

    /// Returns whether the set is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.iter().all(|word| *word == 0)
    }

    /// Removes and returns the lowest number.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<usize> {
        if self.low == 0 {
            return self.pop_high();
        }
        let id = self.low.trailing_zeros() as usize;
        self.low &= self.low - 1;
        Some(id)
    }

    /// Removes and returns the lowest number that is at least 64.
    fn pop_high(&mut self) -> Option<usize> {
        let (word, bits) = (0..).zip(&mut self.high).find(|(_, bits)| **bits != 0)?;
        let id = 64 + word * 64 + bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        Some(id)
    }

    /// Returns the lowest number that is at least `id`.
    #[inline]
    pub fn next(&self, id: usize) -> Option<usize> {
        let bits = if id < 64 { self.low & (u64::MAX << id) } else { 0 };
        match bits {
            0 if self.high.is_empty() => None,
            0 => self.next_high(id.saturating_sub(64)),
            _ => Some(bits.trailing_zeros() as usize),
        }
    }

    /// Returns the lowest number that is at least `above + 64`.
    fn next_high(&self, above: usize) -> Option<usize> {
        let mut word = above / 64;
        let mut bits = self.high.get(word)? & (u64::MAX << (above % 64));
        while bits == 0 {
            word += 1;
            bits = *self.high.get(word)?;
        }
        Some(64 + word * 64 + bits.trailing_zeros() as usize)
    }

    /// Returns the lowest number that is at least `id`, or else the lowest number of the set (round-robin).
    #[inline]
    pub fn first_cyclic(&self, id: usize) -> Option<usize> {
        self.next(id).or_else(|| self.next(0))
    }

    /// Adds all numbers of `other`, which has the same bound.
    #[inline]
    pub fn add_all(&mut self, other: &IdSet) {
        self.low |= other.low;
        for (mine, theirs) in self.high.iter_mut().zip(&other.high) {
            *mine |= theirs;
        }
    }

    /// Moves all numbers of `other`, which has the same bound, into this set.
    #[inline]
    pub fn take_all(&mut self, other: &mut IdSet) {
        self.low |= std::mem::take(&mut other.low);
        for (mine, theirs) in self.high.iter_mut().zip(&mut other.high) {
            *mine |= std::mem::take(theirs);
        }
    }
}

/// Numbers that become due in later cycles. In each cycle a number becomes due at most once.
#[derive(State)]
pub(crate) struct IdWheel {
    /// One set for each cycle of the horizon. The number of cycles is a power of two.
    sets: Box<[u64]>,
    words: usize,
    mask: usize,
}

impl IdWheel {
    /// Returns an empty wheel for numbers below `bound` that become due at most `horizon` cycles ahead.
    pub fn new(bound: usize, horizon: u32) -> Self {
        let (cycles, words) = ((horizon as usize + 1).next_power_of_two(), bound.div_ceil(64));
        IdWheel { sets: vec![0; cycles * words].into(), words, mask: cycles - 1 }
    }

    /// Makes `id` due in cycle `at`, which is later than `now` and within the horizon.
    #[inline]
    pub fn push(&mut self, now: u64, at: u64, id: usize) {
        debug_assert!(at > now && at - now <= self.mask as u64, "outside the horizon");
        self.sets[(at as usize & self.mask) * self.words + id / 64] |= 1 << (id % 64);
    }

    /// Adds the numbers that are due in cycle `now` to `due`. The caller may skip a cycle in which no number is due.
    #[inline]
    pub fn take(&mut self, now: u64, due: &mut IdSet) {
        let first = (now as usize & self.mask) * self.words;
        due.low |= std::mem::take(&mut self.sets[first]);
        for (word, set) in due.high.iter_mut().zip(&mut self.sets[first + 1..first + self.words]) {
            *word |= std::mem::take(set);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wheel_returns_each_number_in_its_cycle() {
        let mut wheel = IdWheel::new(130, 6);
        let mut due = Vec::new();
        for now in 0..40 {
            let mut set = IdSet::new(130);
            wheel.take(now, &mut set);
            due.extend((0..130).filter(|id| set.contains(*id)).map(|id| (now, id)));
            if now < 30 && now % 3 == 0 {
                wheel.push(now, now + 1 + now % 6, now as usize * 4);
            }
        }
        let expected = (0..30).step_by(3).map(|now| (now + 1 + now % 6, now as usize * 4));
        let mut expected: Vec<(u64, usize)> = expected.collect();
        expected.sort_unstable();
        assert_eq!(due, expected);
    }

    #[test]
    fn a_set_is_walked_round_over_all_its_words() {
        let mut set = IdSet::new(256);
        for id in [3, 100, 200] {
            set.insert(id);
        }
        let walk = [0, 4, 101, 201].map(|from| set.first_cyclic(from));
        assert_eq!(walk, [Some(3), Some(100), Some(200), Some(3)]);
        assert_eq!(IdSet::new(256).first_cyclic(7), None);
        set.remove(100);
        assert_eq!(set.next(4), Some(200));
    }

    #[test]
    fn numbers_leave_a_set_from_the_lowest_on() {
        let mut set = IdSet::new(256);
        for id in [200, 3, 100, 63, 64] {
            set.insert(id);
        }
        let left: Vec<usize> = std::iter::from_fn(|| set.pop()).collect();
        assert_eq!(left, [3, 63, 64, 100, 200]);
        assert!(set.is_empty());
    }

    #[test]
    fn a_set_takes_all_of_another() {
        let (mut to, mut from) = (IdSet::new(130), IdSet::new(130));
        to.insert(0);
        from.insert(129);
        to.take_all(&mut from);
        assert_eq!((to.next(1), from.is_empty()), (Some(129), true));
    }
}
