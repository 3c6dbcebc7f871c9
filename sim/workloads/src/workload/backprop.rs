//! `backprop`: forward sums of a neural network's layer, and adjustment of its weights, as Rodinia's backprop.
use super::check::Results;
use super::helpers::{mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Launch, LaunchDims, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0xbac;
/// Hidden units. A block has as many inputs.
const HIDDEN: usize = 16;
/// Columns of the weights: a bias and the hidden units.
const WIDTH: usize = HIDDEN + 1;
/// The reference rounds like the checked-in PTX. Sums may cancel; then only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;

pub(super) const BACKPROP: Planned = Planned {
    name: "backprop",
    summary: "training step of a neural network's layer",
    papers: "LATTE-CC (BP), LAMAR (BACKP), Dai, chapter 4 (bp)",
    group: Group::Learning,
    ptx: ("backprop.ptx", include_str!("../../kernels/backprop.ptx")),
    description: |size| {
        let inputs = inputs(size);
        format!("{inputs} inputs, {HIDDEN} hidden units, {}", mebibytes(4 * (inputs + 1) * (2 * WIDTH + 1)))
    },
    plan,
};

/// Returns the number of input units, a multiple of the inputs per block; `paper` is Rodinia's size.
fn inputs(size: Size) -> usize {
    match size {
        Size::Tiny => 1 << 10,
        Size::Small => 1 << 14,
        Size::Study | Size::Paper => 1 << 16,
    }
}

struct BackpropLayer {
    /// A bias of 1, then the inputs.
    input: Vec<f32>,
    weights: Vec<f32>,
    /// Previous changes of the weights.
    moves: Vec<f32>,
    /// Delta of each hidden unit, from index 1.
    delta: Vec<f32>,
}

impl BackpropLayer {
    fn new(inputs: usize) -> Self {
        let mut random = Random::new(SEED);
        let mut numbers =
            |count: usize, scale: f32| (0..count).map(|_| scale * (random.unit() - 0.5)).collect();
        let mut layer = BackpropLayer {
            input: numbers(inputs + 1, 2.0),
            weights: numbers((inputs + 1) * WIDTH, 1.0),
            moves: vec![0.0; (inputs + 1) * WIDTH],
            delta: numbers(WIDTH, 0.1),
        };
        layer.input[0] = 1.0;
        layer
    }

    /// Returns the sum of each block's inputs for every hidden unit, in the order of the kernel's tree.
    fn partial_sums(&self) -> Vec<f32> {
        let blocks = (self.input.len() - 1) / HIDDEN;
        let mut sums = Vec::new();
        for (block, unit) in (0..blocks).flat_map(|block| (0..HIDDEN).map(move |unit| (block, unit))) {
            let from = |row| block * HIDDEN + row + 1;
            let mut products: Vec<f32> = (0..HIDDEN)
                .map(|row| self.weights[from(row) * WIDTH + unit + 1] * self.input[from(row)])
                .collect();
            while products.len() > 1 {
                let half = products.split_off(products.len() / 2);
                products.iter_mut().zip(half).for_each(|(sum, other)| *sum += other);
            }
            sums.push(products[0]);
        }
        sums
    }

    fn adjusted(mut self) -> Vec<f32> {
        for from in 1..self.input.len() {
            for unit in 1..WIDTH {
                let at = from * WIDTH + unit;
                self.weights[at] += (self.delta[unit] * 0.3).mul_add(self.input[from], self.moves[at] * 0.3);
            }
        }
        self.weights
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let inputs = inputs(size);
    let layer = BackpropLayer::new(inputs);
    let input = place_f32s(memory, "input", &layer.input)?;
    let weights = place_f32s(memory, "weights", &layer.weights)?;
    let moves = place_f32s(memory, "moves", &layer.moves)?;
    let delta = place_f32s(memory, "delta", &layer.delta)?;
    let partial = memory.alloc(4 * inputs as u64, "partial")?;
    let launch = |kernel: &str, pointers: &[u64]| Launch {
        kernel: kernel.into(),
        dims: LaunchDims::new([(inputs / HIDDEN) as u32, 1, 1], [HIDDEN as u32, HIDDEN as u32, 1]),
        args: pointers.iter().map(|pointer| Arg::Ptr(*pointer)).collect(),
    };
    let launches = vec![
        launch("backprop_forward", &[input, weights, partial]),
        launch("backprop_adjust", &[input, delta, weights, moves]),
    ];
    Ok(Plan::of(launches, move |memory| {
        let layer = BackpropLayer::new(inputs);
        let got = memory.read_f32s(partial, inputs)?;
        Results { workload: "backprop", buffer: "partial", got: &got }
            .close(layer.partial_sums(), TOLERANCE)?;
        let got = memory.read_f32s(weights, (inputs + 1) * WIDTH)?;
        Results { workload: "backprop", buffer: "weights", got: &got }.close(layer.adjusted(), TOLERANCE)
    }))
}
