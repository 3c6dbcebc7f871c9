//! `particle_filter`: weights of particles and their resampling, as Rodinia's particlefilter.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x9f;
const THREADS: usize = 128;

pub(super) const PARTICLE_FILTER: Planned = Planned {
    name: "particle_filter",
    summary: "normalisation and resampling of a particle filter",
    papers: "LATTE-CC (PF), Dai, chapters 2 and 3 (PTF, PTL)",
    group: Group::Particles,
    ptx: ("particle_filter.ptx", include_str!("../../kernels/particle_filter.ptx")),
    description: |size| {
        let count = particles(size);
        format!("{count} particles, {}", mebibytes(4 * (7 * count + count / THREADS)))
    },
    plan,
};

/// Returns the number of particles, a multiple of a block's threads; `paper` is Rodinia's size.
fn particles(size: Size) -> usize {
    match size {
        Size::Tiny => 256,
        Size::Small => 1280,
        Size::Study => 12 << 10,
        Size::Paper => 32_768,
    }
}

/// Returns likelihoods. Some are far larger than the others.
fn likelihoods(count: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    (0..count).map(|_| random.unit() * if random.below(8) == 0 { 8.0 } else { 1.0 }).collect()
}

/// Returns the sum of each block's likelihoods.
fn block_sums(likelihoods: &[f32]) -> Vec<f32> {
    likelihoods.chunks_exact(THREADS).map(|block| block.iter().sum()).collect()
}

fn normalized(count: usize) -> Vec<f32> {
    let likelihoods = likelihoods(count);
    let sum: f32 = block_sums(&likelihoods).iter().fold(0.0, |sum, block| sum + block);
    likelihoods.into_iter().map(|likelihood| likelihood / sum).collect()
}

fn running_sums(weights: &[f32]) -> Vec<f32> {
    let running = weights.iter().scan(0.0_f32, |sum, weight| {
        *sum += weight;
        Some(*sum)
    });
    running.collect()
}

/// Returns evenly spaced positions in the running sums, as systematic resampling takes them.
fn positions(count: usize) -> Vec<f32> {
    (0..count).map(|particle| (particle as f32 + 0.37) / count as f32).collect()
}

/// Returns positions of particles along a line.
fn places(count: usize, offset: f32) -> Vec<f32> {
    (0..count).map(|particle| offset + particle as f32).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let count = particles(size);
    let values = likelihoods(count);
    let weights = place_f32s(memory, "weights", &values)?;
    let sums = place_f32s(memory, "block sums", &block_sums(&values))?;
    let running = memory.alloc(4 * count as u64, "running")?;
    let position = place_f32s(memory, "position", &positions(count))?;
    let x = place_f32s(memory, "x", &places(count, 0.5))?;
    let y = place_f32s(memory, "y", &places(count, 0.25))?;
    let next_x = memory.alloc(4 * count as u64, "next x")?;
    let next_y = memory.alloc(4 * count as u64, "next y")?;
    let mut step = 0;
    let launches = move |memory: &mut DeviceMemory| {
        step += 1;
        let launch = |kernel, pointers: &[u64], numbers: &[usize]| {
            let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
            let args = pointers.chain(numbers.iter().map(|number| int(*number))).collect();
            launch_row(kernel, count, THREADS as u32, args)
        };
        Ok(match step {
            1 => Some(launch("particle_normalize", &[weights, sums], &[count / THREADS, count])),
            2 => {
                // The host computes the running sums, as in Rodinia's simple version.
                let sums = running_sums(&memory.read_f32s(weights, count)?);
                memory.write_f32s(running, &sums)?;
                Some(launch("particle_find", &[running, position, x, y, next_x, next_y], &[count]))
            }
            _ => None,
        })
    };
    Ok(Plan::following(launches, move |memory| {
        let weights = normalized(count);
        let running = running_sums(&weights);
        let chosen = positions(count)
            .into_iter()
            .map(|position| running.iter().position(|sum| *sum >= position).unwrap_or(count - 1));
        let got = memory.read_f32s(next_x, count)?;
        let expected = chosen.map(|particle| particle as f32 + 0.5);
        Results { workload: "particle_filter", buffer: "next x", got: &got }.equal(expected)
    }))
}
