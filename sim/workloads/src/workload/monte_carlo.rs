//! `monte_carlo`: option prices from random price paths, one block per option, as the CUDA samples' MonteCarlo.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x3c4;
const THREADS: usize = 128;
/// Annual interest rate. [`VOLATILITY`] is annual too.
const RATE: f64 = 0.06;
const VOLATILITY: f64 = 0.1;
/// The kernels fuse no operations, so the reference rounds in the same way.
const TOLERANCE: f32 = 1e-5;

pub(super) const MONTE_CARLO: Planned = Planned {
    name: "monte_carlo",
    summary: "option prices from drawn price paths, one block per option",
    papers: "LAMAR (MCARLO)",
    group: Group::Finance,
    ptx: ("monte_carlo.ptx", include_str!("../../kernels/monte_carlo.ptx")),
    description: |size| {
        let (options, samples) = shape(size);
        format!("{options} options, {samples} samples, {}", mebibytes(4 * (9 * options + samples)))
    },
    plan,
};

/// Returns the number of options and of samples; `paper` is the size of the CUDA samples.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (6, 4 << 10),
        Size::Small => (32, 16 << 10),
        Size::Study => (256, 128 << 10),
        Size::Paper => (256, 256 << 10),
    }
}

struct MonteCarloTerms {
    stock: f32,
    strike: f32,
    /// Mean and standard deviation (`spread`) of the binary logarithm of the stock's growth.
    drift: f32,
    spread: f32,
    /// Present value of one unit of money at the end of the term.
    discount: f32,
}

fn terms(options: usize) -> Vec<MonteCarloTerms> {
    let mut random = Random::new(SEED);
    let mut draw = || {
        let years = f64::from(1.0 + 4.0 * random.unit());
        let stock = 5.0 + 45.0 * random.unit();
        MonteCarloTerms {
            stock,
            strike: stock * (0.8 + 0.4 * random.unit()),
            drift: ((RATE - 0.5 * VOLATILITY * VOLATILITY) * years * std::f64::consts::LOG2_E) as f32,
            spread: (VOLATILITY * years.sqrt() * std::f64::consts::LOG2_E) as f32,
            discount: (-RATE * years).exp() as f32,
        }
    };
    (0..options).map(|_| draw()).collect()
}

/// Returns normally distributed numbers, by the Box-Muller method.
fn samples(count: usize) -> Vec<f32> {
    let mut random = Random::new(SEED ^ 1);
    let mut draw = || {
        let radius = (-2.0 * f64::from(1.0 - random.unit()).ln()).sqrt();
        (radius * (std::f64::consts::TAU * f64::from(random.unit())).cos()) as f32
    };
    (0..count).map(|_| draw()).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (options, count) = shape(size);
    let terms = terms(options);
    let column = |field: fn(&MonteCarloTerms) -> f32| terms.iter().map(field).collect::<Vec<f32>>();
    let stock = place_f32s(memory, "stock", &column(|terms| terms.stock))?;
    let strike = place_f32s(memory, "strike", &column(|terms| terms.strike))?;
    let drift = place_f32s(memory, "drift", &column(|terms| terms.drift))?;
    let spread = place_f32s(memory, "volatility", &column(|terms| terms.spread))?;
    let discount = place_f32s(memory, "discount", &column(|terms| terms.discount))?;
    let drawn = place_f32s(memory, "samples", &samples(count))?;
    let mut result = |name| memory.alloc(4 * options as u64, name);
    let [sums, squares, price, confidence] =
        [result("sums")?, result("squares")?, result("price")?, result("confidence")?];
    let pointers = [stock, strike, drift, spread, drawn, sums, squares].map(Arg::Ptr);
    let add = pointers.into_iter().chain([int(count)]).collect();
    let pointers = [sums, squares, discount, price, confidence].map(Arg::Ptr);
    let finish = pointers.into_iter().chain([int(count), int(options)]).collect();
    let launches = vec![
        launch_row("monte_carlo", options * THREADS, THREADS as u32, add),
        launch_row("monte_carlo_price", options, THREADS as u32, finish),
    ];
    Ok(Plan::of(launches, move |memory| {
        let samples = samples(count);
        let prices = self::terms(options).into_iter().map(|terms| value(&terms, &samples));
        let (prices, confidences): (Vec<f32>, Vec<f32>) = prices.unzip();
        let got = memory.read_f32s(price, options)?;
        Results { workload: "monte_carlo", buffer: "price", got: &got }.close(prices, TOLERANCE)?;
        let got = memory.read_f32s(confidence, options)?;
        Results { workload: "monte_carlo", buffer: "confidence", got: &got }.close(confidences, TOLERANCE)
    }))
}

/// Returns the price of one option and its confidence interval.
fn value(terms: &MonteCarloTerms, samples: &[f32]) -> (f32, f32) {
    let [mut sums, mut squares] = [[0.0_f32; THREADS]; 2];
    for (number, sample) in samples.iter().enumerate() {
        let growth = f64::from(terms.spread.mul_add(*sample, terms.drift)).exp2() as f32;
        let gain = (terms.stock * growth - terms.strike).max(0.0);
        sums[number % THREADS] += gain;
        squares[number % THREADS] = gain.mul_add(gain, squares[number % THREADS]);
    }
    let [sum, square] = [sums, squares].map(fold);
    let count = samples.len() as f32;
    let mean = sum / count;
    let variance = (square - mean * sum) / (count - 1.0);
    (terms.discount * mean, 1.96 * terms.discount * (variance / count).sqrt())
}

/// Returns the sum of all values: the upper half is added to the lower half until one value is left.
fn fold(mut values: [f32; THREADS]) -> f32 {
    let mut half = THREADS / 2;
    while half > 0 {
        (0..half).for_each(|at| values[at] += values[at + half]);
        half /= 2;
    }
    values[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_that_is_always_used_costs_the_stock_less_the_discounted_strike() {
        let (years, samples) = (2.0, samples(1 << 16));
        let terms = MonteCarloTerms {
            stock: 100.0,
            strike: 10.0,
            drift: ((RATE - 0.5 * VOLATILITY * VOLATILITY) * years * std::f64::consts::LOG2_E) as f32,
            spread: (VOLATILITY * years.sqrt() * std::f64::consts::LOG2_E) as f32,
            discount: (-RATE * years).exp() as f32,
        };
        let (price, confidence) = value(&terms, &samples);
        let expected = terms.stock - terms.strike * terms.discount;
        assert!((price - expected).abs() < 3.0 * confidence && confidence < 0.2, "{price} {confidence}");
    }
}
