//! Progress of a command with several tasks: the running tasks, and the estimated time of the rest.
use crate::progress_line::{ProgressLine, in_units};
use selvedge_study::StudyPace;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A task before it begins. The times of finished tasks with the same subject or action correct its expected seconds.
pub struct Task {
    /// Name in the progress line.
    pub name: String,
    /// Subject of the task, such as a workload or a block.
    pub subject: String,
    /// Action on the subject, such as a mechanism or a target.
    pub action: String,
    /// Expected seconds.
    pub seconds: f64,
}

struct Tally {
    /// Noun for the tasks in the progress line.
    noun: &'static str,
    pace: StudyPace,
    names: Vec<String>,
    running: BTreeSet<usize>,
    ended: usize,
}

/// Progress line of a batch of tasks.
pub struct BatchWatch {
    tally: Arc<Mutex<Tally>>,
    line: ProgressLine,
}

impl BatchWatch {
    /// Starts the line. No task has begun, and at most `jobs` tasks run at the same time.
    pub fn start(noun: &'static str, tasks: Vec<Task>, jobs: usize) -> Self {
        let tally = Arc::new(Mutex::new(Tally::new(noun, tasks, jobs)));
        let shown = Arc::clone(&tally);
        let all = locked(&tally).names.len();
        let line = ProgressLine::start(all, move || {
            let tally = locked(&shown);
            (tally.ended, tally.in_words(Instant::now()))
        });
        BatchWatch { tally, line }
    }

    /// Records that the task with index `at` begins.
    pub fn started(&self, at: usize) {
        locked(&self.tally).start(at, Instant::now());
    }

    /// Records that the task with index `at` has ended, with success or not.
    pub fn ended(&self, at: usize) {
        locked(&self.tally).end(at, Instant::now());
    }

    /// Returns a function that prints a warning of the task above the line.
    pub fn warnings(&self, task: String) -> impl Fn(&str) + Send + Sync + 'static {
        let print = self.line.above();
        move |text: &str| print(&format!("warning: {task}: {text}"))
    }
}

fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tally {
    fn new(noun: &'static str, tasks: Vec<Task>, jobs: usize) -> Self {
        let points = tasks.iter().map(|task| ((task.subject.as_str(), task.action.as_str()), task.seconds));
        let pace = StudyPace::new(points, jobs);
        let names = tasks.into_iter().map(|task| task.name).collect();
        Tally { noun, pace, names, running: BTreeSet::new(), ended: 0 }
    }

    fn start(&mut self, at: usize, now: Instant) {
        self.running.insert(at);
        self.pace.start(at, now);
    }

    fn end(&mut self, at: usize, now: Instant) {
        self.running.remove(&at);
        self.pace.end(at, now);
        self.ended += 1;
    }

    fn in_words(&self, now: Instant) -> String {
        let running: Vec<&str> = self.running.iter().map(|at| self.names[*at].as_str()).collect();
        let (ended, all, noun) = (self.ended, self.names.len(), self.noun);
        let left = in_units(self.pace.left(now));
        format!("{ended} of {all} {noun}, about {left} left: {}", running.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_line_names_what_runs_and_how_long_the_rest_takes() {
        let task = |subject: &str, seconds| {
            let (name, subject) = (format!("{subject} for asic"), subject.to_owned());
            Task { name, subject, action: "asic".into(), seconds }
        };
        let mut tally = Tally::new("studies", vec![task("milg", 1.0), task("bdi_compressor", 90.0)], 1);
        let now = Instant::now();
        tally.start(1, now);
        assert_eq!(tally.in_words(now), "0 of 2 studies, about 1 min 31 s left: bdi_compressor for asic");
        tally.end(1, now + Duration::from_secs(90));
        tally.start(0, now + Duration::from_secs(90));
        let words = tally.in_words(now + Duration::from_secs(90));
        assert_eq!(words, "1 of 2 studies, about 1 s left: milg for asic");
    }
}
