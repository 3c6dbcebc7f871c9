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
            if self.another_may_act(at, memory) {
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

    /// Returns whether another launch of the program of launch `at` may still have an effect: it has CTAs that do not spin, or that could
    /// start.
    fn another_may_act(&mut self, at: usize, memory: &mut DeviceMemory) -> bool {
        let program = self.launches.running[at].kernel.program;
        (0..self.launches.running.len()).any(|other| {
            let running = &self.launches.running[other];
            if other == at || running.kernel.program != program {
                return false;
            }
            let (is_absent, waits) = (running.done == running.next, running.next < running.total);
            let mut spins = || -> Option<Vec<_>> {
                let sms = self.sms.iter_mut();
                sms.map(|sm| sm.describe_spins(&running.kernel, self.now, memory)).collect()
            };
            let may_start = waits && self.launches.may_dispatch;
            may_start || !is_absent && spins().is_none_or(|spins| spins.iter().all(Vec::is_empty))
        })
    }
}
