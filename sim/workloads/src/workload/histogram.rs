//! `histogram`: counts of each byte value, with atomic additions in shared memory.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x415;
const BINS: usize = 256;
const THREADS_PER_BLOCK: u32 = 192;
/// Blocks of the launch, which determine the kernel's stride over the data.
const BLOCKS: usize = 64;

pub(super) const HISTOGRAM: Planned = Planned {
    name: "histogram",
    summary: "histogram of bytes by atomic additions in shared memory",
    papers: "Dai, chapter 2 (HST)",
    group: Group::Primitives,
    ptx: ("histogram.ptx", include_str!("../../kernels/histogram.ptx")),
    description: |size| {
        let words = words(size);
        format!("{} bytes, {}", 4 * words, mebibytes(4 * (words + BINS)))
    },
    plan,
};

/// Returns the number of 4-byte words.
fn words(size: Size) -> usize {
    match size {
        Size::Tiny => 1 << 13,
        Size::Small => 1 << 18,
        Size::Study => 1 << 22,
        Size::Paper => 1 << 24,
    }
}

/// Returns bytes as in photographs: middle tones are most frequent, and neighbours are similar.
fn data(words: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    let mut tone = 128;
    let mut word = || {
        tone = (tone + random.below(9)).saturating_sub(4).min(247);
        u32::from_le_bytes([0; 4].map(|_| (tone + random.below(8)) as u8))
    };
    (0..words).map(|_| word()).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let words = words(size);
    let from = place_words(memory, "data", &data(words))?;
    let bins = place_words(memory, "bins", &[0; BINS])?;
    let args = vec![Arg::Ptr(from), Arg::Ptr(bins), int(words)];
    let threads = BLOCKS * THREADS_PER_BLOCK as usize;
    Ok(Plan::of(vec![launch_row("histogram", threads, THREADS_PER_BLOCK, args)], move |memory| {
        let mut expected = vec![0; BINS];
        for byte in data(words).into_iter().flat_map(u32::to_le_bytes) {
            expected[usize::from(byte)] += 1;
        }
        let got = memory.read_u32s(bins, BINS)?;
        Results { workload: "histogram", buffer: "bins", got: &got }.equal(expected)
    }))
}
