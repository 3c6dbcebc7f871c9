//! The process that uses the library. A forked child of the program cannot use its connection.
use crate::Done;
use crate::connection::{leave_note, say};
use crate::protocol::error;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Id of the process that made the first call; 0 before that.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// `true` after a call other than registrations. A real device then also refuses forked children.
static IS_USED: AtomicBool = AtomicBool::new(false);
/// Id of the last process whose refusal was reported.
static TOLD: AtomicU32 = AtomicU32::new(0);

/// Checks that this process may use the library; the first call claims it. Takes no lock: a lock that another thread holds during
/// a fork is never released in the child.
///
/// # Errors
/// CUDA's error for a device that is not initialized.
pub fn check(name: &'static str) -> Done {
    let this = std::process::id();
    match OWNER.compare_exchange(0, this, Ordering::Relaxed, Ordering::Relaxed) {
        Err(owner) if owner != this => {}
        _ => {
            if !name.starts_with("__cuda") {
                IS_USED.store(true, Ordering::Relaxed);
            }
            return Ok(());
        }
    }
    if TOLD.swap(this, Ordering::Relaxed) != this {
        say(&format!("{name}: CUDA cannot be used in a process that the program has forked"));
        // A real device serves a forked child if its parent has not used the device.
        if !IS_USED.load(Ordering::Relaxed) {
            let why = "it is called in a forked process, and another one is served; so is every later call";
            leave_note(name, error::INITIALIZATION, why);
        }
    }
    Err(error::INITIALIZATION)
}
