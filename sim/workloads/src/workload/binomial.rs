//! `binomial`: option prices by binomial trees, one block per option, as the CUDA samples' binomialOptions.
use super::check::Results;
use super::helpers::{launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0xb1;
/// Steps of a tree, and threads per block.
const STEPS: usize = 256;
/// Annual interest rate. [`VOLATILITY`] is annual too.
const RATE: f64 = 0.06;
const VOLATILITY: f64 = 0.1;
/// The reference rounds like the checked-in PTX. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const BINOMIAL: Planned = Planned {
    name: "binomial",
    summary: "option prices by binomial trees in shared memory, one block per option",
    papers: "LATTE-CC (BO)",
    group: Group::Finance,
    ptx: ("binomial.ptx", include_str!("../../kernels/binomial.ptx")),
    description: |size| {
        let options = options(size);
        format!("{options} options, {STEPS} steps each, {}", mebibytes(4 * 4 * options))
    },
    plan,
};

/// Returns the number of options; `paper` is the size of the CUDA samples.
fn options(size: Size) -> usize {
    match size {
        Size::Tiny => 2,
        Size::Small => 15,
        Size::Study => 512,
        Size::Paper => 1024,
    }
}

struct BinomialTerms {
    stock: f32,
    strike: f32,
    /// Growth factor of the stock in a step up.
    up: f32,
}

fn terms(options: usize) -> Vec<BinomialTerms> {
    let mut random = Random::new(SEED);
    let mut draw = || {
        let years = f64::from(0.25 + 9.75 * random.unit());
        BinomialTerms {
            stock: 5.0 + 25.0 * random.unit(),
            strike: 1.0 + 99.0 * random.unit(),
            up: (VOLATILITY * (years / STEPS as f64).sqrt()).exp() as f32,
        }
    };
    (0..options).map(|_| draw()).collect()
}

/// Returns the discounted weights of the next step's two values, for a term of five years. All options use them.
fn shares() -> [f32; 2] {
    let step = 5.0 / STEPS as f64;
    let up = (VOLATILITY * step.sqrt()).exp();
    let probability = ((RATE * step).exp() - 1.0 / up) / (up - 1.0 / up);
    let discount = (-RATE * step).exp();
    [discount * probability, discount * (1.0 - probability)].map(|share| share as f32)
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let options = options(size);
    let terms = terms(options);
    let column = |field: fn(&BinomialTerms) -> f32| terms.iter().map(field).collect::<Vec<f32>>();
    let stock = place_f32s(memory, "stock", &column(|terms| terms.stock))?;
    let strike = place_f32s(memory, "strike", &column(|terms| terms.strike))?;
    let up = place_f32s(memory, "up", &column(|terms| terms.up))?;
    let price = memory.alloc(4 * options as u64, "price")?;
    let pointers = [stock, strike, up, price].map(Arg::Ptr);
    let args = pointers.into_iter().chain(shares().map(Arg::F32)).collect();
    Ok(Plan::of(vec![launch_row("binomial", options * STEPS, STEPS as u32, args)], move |memory| {
        let got = memory.read_f32s(price, options)?;
        let expected = self::terms(options).into_iter().map(|terms| value(&terms));
        Results { workload: "binomial", buffer: "price", got: &got }.close(expected, TOLERANCE)
    }))
}

/// Computes the price of one option on the CPU.
fn value(terms: &BinomialTerms) -> f32 {
    let [up_share, down_share] = shares();
    let down = 1.0 / terms.up;
    let leaf = |ups: usize| {
        let factor = |step| if step < ups { terms.up } else { down };
        let price = (0..STEPS).fold(terms.stock, |price, step| price * factor(step));
        (price - terms.strike).max(0.0)
    };
    let mut values: Vec<f32> = (0..=STEPS).map(leaf).collect();
    for left in (1..=STEPS).rev() {
        for node in 0..left {
            values[node] = up_share.mul_add(values[node + 1], down_share * values[node]);
        }
    }
    values[0]
}
