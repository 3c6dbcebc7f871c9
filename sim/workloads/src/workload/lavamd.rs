//! `lavamd`: potential and forces of particles in boxes of space, as Rodinia's lavaMD.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x1a7a;
/// Threads per block, and max particles per box.
const THREADS: usize = 128;
/// Decay of the potential with the squared distance: Rodinia's alpha.
const ALPHA: f32 = 0.5;
/// The kernel fuses no operations, so the reference rounds in the same way.
const TOLERANCE: f32 = 1e-5;

pub(super) const LAVAMD: Planned = Planned {
    name: "lavamd",
    summary: "forces among particles in neighbouring boxes, one block per box",
    papers: "LAMAR (LAVAMD)",
    group: Group::Particles,
    ptx: ("lavamd.ptx", include_str!("../../kernels/lavamd.ptx")),
    description: |size| {
        let (edge, per_box) = shape(size);
        let particles = edge * edge * edge * per_box;
        format!("{edge} x {edge} x {edge} boxes of {per_box} particles, {}", mebibytes(36 * particles))
    },
    plan,
};

/// Returns the boxes along each edge, and the particles per box; `paper` has Rodinia's 10 and 100.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (2, 24),
        Size::Small => (3, 40),
        Size::Study => (5, 100),
        Size::Paper => (10, 100),
    }
}

/// Returns, per particle, half the square of its distance from the origin, and its position.
fn places(edge: usize, per_box: usize) -> Vec<[f32; 4]> {
    let mut random = Random::new(SEED);
    let mut places = Vec::new();
    for corner in corners(edge) {
        for _ in 0..per_box {
            let [x, y, z] = corner.map(|axis| axis as f32 + random.unit());
            places.push([0.5 * (x * x + y * y + z * z), x, y, z]);
        }
    }
    places
}

/// Returns the charge of each particle, a multiple of 0.1, as in Rodinia.
fn charges(particles: usize) -> Vec<f32> {
    let mut random = Random::new(SEED ^ 1);
    (0..particles).map(|_| 0.1 * (1 + random.below(10)) as f32).collect()
}

/// Returns the corner of each box, in box order.
fn corners(edge: usize) -> impl Iterator<Item = [usize; 3]> {
    (0..edge * edge * edge).map(move |number| [number % edge, number / edge % edge, number / edge / edge])
}

/// Returns the boxes that touch the box at `corner`, and that box.
fn neighbours(edge: usize, corner: [usize; 3]) -> impl Iterator<Item = usize> {
    let touches = move |other: &[usize; 3]| (0..3).all(|axis| other[axis].abs_diff(corner[axis]) <= 1);
    (0..).zip(corners(edge)).filter(move |(_, other)| touches(other)).map(|(number, _)| number)
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (edge, per_box) = shape(size);
    let (boxes, particles) = (edge * edge * edge, edge * edge * edge * per_box);
    let (mut first, mut neighbour) = (vec![0], Vec::new());
    for corner in corners(edge) {
        neighbour.extend(neighbours(edge, corner).map(|number| number as u32));
        first.push(neighbour.len() as u32);
    }
    let first = place_words(memory, "first", &first)?;
    let neighbour = place_words(memory, "neighbour", &neighbour)?;
    let place = place_f32s(memory, "places", places(edge, per_box).as_flattened())?;
    let charge = place_f32s(memory, "charges", &charges(particles))?;
    let forces = memory.alloc(16 * particles as u64, "forces")?;
    let pointers = [first, neighbour, place, charge, forces].map(Arg::Ptr);
    let args = pointers.into_iter().chain([Arg::F32(decay()), int(per_box)]).collect();
    let launch = launch_row("lavamd", boxes * THREADS, THREADS as u32, args);
    Ok(Plan::of(vec![launch], move |memory| {
        let expected = reference(edge, per_box);
        let got = memory.read_f32s(forces, 4 * particles)?;
        let expected = expected.into_iter().flatten();
        Results { workload: "lavamd", buffer: "forces", got: &got }.close(expected, TOLERANCE)
    }))
}

/// Returns the exponent of two by which the potential changes, per half of the squared distance.
fn decay() -> f32 {
    -2.0 * 2.0 * ALPHA * ALPHA * std::f32::consts::LOG2_E
}

/// Returns the potential and force of every particle.
fn reference(edge: usize, per_box: usize) -> Vec<[f32; 4]> {
    let places = places(edge, per_box);
    let charges = charges(places.len());
    let mut forces = Vec::new();
    for (number, corner) in corners(edge).enumerate() {
        for here in &places[number * per_box..][..per_box] {
            let others = neighbours(edge, corner).flat_map(|other| other * per_box..(other + 1) * per_box);
            forces.push(others.fold([0.0; 4], |sum, other| act(sum, *here, places[other], charges[other])));
        }
    }
    forces
}

/// Returns `sum` plus the potential and force at `here` of a particle with charge `charge` at `there`.
fn act(sum: [f32; 4], here: [f32; 4], there: [f32; 4], charge: f32) -> [f32; 4] {
    let product = here[1].mul_add(there[1], here[2].mul_add(there[2], here[3] * there[3]));
    let distance = here[0] + there[0] - product;
    let potential = charge * f64::from(distance * decay()).exp2() as f32;
    let force = |axis: usize| (2.0 * potential).mul_add(here[axis] - there[axis], sum[axis]);
    [sum[0] + potential, force(1), force(2), force(3)]
}
