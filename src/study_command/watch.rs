//! Progress of a study: points done, running and failed, and the time that the rest takes.
use crate::error::one_line;
use crate::output::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_sim::gpu::Control;
use selvedge_study::{Entry, Pace, Point, Progress, Status};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How often a bar is drawn.
const DRAW: Duration = Duration::from_millis(500);
/// How often a line is printed where there is no terminal.
const PRINT: Duration = Duration::from_secs(60);

/// What has become of the points so far.
struct Tally {
    pace: Pace,
    ended: usize,
    running: BTreeSet<usize>,
    failed: usize,
}

/// A bar on standard error when that is a terminal, and a line now and then when it is not; the warnings and failures of the
/// points.
pub struct Watch<'a> {
    points: &'a [Point],
    bar: Option<ProgressBar>,
    tally: Arc<Mutex<Tally>>,
    /// Dropped at the end.
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl<'a> Watch<'a> {
    /// None of `points` has ended; `pace` is about them.
    pub fn start(points: &'a [Point], pace: Pace) -> Self {
        let tally = Arc::new(Mutex::new(Tally { pace, ended: 0, running: BTreeSet::new(), failed: 0 }));
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(Some(points.len() as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:30}] {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar
        });
        let (end, ended) = mpsc::channel::<()>();
        let (shown, of, to) = (Arc::clone(&tally), points.len(), bar.clone());
        let every = if bar.is_some() { DRAW } else { PRINT };
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(every) == Err(mpsc::RecvTimeoutError::Timeout) {
                let (text, ended) = {
                    let tally = locked(&shown);
                    (in_words(&tally, of), tally.ended)
                };
                match &to {
                    Some(bar) => {
                        bar.set_position(ended as u64);
                        bar.set_message(text);
                    }
                    None => say(format!("selvedge: {text}\n")),
                }
            }
        });
        Watch { points, bar, tally, end: Some(end), thread: Some(thread) }
    }

    fn say(&self, text: &str) {
        say_above(self.bar.as_ref(), text);
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

/// A duration in the units that matter.
pub fn in_units(time: Duration) -> String {
    let seconds = time.as_secs_f64().ceil() as u64;
    let [days, hours, minutes] = [86_400, 3600, 60].map(|unit| seconds / unit);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, 1..10) => format!("{minutes} min {} s", seconds % 60),
        (0, 0, _) => format!("{minutes} min"),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

fn say_above(bar: Option<&ProgressBar>, text: &str) {
    let line = one_line(&format!("selvedge: {text}"));
    let print = || say(format!("{line}\n"));
    match bar {
        Some(bar) => bar.suspend(print),
        None => print(),
    }
}

impl Progress for Watch<'_> {
    fn started(&self, at: usize, _: &Arc<Control>) {
        let mut tally = locked(&self.tally);
        tally.running.insert(at);
        tally.pace.start(at, Instant::now());
    }

    fn ended(&self, at: usize, entry: &Entry) {
        let has_failed = entry.status == Status::Failed;
        let mut tally = locked(&self.tally);
        tally.ended += 1;
        tally.failed += usize::from(has_failed);
        // A point that is refused ends without a start.
        tally.running.remove(&at);
        tally.pace.end(at, Instant::now());
        drop(tally);
        if has_failed {
            let reason = entry.reason.as_deref().unwrap_or_default();
            self.say(&format!("failed: {}: {reason}", self.points[at].name()));
        }
    }

    fn warnings(&self, at: usize) -> Box<dyn Fn(&str) + Send + Sync> {
        let (name, bar) = (self.points[at].name(), self.bar.clone());
        Box::new(move |text| say_above(bar.as_ref(), &format!("warning: {name}: {text}")))
    }

    fn note(&self, text: &str) {
        self.say(text);
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // The thread only shows; its end needs no attention.
            let _ = thread.join();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_in_the_units_that_matter() {
        for (seconds, text) in [
            (0, "0 s"),
            (59, "59 s"),
            (61, "1 min 1 s"),
            (600, "10 min"),
            (3599, "59 min"),
            (3660, "1 h 1 min"),
            (90_000, "1 d 1 h"),
        ] {
            assert_eq!(in_units(Duration::from_secs(seconds)), text);
        }
    }
}
