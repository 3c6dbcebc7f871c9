//! Progress of a study on a terminal.
use crate::error::one_line;
use crate::output::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_sim::gpu::Control;
use selvedge_study::{Ended, Entry, Point, Progress, Status};
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A bar on standard error when that is a terminal, and the warnings and failures of the points.
pub struct Watch<'a> {
    points: &'a [Point],
    bar: ProgressBar,
    running: AtomicUsize,
    failed: AtomicUsize,
}

impl<'a> Watch<'a> {
    /// None of `points` has ended.
    pub fn start(points: &'a [Point]) -> Self {
        let bar = if std::io::stderr().is_terminal() {
            let bar = ProgressBar::with_draw_target(Some(points.len() as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:30}] {pos}/{len} points, {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.enable_steady_tick(Duration::from_millis(500));
            bar
        } else {
            ProgressBar::hidden()
        };
        Watch { points, bar, running: AtomicUsize::new(0), failed: AtomicUsize::new(0) }
    }

    fn show(&self) {
        let (running, failed) = (self.running.load(Ordering::Relaxed), self.failed.load(Ordering::Relaxed));
        self.bar.set_message(format!("{running} running, {failed} failed"));
    }

    fn say(&self, text: &str) {
        let line = one_line(&format!("selvedge: {text}"));
        self.bar.suspend(|| say(format!("{line}\n")));
    }
}

impl Progress for Watch<'_> {
    fn started(&self, _: usize, _: &Arc<Control>) {
        self.running.fetch_add(1, Ordering::Relaxed);
        self.show();
    }

    fn ended(&self, at: usize, entry: &Entry, how: Ended) {
        if how == Ended::Computed {
            self.running.fetch_sub(1, Ordering::Relaxed);
        }
        if entry.status == Status::Failed {
            self.failed.fetch_add(1, Ordering::Relaxed);
            let reason = entry.reason.as_deref().unwrap_or_default();
            self.say(&format!("failed: {}: {reason}", self.points[at].name()));
        }
        self.bar.inc(1);
        self.show();
    }

    fn warnings(&self, at: usize) -> Box<dyn Fn(&str) + Send + Sync> {
        let (name, bar) = (self.points[at].name(), self.bar.clone());
        Box::new(move |text| {
            let line = one_line(&format!("selvedge: warning: {name}: {text}"));
            bar.suspend(|| say(format!("{line}\n")));
        })
    }

    fn note(&self, text: &str) {
        self.say(text);
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
