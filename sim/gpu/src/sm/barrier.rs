//! Barriers of an SM's CTAs: arrivals and releases of warps.
use super::Sm;
use super::cta_slot::BarrierArrival;
use super::residents::Residents;
use super::scheduler::{WarpMask, warps_of};
use super::warp_slot::Hold;

impl Sm {
    pub(super) fn arrive_at_barrier(&mut self, warp: u8, arrival: BarrierArrival, now: u64) {
        let cta = self.count_arrival(warp, arrival);
        if arrival.arrive_only {
            self.hold_for_control(warp, self.config.sm.branch_latency, now);
        }
        self.try_barriers(cta, now);
    }

    /// Counts the arrival of a warp at a barrier. Returns its CTA.
    pub(super) fn count_arrival(&mut self, warp: u8, arrival: BarrierArrival) -> u8 {
        let BarrierArrival { id, threads, arrive_only, ballot } = arrival;
        let (slot, cta) = self.residents.warp_and_cta(warp);
        if !arrive_only {
            slot.hold = Hold::Barrier(id);
        }
        let barrier = &mut cta.barriers[id as usize];
        barrier.arrived += 1;
        barrier.waiting |= WarpMask::from(!arrive_only) << warp;
        barrier.threads = threads.unwrap_or(0);
        barrier.ballot += ballot;
        slot.cta
    }

    /// Releases every barrier of the CTA at which all expected warps have arrived.
    pub(super) fn try_barriers(&mut self, cta: u8, now: u64) {
        for warp in warps_of(self.residents.complete_barriers(cta)) {
            self.hold_for_control(warp, self.config.sm.branch_latency, now);
        }
    }
}

impl Residents {
    /// Completes every barrier of the CTA at which all expected warps have arrived. Returns the warps that waited.
    pub(super) fn complete_barriers(&mut self, cta: u8) -> WarpMask {
        let Residents { warps, ctas, .. } = self;
        let cta = ctas[usize::from(cta)].as_mut().expect("the CTA is resident");
        let mut released: WarpMask = 0;
        for barrier in &mut cta.barriers {
            let expected = if barrier.threads == 0 { cta.live } else { barrier.threads.div_ceil(32) };
            if barrier.arrived > 0 && barrier.arrived >= expected {
                let barrier = std::mem::take(barrier);
                for warp in warps_of(barrier.waiting) {
                    let slot = warps[usize::from(warp)].as_mut().expect("a waiting warp is resident");
                    slot.warp.pass_barrier(&slot.kernel, barrier.ballot);
                }
                released |= barrier.waiting;
            }
        }
        released
    }
}
