//! Predicts the remaining time of a study from the expected and the measured times of its points.
use crate::factors::{Factors, NameIndices, TimedRun};
use crate::point::Point;
use std::time::{Duration, Instant};

/// Progress of a point.
#[derive(Clone, Copy, Debug)]
enum PointStage {
    Waiting,
    Running(Instant),
    Ended,
}

/// Weight of the assumption that a mechanism has a factor of 1, in points.
const PRIOR: f64 = 0.5;

/// Progress of points that run `jobs` at a time, each with its expected seconds. Measured times correct the expected times of the
/// other points, by one factor per workload and one per mechanism. Expected times may come from counts of instructions. Those can
/// be wrong by a factor of thirty between workloads or mechanisms.
#[derive(Clone, Debug)]
pub struct StudyPace {
    costs: Vec<f64>,
    /// Indices of the workload and of the mechanism of each point.
    groups: Vec<(usize, usize)>,
    workloads: usize,
    mechanisms: usize,
    stages: Vec<PointStage>,
    jobs: usize,
    ended: Vec<TimedRun>,
}

impl StudyPace {
    /// Creates the pace of `points` before the first one starts. `costs` are their expected seconds.
    pub fn of(points: &[Point], costs: &[f64], jobs: usize) -> Self {
        let names =
            points.iter().map(|point| (point.work_name.as_str(), point.parameters.mechanism.as_str()));
        Self::new(names.zip(costs.iter().copied()), jobs)
    }

    /// Creates the pace of points, each with the names of its workload and mechanism and its expected seconds.
    pub fn new<'n>(points: impl IntoIterator<Item = ((&'n str, &'n str), f64)>, jobs: usize) -> Self {
        let (mut workloads, mut mechanisms) = (NameIndices::default(), NameIndices::default());
        let (mut groups, mut costs) = (Vec::new(), Vec::new());
        for ((workload, mechanism), cost) in points {
            groups.push((workloads.number(workload), mechanisms.number(mechanism)));
            costs.push(cost);
        }
        StudyPace {
            stages: vec![PointStage::Waiting; costs.len()],
            costs,
            groups,
            workloads: workloads.len(),
            mechanisms: mechanisms.len(),
            jobs: jobs.max(1),
            ended: Vec::new(),
        }
    }

    /// Records the start of a point.
    pub fn start(&mut self, at: usize, now: Instant) {
        self.stages[at] = PointStage::Running(now);
    }

    /// Records the end of a point.
    pub fn end(&mut self, at: usize, now: Instant) {
        if let PointStage::Running(start) = std::mem::replace(&mut self.stages[at], PointStage::Ended) {
            self.ended.extend(self.evidence_of(at, (now - start).as_secs_f64()));
        }
    }

    /// Returns the evidence of a point that took this number of seconds. Returns `None` if it has no expected time.
    fn evidence_of(&self, at: usize, taken: f64) -> Option<TimedRun> {
        let ((workload, mechanism), expected) = (self.groups[at], self.costs[at]);
        (expected > 0.0 && taken > 0.0).then_some(TimedRun { workload, mechanism, taken, expected })
    }

    /// Returns the evidence of points that have ended, and of points that already run longer than expected.
    fn evidence(&self, now: Instant) -> Vec<TimedRun> {
        let mut evidence = self.ended.clone();
        for (at, stage) in self.stages.iter().enumerate() {
            if let PointStage::Running(start) = stage {
                let elapsed = (now - *start).as_secs_f64();
                if elapsed > self.costs[at] {
                    evidence.extend(self.evidence_of(at, elapsed));
                }
            }
        }
        evidence
    }

    /// Returns the factor for workloads without evidence: measured seconds, divided by expected seconds that include the factors
    /// of mechanisms.
    fn overall(&self, evidence: &[TimedRun], factors: &Factors) -> f64 {
        // Adds one average point that takes the expected time.
        let usual = self.costs.iter().sum::<f64>() / self.costs.len().max(1) as f64;
        let expected = |one: &TimedRun| one.expected * factors.mechanisms[one.mechanism];
        let (taken, expected): (f64, f64) =
            (evidence.iter().map(|one| one.taken).sum(), evidence.iter().map(expected).sum());
        if expected > 0.0 { (taken + usual) / (expected + usual) } else { 1.0 }
    }

    /// Returns the predicted remaining time.
    pub fn left(&self, now: Instant) -> Duration {
        let evidence = self.evidence(now);
        let factors = Factors::fit(&evidence, self.workloads, self.mechanisms, PRIOR);
        let overall = self.overall(&evidence, &factors);
        let (mut sum, mut longest) = (0.0, 0.0f64);
        for ((cost, stage), (workload, mechanism)) in self.costs.iter().zip(&self.stages).zip(&self.groups) {
            let factor = factors.workloads[*workload].unwrap_or(overall) * factors.mechanisms[*mechanism];
            let expected = cost * factor;
            let left = match stage {
                PointStage::Waiting => expected,
                PointStage::Running(start) => {
                    let elapsed = (now - *start).as_secs_f64();
                    // Assumes that at least a tenth of the elapsed time remains, also for a late run.
                    (expected - elapsed).max(elapsed / 10.0)
                }
                PointStage::Ended => 0.0,
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

    /// Creates the pace of points with the same workload.
    fn of_one_workload(costs: &[f64], jobs: usize) -> StudyPace {
        StudyPace::new(costs.iter().map(|cost| (("one", "base"), *cost)), jobs)
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
        // Points take three times the expected seconds. So will the other half, with less weight.
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
        let points = ["slow", "slow", "right", "right"].map(|workload| ((workload, "base"), 1.0));
        let mut pace = StudyPace::new(points, 1);
        for (point, from, to) in [(0, 0, 100), (2, 100, 101)] {
            pace.start(point, at(start, from));
            pace.end(point, at(start, to));
        }
        // The remaining points take about 100 seconds and about 1 second.
        let left = pace.left(at(start, 101)).as_secs();
        assert!((85..=115).contains(&left), "{left} s");
    }

    #[test]
    fn a_mechanism_takes_as_much_longer_for_one_workload_as_for_others() {
        let start = Instant::now();
        let points = [("a", "base"), ("a", "slow"), ("b", "base"), ("b", "slow")];
        let mut pace = StudyPace::new(points.map(|names| (names, 10.0)), 1);
        for (point, from, to) in [(0, 0, 10), (1, 10, 50), (2, 50, 70)] {
            pace.start(point, at(start, from));
            pace.end(point, at(start, to));
        }
        // The point takes about four times the baseline's 20 seconds; evidence of one point has less weight.
        let left = pace.left(at(start, 70)).as_secs();
        assert!((45..=80).contains(&left), "{left} s");
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
