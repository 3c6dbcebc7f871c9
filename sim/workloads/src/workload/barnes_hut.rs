//! `barnes_hut`: gravity among bodies with an octree that the host rebuilds in each step, as LonestarGPU's bh.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::octree::{Mass, Octree};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0xb4;
const THREADS_PER_BLOCK: u32 = 128;
/// A cell is opened when the square of its size over the square of its distance exceeds this.
const OPENING: f32 = 0.25;
/// Added to squared distances, so that the force between close bodies stays finite.
const SOFTENING: f32 = 0.0025;
/// Time between two steps.
const STEP: f32 = 0.025;
/// Capacity for cells per body. A tree whose leaves are single bodies rarely needs two.
const CELLS: usize = 4;
/// The kernels fuse no operations, so the reference rounds in the same way.
const TOLERANCE: f32 = 1e-5;

pub(super) const BARNES_HUT: Planned = Planned {
    name: "barnes_hut",
    summary: "gravity by Barnes and Hut: walks over an octree, one thread per body",
    papers: "CABA (bh), Dai, chapter 2 (BH)",
    group: Group::Particles,
    ptx: ("barnes_hut.ptx", include_str!("../../kernels/barnes_hut.ptx")),
    description: |size| {
        let (bodies, steps) = shape(size);
        // A body has position and mass, velocity and acceleration; a cell has position and mass, size and successor.
        let bytes = (4 * 10 + CELLS * 4 * 6) * bodies;
        format!("{bodies} bodies, {steps} steps, {}", mebibytes(bytes))
    },
    plan,
};

/// Returns the number of bodies and steps; `paper` has LonestarGPU's 30,000 bodies.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (96, 1),
        Size::Small => (640, 2),
        Size::Study => (2048, 1),
        Size::Paper => (30_000, 2),
    }
}

/// Returns a cloud of bodies of equal mass at rest, denser in its middle.
fn cloud(bodies: usize) -> Vec<Mass> {
    let mut random = Random::new(SEED);
    let mut draw = || loop {
        let place = [(); 3].map(|()| 2.0 * random.unit() - 1.0);
        let square: f32 = place.iter().map(|axis| axis * axis).sum();
        if square > 0.0 && square <= 1.0 {
            let [x, y, z] = place.map(|axis| axis * square);
            return [x, y, z, 1.0 / bodies as f32];
        }
    };
    (0..bodies).map(|_| draw()).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (count, steps) = shape(size);
    let bodies = place_f32s(memory, "bodies", cloud(count).as_flattened())?;
    let velocity = place_f32s(memory, "velocity", &vec![0.0; 3 * count])?;
    let acceleration = memory.alloc(4 * 3 * count as u64, "acceleration")?;
    let cells = memory.alloc((16 * CELLS * count) as u64, "cells")?;
    let sizes = memory.alloc((4 * CELLS * count) as u64, "size")?;
    let after = memory.alloc((4 * CELLS * count) as u64, "after")?;
    let mut half_steps = 0;
    let launches = move |memory: &mut DeviceMemory| {
        if half_steps == 2 * steps {
            return Ok(None);
        }
        half_steps += 1;
        let (kernel, args) = if half_steps % 2 == 1 {
            let places = memory.read_f32s(bodies, 4 * count)?;
            let tree = Octree::new(places.as_chunks().0);
            memory.write_f32s(cells, tree.cells.as_flattened())?;
            memory.write_f32s(sizes, &tree.size)?;
            memory.write_u32s(after, &tree.after)?;
            let pointers = [bodies, cells, sizes, after, acceleration].map(Arg::Ptr);
            let numbers = [Arg::F32(OPENING), Arg::F32(SOFTENING), int(tree.cells.len()), int(count)];
            ("barnes_hut_force", pointers.into_iter().chain(numbers).collect())
        } else {
            let pointers = [bodies, velocity, acceleration].map(Arg::Ptr);
            ("barnes_hut_move", pointers.into_iter().chain([Arg::F32(STEP), int(count)]).collect())
        };
        Ok(Some(launch_row(kernel, count, THREADS_PER_BLOCK, args)))
    };
    Ok(Plan::following(launches, move |memory| {
        let (mut expected, mut velocity) = (cloud(count), vec![[0.0; 3]; count]);
        (0..steps).for_each(|_| step(&mut expected, &mut velocity));
        let got = memory.read_f32s(bodies, 4 * count)?;
        let expected = expected.into_iter().flatten();
        Results { workload: "barnes_hut", buffer: "bodies", got: &got }.close(expected, TOLERANCE)
    }))
}

/// Computes one step on the CPU.
fn step(bodies: &mut [Mass], velocity: &mut [[f32; 3]]) {
    let tree = Octree::new(bodies);
    for (body, velocity) in bodies.iter_mut().zip(velocity) {
        let pull = acceleration(&tree, 0, *body, [0.0; 3], OPENING);
        for axis in 0..3 {
            velocity[axis] = pull[axis].mul_add(STEP, velocity[axis]);
            body[axis] += velocity[axis] * STEP;
        }
    }
}

/// Returns `sum` plus the acceleration of `body` by `cell`.
fn acceleration(tree: &Octree, cell: usize, body: Mass, sum: [f32; 3], opening: f32) -> [f32; 3] {
    let there = tree.cells[cell];
    let [dx, dy, dz] = [0, 1, 2].map(|axis| there[axis] - body[axis]);
    let square = dx.mul_add(dx, dy.mul_add(dy, dz * dz));
    if tree.size[cell] * tree.size[cell] > opening * square {
        return tree.children(cell).fold(sum, |sum, child| acceleration(tree, child, body, sum, opening));
    }
    let inverse = 1.0 / (square + SOFTENING).sqrt();
    let pull = there[3] * inverse * inverse * inverse;
    [dx.mul_add(pull, sum[0]), dy.mul_add(pull, sum[1]), dz.mul_add(pull, sum[2])]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_comes_near_the_sum_over_all_bodies() {
        let bodies = cloud(300);
        let tree = Octree::new(&bodies);
        for body in bodies {
            let [near, exact] = [OPENING, 0.0].map(|opening| {
                // With an opening ratio of 0, every cell is opened down to its bodies.
                acceleration(&tree, 0, body, [0.0; 3], opening)
            });
            let length = |vector: [f32; 3]| vector.iter().map(|axis| axis * axis).sum::<f32>().sqrt();
            let error = length([0, 1, 2].map(|axis| near[axis] - exact[axis]));
            assert!(error < 0.03 * length(exact) + 0.01, "{near:?} {exact:?}");
        }
    }
}
