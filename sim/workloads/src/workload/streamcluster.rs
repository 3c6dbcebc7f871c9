//! `streamcluster`: gain of points from a new centre, one candidate after the other, as Rodinia's streamcluster.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x57c;
const THREADS_PER_BLOCK: u32 = 128;
/// The reference rounds like the checked-in PTX. If values cancel, only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;

pub(super) const STREAMCLUSTER: Planned = Planned {
    name: "streamcluster",
    summary: "gain of new cluster centres, one launch per candidate",
    papers: "LATTE-CC (SC), LAMAR (SCLST), Dai, chapters 2 and 3 (SC, STC)",
    group: Group::Learning,
    ptx: ("streamcluster.ptx", include_str!("../../kernels/streamcluster.ptx")),
    description: |size| {
        let StreamclusterSize { count, dimensions, candidates } = StreamclusterSize::of(size);
        let bytes = 4 * (count * (dimensions + 4) + candidates * dimensions);
        format!("{count} points of {dimensions} dimensions, {candidates} candidates, {}", mebibytes(bytes))
    },
    plan,
};

#[derive(Clone, Copy)]
struct StreamclusterSize {
    count: usize,
    dimensions: usize,
    candidates: usize,
}

impl StreamclusterSize {
    /// Returns the shape of a size. `paper` has Rodinia's points, but only its first 50 candidates.
    fn of(size: Size) -> Self {
        match size {
            Size::Tiny => StreamclusterSize { count: 1 << 10, dimensions: 32, candidates: 3 },
            Size::Small => StreamclusterSize { count: 1 << 13, dimensions: 64, candidates: 6 },
            Size::Study => StreamclusterSize { count: 1 << 14, dimensions: 256, candidates: 6 },
            Size::Paper => StreamclusterSize { count: 1 << 16, dimensions: 256, candidates: 50 },
        }
    }

    /// Returns the points, dimension by dimension.
    fn points(self) -> Vec<f32> {
        let mut random = Random::new(SEED);
        (0..self.count * self.dimensions).map(|_| random.unit()).collect()
    }

    /// Returns the point that is proposed as a centre.
    fn candidate(self, points: &[f32], number: usize) -> Vec<f32> {
        let point = number * (self.count / self.candidates);
        (0..self.dimensions).map(|dimension| points[dimension * self.count + point]).collect()
    }

    /// Returns the initial cost of each point: about its distance from a centre in the middle.
    fn costs(self) -> Vec<f32> {
        let mut random = Random::new(SEED + 1);
        (0..self.count).map(|_| (0.12 + 0.06 * random.unit()) * self.dimensions as f32).collect()
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let shape = StreamclusterSize::of(size);
    let StreamclusterSize { count, dimensions, candidates } = shape;
    let values = shape.points();
    let points = place_f32s(memory, "points", &values)?;
    let weight = place_f32s(memory, "weight", &vec![1.0; count])?;
    let cost = place_f32s(memory, "cost", &shape.costs())?;
    let gain = memory.alloc(4 * (candidates * count) as u64, "gain")?;
    let moves = memory.alloc(4 * count as u64, "moves")?;
    let mut launches = Vec::new();
    for number in 0..candidates {
        let candidate = place_f32s(memory, "candidate", &shape.candidate(&values, number))?;
        let gains = gain + 4 * (number * count) as u64;
        let pointers = [points, weight, cost, candidate, gains, moves].map(Arg::Ptr);
        let args = pointers.into_iter().chain([int(count), int(dimensions)]).collect();
        launches.push(launch_row("streamcluster_gain", count, THREADS_PER_BLOCK, args));
    }
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(gain, candidates * count)?;
        let points = shape.points();
        let expected = (0..candidates).flat_map(|number| gains(shape, &points, number));
        Results { workload: "streamcluster", buffer: "gain", got: &got }.close(expected, TOLERANCE)
    }))
}

/// Returns the gain of every point from candidate `number`.
fn gains(shape: StreamclusterSize, points: &[f32], number: usize) -> Vec<f32> {
    let candidate = shape.candidate(points, number);
    let gain = |(point, cost): (usize, f32)| {
        let dimensions = candidate.iter().enumerate();
        let distance = dimensions.fold(0.0_f32, |sum, (dimension, center)| {
            let difference = points[dimension * shape.count + point] - center;
            difference.mul_add(difference, sum)
        });
        // The weights are 1, so the product is exact.
        (distance - cost).min(0.0)
    };
    shape.costs().into_iter().enumerate().map(gain).collect()
}
