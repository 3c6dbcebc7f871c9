//! Progress on a terminal.
use crate::error::one_line;
use crate::output::say;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_sim::gpu::Control;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// One run as the user sees it: a bar on standard error, when that is a terminal, and the run's warnings.
pub struct Progress {
    control: Arc<Control>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows `title` and how far a run that begins now is; it ends when `stop` is set, or at the latest after `timeout`.
    pub fn start(title: String, stop: &Arc<AtomicBool>, timeout: Option<Duration>) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        if !std::io::stderr().is_terminal() {
            let control = Arc::new(Control::new(stop, timeout, warn_of(title, None)));
            return Progress { control, done, thread: None };
        }
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} CTAs, {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.set_prefix(title.clone());
        let control = Arc::new(Control::new(stop, timeout, warn_of(title, Some(bar.clone()))));
        let (flag, run) = (Arc::clone(&done), Arc::clone(&control));
        let thread = std::thread::spawn(move || {
            while !flag.load(Ordering::Relaxed) {
                bar.set_length(run.ctas_total.load(Ordering::Relaxed).max(1));
                bar.set_position(run.ctas_done.load(Ordering::Relaxed));
                bar.set_message(message(&run));
                std::thread::sleep(Duration::from_millis(100));
            }
            bar.finish_and_clear();
        });
        Progress { control, done, thread: Some(thread) }
    }

    /// As [`Progress::start`], without a bar, for a run that leaves the terminal to another program.
    pub fn without_bar(title: String, stop: &Arc<AtomicBool>, timeout: Option<Duration>) -> Self {
        let control = Arc::new(Control::new(stop, timeout, warn_of(title, None)));
        Progress { control, done: Arc::default(), thread: None }
    }

    /// The control of the run.
    pub fn control(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }
}

/// Returns what prints the warnings of a run, above the bar if there is one.
fn warn_of(run: String, bar: Option<ProgressBar>) -> impl Fn(&str) + Send + Sync + 'static {
    move |text: &str| {
        let line = one_line(&format!("selvedge: warning: {run}: {text}"));
        let print = || say(format!("{line}\n"));
        match &bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

/// Where the simulation is, and in which of several runs that are made to choose something.
fn message(control: &Control) -> String {
    let cycle = control.cycle.load(Ordering::Relaxed);
    match control.trials.load(Ordering::Relaxed) {
        0 => format!("cycle {cycle}"),
        trials => {
            format!("trial {} of {trials}, cycle {cycle}", control.trial.load(Ordering::Relaxed) + 1)
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The bar's thread only draws; its end needs no attention.
            let _ = thread.join();
        }
    }
}
