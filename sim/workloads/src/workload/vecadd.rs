//! `vecadd`: c = a + b in single precision, one element per thread. It has the least computation per byte of all
//! workloads.
use std::path::Path;

use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, no_input, place_f32s};
use super::random::Random;
use super::{Arg, Group, HostProgram, Launch, Size, Workload, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const NAME: &str = "vecadd";
const THREADS_PER_BLOCK: u32 = 256;
const SEED_A: u64 = 0xa;
const SEED_B: u64 = 0xb;

pub(super) struct VecAdd;

fn elements(size: Size) -> usize {
    match size {
        Size::Tiny => 1 << 13,
        Size::Small => 1 << 17,
        Size::Study | Size::Paper => 1 << 20,
    }
}

/// Returns `count` uniform numbers in [0, 1) with full significands.
fn numbers(seed: u64, count: usize) -> impl Iterator<Item = f32> {
    let mut random = Random::new(seed);
    (0..count).map(move |_| random.unit())
}

impl Workload for VecAdd {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "vector addition, one element per thread"
    }

    fn papers(&self) -> &'static str {
        "none: the reference point of speed measurements"
    }

    fn group(&self) -> Group {
        Group::Primitives
    }

    fn ptx(&self) -> (&'static str, &'static str) {
        ("vecadd.ptx", include_str!("../../kernels/vecadd.ptx"))
    }

    fn description(&self, size: Size) -> String {
        let count = elements(size);
        format!("{count} elements, {}", mebibytes(3 * 4 * count))
    }

    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError> {
        no_input(NAME, input)?;
        Ok(Box::new(Run { count: elements(size), sum: 0, stage: Stage::Start }))
    }
}

#[derive(PartialEq)]
enum Stage {
    Start,
    Adding,
    Done,
}

struct Run {
    count: usize,
    /// Device address of the result.
    sum: u64,
    stage: Stage,
}

impl HostProgram for Run {
    fn next(&mut self, memory: &mut DeviceMemory) -> Result<Option<Launch>, WorkloadError> {
        if self.stage != Stage::Start {
            self.stage = Stage::Done;
            return Ok(None);
        }
        let a = place_f32s(memory, "a", &numbers(SEED_A, self.count).collect::<Vec<_>>())?;
        let b = place_f32s(memory, "b", &numbers(SEED_B, self.count).collect::<Vec<_>>())?;
        self.sum = memory.alloc(4 * self.count as u64, "c")?;
        self.stage = Stage::Adding;
        let args = vec![Arg::Ptr(a), Arg::Ptr(b), Arg::Ptr(self.sum), int(self.count)];
        Ok(Some(launch_row("vecadd", self.count, THREADS_PER_BLOCK, args)))
    }

    fn verify(&self, memory: &DeviceMemory) -> Result<(), WorkloadError> {
        if self.stage != Stage::Done {
            return Err(WorkloadError::Unfinished { workload: NAME });
        }
        // One rounding per element on either side, so the sums have equal bits.
        let sums = numbers(SEED_A, self.count).zip(numbers(SEED_B, self.count)).map(|(a, b)| a + b);
        Results { workload: NAME, buffer: "c", got: &memory.read_f32s(self.sum, self.count)? }.equal(sums)
    }
}
