//! Windows of a launch that is too short for intervals from checkpoints. One job runs it: it simulates the windows in detail, and
//! executes the resident CTAs between them without timing.
use super::estimate::IntervalCounters;
use super::points::GOLDEN;
use crate::error::RunError;
use selvedge_gpu::gpu::Gpu;
use selvedge_ptx::memory::DeviceMemory;

/// Warp instructions of each resident warp before the counters of a window count. They fill the pipelines and queues.
const WARM: u64 = 96;
/// Warp instructions of each resident warp while a window counts.
const COUNTED: u64 = 192;
/// Warp instructions of each resident warp at the beginning and at the end of a launch, which are always simulated in detail.
const EDGE: u64 = 192;
/// Each edge is at least one of so many parts of a launch.
const EDGE_PARTS: u64 = 32;
/// Max windows for each interval that the user allows. A window costs less than an interval: it needs no checkpoint, and few
/// instructions warm it up.
const PER_INTERVAL: u64 = 4;
/// Min windows for which a quarter of a launch has room. CTAs that start together drift apart for some time. A shorter launch would
/// be estimated from windows in which they have not.
const LEAST: u64 = 8;

/// A window, in warp instructions of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    /// Begin of the simulation in detail.
    start: u64,
    /// Begin of the count.
    from: u64,
    until: u64,
}

/// The parts of a launch that are simulated in detail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Windows {
    /// End of the beginning, which counts exactly.
    beginning: u64,
    between: Vec<Window>,
    /// The end of the launch, which counts to its last cycle; `None` if a limit ends the run before.
    end: Option<Window>,
}

/// Counters of a launch in windows.
#[derive(Default)]
pub struct WindowCounters {
    /// Counters of beginning and end.
    pub edges: IntervalCounters,
    /// Counters of each window between them.
    pub between: Vec<IntervalCounters>,
}

impl Windows {
    /// Returns the windows of a launch of `total` warp instructions, with at most `warps` resident warps. At most [`PER_INTERVAL`]
    /// times `most` windows represent the instructions between beginning and end. `ends`: no limit ends the run in the launch.
    /// Windows and edges are at most a quarter of the launch. Returns `None` if it has no room for [`LEAST`] windows.
    pub fn new(total: u64, warps: u64, most: u64, ends: bool) -> Option<Windows> {
        let (warm, counted) = (WARM * warps, COUNTED * warps);
        let edge = (EDGE * warps).max(total / EDGE_PARTS);
        let edges = if ends { 2 * edge + warm } else { edge };
        let room = (total / 4).saturating_sub(edges) / (warm + counted).max(1);
        if room < LEAST {
            return None;
        }
        let count = room.min(PER_INTERVAL * most);
        let between = total - edges;
        let place = |number: u64| {
            // As the intervals of a launch: equal strata, with the place in each from the golden-ratio sequence.
            let (low, high) = (number * between / count, (number + 1) * between / count);
            let place = ((number + 1) as f64 * GOLDEN).fract();
            let start = edge + low + ((high - low - warm - counted) as f64 * place) as u64;
            Window { start, from: start + warm, until: start + warm + counted }
        };
        let end = Window { start: total - edge - warm, from: total - edge, until: total };
        Some(Windows { beginning: edge, between: (0..count).map(place).collect(), end: ends.then_some(end) })
    }

    /// Runs the only launch of `gpu`.
    ///
    /// # Errors
    /// The errors of a simulation.
    pub fn run(&self, gpu: &mut Gpu, memory: &mut DeviceMemory) -> Result<WindowCounters, RunError> {
        let mut all = WindowCounters::default();
        let before = IntervalCounters::of(gpu);
        gpu.run_until_issued(self.beginning, memory)?;
        all.edges.add(&IntervalCounters::of(gpu).since(&before));
        // Instructions that were executed without timing.
        let mut passed = 0;
        let mut begin = |window: &Window, gpu: &mut Gpu, memory: &mut DeviceMemory| {
            let distance = window.start.saturating_sub(gpu.warp_instructions() + passed);
            passed += gpu.fast_forward(|all| all.warp_instructions >= distance, memory)?.warp_instructions;
            gpu.run_until_issued(window.from.saturating_sub(passed), memory)?;
            Ok::<_, RunError>((IntervalCounters::of(gpu), passed))
        };
        for window in &self.between {
            let (before, passed) = begin(window, gpu, memory)?;
            gpu.run_until_issued(window.until.saturating_sub(passed), memory)?;
            all.between.push(IntervalCounters::of(gpu).since(&before));
        }
        if let Some(end) = &self.end {
            let (before, _) = begin(end, gpu, memory)?;
            gpu.run_until(u64::MAX, memory)?;
            all.edges.add(&IntervalCounters::of(gpu).since(&before));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_has_no_windows_without_room_for_the_least_number() {
        let warps = 100;
        // A quarter of the launch less two edges of a 32nd each: 3/16 of the launch hold the windows and the warm-up of the end.
        let least = (WARM * warps + LEAST * warps * (WARM + COUNTED)) * 16 / 3;
        assert_eq!(Windows::new(least - 64, warps, 6, true), None);
        let windows = Windows::new(least, warps, 6, true).expect("long enough");
        assert_eq!(windows.between.len() as u64, LEAST);
        assert_eq!(Windows::new(1000, 0, 6, true).map(|windows| windows.between.len()), Some(24), "no warps");
    }

    #[test]
    fn windows_lie_between_the_edges_each_in_its_own_stratum() {
        for (total, most, ends) in [(10_000_000, 6, true), (10_000_000, 1, false), (2_000_000, 4, true)] {
            let warps = 100;
            let windows = Windows::new(total, warps, most, ends).expect("long enough");
            let between = &windows.between;
            assert!(between.len() as u64 <= PER_INTERVAL * most, "{}", between.len());
            let edge = windows.beginning;
            assert!(edge >= EDGE * warps && edge >= total / EDGE_PARTS);
            let end = windows.end.map_or(total, |end| end.start);
            assert_eq!(windows.end.map(|end| (end.from, end.until)), ends.then_some((total - edge, total)));
            let width = (end - edge) / between.len() as u64;
            for (number, window) in (0..).zip(between) {
                let low = edge + number * width;
                assert!(window.start >= low && window.until <= low + width + 100, "{window:?} in {low}");
                assert_eq!((window.from - window.start, window.until - window.from), (9600, 19200));
            }
        }
    }

    #[test]
    fn windows_of_a_long_launch_are_a_quarter_of_it_at_most() {
        for total in [2_000_000, 5_000_000, 100_000_000] {
            let windows = Windows::new(total, 100, 8, true).expect("long enough");
            let between: u64 = windows.between.iter().map(|window| window.until - window.start).sum();
            let end = windows.end.map_or(0, |end| end.until - end.start);
            assert!(4 * (windows.beginning + between + end) <= total, "{total}");
        }
    }
}
