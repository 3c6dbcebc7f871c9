//! Stimulus of the AWT: the table fills, empties, waits for room and is killed. Triggers are held and withdrawn.
use super::params::AwtParams;
use super::rtl::AwtIn;
use crate::draws::room;
use crate::widths::{SR_BITS, WARPS};
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;

/// Cycles between two resets on average.
const RESET_EVERY: u64 = 4000;

/// One kind of traffic. All fields except `length` are chances in percent per cycle.
#[derive(Clone, Copy, Debug)]
struct AwtLoad {
    trigger: u64,
    high: u64,
    /// Chance that a warp has room for a high-priority instruction; `low_room` is the chance for low priority.
    high_room: u64,
    low_room: u64,
    kill: u64,
    /// Instructions of the longest routine.
    length: u64,
}

/// Single assist warps, long routines, a full table, a table full of low priority, draining, back-to-back short routines,
/// kills.
const PHASES: [AwtLoad; 7] = [
    AwtLoad { trigger: 4, high: 50, high_room: 100, low_room: 100, kill: 0, length: 12 },
    AwtLoad { trigger: 3, high: 50, high_room: 100, low_room: 100, kill: 0, length: 128 },
    AwtLoad { trigger: 70, high: 60, high_room: 25, low_room: 10, kill: 1, length: 30 },
    AwtLoad { trigger: 60, high: 15, high_room: 60, low_room: 0, kill: 0, length: 6 },
    AwtLoad { trigger: 0, high: 0, high_room: 80, low_room: 60, kill: 0, length: 1 },
    AwtLoad { trigger: 95, high: 70, high_room: 100, low_room: 90, kill: 2, length: 2 },
    AwtLoad { trigger: 50, high: 50, high_room: 50, low_room: 50, kill: 40, length: 128 },
];

/// Endless stimulus of the AWT.
pub(super) fn awt(_params: &AwtParams, seed: u64) -> impl Iterator<Item = Stimulus<AwtIn>> + use<> {
    let mut prng = Prng::new(seed);
    let mut started = false;
    let mut phase = PHASES[0];
    let (mut remaining, mut warps) = (0, WARPS as u64);
    let mut trigger = AwtIn::default();
    std::iter::from_fn(move || {
        let reset = !started || prng.below(RESET_EVERY) == 0;
        started = true;
        if reset {
            trigger = AwtIn::default();
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            phase = PHASES[prng.below(PHASES.len() as u64) as usize];
            remaining = 100 + prng.below(400);
            // With few warps, triggers repeat active routines and kills hit more often.
            warps = if prng.chance(50) { 4 } else { WARPS as u64 };
        }
        remaining -= 1;
        // A trigger is held for some cycles. After it was taken, the table refuses the same routine.
        if !trigger.trigger_valid_i || prng.chance(40) {
            trigger = new_trigger(&mut prng, &phase, warps);
        }
        let kill = prng.chance(phase.kill);
        let class = 1 + prng.below(3);
        let warp = prng.below(warps) as u8;
        let inputs = AwtIn {
            kill_high_i: kill && class & 1 != 0,
            kill_low_i: kill && class & 2 != 0,
            kill_warp_i: if prng.chance(30) { trigger.trigger_warp_i } else { warp },
            high_room_i: room(&mut prng, phase.high_room),
            low_room_i: prng.chance(phase.low_room),
            ..trigger
        };
        Some(Stimulus::step(inputs))
    })
}

/// Returns inputs that are a trigger of one of the first `warps` warps, or no trigger.
fn new_trigger(prng: &mut Prng, phase: &AwtLoad, warps: u64) -> AwtIn {
    AwtIn {
        trigger_valid_i: prng.chance(phase.trigger),
        trigger_warp_i: prng.below(warps) as u8,
        trigger_high_i: prng.chance(phase.high),
        trigger_sr_i: prng.below(1 << SR_BITS) as u8,
        trigger_end_i: if prng.chance(90) { prng.below(phase.length) } else { phase.length - 1 } as u8,
        trigger_mask_i: prng.bits() as u32,
        trigger_live_in_i: prng.bits() as u16,
        trigger_live_out_i: prng.bits() as u16,
        ..AwtIn::default()
    }
}
