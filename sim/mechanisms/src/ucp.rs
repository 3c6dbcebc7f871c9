//! UCP: utility-based partitioning of the L1D's ways among the kernels of an SM (Qureshi and Patt, MICRO 2006), which Dai,
//! section 4.3.1, applies to kernels that share an SM.
//!
//! For each kernel tags are kept as if it had the L1D for itself; they tell how many hits each further way would give it.
//! At the end of an interval ways are given out by lookahead: the next ones go to the kernel with the most additional hits per
//! way, every kernel has one at least. A kernel that holds its ways of a set evicts a line of its own, one that does not
//! evicts a line of others.
//!
//! No block of `selvedge-hw` does this: Dai compares with it and does not build it.
use selvedge_gpu::cache::index::SetIndex;
use selvedge_gpu::config::{GpuConfig, L1d as L1dConfig};
use selvedge_gpu::has;
use selvedge_gpu::mechanism::{
    Claim, MechanismCounters, MechanismError, MechanismInfo, Needs, OptionInfo, Part, Site, count,
};
use selvedge_gpu::sm::launch::KERNEL_SLOTS;
use selvedge_gpu::sm::part::{L1dEvent, L1dObserver, SmPart, Ways};
use selvedge_gpu::stage::MechanismFault;
use selvedge_hw::wave::Trace;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_state::State;

/// When the ways are given out anew.
const INTERVAL: OptionInfo = OptionInfo::number(
    "interval",
    4096,
    (256, 1 << 20),
    "loads of an SM after which its ways are given out anew",
);

/// The registry's entry.
pub const INFO: MechanismInfo = MechanismInfo {
    name: "ucp",
    summary: "partitions the ways of the L1D among kernels, from the hits that each more way would bring, in each SM",
    source: "Dai, section 4.3.1 (UCP)",
    blocks: &[],
    options: &[INTERVAL],
    needs: Needs::Nothing,
    machine_needs: "an L1D of 4 ways or more",
    claims: &[Claim::Ways],
    machine,
    attach,
    ..MechanismInfo::NOTHING
};

/// Every kernel must find a way, and a way must be a line.
fn machine(part: &Part, config: &mut GpuConfig) -> Result<(), MechanismError> {
    let l1d = &config.l1d;
    if (l1d.ways as usize) < KERNEL_SLOTS {
        return Err(part.unsuited(
            "l1d.ways",
            l1d.ways,
            "must be 4 or more, one for each of as many kernels",
        ));
    }
    if l1d.tags_per_way > 1 {
        return Err(part.unsuited("l1d.tags_per_way", l1d.tags_per_way, "must be 1: a way is a line"));
    }
    Ok(())
}

/// Builds the share of every SM; one kernel alone has nobody to share with.
fn attach(part: &Part, site: &mut Site<'_>) {
    if site.kernels < 2 {
        return;
    }
    let interval = part.options[INTERVAL.name];
    let (config, kernels) = (site.config, site.kernels);
    site.each_sm(|_| Ucp::new(&config.l1d, kernels, interval));
}

/// The tags of an L1D that a kernel has for itself, and where its hits were.
#[derive(State)]
struct Monitor {
    /// Lines of each set, the most recently used first.
    sets: Vec<Vec<u64>>,
    /// Hits in the most recently used line of a set, the next one, ...: what a first, second, ... way gives.
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

    /// The most additional hits per way that further ways could give to one that has `ways`, as hits and their ways, when
    /// there are `left`.
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

/// Lookahead: ways of each kernel, of `all` in sum.
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
        // Without any gain the ways go round one by one.
        ways[best.0] += best.1.1;
    }
}

/// The partition of an SM's L1D.
#[derive(State)]
struct Ucp {
    index: SetIndex,
    monitors: Vec<Monitor>,
    /// Ways of each kernel; none before the end of the first interval, when all are everybody's.
    ways: Option<Vec<usize>>,
    all: usize,
    interval: u32,
    loads: u32,
    updates: u64,
    given: [u64; KERNEL_SLOTS],
}

impl Ucp {
    fn new(l1d: &L1dConfig, kernels: usize, interval: u32) -> Self {
        Ucp {
            index: SetIndex::new(l1d.index, l1d.sets, l1d.line_bytes),
            monitors: (0..kernels).map(|_| Monitor::new(l1d)).collect(),
            ways: None,
            all: l1d.ways as usize,
            interval,
            loads: 0,
            updates: 0,
            given: [0; KERNEL_SLOTS],
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

impl SmPart for Ucp {
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
        count(out, "way_updates", self.updates);
        let names = ["ways_given_k0", "ways_given_k1", "ways_given_k2", "ways_given_k3"];
        for (name, given) in names.into_iter().zip(self.given).take(self.monitors.len()) {
            count(out, name, given);
        }
    }

    fn traces(&self, _: &mut Vec<Trace>) {}

    has!(&ways: Ways);
    has!(l1d_observer: L1dObserver);
}

impl Ways for Ucp {
    fn ways_of(&self, kernel: u8) -> Option<u32> {
        Some(self.ways.as_ref()?.get(usize::from(kernel)).copied()? as u32)
    }
}

impl L1dObserver for Ucp {
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
    use crate::small_kernels::kernels::{RELOADING, STREAMING, THREE_WAYS};
    use crate::small_kernels::run_together;

    fn monitor(hits: &[u64]) -> Monitor {
        Monitor { sets: Vec::new(), hits: hits.to_vec() }
    }

    #[test]
    fn ways_go_where_they_bring_hits() {
        assert_eq!(give_out(&[monitor(&[9, 5, 5, 5]), monitor(&[9, 0, 0, 0])], 4), [3, 1]);
        assert_eq!(give_out(&[monitor(&[9, 5, 1, 0]), monitor(&[9, 4, 3, 0])], 4), [2, 2]);
        assert_eq!(give_out(&[monitor(&[0; 4]), monitor(&[0; 4])], 4), [2, 2]);
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
        // 1 was third, then first; 2 third; then three others came before 2 was the fourth.
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
        // Half of the ways hold its lines: it has them in most intervals.
        assert!(counters["ways_given_k1"] * 2 > counters["way_updates"] * 3, "{counters:?}");
    }

    #[test]
    fn a_kernel_that_needs_three_of_four_ways_gets_them() {
        let run =
            |mechanism: &str| run_together(&[&STREAMING, &THREE_WAYS], "gtx480", mechanism, 120_000, false);
        let (base, ucp) = (run("base"), run("ucp=512"));
        let [base_misses, ucp_misses] = [&base, &ucp].map(|report| report.programs[1].l1d.miss_rate);
        assert!(base_misses > 0.9, "{base_misses}");
        // Going round three lines of a set, two ways hit never and three always.
        assert!(ucp_misses < 0.3, "{ucp_misses}");
        assert!(ucp.programs[1].ipc > base.programs[1].ipc * 1.15);
        let counters = &ucp.mechanism_counters;
        assert!(counters["ways_given_k1"] * 2 > counters["way_updates"] * 5, "{counters:?}");
    }
}
