//! Livelocks: launches that cannot end although their warps issue instructions, because every warp that is not blocked spins.
use super::watchdog::POLL_CYCLES;
use super::{Gpu, deadlock};
use selvedge_ptx::memory::DeviceMemory;

/// Core cycles between two searches for livelocks. A user gets the warning soon, and the cost of the search is negligible.
const LIVELOCK_CYCLES: u64 = 64 * POLL_CYCLES;

impl Gpu {
    /// Warns once of each launch that is in a livelock. Searches only launches without a CTA finished since the last search, and
    /// without a waiting CTA that could still start.
    pub(super) fn warn_of_livelocks(&mut self, memory: &mut DeviceMemory) {
        if !self.now.is_multiple_of(LIVELOCK_CYCLES) {
            return;
        }
        let alone = self.launches.running.len() == 1;
        for at in 0..self.launches.running.len() {
            let running = &mut self.launches.running[at];
            let idle = running.done_before.replace(running.done) == Some(running.done);
            // A launch next to others may still get the resources of their CTAs.
            let full = running.next == running.total || alone && !self.launches.may_dispatch;
            if !idle || !full || running.livelocked {
                continue;
            }
            // Another launch of the program may write the memory for which this one waits.
            let program = running.kernel.program;
            if self.launches.running.iter().filter(|other| other.kernel.program == program).count() > 1 {
                continue;
            }
            let running = &self.launches.running[at];
            let (launch, waiting) = (&running.kernel, running.total - running.next);
            let spins: Option<Vec<_>> =
                self.sms.iter_mut().map(|sm| sm.describe_spins(launch, self.now, memory)).collect();
            let Some(spins) = spins.filter(|spins| spins.iter().any(|lines| !lines.is_empty())) else {
                continue;
            };
            self.launches.running[at].livelocked = true;
            let mut text = format!("livelock at cycle {}: {}", self.now, deadlock::report(&spins));
            if waiting > 0 {
                text += &format!("; {waiting} CTAs wait for room");
            }
            self.watchdog.control.warn(&text);
        }
    }
}
