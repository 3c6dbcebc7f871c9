//! Progress of a study: points done, running and failed, and the estimated time of the rest.
use crate::progress_line::{ProgressLine, in_units};
use selvedge_sim::gpu::Control;
use selvedge_study::{Point, Status, StoredPoint, StudyPace, StudyProgress};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// State of the points so far.
struct Tally {
    pace: StudyPace,
    ended: usize,
    running: BTreeSet<usize>,
    failed: usize,
}

/// Progress line of a study. Warnings and failures of points are printed above it.
pub struct Watch<'a> {
    points: &'a [Point],
    tally: Arc<Mutex<Tally>>,
    line: ProgressLine,
}

impl<'a> Watch<'a> {
    /// Starts the line. No point has ended, and `pace` estimates the time of `points`.
    pub fn start(points: &'a [Point], pace: StudyPace) -> Self {
        let tally = Arc::new(Mutex::new(Tally { pace, ended: 0, running: BTreeSet::new(), failed: 0 }));
        let (shown, all) = (Arc::clone(&tally), points.len());
        let line = ProgressLine::start(all, move || {
            let tally = locked(&shown);
            (tally.ended, in_words(&tally, all))
        });
        Watch { points, tally, line }
    }
}

fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

fn in_words(tally: &Tally, of: usize) -> String {
    let Tally { pace, ended, running, failed } = tally;
    let left = in_units(pace.left(Instant::now()));
    let running = running.len();
    format!("{ended} of {of} points, {running} running, {failed} failed, about {left} left")
}

impl StudyProgress for Watch<'_> {
    fn started(&self, at: usize, _: &Arc<Control>) {
        let mut tally = locked(&self.tally);
        tally.running.insert(at);
        tally.pace.start(at, Instant::now());
    }

    fn ended(&self, at: usize, entry: &StoredPoint) {
        let has_failed = entry.status == Status::Failed;
        let mut tally = locked(&self.tally);
        tally.ended += 1;
        tally.failed += usize::from(has_failed);
        // A refused point ends without having started.
        tally.running.remove(&at);
        tally.pace.end(at, Instant::now());
        drop(tally);
        if has_failed {
            let reason = entry.reason.as_deref().unwrap_or_default();
            self.line.above()(&format!("failed: {}: {reason}", self.points[at].name()));
        }
    }

    fn warnings(&self, at: usize) -> Box<dyn Fn(&str) + Send + Sync> {
        let (name, print) = (self.points[at].name(), self.line.above());
        Box::new(move |text| print(&format!("warning: {name}: {text}")))
    }

    fn note(&self, text: &str) {
        self.line.above()(text);
    }
}
