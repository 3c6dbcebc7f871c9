//! Stimulus of the AWS: the whole store is loaded, then routines are loaded and run. Some writes hit the word that is read, and some routines exceed their
//! slots.
use super::params::AwsParams;
use super::rtl::AwsIn;
use crate::widths::{INST_BITS, SR_BITS};
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;

/// Cycles between two resets on average.
const RESET_EVERY: u64 = 3000;

/// Fetches and writes per hundred cycles in each phase: loading, running, both at once.
const PHASES: [(u64, u64); 3] = [(5, 95), (90, 1), (70, 60)];

/// Endless stimulus of the AWS.
pub(super) fn aws(params: &AwsParams, seed: u64) -> impl Iterator<Item = Stimulus<AwsIn>> + use<> {
    let params = *params;
    let mut prng = Prng::new(seed);
    let mut started = false;
    let mut phase = PHASES[0];
    let (mut remaining, mut load, mut sr, mut inst) = (0, 0u64, 0u8, 0u8);
    let mut preloaded = 0;
    std::iter::from_fn(move || {
        let reset = !started || prng.below(RESET_EVERY) == 0;
        started = true;
        if reset {
            return Some(Stimulus::reset());
        }
        if preloaded < params.instructions {
            // No fetch reads a word that was never written.
            let write_address_i = preloaded as u16;
            let write_data_i = prng.bits() >> (64 - params.instruction_bits);
            preloaded += 1;
            let inputs = AwsIn { write_i: true, write_address_i, write_data_i, ..AwsIn::default() };
            return Some(Stimulus::step(inputs));
        }
        if remaining == 0 {
            phase = PHASES[prng.below(3) as usize];
            remaining = 100 + prng.below(500);
        }
        remaining -= 1;
        let mut inputs =
            AwsIn { fetch_i: prng.chance(phase.0), write_i: prng.chance(phase.1), ..AwsIn::default() };
        if inputs.fetch_i {
            // Mostly the next instruction of a routine; sometimes another routine, from its start or from a random instruction.
            inst = inst.wrapping_add(1) % (1 << INST_BITS);
            if prng.chance(10) {
                sr = prng.below(1 << SR_BITS) as u8;
                inst = if prng.chance(70) { 0 } else { prng.below(1 << INST_BITS) as u8 };
            }
        }
        (inputs.sr_i, inputs.inst_i) = (sr, inst);
        if inputs.write_i {
            load = (load + 1) % u64::from(params.instructions);
            if prng.chance(5) {
                load = prng.below(u64::from(params.instructions));
            }
            let meets_read = prng.chance(20);
            inputs.write_address_i = if meets_read { params.address(sr, inst) } else { load as u16 };
            inputs.write_data_i = prng.bits() >> (64 - params.instruction_bits);
        }
        Some(Stimulus::step(inputs))
    })
}
