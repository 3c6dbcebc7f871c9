//! PDP: protecting distances in the L1D (Duong et al., MICRO 2012), the bypassing half of CBWT (Dai, section 2.2.3).
//!
//! The protecting distance is a number of accesses to a set. A line is protected until its set has had that number of accesses
//! after the last access to the line. A load that misses bypasses the L1D if all lines of its set are protected. All lines
//! have the same distance, so the least recently used line of a set loses protection first, and the L1D's own replacement
//! evicts it. PDP only decides which loads bypass the L1D, on a copy of the L1D's tags.
//!
//! The distance is the one with the most hits per line and access, as in section 3 of the paper. With N(i) reuses at distance
//! i, N accesses and W ways, it is the d with the max of
//!
//! ```text
//!            sum of N(i), i <= d
//! ---------------------------------------------------
//! sum of i N(i), i <= d  +  (N - sum of N(i)) (d + W)
//! ```
//!
//! Dai compares with PDP and does not build it, so it has no block.
use selvedge_gpu::cache::index::SetFunction;
use selvedge_gpu::config::L1dConfig;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::{Counter, MechanismCounters, Site, count};
use selvedge_gpu::sm::part::{Bypass, L1dEvent, L1dObserver, Load, SmPart};
use selvedge_gpu::stats::AccessResult;
use selvedge_state::State;
use std::collections::VecDeque;

/// Counters of protecting distances.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("distance_updates", "protecting distances chosen"),
    Counter::new("highest_distance", "the largest protecting distance chosen"),
];

/// Max reuse distance that is measured, in accesses to a set. A line reused later counts as not reused.
const MOST_DISTANCE: usize = 256;

/// Loads of an SM between two choices of the distance.
const INTERVAL: u32 = 4096;

/// Builds the state of every SM.
pub fn attach(site: &mut Site<'_>) {
    let config = site.config;
    site.each_sm(|_| Pdp::new(&config.l1d));
}

/// A set: the lines that the L1D holds of it, and the last accesses to it.
#[derive(Clone, Default, State)]
struct ProfiledSet {
    /// Lines, the most recently used first, with the number of the set's access that was their last.
    lines: VecDeque<(u64, u64)>,
    /// Lines of the last accesses, the latest first.
    history: VecDeque<u64>,
    /// Number of loads so far.
    accesses: u64,
}

impl ProfiledSet {
    /// Records an access to `line`. Returns the accesses since the last one to it, if they are at most [`MOST_DISTANCE`].
    fn reuse_distance(&mut self, line: u64) -> Option<usize> {
        self.accesses += 1;
        let distance = self.history.iter().position(|other| *other == line).map(|at| at + 1);
        self.history.truncate(MOST_DISTANCE - 1);
        self.history.push_front(line);
        distance
    }

    /// Makes `line` the most recently used one. The set keeps at most `most` lines.
    fn touch(&mut self, line: u64, most: usize) {
        self.forget(line);
        self.lines.push_front((line, self.accesses));
        self.lines.truncate(most);
    }

    fn forget(&mut self, line: u64) {
        self.lines.retain(|(held, _)| *held != line);
    }

    /// Returns whether a new line would evict a line whose last access was less than `distance` accesses ago.
    fn is_protected(&self, most: usize, distance: u64) -> bool {
        let oldest = self.lines.get(most - 1);
        oldest.is_some_and(|(_, last)| self.accesses - last < distance)
    }
}

/// Number of reuses at each distance in an interval.
#[derive(State)]
struct Reuses {
    /// Entry n counts the reuses at distance n + 1.
    counts: Vec<u64>,
    accesses: u64,
}

impl Reuses {
    fn new() -> Self {
        Reuses { counts: vec![0; MOST_DISTANCE], accesses: 0 }
    }

    /// Returns the distance with the most hits per line and access, or 0 if no line was reused.
    fn best_distance(&self, ways: u64) -> u64 {
        let (mut best, mut most) = (0, (0u128, 1u128));
        let (mut hits, mut held) = (0u64, 0u64);
        for (distance, count) in (1u64..).zip(&self.counts) {
            hits += count;
            held += count * distance;
            let cost = held + (self.accesses - hits) * (distance + ways);
            let (hits, cost) = (u128::from(hits), u128::from(cost.max(1)));
            if hits * most.1 > most.0 * cost {
                (best, most) = (distance, (hits, cost));
            }
        }
        best
    }
}

/// The state of an SM: its L1D's tags, and the protecting distance.
#[derive(State)]
struct Pdp {
    index: SetFunction,
    ways: usize,
    sets: Vec<ProfiledSet>,
    reuses: Reuses,
    distance: u64,
    loads: u32,
    bypassed: u64,
    updates: u64,
    highest: u64,
}

impl Pdp {
    fn new(l1d: &L1dConfig) -> Self {
        Pdp {
            index: SetFunction::new(l1d.index, l1d.sets, l1d.line_bytes),
            ways: l1d.ways as usize,
            sets: vec![ProfiledSet::default(); l1d.sets as usize],
            reuses: Reuses::new(),
            distance: 0,
            loads: 0,
            bypassed: 0,
            updates: 0,
            highest: 0,
        }
    }

    fn set(&mut self, line: u64) -> &mut ProfiledSet {
        let set = self.index.set(line);
        &mut self.sets[set]
    }

    /// Records the reuse distance of an access, and chooses a new protecting distance at the end of an interval.
    fn sample(&mut self, line: u64) {
        let distance = self.set(line).reuse_distance(line);
        self.reuses.accesses += 1;
        if let Some(distance) = distance {
            self.reuses.counts[distance - 1] += 1;
        }
        self.loads += 1;
        if self.loads == INTERVAL {
            self.loads = 0;
            let reuses = std::mem::replace(&mut self.reuses, Reuses::new());
            self.distance = reuses.best_distance(self.ways as u64);
            self.updates += 1;
            self.highest = self.highest.max(self.distance);
        }
    }
}

impl SmPart for Pdp {
    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "bypassed_loads", self.bypassed);
        count(out, "distance_updates", self.updates);
        let highest = out.entry("highest_distance").or_default();
        *highest = (*highest).max(self.highest);
    }

    has!(bypass: Bypass, l1d_observer: L1dObserver);
}

impl Bypass for Pdp {
    fn bypasses(&mut self, _: u64, load: &Load) -> bool {
        self.sample(load.line);
        let (ways, distance) = (self.ways, self.distance);
        let set = self.set(load.line);
        let is_there = set.lines.iter().any(|(line, _)| *line == load.line);
        let passes = !is_there && set.is_protected(ways, distance);
        self.bypassed += u64::from(passes);
        passes
    }
}

impl L1dObserver for Pdp {
    fn l1d_event(&mut self, _: u64, event: &L1dEvent) {
        let ways = self.ways;
        match event {
            // A load of a line in flight does not make it more recent in the L1D, either.
            L1dEvent::Load { decision: AccessResult::Pending, .. } => {}
            L1dEvent::Load { load, .. } => self.set(load.line).touch(load.line, ways),
            L1dEvent::Evicted { line, .. } => self.set(*line).forget(*line),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::config::GpuConfig;

    /// Returns the hits of the last round, when loads access `lines` lines of a set of 4 ways in turn.
    fn hits_going_round(lines: u64) -> u64 {
        let config = GpuConfig::load("gtx480-dai").expect("built in").l1d;
        let mut pdp = Pdp::new(&L1dConfig { index: selvedge_gpu::config::IndexFunction::Bmod, ..config });
        let rounds = 3 * u64::from(INTERVAL) / lines;
        let mut hits = 0;
        for access in 0..rounds * lines {
            let load = Load { line: access % lines * 32 * 128, ..Load::default() };
            if pdp.bypasses(0, &load) {
                continue;
            }
            let held = &pdp.sets[0].lines;
            let is_hit = held.iter().any(|(line, _)| *line == load.line);
            let victim = (!is_hit && held.len() == 4).then(|| held[3].0);
            if let Some(line) = victim {
                pdp.l1d_event(0, &L1dEvent::Evicted { line, used: 1 });
            }
            let decision = if is_hit { AccessResult::Hit } else { AccessResult::Miss };
            pdp.l1d_event(0, &L1dEvent::Load { load, decision });
            hits += u64::from(is_hit && access >= (rounds - 1) * lines);
        }
        hits
    }

    #[test]
    fn of_lines_that_thrash_as_many_are_kept_as_there_are_ways() {
        assert_eq!([4, 5, 8, 16].map(hits_going_round), [4, 4, 4, 4]);
    }

    #[test]
    fn the_distance_is_the_one_with_the_most_hits_per_line_and_access() {
        let reuses = |pairs: &[(usize, u64)], accesses| {
            let mut reuses = Reuses { accesses, ..Reuses::new() };
            pairs.iter().for_each(|(distance, count)| reuses.counts[distance - 1] = *count);
            reuses
        };
        assert_eq!(reuses(&[], 100).best_distance(4), 0, "nothing is used again");
        assert_eq!(reuses(&[(8, 100)], 100).best_distance(4), 8);
        // By hand: d = 2 gives 50 / (100 + 50 x 6), d = 200 gives 60 / (100 + 2000 + 40 x 204).
        assert_eq!(reuses(&[(2, 50), (200, 10)], 100).best_distance(4), 2);
        // d = 1 gives 10 / (10 + 90 x 5), d = 4 gives 22 / (10 + 48 + 78 x 8). Without the ways d = 1 would be better.
        assert_eq!(reuses(&[(1, 10), (4, 12)], 100).best_distance(4), 4);
    }

    #[test]
    fn a_line_is_protected_for_the_distance_and_no_longer() {
        let mut set = ProfiledSet::default();
        for line in [1, 2] {
            set.reuse_distance(line);
            set.touch(line, 2);
        }
        assert!(!set.is_protected(3, 100), "there is room for a third line");
        assert_eq!(
            [1, 2].map(|distance| set.is_protected(2, distance)),
            [false, true],
            "1 was an access ago"
        );
    }

    #[test]
    fn a_set_remembers_as_many_accesses_as_the_greatest_distance() {
        let most = MOST_DISTANCE as u64;
        for (others, expected) in [(most - 1, Some(MOST_DISTANCE)), (most, None)] {
            let mut set = ProfiledSet::default();
            (0..=others).for_each(|line| _ = set.reuse_distance(line));
            assert_eq!(set.reuse_distance(0), expected, "{others} others");
        }
    }
}
