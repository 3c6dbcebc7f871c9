//! PDP: protecting distances in the L1D (Duong et al., MICRO 2012), the bypassing half of CBWT (Dai, section 2.2.3).
//!
//! A line is protected until its set has been accessed so often as the protecting distance says, counted from the line's last
//! access; a load that misses bypasses the L1D where all lines of its set are protected. All lines have the same distance, so the
//! least recently used line of a set is always the first to lose protection: the L1D's own replacement finds it, and only
//! the decision to bypass the L1D is taken here, on a copy of the L1D's tags.
//!
//! The distance is that with the most hits per line and access, as in section 3 of that paper: with N(i) reuses at distance
//! i, N accesses and W ways, the d of the greatest
//!
//! ```text
//!            sum of N(i), i <= d
//! ---------------------------------------------------
//! sum of i N(i), i <= d  +  (N - sum of N(i)) (d + W)
//! ```
//!
//! No block of `selvedge-hw` does this: Dai compares with it and does not build it.
use selvedge_gpu::cache::index::SetIndex;
use selvedge_gpu::config::L1d as L1dConfig;
use selvedge_gpu::has;
use selvedge_gpu::mechanism::{MechanismCounters, Part, Site, count};
use selvedge_gpu::sm::part::{Bypass, L1dEvent, L1dObserver, Load, SmPart};
use selvedge_gpu::stage::MechanismFault;
use selvedge_gpu::stats::Decision;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;
use std::collections::VecDeque;

/// The greatest distance that is told from no reuse at all, accesses to a set.
const MOST_DISTANCE: usize = 256;

/// Loads of an SM after which the distance is chosen anew.
const INTERVAL: u32 = 4096;

/// Builds the share of every SM.
pub fn attach(_: &Part, site: &mut Site<'_>) {
    let config = site.config;
    site.each_sm(|_| Pdp::new(&config.l1d));
}

/// A set: the lines that the L1D holds of it, and the accesses to it.
#[derive(Clone, Default, State)]
struct Set {
    /// Lines, the most recently used first, with the number of the set's access that was their last.
    lines: VecDeque<(u64, u64)>,
    /// The last accesses, the latest first.
    history: VecDeque<u64>,
    /// Loads so far.
    accesses: u64,
}

impl Set {
    /// Accesses since the last one to `line`, if it is not too long ago; notes the access.
    fn reuse_distance(&mut self, line: u64) -> Option<usize> {
        self.accesses += 1;
        let distance = self.history.iter().position(|other| *other == line).map(|at| at + 1);
        self.history.truncate(MOST_DISTANCE - 1);
        self.history.push_front(line);
        distance
    }

    /// The line is the most recently used one; `most` lines find room.
    fn touch(&mut self, line: u64, most: usize) {
        self.forget(line);
        self.lines.push_front((line, self.accesses));
        self.lines.truncate(most);
    }

    fn forget(&mut self, line: u64) {
        self.lines.retain(|(held, _)| *held != line);
    }

    /// Would a new line have to evict one that was accessed less than `distance` accesses ago?
    fn is_protected(&self, most: usize, distance: u64) -> bool {
        let oldest = self.lines.get(most - 1);
        oldest.is_some_and(|(_, last)| self.accesses - last < distance)
    }
}

/// How often lines were accessed again after each distance, in an interval.
#[derive(State)]
struct Reuses {
    /// By distance, from 1 on.
    counts: Vec<u64>,
    accesses: u64,
}

impl Reuses {
    fn new() -> Self {
        Reuses { counts: vec![0; MOST_DISTANCE], accesses: 0 }
    }

    /// The distance with the most hits per line and access; 0 without any reuse.
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

/// The protecting distance of an SM's L1D.
#[derive(State)]
struct Pdp {
    index: SetIndex,
    ways: usize,
    sets: Vec<Set>,
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
            index: SetIndex::new(l1d.index, l1d.sets, l1d.line_bytes),
            ways: l1d.ways as usize,
            sets: vec![Set::default(); l1d.sets as usize],
            reuses: Reuses::new(),
            distance: 0,
            loads: 0,
            bypassed: 0,
            updates: 0,
            highest: 0,
        }
    }

    fn set(&mut self, line: u64) -> &mut Set {
        let set = self.index.set(line);
        &mut self.sets[set]
    }

    /// Notes how long ago the line was accessed, and chooses the distance anew at the end of an interval.
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
    fn stands_alone(&self) -> bool {
        true
    }

    fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        Ok(())
    }

    fn busy(&self) -> bool {
        false
    }

    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "bypassed_loads", self.bypassed);
        count(out, "distance_updates", self.updates);
        let highest = out.entry("highest_distance").or_default();
        *highest = (*highest).max(self.highest);
    }

    fn traces(&self, _: &mut Vec<Trace>) {}

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
            // A load that waits for a line in flight does not make it more recent in the L1D, either.
            L1dEvent::Load { decision: Decision::Pending, .. } => {}
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

    /// A set of 4 ways under accesses that go round `lines` lines: hits in the last of the given number of rounds.
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
            let decision = if is_hit { Decision::Hit } else { Decision::Miss };
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
    }
}
