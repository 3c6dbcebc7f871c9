//! Stimulus of the QBMI: a load/store unit that issues by rank and makes the requests of each instruction. Some phases issue in
//! almost every cycle, have idle kernels, or ignore the ranks.
use super::model::QbmiModel;
use super::params::{COUNT_BITS, MOST_REQUESTS, QbmiParams};
use super::rtl::QbmiIn;
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::prng::Prng;

/// Requests per instruction; a phase draws one of them for most kernels. They are equal, coprime or extreme.
const REQUESTS: [u64; 12] = [1, 2, 3, 4, 8, 12, 16, 27, 29, 31, 32, 32];

/// Percentage of phases in which instructions issue without their requests.
const SPELLS: u64 = 30;

/// Percentage of phases that have requests without instructions.
const SILENT: u64 = 4;

/// Cycles after a reset in which only kernel 0 makes requests, those of an interval.
const ALONE: u64 = 1 << COUNT_BITS;

/// Instructions in the interval of kernel 0 that follows: one less gives another average.
const DECISIVE: u32 = 33;

struct QbmiLoad {
    remaining: u64,
    /// `true` if an instruction issues in almost every cycle and requests are random.
    spell: bool,
    /// `true` if no instruction issues.
    silent: bool,
    /// `true` if requests rotate over the kernels, so that their intervals end in consecutive cycles.
    together: bool,
    /// Percentage of instructions from the ready kernel with the lowest rank.
    by_rank: u64,
    requests: [u64; 4],
    /// Mask of kernels with a ready instruction.
    ready: u64,
}

impl QbmiLoad {
    fn new(prng: &mut Prng, kernels: u64) -> Self {
        let silent = prng.chance(SILENT);
        let spell = silent || prng.chance(SPELLS);
        let short = spell && !silent;
        let all = (1 << kernels) - 1;
        QbmiLoad {
            // Except in short phases, longer than an interval of every kernel.
            remaining: if short { 20 + prng.below(400) } else { 1500 * kernels + prng.below(3000) },
            spell,
            silent,
            together: false,
            by_rank: [100, 90, 0][prng.below(3) as usize],
            requests: std::array::from_fn(|_| match prng.below(3) {
                0 => 1 + prng.below(u64::from(MOST_REQUESTS)),
                _ => REQUESTS[prng.below(REQUESTS.len() as u64) as usize],
            }),
            ready: if prng.chance(60) { all } else { (prng.bits() & all).max(1) },
        }
    }

    /// Returns the first phase after reset. It has an interval of kernel 0, and then intervals of all kernels that begin together.
    fn first(prng: &mut Prng, kernels: u64) -> Self {
        let phase = QbmiLoad::new(prng, kernels);
        let remaining = ALONE + Self::together(kernels);
        QbmiLoad { remaining, spell: true, silent: false, together: true, ..phase }
    }

    /// Returns the cycles in which the requests of the first phase rotate over the kernels.
    fn together(kernels: u64) -> u64 {
        1100 * kernels
    }

    /// Returns whether an instruction issues. `free` is `true` if the load/store unit is free.
    fn issues(&self, prng: &mut Prng, free: bool) -> bool {
        // Phases with `together` make a request in every cycle and must have fewer instructions.
        let percent = if self.together { 30 } else { 90 };
        !self.silent && (self.spell || free) && prng.chance(percent)
    }
}

/// Returns the endless stimulus of the QBMI.
pub(super) fn qbmi(params: &QbmiParams, seed: u64) -> impl Iterator<Item = Stimulus<QbmiIn>> + use<> {
    let params = *params;
    let kernels = u64::from(params.kernels);
    let mut prng = Prng::new(seed);
    // Computes the same ranks as the block.
    let mut model = QbmiModel::new(&params);
    let mut phase = QbmiLoad::first(&mut prng, kernels);
    // Outstanding requests of the instruction in the load/store unit, and its kernel.
    let (mut left, mut kernel) = (0, 0);
    let mut started = false;
    std::iter::from_fn(move || {
        if !started || prng.below(15_000) == 0 {
            started = true;
            left = 0;
            model.reset();
            phase = QbmiLoad::first(&mut prng, kernels);
            return Some(Stimulus::reset());
        }
        if phase.remaining == 0 {
            phase = QbmiLoad::new(&mut prng, kernels);
        }
        phase.remaining -= 1;

        let issue = phase.issues(&mut prng, left == 0);
        let chosen = if prng.chance(phase.by_rank) {
            first_ready(&params, &model, phase.ready)
        } else {
            // May be an unused kernel number.
            prng.below(1 << params.kernel_bits()) as u8
        };
        let mut inputs = QbmiIn { issue_i: issue, issue_kernel_i: chosen, ..QbmiIn::default() };
        if phase.together {
            let is_alone = phase.remaining >= QbmiLoad::together(kernels);
            let kernel = if is_alone { 0 } else { (phase.remaining % kernels) as u8 };
            (inputs.request_i, inputs.request_kernel_i) = (true, kernel);
            if phase.remaining == QbmiLoad::together(kernels) {
                // The instruction of the last cycle belongs to the next interval.
                (inputs.issue_i, inputs.issue_kernel_i) = (true, 0);
            }
            if !is_alone && inputs.issue_kernel_i == 0 && model.instructions(0) == DECISIVE {
                inputs.issue_kernel_i = 1;
            }
        } else if phase.spell {
            (inputs.request_i, inputs.request_kernel_i) =
                (prng.chance(90), prng.below(1 << params.kernel_bits()) as u8);
        } else if left > 0 {
            (inputs.request_i, inputs.request_kernel_i) = (prng.chance(95), kernel);
            left -= u64::from(inputs.request_i);
        }
        if issue && !phase.spell {
            kernel = chosen;
            left = phase.requests[usize::from(chosen)];
        }
        model.step(&inputs);
        Some(Stimulus::step(inputs))
    })
}

/// Returns the kernel with the lowest rank among the ready ones.
fn first_ready(params: &QbmiParams, model: &QbmiModel, ready: u64) -> u8 {
    let outputs = model.outputs();
    let ready = (0..params.kernels).filter(|kernel| (ready >> kernel) & 1 == 1);
    ready.min_by_key(|kernel| outputs.rank(params, *kernel)).expect("at least one is ready") as u8
}
