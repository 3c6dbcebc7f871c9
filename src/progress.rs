//! Progress on a terminal, and Ctrl-C.
use crate::error::Failure;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use selvedge_sim::gpu::Control;
use std::io::IsTerminal;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Returns a flag that Ctrl-C sets, so that what runs stops and reports what it has.
pub fn stop_on_interrupt() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))
        .map_err(|e| Failure::usage(format!("cannot catch Ctrl-C: {e}")))?;
    Ok(stop)
}

/// A bar on standard error that follows a simulation; nothing when that is no terminal.
pub struct Progress {
    done: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows `title` and how far `control`'s launch is.
    pub fn start(title: String, control: Arc<Control>) -> Self {
        let done = Arc::new(AtomicBool::new(false));
        if !std::io::stderr().is_terminal() {
            return Progress { done, thread: None };
        }
        let flag = Arc::clone(&done);
        let thread = std::thread::spawn(move || {
            let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{prefix} [{bar:30}] {pos}/{len} CTAs, {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar.set_prefix(title);
            while !flag.load(Ordering::Relaxed) {
                bar.set_length(control.ctas_total.load(Ordering::Relaxed).max(1));
                bar.set_position(control.ctas_done.load(Ordering::Relaxed));
                bar.set_message(message(&control));
                std::thread::sleep(Duration::from_millis(100));
            }
            bar.finish_and_clear();
        });
        Progress { done, thread: Some(thread) }
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

/// A bar on standard error that counts runs and says how long the rest takes; nothing when that is no terminal.
pub struct Tally(ProgressBar);

impl Tally {
    /// None of `runs` is done.
    pub fn start(runs: usize) -> Self {
        if !std::io::stderr().is_terminal() {
            return Tally(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("[{bar:30}] {pos}/{len} runs, {elapsed} so far, {eta} left");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
        bar.enable_steady_tick(Duration::from_millis(500));
        Tally(bar)
    }

    /// One more is.
    pub fn one_done(&self) {
        self.0.inc(1);
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
