//! Progress of a long command: a bar on standard error if that is a terminal, else a line each minute.
use crate::error::one_line;
use crate::output::{is_quiet, say};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// Interval between drawings of the bar.
const DRAW: Duration = Duration::from_millis(500);
/// Interval between lines if standard error is not a terminal.
const PRINT: Duration = Duration::from_secs(60);

/// A bar or lines. Drop ends the display.
pub struct ProgressLine {
    bar: Option<ProgressBar>,
    /// Dropped to end the thread.
    end: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ProgressLine {
    /// Shows periodically the result of `state`: the number of the `all` parts that have ended, and a text.
    pub fn start(all: usize, state: impl Fn() -> (usize, String) + Send + 'static) -> Self {
        let bar = (!is_quiet() && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("[{bar:30}] {wide_msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
            bar
        });
        let (end, ended) = channel::<()>();
        let to = bar.clone();
        let every = if bar.is_some() { DRAW } else { PRINT };
        let thread = std::thread::spawn(move || {
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let (ended, text) = state();
                match &to {
                    Some(bar) => {
                        bar.set_position(ended as u64);
                        bar.set_message(text);
                    }
                    None if is_quiet() => {}
                    None => say(format!("selvedge: {text}\n")),
                }
            }
        });
        ProgressLine { bar, end: Some(end), thread: Some(thread) }
    }

    /// Returns a function that prints a line, above the bar if one exists.
    pub fn above(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |text: &str| {
            let line = one_line(&format!("selvedge: {text}"));
            let print = || say(format!("{line}\n"));
            match &bar {
                Some(bar) => bar.suspend(print),
                None => print(),
            }
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // The thread only draws, so its result does not matter.
            let _ = thread.join();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Formats a duration in its two largest units.
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
