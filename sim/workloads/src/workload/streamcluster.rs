//! `streamcluster`: saving by new centers, one candidate after the other, as Rodinia's streamcluster.
//!
//! Each launch fills a table with a row per point. The host adds it up and opens or closes centers.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const NAME: &str = "streamcluster";
const SEED: u64 = 0x57c;
const THREADS_PER_BLOCK: u32 = 512;
/// Fewest and most centers of Rodinia's run script.
const CENTERS: [usize; 2] = [10, 20];
/// Bytes of a point: weight, address of its coordinates on the host, center and cost.
const POINT_BYTES: usize = 32;
/// Address of the first coordinates on the host.
const HOST_ADDRESS: u64 = 0x7f5c_4a00_0010;

pub(super) const STREAMCLUSTER: Planned = Planned {
    name: NAME,
    summary: "saving by new cluster centers, one launch per candidate",
    papers: "LATTE-CC (SC), LAMAR (SCLST), Dai, chapters 2 and 3 (SC, STC)",
    group: Group::Learning,
    ptx: ("streamcluster.ptx", include_str!("../../kernels/streamcluster.ptx")),
    description: |size| {
        let shape = StreamShape::of(size);
        let StreamShape { count, dimensions, candidates } = shape;
        let bytes = count * (4 * dimensions + POINT_BYTES + 4 + 1) + 4 * shape.table();
        format!("{count} points of {dimensions} dimensions, {candidates} candidates, {}", mebibytes(bytes))
    },
    plan,
};

#[derive(Clone, Copy)]
struct StreamShape {
    count: usize,
    dimensions: usize,
    candidates: usize,
}

impl StreamShape {
    /// Returns the shape of a size. `paper` has Rodinia's points, but only its first 50 candidates.
    fn of(size: Size) -> Self {
        match size {
            Size::Tiny => StreamShape { count: 1 << 10, dimensions: 32, candidates: 3 },
            Size::Small => StreamShape { count: 1 << 13, dimensions: 64, candidates: 6 },
            Size::Study => StreamShape { count: 1 << 14, dimensions: 256, candidates: 2 },
            Size::Paper => StreamShape { count: 1 << 16, dimensions: 256, candidates: 50 },
        }
    }

    /// Returns the coordinates, dimension by dimension.
    fn coordinates(self) -> Vec<f32> {
        let mut random = Random::new(SEED);
        (0..self.count * self.dimensions).map(|_| random.unit()).collect()
    }

    /// Returns the max number of sums in the table.
    fn table(self) -> usize {
        self.count * (CENTERS[1] + self.candidates + 1)
    }

    /// Returns the point that is proposed as a center.
    fn candidate(self, number: usize) -> usize {
        number * (self.count / self.candidates) + 1
    }
}

/// Squared distance of two points, which rounds like the checked-in PTX.
fn distance(shape: StreamShape, coordinates: &[f32], a: usize, b: usize) -> f32 {
    coordinates.chunks_exact(shape.count).fold(0.0_f32, |sum, values| {
        let apart = values[a] - values[b];
        apart.mul_add(apart, sum)
    })
}

/// Clusters of points that all weigh 1.
#[derive(Clone)]
struct Clusters {
    /// Points at centers, in ascending order.
    centers: Vec<usize>,
    /// Center of each point.
    assigned: Vec<usize>,
    /// Distance of each point from its center.
    cost: Vec<f32>,
    /// Cost of a center.
    center_cost: f64,
}

/// Effect of a candidate.
struct SwapEffect {
    /// Points that are nearer to the candidate than to their center.
    moves: Vec<bool>,
    /// Sum of the changes by the points that move.
    change: f64,
    /// Sum of the changes by the other points of each center, if it closes.
    changes: Vec<f64>,
}

impl Clusters {
    /// Assigns the points to the nearest of the fewest centers. A center costs what each further one saves.
    fn at_start(shape: StreamShape, coordinates: &[f32]) -> Self {
        let mut clusters = Clusters {
            centers: Vec::new(),
            assigned: vec![0; shape.count],
            cost: vec![f32::INFINITY; shape.count],
            center_cost: 0.0,
        };
        let apart = shape.count / CENTERS[1];
        let [fewest, most] = CENTERS;
        (0..fewest).for_each(|center| clusters.open(shape, coordinates, center * apart));
        let mut further = clusters.clone();
        (fewest..most).for_each(|center| further.open(shape, coordinates, center * apart));
        clusters.center_cost = (clusters.total() - further.total()) / (most - fewest) as f64;
        clusters
    }

    fn total(&self) -> f64 {
        self.cost.iter().map(|cost| f64::from(*cost)).sum()
    }

    /// Opens a center and moves the points that are nearer to it.
    fn open(&mut self, shape: StreamShape, coordinates: &[f32], center: usize) {
        self.centers.push(center);
        for point in 0..shape.count {
            let cost = distance(shape, coordinates, point, center);
            if cost < self.cost[point] {
                (self.cost[point], self.assigned[point]) = (cost, center);
            }
        }
    }

    /// Returns the number of each point at a center; 0 for the other points.
    fn numbers(&self) -> Vec<i32> {
        let mut numbers = vec![0; self.assigned.len()];
        for (number, center) in self.centers.iter().enumerate() {
            numbers[*center] = number as i32;
        }
        numbers
    }

    /// Returns the points in the device's layout.
    fn points(&self, shape: StreamShape) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(shape.count * POINT_BYTES);
        for (point, (center, cost)) in self.assigned.iter().zip(&self.cost).enumerate() {
            bytes.extend(u64::from(1.0_f32.to_bits()).to_le_bytes());
            bytes.extend((HOST_ADDRESS + (4 * shape.dimensions * point) as u64).to_le_bytes());
            bytes.extend((*center as u64).to_le_bytes());
            bytes.extend(u64::from(cost.to_bits()).to_le_bytes());
        }
        bytes
    }

    /// Computes the effect of a candidate on the CPU.
    fn effect(&self, shape: StreamShape, coordinates: &[f32], candidate: usize) -> SwapEffect {
        let numbers = self.numbers();
        let mut effect =
            SwapEffect { moves: Vec::new(), change: 0.0, changes: vec![0.0; self.centers.len()] };
        for (point, cost) in self.cost.iter().enumerate() {
            let change = distance(shape, coordinates, point, candidate) - cost;
            effect.moves.push(change < 0.0);
            if change < 0.0 {
                effect.change += f64::from(change);
            } else {
                effect.changes[numbers[self.assigned[point]] as usize] -= f64::from(change);
            }
        }
        effect
    }

    /// Opens the candidate, and closes the centers that it makes superfluous, if both together save costs.
    fn follow(&mut self, shape: StreamShape, coordinates: &[f32], candidate: usize, effect: &SwapEffect) {
        let numbers = self.numbers();
        let saved: Vec<f64> = effect.changes.iter().map(|change| self.center_cost + change).collect();
        let closed: f64 = saved.iter().filter(|saved| **saved > 0.0).sum();
        if self.center_cost + effect.change - closed >= 0.0 {
            return;
        }
        for point in 0..shape.count {
            if effect.moves[point] || saved[numbers[self.assigned[point]] as usize] > 0.0 {
                self.cost[point] = distance(shape, coordinates, point, candidate);
                self.assigned[point] = candidate;
            }
        }
        self.centers.retain(|center| saved[numbers[*center] as usize] <= 0.0);
        self.centers.push(candidate);
        self.centers.sort_unstable();
        self.centers.dedup();
    }

    /// Returns the table that the device should have computed for a candidate.
    fn table(&self, shape: StreamShape, coordinates: &[f32], candidate: usize) -> Vec<f32> {
        let (numbers, stride) = (self.numbers(), self.centers.len() + 1);
        let mut table = vec![0.0; shape.count * stride];
        for (point, row) in table.chunks_exact_mut(stride).enumerate() {
            let change = distance(shape, coordinates, point, candidate) - self.cost[point];
            let column = if change < 0.0 { stride - 1 } else { numbers[self.assigned[point]] as usize };
            row[column] = if change < 0.0 { change } else { -change };
        }
        table
    }
}

/// Device addresses of a run.
#[derive(Clone, Copy)]
struct StreamBuffers {
    coordinates: u64,
    points: u64,
    table: u64,
    numbers: u64,
    moves: u64,
}

impl StreamBuffers {
    /// Reads the effect of a candidate from the table, whose rows have a sum per center.
    fn effect(
        self,
        shape: StreamShape,
        centers: usize,
        memory: &DeviceMemory,
    ) -> Result<SwapEffect, WorkloadError> {
        let table = memory.read_f32s(self.table, shape.count * (centers + 1))?;
        let column = |at: usize| table.iter().skip(at).step_by(centers + 1).map(|sum| f64::from(*sum)).sum();
        let mut moves = vec![0; shape.count];
        memory.read(self.moves, &mut moves)?;
        Ok(SwapEffect {
            moves: moves.into_iter().map(|moves| moves == 1).collect(),
            change: column(centers),
            changes: (0..centers).map(column).collect(),
        })
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let shape = StreamShape::of(size);
    let StreamShape { count, dimensions, candidates } = shape;
    let values = shape.coordinates();
    let buffers = StreamBuffers {
        coordinates: place_f32s(memory, "coordinates", &values)?,
        points: memory.alloc((count * POINT_BYTES) as u64, "points")?,
        table: memory.alloc(4 * shape.table() as u64, "table")?,
        numbers: memory.alloc(4 * count as u64, "numbers")?,
        moves: memory.alloc(count as u64, "moves")?,
    };
    let mut clusters = Clusters::at_start(shape, &values);
    let mut number = 0;
    let launches = move |memory: &mut DeviceMemory| {
        if number > 0 {
            let effect = buffers.effect(shape, clusters.centers.len(), memory)?;
            clusters.follow(shape, &values, shape.candidate(number - 1), &effect);
        }
        if number == candidates {
            return Ok(None);
        }
        let candidate = shape.candidate(number);
        let centers = clusters.centers.len();
        number += 1;
        memory.write(buffers.points, &clusters.points(shape))?;
        memory.write_i32s(buffers.numbers, &clusters.numbers())?;
        memory.write(buffers.moves, &vec![0; count])?;
        memory.write_f32s(buffers.table, &vec![0.0; count * (centers + 1)])?;
        let args = vec![
            int(count),
            int(dimensions),
            int(candidate),
            Arg::Ptr(buffers.points),
            int(centers),
            int(centers + 1),
            Arg::Ptr(buffers.coordinates),
            Arg::Ptr(buffers.table),
            Arg::Ptr(buffers.numbers),
            Arg::Ptr(buffers.moves),
        ];
        Ok(Some(launch_row("streamcluster_cost", count, THREADS_PER_BLOCK, args)))
    };
    Ok(Plan::following(launches, move |memory| {
        let values = shape.coordinates();
        let mut clusters = Clusters::at_start(shape, &values);
        for number in 0..candidates - 1 {
            let candidate = shape.candidate(number);
            let effect = clusters.effect(shape, &values, candidate);
            clusters.follow(shape, &values, candidate, &effect);
        }
        let got = memory.read_f32s(buffers.table, count * (clusters.centers.len() + 1))?;
        let expected = clusters.table(shape, &values, shape.candidate(candidates - 1));
        Results { workload: NAME, buffer: "table", got: &got }.equal(expected)
    }))
}
