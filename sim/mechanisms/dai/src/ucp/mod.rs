//! UCP: utility-based partitioning of the L1D's ways among the kernels of an SM (Qureshi and Patt, MICRO 2006; applied to
//! kernels that share an SM by Dai, section 4.3.1).
//!
//! A monitor keeps tags for each kernel as if it had the L1D for itself, and counts the hits that each additional way would
//! give. At the end of an interval the ways are distributed by lookahead. Each kernel gets one way. The next ways go to the
//! kernel with the most additional hits per way, until none is left. A kernel with all its ways of a set in use evicts one
//! of these lines. Other kernels evict a line of another kernel.
//!
//! Dai compares with UCP and does not build it, so it has no block.
use selvedge_gpu::cache::index::SetFunction;
use selvedge_gpu::config::{GpuConfig, L1dConfig};
use selvedge_gpu::kernel_slots::PROGRAMS;
use selvedge_gpu::mechanism::{
    Claim, Counter, Mechanism, MechanismCounters, MechanismError, Setup, Site, Values, count,
};
use selvedge_gpu::sm::part::{L1dEvent, L1dObserver, SmPart, Ways};
use selvedge_gpu::{has, mechanism_options};
use selvedge_state::State;

/// Counters of `ucp`.
pub(crate) const COUNTERS: &[Counter] = &[
    Counter::new("way_updates", "times that L1D ways were distributed among the kernels"),
    Counter::new("ways_given_k{n}", "sum of the ways that this kernel received in all distributions"),
];

mechanism_options! {
    /// Options of `ucp`.
    pub struct UcpOptions {
        /// loads of an SM after which its ways are given out anew
        interval: u32 = 4096, Values::range(256, 1 << 20);
    }
}

/// The mechanism `ucp`.
#[derive(Debug)]
pub struct Ucp;

impl Mechanism for Ucp {
    const NAME: &'static str = "ucp";
    const SUMMARY: &'static str = "partitions the ways of the L1D among kernels, from the hits that each more way would bring, in each SM";
    const SOURCE: &'static str = "Dai, section 4.3.1 (UCP)";
    const CONFIGURATION: &'static str = "an L1D of 4 ways or more";
    const CLAIMS: &'static [Claim] = &[Claim::Ways];
    const COUNTERS: &'static [&'static [Counter]] = &[COUNTERS];
    type Options = UcpOptions;

    /// Checks that the L1D has a way for each of the max number of kernels, and one tag per way.
    fn configure(setup: &Setup<UcpOptions>, config: &mut GpuConfig) -> Result<(), MechanismError> {
        let l1d = &config.l1d;
        if (l1d.ways as usize) < PROGRAMS {
            let allowed = "must be 4 or more, one for each of as many kernels";
            return Err(setup.unsuited("l1d.ways", l1d.ways, allowed));
        }
        if l1d.tags_per_way > 1 {
            let allowed = "must be 1: a way is a line";
            return Err(setup.unsuited("l1d.tags_per_way", l1d.tags_per_way, allowed));
        }
        Ok(())
    }

    /// Builds the state of every SM, unless there is only one kernel.
    fn attach(setup: &Setup<UcpOptions>, site: &mut Site<'_>) {
        if site.kernels < 2 {
            return;
        }
        let (config, kernels) = (site.config, site.kernels);
        site.each_sm(|_| UcpSm::new(&config.l1d, kernels, setup.options.interval));
    }
}

/// The tags of an L1D that one kernel uses alone, and its hits by recency.
#[derive(State)]
struct Monitor {
    /// Lines of each set, the most recently used first.
    sets: Vec<Vec<u64>>,
    /// Hits in the most recently used line of a set, in the next one, and so on. Entry n is what way n + 1 adds.
    hits: Vec<u64>,
}

impl Monitor {
    fn new(l1d: &L1dConfig) -> Self {
        Monitor { sets: vec![Vec::new(); l1d.sets as usize], hits: vec![0; l1d.ways as usize] }
    }

    fn access(&mut self, set: usize, line: u64) {
        let lines = &mut self.sets[set];
        match lines.iter().position(|held| *held == line) {
            Some(place) => {
                self.hits[place] += 1;
                lines[..=place].rotate_right(1);
            }
            None => {
                lines.truncate(self.hits.len() - 1);
                lines.insert(0, line);
            }
        }
    }

    /// Returns the most additional hits per way for a kernel that has `ways`: the hits, and the ways that they need, at most
    /// `left`.
    fn best_gain(&self, ways: usize, left: usize) -> (u64, usize) {
        let gain = |more: usize| self.hits[ways..ways + more].iter().sum::<u64>();
        let mut best = (gain(1), 1);
        for more in 2..=left {
            if gain(more) * best.1 as u64 > best.0 * more as u64 {
                best = (gain(more), more);
            }
        }
        best
    }
}

/// Returns the ways of each kernel by lookahead. Their sum is `all`.
fn give_out(monitors: &[Monitor], all: usize) -> Vec<usize> {
    let mut ways = vec![1; monitors.len()];
    loop {
        let left = all - ways.iter().sum::<usize>();
        if left == 0 {
            return ways;
        }
        let mut best = (0, monitors[0].best_gain(ways[0], left));
        for (kernel, monitor) in monitors.iter().enumerate().skip(1) {
            let gain = monitor.best_gain(ways[kernel], left);
            // Ties go to the kernel with fewer ways.
            let (mine, others) = (gain.0 * best.1.1 as u64, best.1.0 * gain.1 as u64);
            if mine > others || (mine == others && ways[kernel] < ways[best.0]) {
                best = (kernel, gain);
            }
        }
        // If no way adds a hit, each turn gives one way to the kernel with the fewest.
        ways[best.0] += best.1.1;
    }
}

/// The partition of an SM's L1D.
#[derive(State)]
struct UcpSm {
    index: SetFunction,
    monitors: Vec<Monitor>,
    /// Ways of each kernel. None before the end of the first interval, when each kernel may use all ways.
    ways: Option<Vec<usize>>,
    all: usize,
    interval: u32,
    loads: u32,
    updates: u64,
    given: [u64; PROGRAMS],
}

impl UcpSm {
    fn new(l1d: &L1dConfig, kernels: usize, interval: u32) -> Self {
        UcpSm {
            index: SetFunction::new(l1d.index, l1d.sets, l1d.line_bytes),
            monitors: (0..kernels).map(|_| Monitor::new(l1d)).collect(),
            ways: None,
            all: l1d.ways as usize,
            interval,
            loads: 0,
            updates: 0,
            given: [0; PROGRAMS],
        }
    }

    fn end_interval(&mut self) {
        let ways = give_out(&self.monitors, self.all);
        debug_assert_eq!(ways.iter().sum::<usize>(), self.all, "every way is given to a kernel");
        self.given.iter_mut().zip(&ways).for_each(|(sum, ways)| *sum += *ways as u64);
        self.ways = Some(ways);
        self.updates += 1;
        self.loads = 0;
        self.monitors.iter_mut().flat_map(|monitor| &mut monitor.hits).for_each(|hits| *hits /= 2);
    }
}

impl SmPart for UcpSm {
    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "way_updates", self.updates);
        let names = ["ways_given_k0", "ways_given_k1", "ways_given_k2", "ways_given_k3"];
        for (name, given) in names.into_iter().zip(self.given).take(self.monitors.len()) {
            count(out, name, given);
        }
    }

    has!(&ways: Ways);
    has!(l1d_observer: L1dObserver);
}

impl Ways for UcpSm {
    fn ways_of(&self, kernel: u8) -> Option<u32> {
        Some(self.ways.as_ref()?.get(usize::from(kernel)).copied()? as u32)
    }
}

impl L1dObserver for UcpSm {
    fn l1d_event(&mut self, _: u64, event: &L1dEvent) {
        let L1dEvent::Load { load, .. } = event else { return };
        let set = self.index.set(load.line);
        let Some(monitor) = self.monitors.get_mut(usize::from(load.kernel)) else { return };
        monitor.access(set, load.line);
        self.loads += 1;
        if self.loads == self.interval {
            self.end_interval();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_mechanism_testing::kernels::{RELOADING, STREAMING, THREE_WAYS};
    use selvedge_mechanism_testing::run_together;

    fn monitor(hits: &[u64]) -> Monitor {
        Monitor { sets: Vec::new(), hits: hits.to_vec() }
    }

    #[test]
    fn ways_go_where_they_bring_hits() {
        assert_eq!(give_out(&[monitor(&[9, 5, 5, 5]), monitor(&[9, 0, 0, 0])], 4), [3, 1]);
        assert_eq!(give_out(&[monitor(&[9, 5, 1, 0]), monitor(&[9, 4, 3, 0])], 4), [2, 2]);
        assert_eq!(give_out(&[monitor(&[0; 4]), monitor(&[0; 4])], 4), [2, 2]);
        assert_eq!(give_out(&[monitor(&[0; 4]), monitor(&[0; 4])], 3), [2, 1], "ties go to the first");
    }

    #[test]
    fn lookahead_sees_a_gain_beyond_a_way_without_any() {
        assert_eq!(give_out(&[monitor(&[9, 0, 12, 0]), monitor(&[9, 5, 4, 0])], 4), [3, 1]);
    }

    #[test]
    fn a_monitor_counts_hits_by_recency() {
        let l1d = GpuConfig::load("gtx480-dai").expect("built in").l1d;
        let mut monitor = Monitor::new(&l1d);
        for line in [1, 2, 3, 1, 1, 2, 9, 8, 7, 2] {
            monitor.access(0, line);
        }
        // Line 1 hits as the third line and then as the first, line 2 as the third and then as the fourth.
        assert_eq!(monitor.hits, [1, 0, 2, 1]);
    }

    #[test]
    fn a_kernel_that_reloads_keeps_its_lines_beside_one_that_streams() {
        let run = |mechanism: &str| {
            run_together(&[&STREAMING, &RELOADING], "gtx480-dai", mechanism, 120_000, false)
        };
        let (base, ucp) = (run("base"), run("ucp=512"));
        let [base_hits, ucp_hits] = [&base, &ucp].map(|report| 1.0 - report.programs[1].l1d.miss_rate);
        assert!(ucp_hits > base_hits + 0.1, "{base_hits} {ucp_hits}");
        assert!(ucp.programs[1].ipc > base.programs[1].ipc * 1.1);
        let counters = &ucp.mechanism_counters;
        // Two of the four ways hold all its lines, and it has two ways in most intervals.
        assert!(counters["ways_given_k1"] * 2 > counters["way_updates"] * 3, "{counters:?}");
    }

    #[test]
    fn a_kernel_that_needs_three_of_four_ways_gets_them() {
        let run =
            |mechanism: &str| run_together(&[&STREAMING, &THREE_WAYS], "gtx480", mechanism, 120_000, false);
        let (base, ucp) = (run("base"), run("ucp=512"));
        let [base_misses, ucp_misses] = [&base, &ucp].map(|report| report.programs[1].l1d.miss_rate);
        assert!(base_misses > 0.9, "{base_misses}");
        // The kernel accesses three lines of a set in turn: with two ways it never hits, with three always.
        assert!(ucp_misses < 0.3, "{ucp_misses}");
        assert!(ucp.programs[1].ipc > base.programs[1].ipc * 1.15);
        let counters = &ucp.mechanism_counters;
        assert!(counters["ways_given_k1"] * 2 > counters["way_updates"] * 5, "{counters:?}");
    }

    #[test]
    fn half_the_hits_of_an_interval_count_in_the_next_one() {
        let l1d = GpuConfig::load("gtx480-dai").expect("built in").l1d;
        let mut ucp = UcpSm::new(&l1d, 2, 512);
        ucp.monitors[0].hits = vec![9, 8, 1, 0];
        ucp.end_interval();
        assert_eq!(ucp.monitors[0].hits, [4, 4, 0, 0]);
        assert_eq!(ucp.ways, Some(vec![3, 1]));
    }
}
