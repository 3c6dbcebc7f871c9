//! Points of a launch at which intervals begin and end, in ended CTAs, and the choice of launches to simulate.
use selvedge_ptx::ptx::LaunchDims;
use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;

/// Min full sets of resident CTAs that end before the counters of an interval count. The L1Ds then hold the lines of these CTAs,
/// and mechanisms have trained.
const WARM_SETS: f64 = 3.0;
/// Full sets of resident CTAs by which warm-ups differ. CTAs that start together begin and end together for several sets. Intervals
/// with equal warm-ups would all count in the same phase, and share an error.
const WARM_SPREAD: f64 = 2.0;
/// Full sets of resident CTAs that end while an interval counts.
const COUNTED_SETS: u64 = 1;
/// Full sets of resident CTAs at the beginning and at the end of a launch that are always simulated.
const EDGE_SETS: u64 = 2;
/// Number of intervals that simulate the end of a launch, each with its own warm-up. They differ in the phase of their CTAs.
const ENDS: u64 = 3;
/// Max full sets of resident CTAs that an interval between beginning and end simulates before its end is due.
const SETS_PER_INTERVAL: u64 = 6;
/// Full sets of resident CTAs that an end of a launch simulates, its warm-up included.
const SETS_PER_END: u64 = EDGE_SETS + 4;
/// Min intervals between beginning and end: fewer have no variance.
const LEAST: u64 = 2;

/// An interval of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchInterval {
    /// First CTA that is simulated.
    pub start: u64,
    /// CTAs of the launch that have ended when the counters start to count.
    pub from: u64,
    /// CTAs of the launch that have ended when the interval ends; `None`: the interval ends with the launch.
    pub until: Option<u64>,
}

impl LaunchInterval {
    /// Returns whether the interval begins with its launch.
    pub fn is_beginning(&self) -> bool {
        self.from == 0
    }

    /// Returns whether the interval is its whole launch.
    pub fn is_whole(&self) -> bool {
        self.is_beginning() && self.until.is_none()
    }

    /// Returns whether the interval ends with its launch and does not begin with it.
    pub fn is_end(&self) -> bool {
        self.from > 0 && self.until.is_none()
    }
}

/// The CTAs of a launch that run.
#[derive(Clone, Copy, Debug)]
pub struct LaunchSpan {
    /// Number of CTAs, from 1 on.
    pub ctas: u64,
    /// Max number of CTAs that run at the same time.
    pub resident: u64,
    /// `false`: a limit ends the run when about `ctas` of the CTAs have ended. The GPU is then full, and no end is simulated.
    pub ends: bool,
}

impl LaunchSpan {
    fn ends(&self) -> u64 {
        if self.ends { ENDS } else { 0 }
    }

    /// Returns the number of intervals between beginning and end, at most `most`, for which intervals and edges simulate at most half
    /// of the CTAs. `None` if it is too small.
    fn between(&self, most: u64) -> Option<u64> {
        let half = self.ctas / (2 * self.resident.max(1));
        let edges = EDGE_SETS + self.ends() * SETS_PER_END;
        let count = most.min(half.saturating_sub(edges) / SETS_PER_INTERVAL);
        (count >= most.min(LEAST)).then_some(count)
    }

    /// Returns whether the launch is one interval.
    pub fn is_whole(&self, most: u64) -> bool {
        self.between(most).is_none()
    }
}

/// Returns the intervals of a launch, by their starts. At most `most` intervals represent the CTAs between beginning and end. A launch
/// is one interval if several would simulate more than half of it.
pub fn intervals(span: LaunchSpan, most: u64) -> Vec<LaunchInterval> {
    let LaunchSpan { ctas, ends, .. } = span;
    let resident = span.resident.clamp(1, ctas);
    let whole = LaunchInterval { start: 0, from: 0, until: None };
    let Some(count) = span.between(most) else { return vec![whole] };
    let (edge, counted) = (EDGE_SETS * resident, COUNTED_SETS * resident);
    let between = ctas - edge - if ends { edge } else { 0 };
    let warmed = |number, from, until| LaunchInterval {
        start: from - (warm_sets(number) * resident as f64) as u64,
        from,
        until,
    };
    let mut all = vec![LaunchInterval { until: Some(edge), ..whole }];
    for number in 0..count {
        // Equal strata, with the place in each stratum from the golden-ratio sequence: a period of the program's behavior
        // cannot meet all intervals in the same phase.
        let (low, high) = (number * between / count, (number + 1) * between / count);
        let place = ((number + 1) as f64 * GOLDEN).fract();
        let from = edge + low + ((high - low - counted) as f64 * place) as u64;
        all.push(warmed(number, from, Some(from + counted)));
    }
    all.extend((count..count + span.ends()).map(|number| warmed(number, ctas - edge, None)));
    all.sort_by_key(|one| one.start);
    all
}

/// Returns the full sets of resident CTAs that an interval simulates before its counters count.
fn warm_sets(number: u64) -> f64 {
    WARM_SETS + WARM_SPREAD * ((number + 1) as f64 * SQRT_2).fract()
}

/// Fractional part of the golden ratio.
pub const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Launches of one kernel with the same block and, to a factor of two, the same number of CTAs.
pub type LaunchShape = (String, [u32; 3], u32);

/// Returns the shape of a launch.
pub fn shape(kernel: &str, dims: &LaunchDims) -> LaunchShape {
    (kernel.to_owned(), dims.block, dims.ctas().max(1).ilog2())
}

/// Launches of one shape with, to a factor of two, the same number of warp instructions.
pub type LaunchClass = (LaunchShape, u32);

/// Returns the class of a launch with so many warp instructions.
pub fn class(shape: LaunchShape, instructions: u64) -> LaunchClass {
    (shape, instructions.max(1).ilog2())
}

/// The choice of the launches to simulate among launches of the same class.
#[derive(Debug, Default)]
pub struct LaunchChoice {
    classes: BTreeMap<LaunchClass, ClassProgress>,
    /// Class of the last launch of each shape.
    last: BTreeMap<LaunchShape, LaunchClass>,
}

#[derive(Debug, Default)]
struct ClassProgress {
    /// Launches so far.
    seen: u64,
    /// Number of the next launch to simulate.
    next: u64,
}

impl LaunchChoice {
    /// Returns whether the next launch of `shape` is simulated if it has the class of the last one.
    pub fn expects(&self, shape: &LaunchShape) -> bool {
        let last = self.last.get(shape).and_then(|class| self.classes.get(class));
        last.is_none_or(|progress| progress.seen >= progress.next)
    }

    /// Counts a launch of `class`. Returns whether it is simulated: `taken`, if that was decided before, otherwise the first `most`
    /// launches of a class, then one of five up to `2 * most` launches, one of seven up to `4 * most`, one of eleven up to `8 * most`,
    /// and so on.
    pub fn takes(&mut self, class: &LaunchClass, most: u64, taken: Option<bool>) -> bool {
        self.last.insert(class.0.clone(), class.clone());
        let progress = self.classes.entry(class.clone()).or_default();
        let number = progress.seen;
        progress.seen += 1;
        let is_taken = taken.unwrap_or(number >= progress.next);
        if is_taken {
            progress.next = number + distance(number / most.max(1));
        }
        is_taken
    }
}

/// Returns the distance to the next launch to simulate after `times` times the launches that are all simulated. It has no factor in
/// common with 6: many programs repeat after two or three launches, and simulated launches then have all phases in turn.
fn distance(times: u64) -> u64 {
    times.checked_ilog2().map_or(1, |power| (2 << power) + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn intervals(ctas: u64, resident: u64, most: u64) -> Vec<LaunchInterval> {
        super::intervals(LaunchSpan { ctas, resident, ends: true }, most)
    }

    #[test]
    fn a_launch_is_one_interval_if_several_would_simulate_half_of_it() {
        let edges = EDGE_SETS + ENDS * SETS_PER_END;
        let whole = vec![LaunchInterval { start: 0, from: 0, until: None }];
        assert_eq!(intervals(1, 120, 10), whole);
        let least = 120 * 2 * (edges + LEAST * SETS_PER_INTERVAL);
        assert_eq!(intervals(least - 1, 120, 10), whole);
        for sets in [2 * (edges + LEAST * SETS_PER_INTERVAL), 100, 1000] {
            let all = intervals(120 * sets, 120, 100);
            let simulated: u64 = all.iter().map(|one| one.until.unwrap_or(120 * sets) - one.start).sum();
            assert!(all.len() > 5 && simulated <= 60 * sets, "{sets}: {simulated}");
        }
    }

    #[test]
    fn intervals_lie_between_the_edges_each_in_its_own_stratum() {
        for (ctas, most) in [(1_000, 4), (100_000, 10), (100_000, 1), (960, 3)] {
            let all = intervals(ctas, 10, most);
            assert_eq!(all.first().map(|one| (one.from, one.until)), Some((0, Some(20))));
            assert!(all.is_sorted_by_key(|one| one.start), "the pass meets them in order");
            let ends = all.iter().filter(|one| one.is_end());
            assert_eq!(ends.map(|one| one.from).collect::<Vec<_>>(), [ctas - 20; ENDS as usize]);
            let mut between: Vec<_> = all[1..].iter().filter(|one| !one.is_end()).collect();
            between.sort_by_key(|one| one.from);
            let count = between.len() as u64;
            assert!(count <= most && count > 0, "{ctas} {most}");
            let width = (ctas - 40) / count;
            for (number, one) in (0..).zip(between) {
                let low = 20 + number * width;
                let until = one.until.expect("it ends before the launch");
                assert_eq!(until, one.from + 10 * COUNTED_SETS, "{one:?}");
                assert!(one.from >= low && until <= low + width + count, "{one:?} from {low}, {width}");
                let place = (one.from - low) as f64 / (width - 10) as f64;
                let wanted = ((number + 1) as f64 * GOLDEN).fract();
                assert!((place - wanted).abs() < 0.05, "{one:?}: {place} instead of {wanted}");
            }
        }
    }

    #[test]
    fn intervals_begin_to_count_in_all_phases_of_the_resident_ctas() {
        let all = intervals(1_000_000, 1000, 8);
        let mut warm: Vec<u64> = all[1..].iter().map(|one| one.from - one.start).collect();
        warm.sort_unstable();
        assert!((3000..3500).contains(&warm[0]) && (4500..5000).contains(&warm[10]), "{warm:?}");
        let mut phases: Vec<u64> = warm.iter().map(|warm| warm % 1000).collect();
        phases.sort_unstable();
        assert!(phases.windows(2).all(|pair| pair[1] - pair[0] < 250), "{phases:?}");
    }

    #[test]
    fn launches_of_a_class_are_simulated_ever_more_rarely() {
        let dims = LaunchDims::new([8, 1, 1], [32, 1, 1]);
        let (mut choice, shape) = (LaunchChoice::default(), shape("k", &dims));
        let mut takes = |instructions| {
            let expected = choice.expects(&shape);
            (choice.takes(&class(shape.clone(), instructions), 4, None), expected)
        };
        let all: Vec<(bool, bool)> = (0..32).map(|_| takes(100)).collect();
        assert!(all.iter().all(|(is_taken, expected)| is_taken == expected));
        let taken: Vec<usize> = (0..32).filter(|number| all[*number].0).collect();
        assert_eq!(taken, [0, 1, 2, 3, 4, 9, 16, 27]);
        assert_eq!(takes(1000), (true, false), "the first of its class");
        let other = LaunchDims::new([8, 1, 1], [64, 1, 1]);
        assert!(choice.expects(&super::shape("k", &other)), "another block");
    }

    #[test]
    fn distances_between_launches_have_no_factor_of_two_or_three() {
        for times in (0..100).chain((7..63).map(|power| (1 << power) - 1)) {
            let distance = distance(times);
            assert!(![2, 3].iter().any(|factor| distance.is_multiple_of(*factor)), "{times}: {distance}");
        }
    }
}
