//! Points of a launch at which intervals begin and end, in ended CTAs, and the choice of launches to simulate.
use selvedge_ptx::ptx::LaunchDims;
use std::collections::BTreeMap;

/// Full sets of resident CTAs that end before the counters of an interval count. The L1Ds then hold the lines of these CTAs, and
/// mechanisms have trained.
const WARM_SETS: u64 = 3;
/// Full sets of resident CTAs that end while an interval counts.
const COUNTED_SETS: u64 = 1;
/// Full sets of resident CTAs at the beginning and at the end of a launch that are always simulated.
const EDGE_SETS: u64 = 2;
/// Min full sets of resident CTAs for each interval between beginning and end.
const SETS_PER_INTERVAL: u64 = 6;

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
    /// Returns whether the interval is at the beginning or at the end of its launch. It represents no other CTAs.
    pub fn is_edge(&self) -> bool {
        self.from == 0 || self.until.is_none()
    }
}

/// Returns the intervals of a launch of `ctas` CTAs, by their starts. At most `resident` CTAs run at the same time. At most `most`
/// intervals represent the CTAs between beginning and end. A launch too short for that is one interval.
pub fn intervals(ctas: u64, resident: u64, most: u64) -> Vec<LaunchInterval> {
    let resident = resident.clamp(1, ctas);
    let edge = EDGE_SETS * resident;
    let between = ctas.saturating_sub(2 * edge);
    let count = most.min(between / (SETS_PER_INTERVAL * resident));
    if count == 0 {
        return vec![LaunchInterval { start: 0, from: 0, until: None }];
    }
    let (warm, counted) = (WARM_SETS * resident, COUNTED_SETS * resident);
    let mut all = vec![LaunchInterval { start: 0, from: 0, until: Some(edge) }];
    for number in 0..count {
        // Equal strata, with the place in each stratum from the golden-ratio sequence: a period of the program's behavior
        // cannot meet all intervals in the same phase.
        let (low, high) = (number * between / count, (number + 1) * between / count);
        let place = ((number + 1) as f64 * GOLDEN).fract();
        let from = edge + low + ((high - low - counted) as f64 * place) as u64;
        all.push(LaunchInterval { start: from.saturating_sub(warm), from, until: Some(from + counted) });
    }
    let from = ctas - edge;
    all.push(LaunchInterval { start: from - warm, from, until: None });
    all
}

/// Fractional part of the golden ratio.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Launches of one kernel with the same block and, to a factor of two, the same number of CTAs.
pub type LaunchClass = (String, [u32; 3], u32);

/// Returns the class of a launch.
pub fn class(kernel: &str, dims: &LaunchDims) -> LaunchClass {
    (kernel.to_owned(), dims.block, dims.ctas().max(1).ilog2())
}

/// The choice of the launches to simulate among launches of the same class.
#[derive(Debug, Default)]
pub struct LaunchChoice {
    /// Launches of each class so far.
    seen: BTreeMap<LaunchClass, u64>,
}

impl LaunchChoice {
    /// Returns whether the next launch of `class` is simulated: the first `most` launches of a class, then one of two up to
    /// `2 * most` launches, one of four up to `4 * most`, and so on.
    pub fn takes(&mut self, class: &LaunchClass, most: u64) -> bool {
        let seen = self.seen.entry(class.clone()).or_default();
        let number = *seen;
        *seen += 1;
        let stride = (2 * number / most.max(1)).max(1);
        number.is_multiple_of(1 << stride.ilog2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launch_with_few_sets_of_ctas_is_one_interval() {
        let whole = vec![LaunchInterval { start: 0, from: 0, until: None }];
        assert_eq!(intervals(1, 120, 10), whole);
        assert_eq!(intervals(120 * (2 * EDGE_SETS + SETS_PER_INTERVAL) - 1, 120, 10), whole);
    }

    #[test]
    fn intervals_lie_between_the_edges_each_in_its_own_stratum() {
        for (ctas, most) in [(1_000, 4), (100_000, 10), (100_000, 1), (960, 3)] {
            let all = intervals(ctas, 10, most);
            assert_eq!(all.first().map(|one| (one.from, one.until)), Some((0, Some(20))));
            assert_eq!(all.last().map(|one| (one.from, one.until)), Some((ctas - 20, None)));
            let between = &all[1..all.len() - 1];
            let count = between.len() as u64;
            assert!(count <= most && count > 0, "{ctas} {most}");
            let width = (ctas - 40) / count;
            for (number, one) in (0..).zip(between) {
                let low = 20 + number * width;
                let until = one.until.expect("it ends before the launch");
                assert_eq!(one.from - one.start, (10 * WARM_SETS).min(one.from), "{one:?}");
                assert_eq!(until, one.from + 10 * COUNTED_SETS, "{one:?}");
                assert!(one.from >= low && until <= low + width + count, "{one:?} from {low}, {width}");
            }
        }
    }

    #[test]
    fn launches_of_a_class_are_simulated_ever_more_rarely() {
        let dims = LaunchDims::new([8, 1, 1], [32, 1, 1]);
        let (mut choice, class) = (LaunchChoice::default(), class("k", &dims));
        let taken: Vec<u64> = (0..32).filter(|_| choice.takes(&class, 4)).collect();
        assert_eq!(taken, [0, 1, 2, 3, 4, 6, 8, 12, 16, 24]);
        assert!(choice.takes(&super::class("other", &dims), 4));
    }
}
