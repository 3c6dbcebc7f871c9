//! Progress of one run on a terminal.
use crate::error::one_line;
use crate::output::{is_quiet, say};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_sim::gpu::Control;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Display of one run: its warnings, and a bar on standard error if that is a terminal.
pub struct Progress {
    control: Arc<Control>,
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows `title` and the progress of a run that begins now. The run ends when `stop` is set or `timeout` has
    /// passed.
    pub fn start(title: String, stop: &Arc<AtomicBool>, timeout: Option<Duration>) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        if is_quiet() || !std::io::stderr().is_terminal() {
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

    /// Like [`Progress::start`], but without a bar, for a run that shares the terminal with another program.
    pub fn without_bar(title: String, stop: &Arc<AtomicBool>, timeout: Option<Duration>) -> Self {
        let control = Arc::new(Control::new(stop, timeout, warn_of(title, None)));
        Progress { control, done: Arc::default(), thread: None }
    }

    /// Returns the control of the run.
    pub fn control(&self) -> Arc<Control> {
        Arc::clone(&self.control)
    }
}

/// Returns a function that prints the warnings of a run, above the bar if one exists.
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

/// Describes the current cycle, and the trial if several runs are made to choose a setting.
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
            // The thread only draws the bar, so its result does not matter.
            let _ = thread.join();
        }
    }
}
