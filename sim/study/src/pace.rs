//! How long the rest of a study takes, by what its points are expected to take and what they took.
use std::time::{Duration, Instant};

/// What a point is about.
#[derive(Clone, Copy, Debug)]
enum Stage {
    Waiting,
    Running(Instant),
    Ended,
}

/// Points with the seconds that each is expected to take, some at a time. What has ended corrects what is expected of the others.
#[derive(Clone, Debug)]
pub struct Pace {
    costs: Vec<f64>,
    stages: Vec<Stage>,
    jobs: usize,
    /// Seconds that the points took that were simulated, and that were expected.
    taken: f64,
    expected: f64,
}

impl Pace {
    /// Nothing has begun of points that are expected to take so many seconds each, so many at a time.
    pub fn new(costs: Vec<f64>, jobs: usize) -> Self {
        let stages = vec![Stage::Waiting; costs.len()];
        Pace { costs, stages, jobs: jobs.max(1), taken: 0.0, expected: 0.0 }
    }

    /// A point begins.
    pub fn start(&mut self, at: usize, now: Instant) {
        self.stages[at] = Stage::Running(now);
    }

    /// A point has ended.
    pub fn end(&mut self, at: usize, now: Instant) {
        if let Stage::Running(start) = std::mem::replace(&mut self.stages[at], Stage::Ended) {
            self.taken += (now - start).as_secs_f64();
            self.expected += self.costs[at];
        }
    }

    /// Seconds that points take over those that are expected of them: 1 at first, and what was measured when as much as a usual
    /// point has ended.
    fn correction(&self) -> f64 {
        let usual = self.costs.iter().sum::<f64>() / self.costs.len().max(1) as f64;
        let usual = usual.max(1e-9);
        (self.taken + usual) / (self.expected + usual)
    }

    /// Returns how long the rest takes.
    pub fn left(&self, now: Instant) -> Duration {
        let correction = self.correction();
        let (mut sum, mut longest) = (0.0, 0.0f64);
        for (cost, stage) in self.costs.iter().zip(&self.stages) {
            let left = match stage {
                Stage::Waiting => cost * correction,
                Stage::Running(start) => {
                    let elapsed = (now - *start).as_secs_f64();
                    // A run that is late is taken to be near its end.
                    (cost * correction - elapsed).max(elapsed / 10.0)
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

    #[test]
    fn points_count_by_what_they_cost_and_not_by_their_number() {
        let start = Instant::now();
        let mut pace = Pace::new(vec![100.0, 10.0, 10.0, 10.0], 1);
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
        let mut pace = Pace::new(vec![10.0; 10], 1);
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
        let mut pace = Pace::new(vec![10.0; 4], 2);
        pace.end(0, start);
        pace.end(1, start);
        assert_eq!(pace.left(start).as_secs(), 10, "two at a time");
    }

    #[test]
    fn the_longest_point_is_waited_for() {
        let start = Instant::now();
        let mut pace = Pace::new(vec![100.0, 10.0], 8);
        assert_eq!(pace.left(start).as_secs(), 100);
        pace.start(0, start);
        assert_eq!(pace.left(at(start, 40)).as_secs(), 60);
        let late = pace.left(at(start, 200)).as_secs();
        assert!((10..=30).contains(&late), "{late} s: it is late, and not at its end");
    }
}
