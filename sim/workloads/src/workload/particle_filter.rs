//! `particle_filter`: particles that follow a bright disc in a noisy video, as Rodinia's particlefilter_float.
//!
//! A frame moves the particles, weighs each by the 69 pixels around it, normalizes the weights and resamples.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Launch, Size, WorkloadError};
use selvedge_ptx::memory::{DeviceMemory, MemoryError};
use std::f64::consts::TAU;

const THREADS: usize = 512;
/// Distance from the center of the disc that its pixels do not reach.
const RADIUS: i32 = 5;
/// Step of the seeds from particle to particle; Rodinia takes the time in seconds.
const SEED: i32 = 1_577_836_800;
const BACKGROUND: u8 = 100;
const OBJECT: u8 = 228;

pub(super) const PARTICLE_FILTER: Planned = Planned {
    name: "particle_filter",
    summary: "tracking of a disc in a video by weighted particles",
    papers: "LATTE-CC (PF), Dai, chapters 2 and 3 (PTF, PTL)",
    group: Group::Particles,
    ptx: ("particle_filter.ptx", include_str!("../../kernels/particle_filter.ptx")),
    description: |size| {
        let shape = FilterShape::of(size);
        let FilterShape { particles, side, frames, steps } = shape;
        let bytes = particles * (8 * 8 + 4 + 4 * disc().len()) + shape.pixels();
        format!(
            "{particles} particles, {steps} of {frames} frames of {side} x {side} pixels, {}",
            mebibytes(bytes)
        )
    },
    plan,
};

#[derive(Clone, Copy)]
struct FilterShape {
    particles: usize,
    /// Width and height of the video.
    side: usize,
    /// Frames of the video.
    frames: usize,
    /// Frames that the particles follow, after the first frame.
    steps: usize,
}

impl FilterShape {
    /// Returns the shape of a size; `paper` is that of Rodinia's run script and of LATTE-CC's table III.
    fn of(size: Size) -> Self {
        let (particles, side, frames, steps) = match size {
            Size::Tiny => (128, 64, 10, 1),
            Size::Small => (1000, 128, 10, 2),
            Size::Study => (1000, 128, 10, 5),
            Size::Paper => (1000, 128, 10, 9),
        };
        FilterShape { particles, side, frames, steps }
    }

    fn pixels(self) -> usize {
        self.side * self.side * self.frames
    }

    /// Returns the seeds: one per particle, of which the first also makes the noise of the video.
    fn seeds(self) -> Vec<i32> {
        (0..self.particles as i32).map(|particle| SEED.wrapping_mul(particle)).collect()
    }

    /// Returns the video. The frames of a pixel are neighbors, and the disc moves one column and two rows per frame.
    fn video(self, seed: &mut i32) -> Vec<u8> {
        let center = self.side as i32 / 2;
        let mut video = vec![BACKGROUND; self.pixels()];
        for frame in 0..self.frames as i32 {
            let moved = (frame - 1).max(0);
            let (row, column) = ((center - 2 * moved).abs(), center + moved);
            for [down, right] in disc() {
                let at = (row + down) as usize * self.side + (column + right) as usize;
                video[at * self.frames + frame as usize] = OBJECT;
            }
        }
        for pixel in &mut video {
            *pixel = pixel.wrapping_add((5.0 * normal(seed)) as i32 as u8);
        }
        video
    }
}

/// Returns the offsets of the disc's pixels from its center.
fn disc() -> Vec<[i32; 2]> {
    let offsets = || 1 - RADIUS..RADIUS;
    let all = offsets().flat_map(|outer| offsets().map(move |inner| [inner, outer]));
    all.filter(|[inner, outer]| inner * inner + outer * outer < RADIUS * RADIUS).collect()
}

/// Advances a seed and returns a number in [0, 1].
fn uniform(seed: &mut i32) -> f64 {
    *seed = seed.wrapping_mul(1_103_515_245).wrapping_add(12_345) % i32::MAX;
    (f64::from(*seed) / f64::from(i32::MAX)).abs()
}

/// Draws from the normal distribution by the method of Box and Muller.
fn normal(seed: &mut i32) -> f64 {
    let (u, v) = (uniform(seed), uniform(seed));
    (-2.0 * u.ln()).sqrt() * (TAU * v).cos()
}

fn place_f64s(memory: &mut DeviceMemory, name: &str, values: &[f64]) -> Result<u64, MemoryError> {
    let address = memory.alloc(size_of_val(values) as u64, name)?;
    memory.write_f64s(address, values)?;
    Ok(address)
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let shape = FilterShape::of(size);
    let FilterShape { particles, side, frames, steps } = shape;
    let mut seeds = shape.seeds();
    let frame_bytes = shape.video(&mut seeds[0]);
    let start = vec![(side / 2) as f64; particles];
    let [x, y, likelihood, weights, sums, running, position] =
        ["x", "y", "likelihood", "weights", "sums", "running", "position"]
            .map(|name| place_f64s(memory, name, &vec![0.0; particles]));
    let (x, y, likelihood, weights) = (x?, y?, likelihood?, weights?);
    let (sums, running, position) = (sums?, running?, position?);
    let next_x = place_f64s(memory, "next x", &start)?;
    let next_y = place_f64s(memory, "next y", &start)?;
    let video = memory.alloc(frame_bytes.len() as u64, "video")?;
    memory.write(video, &frame_bytes)?;
    let object = disc();
    let offsets =
        place_words(memory, "disc", &object.iter().flatten().map(|o| *o as u32).collect::<Vec<_>>())?;
    let pixels = memory.alloc((4 * particles * object.len()) as u64, "pixels")?;
    let seed = place_words(memory, "seeds", &seeds.iter().map(|seed| *seed as u32).collect::<Vec<_>>())?;
    let launch = |kernel, pointers: &[u64], numbers: &[usize]| -> Launch {
        let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
        let args = pointers.chain(numbers.iter().map(|number| int(*number))).collect();
        launch_row(kernel, particles, THREADS as u32, args)
    };
    let weighed = [x, y, next_x, next_y, pixels, offsets, likelihood, video, weights, seed, sums];
    let launches = (1..=steps).flat_map(|frame| {
        let numbers = [particles, object.len(), shape.pixels(), frame, side, frames];
        [
            launch("particle_likelihood", &weighed, &numbers),
            launch("particle_sum", &[sums], &[particles.div_ceil(THREADS)]),
            launch("particle_normalize", &[weights, sums], &[particles]),
            launch("particle_accumulate", &[weights, running, position, seed], &[particles]),
            launch("particle_spread", &[position], &[particles]),
            launch("particle_find", &[x, y, running, position, next_x, next_y], &[particles]),
        ]
    });
    Ok(Plan::of(launches.collect(), move |memory| {
        let expected = Particles::after_all(shape);
        let got = memory.read_i32s(pixels, particles * disc().len())?;
        Results { workload: "particle_filter", buffer: "pixels", got: &got }.equal(expected.pixels)?;
        for (buffer, address, expected) in [("next x", next_x, expected.x), ("next y", next_y, expected.y)] {
            let single = |values: Vec<f64>| values.into_iter().map(|value| value as f32).collect::<Vec<_>>();
            let got = single(memory.read_f64s(address, particles)?);
            Results { workload: "particle_filter", buffer, got: &got }.close(single(expected), 1e-6)?;
        }
        Ok(())
    }))
}

/// Particles on the CPU.
struct Particles {
    x: Vec<f64>,
    y: Vec<f64>,
    /// Numbers of the pixels that the last frame compared.
    pixels: Vec<i32>,
}

impl Particles {
    /// Follows the video to the last frame.
    fn after_all(shape: FilterShape) -> Self {
        let mut seeds = shape.seeds();
        let video = shape.video(&mut seeds[0]);
        let start = vec![(shape.side / 2) as f64; shape.particles];
        let mut particles = Particles { x: start.clone(), y: start, pixels: Vec::new() };
        for frame in 1..=shape.steps {
            particles.follow(shape, &video, frame, &mut seeds);
        }
        particles
    }

    fn follow(&mut self, shape: FilterShape, video: &[u8], frame: usize, seeds: &mut [i32]) {
        let disc = disc();
        self.pixels.clear();
        let mut running = Vec::with_capacity(shape.particles);
        for (particle, seed) in seeds.iter_mut().enumerate() {
            self.x[particle] += 1.0 + 5.0 * normal(seed);
            self.y[particle] += 2.0 * normal(seed) - 2.0;
            let (row, column) = (self.x[particle] as i32, self.y[particle] as i32);
            let mut sum = 0.0;
            for [right, down] in &disc {
                let place = (row + down) * shape.side as i32 + column + right;
                let pixel = (place * shape.frames as i32 + frame as i32).unsigned_abs() as usize;
                let pixel = if pixel < video.len() { pixel } else { 0 };
                self.pixels.push(pixel as i32);
                let apart = |from: u8| (f64::from(video[pixel]) - f64::from(from)).powi(2);
                sum += (apart(BACKGROUND) - apart(OBJECT)) / 50.0;
            }
            let weight = (sum / disc.len() as f64).exp() / shape.particles as f64;
            running.push(running.last().unwrap_or(&0.0) + weight);
        }
        let (total, count) = (running[shape.particles - 1], shape.particles as f64);
        let first = uniform(&mut seeds[0]) / count;
        let chosen = |particle| {
            let position = (first + particle as f64 / count) * total;
            running.partition_point(|sum| *sum < position).min(shape.particles - 1)
        };
        let chosen: Vec<usize> = (0..shape.particles).map(chosen).collect();
        self.x = chosen.iter().map(|from| self.x[*from]).collect();
        self.y = chosen.iter().map(|from| self.y[*from]).collect();
    }
}
