//! How long the rest of a study takes, by what its points are expected to take and what they took.
use crate::point::Point;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What a point is about.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Waiting,
    Running(Instant),
    Ended,
}

/// Seconds that points took, and that were expected of them.
#[derive(Clone, Copy, Debug, Default)]
struct Evidence {
    taken: f64,
    expected: f64,
}

impl Evidence {
    fn add(&mut self, taken: f64, expected: f64) {
        self.taken += taken;
        self.expected += expected;
    }

    /// Returns the ratio of taken to expected seconds, where a `prior` ratio weighs as much as `weight` expected seconds.
    fn ratio(self, prior: f64, weight: f64) -> f64 {
        (self.taken + prior * weight) / (self.expected + weight)
    }
}

/// Points with the seconds that each is expected to take, some at a time. The time that points took corrects what is expected of
/// the others, those of the same workload first: an estimate is wrong for a workload more often than for a mechanism.
#[derive(Clone, Debug)]
pub struct Pace {
    costs: Vec<f64>,
    /// The workload of each point.
    groups: Vec<usize>,
    stages: Vec<Stage>,
    jobs: usize,
    ended: Vec<Evidence>,
}

impl Pace {
    /// Creates the pace of `points` of which none has begun and that are expected to take `costs` seconds each, `jobs` at a time.
    pub fn of(points: &[Point], costs: &[f64], jobs: usize) -> Self {
        Self::new(points.iter().map(|point| point.work_name.as_str()).zip(costs.iter().copied()), jobs)
    }

    /// Creates the pace of points, each with the name of its workload and the seconds that it is expected to take.
    fn new<'n>(points: impl IntoIterator<Item = (&'n str, f64)>, jobs: usize) -> Self {
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        let (mut groups, mut costs) = (Vec::new(), Vec::new());
        for (name, cost) in points {
            let next = names.len();
            groups.push(*names.entry(name).or_insert(next));
            costs.push(cost);
        }
        let stages = vec![Stage::Waiting; costs.len()];
        let ended = vec![Evidence::default(); names.len()];
        Pace { costs, groups, stages, jobs: jobs.max(1), ended }
    }

    /// A point begins.
    pub fn start(&mut self, at: usize, now: Instant) {
        self.stages[at] = Stage::Running(now);
    }

    /// A point has ended.
    pub fn end(&mut self, at: usize, now: Instant) {
        if let Stage::Running(start) = std::mem::replace(&mut self.stages[at], Stage::Ended) {
            self.ended[self.groups[at]].add((now - start).as_secs_f64(), self.costs[at]);
        }
    }

    /// Returns the evidence of each workload: its points that have ended, and those that already run for longer than expected.
    fn evidence(&self, now: Instant) -> Vec<Evidence> {
        let mut evidence = self.ended.clone();
        for (at, stage) in self.stages.iter().enumerate() {
            if let Stage::Running(start) = stage {
                let elapsed = (now - *start).as_secs_f64();
                if elapsed > self.costs[at] {
                    evidence[self.groups[at]].add(elapsed, self.costs[at]);
                }
            }
        }
        evidence
    }

    /// Returns for each workload the seconds that points take over those that are expected of them: 1 at first, the ratio of all
    /// workloads when as much as a usual point has ended, and its own when one of its points has.
    fn corrections(&self, now: Instant) -> Vec<f64> {
        let evidence = self.evidence(now);
        let usual = (self.costs.iter().sum::<f64>() / self.costs.len().max(1) as f64).max(1e-9);
        let mut all = Evidence::default();
        evidence.iter().for_each(|one| all.add(one.taken, one.expected));
        let overall = all.ratio(1.0, usual);
        let mut sums = vec![(0.0, 0usize); evidence.len()];
        for (group, cost) in self.groups.iter().zip(&self.costs) {
            sums[*group].0 += cost;
            sums[*group].1 += 1;
        }
        let of = |(one, (sum, count)): (&Evidence, (f64, usize))| {
            let weight = (0.25 * sum / count.max(1) as f64).max(1e-9);
            one.ratio(overall, weight)
        };
        evidence.iter().zip(sums).map(of).collect()
    }

    /// Returns how long the rest takes.
    pub fn left(&self, now: Instant) -> Duration {
        let corrections = self.corrections(now);
        let (mut sum, mut longest) = (0.0, 0.0f64);
        for ((cost, stage), group) in self.costs.iter().zip(&self.stages).zip(&self.groups) {
            let expected = cost * corrections[*group];
            let left = match stage {
                Stage::Waiting => expected,
                Stage::Running(start) => {
                    let elapsed = (now - *start).as_secs_f64();
                    // A run that is late is taken to be near its end.
                    (expected - elapsed).max(elapsed / 10.0)
                }
                Stage::Ended => 0.0,
            };
            sum += left;
            longest = longest.max(left);
        }
        Duration::from_secs_f64((sum / self.jobs as f64).max(longest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(start: Instant, seconds: u64) -> Instant {
        start + Duration::from_secs(seconds)
    }

    /// Points of one workload.
    fn of_one_workload(costs: &[f64], jobs: usize) -> Pace {
        Pace::new(costs.iter().map(|cost| ("one", *cost)), jobs)
    }

    #[test]
    fn points_count_by_what_they_cost_and_not_by_their_number() {
        let start = Instant::now();
        let mut pace = of_one_workload(&[100.0, 10.0, 10.0, 10.0], 1);
        assert_eq!(pace.left(start).as_secs(), 130);
        for (point, from, to) in [(1, 0, 10), (2, 10, 20), (3, 20, 30)] {
            pace.start(point, at(start, from));
            pace.end(point, at(start, to));
        }
        assert_eq!(pace.left(at(start, 30)).as_secs(), 100, "three of four are a small part of the work");
    }

    #[test]
    fn what_was_measured_corrects_what_is_expected() {
        let start = Instant::now();
        let mut pace = of_one_workload(&[10.0; 10], 1);
        for point in 0..5 {
            pace.start(point, at(start, 30 * point as u64));
            pace.end(point, at(start, 30 * (point as u64 + 1)));
        }
        // Three times as slow: nearly three times as long for the other half.
        let left = pace.left(at(start, 150)).as_secs();
        assert!((120..=150).contains(&left), "{left} s");
    }

    #[test]
    fn points_found_in_the_store_say_nothing_of_speed() {
        let start = Instant::now();
        let mut pace = of_one_workload(&[10.0; 4], 2);
        pace.end(0, start);
        pace.end(1, start);
        assert_eq!(pace.left(start).as_secs(), 10, "two at a time");
    }

    #[test]
    fn the_longest_point_is_waited_for() {
        let start = Instant::now();
        let mut pace = of_one_workload(&[100.0, 10.0], 8);
        assert_eq!(pace.left(start).as_secs(), 100);
        pace.start(0, start);
        assert_eq!(pace.left(at(start, 40)).as_secs(), 60);
        let late = pace.left(at(start, 200)).as_secs();
        assert!((10..=30).contains(&late), "{late} s: it is late, and not at its end");
    }

    #[test]
    fn a_point_that_ended_corrects_its_workload_most() {
        let start = Instant::now();
        let mut pace = Pace::new([("slow", 1.0), ("slow", 1.0), ("right", 1.0), ("right", 1.0)], 1);
        for (point, from, to) in [(0, 0, 100), (2, 100, 101)] {
            pace.start(point, at(start, from));
            pace.end(point, at(start, to));
        }
        // One of some 100 seconds and one of some 1.
        let left = pace.left(at(start, 101)).as_secs();
        assert!((85..=115).contains(&left), "{left} s");
    }

    #[test]
    fn a_point_that_runs_too_long_is_evidence_before_it_ends() {
        let start = Instant::now();
        let mut pace = of_one_workload(&[1.0; 10], 1);
        pace.start(0, start);
        let left = pace.left(at(start, 60)).as_secs();
        assert!(left > 9 * 40, "{left} s: nine more of more than a minute");
    }
}
