//! `neural_net`: a network of two convolutional and two fully connected layers that recognises digits, as GPGPU-Sim's
//! NN.
use super::check::Results;
use super::helpers::{int, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Launch, LaunchDims, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x22;
/// Edge length of a neuron's view of each map in a convolution, in pixels. Neighbours are [`STRIDE`] pixels apart.
const EDGE: usize = 5;
const STRIDE: usize = 2;
/// Rows and columns of an image.
const SIDE: usize = 29;
/// The kernels fuse no operations, so the reference rounds in the same way.
const TOLERANCE: f32 = 1e-5;

pub(super) const NEURAL_NET: Planned = Planned {
    name: "neural_net",
    summary: "inference of digits by two convolving and two connected layers",
    papers: "LAMAR (NN)",
    group: Group::Learning,
    ptx: ("neural_net.ptx", include_str!("../../kernels/neural_net.ptx")),
    description: |size| {
        let images = images(size);
        let weights: usize = LAYERS.iter().map(NetLayer::weights).sum();
        let signals: usize = SIDE * SIDE + LAYERS.iter().map(NetLayer::neurons).sum::<usize>();
        format!("{images} images of {SIDE} x {SIDE}, {}", mebibytes(4 * (weights + images * signals)))
    },
    plan,
};

/// Returns the number of images; `paper` has GPGPU-Sim's 28.
fn images(size: Size) -> usize {
    match size {
        Size::Tiny => 1,
        Size::Small => 12,
        Size::Study | Size::Paper => 28,
    }
}

/// A layer, with the maps of the previous layer as inputs. Neurons count as maps of one pixel.
#[derive(Clone, Copy)]
struct NetLayer {
    name: &'static str,
    weights_name: &'static str,
    convolves: bool,
    from_maps: usize,
    from_side: usize,
    maps: usize,
    side: usize,
}

const LAYERS: [NetLayer; 4] = [
    NetLayer {
        name: "layer 1",
        weights_name: "weights 1",
        convolves: true,
        from_maps: 1,
        from_side: SIDE,
        maps: 6,
        side: 13,
    },
    NetLayer {
        name: "layer 2",
        weights_name: "weights 2",
        convolves: true,
        from_maps: 6,
        from_side: 13,
        maps: 50,
        side: 5,
    },
    NetLayer {
        name: "layer 3",
        weights_name: "weights 3",
        convolves: false,
        from_maps: 50 * 5 * 5,
        from_side: 1,
        maps: 100,
        side: 1,
    },
    NetLayer {
        name: "layer 4",
        weights_name: "weights 4",
        convolves: false,
        from_maps: 100,
        from_side: 1,
        maps: 10,
        side: 1,
    },
];

impl NetLayer {
    fn neurons(&self) -> usize {
        self.maps * self.side * self.side
    }

    /// Returns the number of inputs per neuron.
    fn inputs(&self) -> usize {
        self.from_maps * if self.convolves { EDGE * EDGE } else { 1 }
    }

    fn weights(&self) -> usize {
        self.maps * (1 + self.inputs())
    }

    /// Returns weights of both signs that decrease with the number of inputs, like initial weights for training.
    fn draw(&self) -> Vec<f32> {
        let mut random = Random::new(SEED ^ self.inputs() as u64);
        let scale = 2.0 / (self.inputs() as f32).sqrt();
        (0..self.weights()).map(|_| scale * (2.0 * random.unit() - 1.0)).collect()
    }

    /// Returns the launch for `images` images. A block has `neurons` neurons of a connected layer.
    fn launch(&self, images: usize, neurons: usize, [from, weights, to]: [u64; 3]) -> Launch {
        let pointers = [from, weights, to].map(Arg::Ptr).into_iter();
        let (kernel, blocks, threads, numbers) = if self.convolves {
            let threads = (self.side * self.side).next_multiple_of(32);
            let numbers = vec![self.from_maps, self.from_side, self.maps, self.side];
            ("neural_net_convolve", self.maps, threads, numbers)
        } else {
            ("neural_net_connect", self.maps.div_ceil(neurons), neurons, vec![self.from_maps, self.maps])
        };
        Launch {
            kernel: kernel.to_owned(),
            dims: LaunchDims::new([blocks as u32, images as u32, 1], [threads as u32, 1, 1]),
            args: pointers.chain(numbers.into_iter().map(int)).collect(),
        }
    }

    /// Returns the layer's signals for one image.
    fn signals(&self, from: &[f32], weights: &[f32]) -> Vec<f32> {
        let signal = |neuron: usize| {
            let (map, place) = (neuron / (self.side * self.side), neuron % (self.side * self.side));
            let own = &weights[map * (1 + self.inputs())..][..1 + self.inputs()];
            let source = |input: usize| {
                if !self.convolves {
                    return input;
                }
                let (from_map, row, column) = (input / (EDGE * EDGE), input / EDGE % EDGE, input % EDGE);
                let row = place / self.side * STRIDE + row;
                let column = place % self.side * STRIDE + column;
                (from_map * self.from_side + row) * self.from_side + column
            };
            let sum = (0..self.inputs())
                .fold(own[0], |sum, input| from[source(input)].mul_add(own[1 + input], sum));
            squash(sum)
        };
        (0..self.neurons()).map(signal).collect()
    }
}

fn squash(x: f32) -> f32 {
    let power = f64::from(x * 1.923_593_3).exp2() as f32;
    1.7159 * ((power - 1.0) / (power + 1.0))
}

/// Returns images of a bright stroke on dark ground. Pixels range from 0 to 1, with the precision of bytes.
fn drawn(images: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    let mut pixels = Vec::new();
    for _ in 0..images {
        let (slope, offset) = (2.0 * random.unit() - 1.0, 9.0 + 10.0 * random.unit());
        for at in 0..SIDE * SIDE {
            let (row, column) = ((at / SIDE) as f32, (at % SIDE) as f32);
            let away = (column - offset - slope * (row - 14.0)).abs();
            let inside = (4.0..25.0).contains(&row);
            let bright = if inside { (1.0 - away / 3.0).max(0.0) } else { 0.0 };
            pixels.push((255.0 * bright).floor() / 255.0);
        }
    }
    pixels
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let images = images(size);
    // GPGPU-Sim's network has one block per neuron of its connected layers.
    let neurons = if size == Size::Study { 1 } else { 32 };
    let mut signals = place_f32s(memory, "images", &drawn(images))?;
    let mut launches = Vec::new();
    for layer in LAYERS {
        let weights = place_f32s(memory, layer.weights_name, &layer.draw())?;
        let to = memory.alloc((4 * images * layer.neurons()) as u64, layer.name)?;
        launches.push(layer.launch(images, neurons, [signals, weights, to]));
        signals = to;
    }
    Ok(Plan::of(launches, move |memory| {
        let weights = LAYERS.map(|layer| layer.draw());
        let drawn = drawn(images);
        let recognise = |image: &[f32]| {
            LAYERS.iter().zip(&weights).fold(image.to_vec(), |from, (layer, own)| layer.signals(&from, own))
        };
        let expected = drawn.chunks(SIDE * SIDE).flat_map(recognise);
        let got = memory.read_f32s(signals, images * LAYERS[3].neurons())?;
        Results { workload: "neural_net", buffer: "layer 4", got: &got }.close(expected, TOLERANCE)
    }))
}
