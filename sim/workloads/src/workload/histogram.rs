//! `histogram`: counts of the high six bits of bytes, as the CUDA samples' histogram64 with counters behind the L1D.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x415;
const BINS: usize = 64;
const THREADS: usize = 64;
const MERGE_THREADS: usize = 256;
/// Bytes that a thread counts: as many 16-byte reads as a one-byte counter can hold.
const BYTES_PER_THREAD: usize = 255 / 16 * 16;

pub(super) const HISTOGRAM: Planned = Planned {
    name: "histogram",
    summary: "histogram of bytes with the counters of each thread in global memory",
    papers: "Dai, chapter 2 (HST)",
    group: Group::Primitives,
    ptx: ("histogram.ptx", include_str!("../../kernels/histogram.ptx")),
    description: |size| {
        let bytes = bytes(size);
        let device = bytes + blocks(bytes) * BINS * (THREADS + 4) + 4 * BINS;
        format!("{bytes} bytes, {}", mebibytes(device))
    },
    plan,
};

/// Returns the number of bytes; `paper` is the size of the CUDA samples.
fn bytes(size: Size) -> usize {
    match size {
        Size::Tiny => 8 << 10,
        Size::Small => 2 << 20,
        Size::Study => 3 << 20,
        Size::Paper => 64 << 20,
    }
}

fn blocks(bytes: usize) -> usize {
    bytes.div_ceil(THREADS * BYTES_PER_THREAD)
}

/// Returns uniform bytes, as the CUDA samples.
fn data(bytes: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    (0..bytes / 4).map(|_| random.bits() as u32).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let bytes = bytes(size);
    let blocks = blocks(bytes);
    let from = place_words(memory, "data", &data(bytes))?;
    let counters = memory.alloc((blocks * THREADS * BINS) as u64, "counters")?;
    let partial = memory.alloc((4 * blocks * BINS) as u64, "partial")?;
    let bins = memory.alloc(4 * BINS as u64, "bins")?;
    let args = vec![Arg::Ptr(partial), Arg::Ptr(from), Arg::Ptr(counters), int(bytes / 16), int(blocks)];
    let count = launch_row("histogram_count", blocks * THREADS, THREADS as u32, args);
    let args = vec![Arg::Ptr(bins), Arg::Ptr(partial), int(blocks)];
    let merge = launch_row("histogram_merge", BINS * MERGE_THREADS, MERGE_THREADS as u32, args);
    Ok(Plan::of(vec![count, merge], move |memory| {
        let mut expected = vec![0; BINS];
        for byte in data(bytes).into_iter().flat_map(u32::to_le_bytes) {
            expected[usize::from(byte / 4)] += 1;
        }
        let got = memory.read_u32s(bins, BINS)?;
        Results { workload: "histogram", buffer: "bins", got: &got }.equal(expected)
    }))
}
