//! Signals that end a command: SIGINT (Ctrl-C), SIGTERM (a batch system's limit) and SIGHUP (a terminal that closes).
use crate::error::Failure;
use signal_hook::consts::signal::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

/// Number of the last signal, or 0 before the first.
static CAUGHT: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// Locked while files that belong together are written.
static WRITING: Mutex<()> = Mutex::new(());

/// Returns a flag that each signal sets. A run that sees it stops and reports its results so far.
pub fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in signals() {
        // Register the number first, so that it is set when a reader sees the flag.
        flag::register_usize(signal, Arc::clone(&CAUGHT), signal as usize)
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|e| Failure::usage(format!("cannot catch signal {signal}: {e}")))?;
    }
    Ok(stop)
}

/// Ends the command with one line on a signal, but waits while a guard of [`hold_off`] exists. Serves commands that
/// have nothing to report before their end.
#[cfg(unix)]
pub fn end_on_signal() -> Result<(), Failure> {
    let cannot = |e| Failure::usage(format!("cannot catch signals: {e}"));
    for signal in signals() {
        flag::register_usize(signal, Arc::clone(&CAUGHT), signal as usize).map_err(cannot)?;
    }
    let mut signals = signal_hook::iterator::Signals::new(signals()).map_err(cannot)?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            let _writing = hold_off();
            CAUGHT.store(signal as usize, Ordering::Relaxed);
            let failure = Failure::interrupted("interrupted");
            failure.report();
            std::process::exit(i32::from(exit_code()));
        }
    });
    Ok(())
}

/// Blocks if a signal came while files were written, until [`end_on_signal`] ends the command. A command never reports
/// success after a signal.
pub fn yield_to_signal() {
    while CAUGHT.load(Ordering::Relaxed) != 0 {
        std::thread::park();
    }
}

/// On other systems Ctrl-C ends the command without a handler.
#[cfg(not(unix))]
pub fn end_on_signal() -> Result<(), Failure> {
    Ok(())
}

/// Keeps [`end_on_signal`] from ending the command until the guard is dropped.
pub fn hold_off() -> MutexGuard<'static, ()> {
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the exit code of a command that a signal ended: 128 plus the signal's number, by the convention of shells.
pub fn exit_code() -> u8 {
    let signal = match CAUGHT.load(Ordering::Relaxed) {
        0 => SIGINT as usize,
        signal => signal,
    };
    128 + signal as u8
}

#[cfg(unix)]
fn signals() -> Vec<i32> {
    use signal_hook::consts::signal::SIGHUP;
    let mut signals = vec![SIGINT, SIGTERM];
    // `nohup` makes the command outlive its terminal.
    if !hangups_are_ignored() {
        signals.push(SIGHUP);
    }
    signals
}

#[cfg(not(unix))]
fn signals() -> Vec<i32> {
    vec![SIGINT, SIGTERM]
}

#[cfg(unix)]
fn hangups_are_ignored() -> bool {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: the new disposition ignores the signal, so that no handler of this program can run.
    let before = unsafe { signal(Signal::SIGHUP, SigHandler::SigIgn) };
    if matches!(before, Ok(SigHandler::SigDfl)) {
        // SAFETY: this restores the default disposition, which is no handler either.
        let restored = unsafe { signal(Signal::SIGHUP, SigHandler::SigDfl) };
        return restored.is_err();
    }
    matches!(before, Ok(SigHandler::SigIgn))
}
