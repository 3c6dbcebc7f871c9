//! `mummer`: matches short reads with a reference by a suffix tree, as MUMmerGPU.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::suffix_tree::{SuffixTree, common, sorted_suffixes};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x303;
const THREADS_PER_BLOCK: u32 = 128;
/// Letters per read.
const READ: usize = 25;

pub(super) const MUMMER: Planned = Planned {
    name: "mummer",
    summary: "longest matches of short reads by a suffix tree, one thread per read",
    papers: "LAMAR and CABA (MUM)",
    group: Group::Search,
    ptx: ("mummer.ptx", include_str!("../../kernels/mummer.ptx")),
    description: |size| {
        let (letters, reads) = shape(size);
        // About 1.6 nodes of 28 bytes per letter; per read, its letters and two words for each of them.
        let bytes = letters + letters * 28 * 8 / 5 + 9 * READ * reads;
        format!("{letters} letters, {reads} reads of {READ}, {}", mebibytes(bytes))
    },
    plan,
};

/// Returns the letters of the reference, and the number of reads; `paper` has the 50,000 reads of GPGPU-Sim's input.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (4 << 10, 128),
        Size::Small => (32 << 10, 1280),
        Size::Study => (64 << 10, 3840),
        Size::Paper => (512 << 10, 50_000),
    }
}

/// Returns a random reference. Some parts are copies of earlier parts, as in genomes.
fn reference(letters: usize) -> Vec<u8> {
    let mut random = Random::new(SEED);
    let mut text = Vec::new();
    while text.len() < letters {
        if text.len() > 200 && random.below(100) == 0 {
            let from = random.below(text.len() as u32 - 100) as usize;
            text.extend_from_within(from..from + 20 + random.below(80) as usize);
        } else {
            text.push(b"ACGT"[random.below(4) as usize]);
        }
    }
    text.truncate(letters);
    text
}

/// Returns reads from random positions of the reference. One letter in 40 is misread.
fn reads(reference: &[u8], count: usize) -> Vec<u8> {
    let mut random = Random::new(SEED ^ 1);
    let mut reads = Vec::new();
    for _ in 0..count {
        let from = random.below((reference.len() - READ) as u32) as usize;
        let misread = |letter: &u8| {
            if random.below(40) == 0 { b"ACGT"[random.below(4) as usize] } else { *letter }
        };
        reads.extend(reference[from..from + READ].iter().map(misread));
    }
    reads
}

/// Allocates a buffer of bytes and fills it with `values`.
fn place_bytes(memory: &mut DeviceMemory, name: &str, values: &[u8]) -> Result<u64, WorkloadError> {
    let address = memory.alloc(values.len() as u64, name)?;
    memory.write(address, values)?;
    Ok(address)
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (letters, count) = shape(size);
    let text = reference(letters);
    let tree = SuffixTree::new(&text);
    let on_device = place_bytes(memory, "reference", &text)?;
    let child = place_words(memory, "child", tree.child.as_flattened())?;
    let start = place_words(memory, "start", &tree.start)?;
    let length = place_words(memory, "length", &tree.length)?;
    let position = place_words(memory, "position", &tree.position)?;
    let from = place_bytes(memory, "reads", &reads(&text, count))?;
    let match_length = memory.alloc((4 * READ * count) as u64, "match length")?;
    let match_position = memory.alloc((4 * READ * count) as u64, "match position")?;
    let pointers = [on_device, child, start, length, position, from, match_length, match_position];
    let args = pointers.map(Arg::Ptr).into_iter().chain([int(READ), int(count)]).collect();
    let launch = launch_row("mummer", count, THREADS_PER_BLOCK, args);
    Ok(Plan::of(vec![launch], move |memory| {
        let (lengths, positions): (Vec<u32>, Vec<u32>) = matches(letters, count).into_iter().unzip();
        let got = memory.read_u32s(match_length, READ * count)?;
        Results { workload: "mummer", buffer: "match length", got: &got }.equal(lengths)?;
        let got = memory.read_u32s(match_position, READ * count)?;
        Results { workload: "mummer", buffer: "match position", got: &got }.equal(positions)
    }))
}

/// Returns the longest match of each end of each read, by bisection of the sorted suffixes: its length, and the
/// position of the first suffix that has it.
fn matches(letters: usize, count: usize) -> Vec<(u32, u32)> {
    let text = reference(letters);
    let suffixes = sorted_suffixes(&text);
    let suffix = |place: usize| &text[suffixes[place] as usize..];
    let before = |wanted: &[u8]| suffixes.partition_point(|suffix| &text[*suffix as usize..] < wanted);
    let longest = |end: &[u8]| {
        let place = before(end);
        let around = place.saturating_sub(1)..(place + 1).min(suffixes.len());
        let length = around.map(|place| common(suffix(place), end)).max().unwrap_or(0);
        (length as u32, suffixes[before(&end[..length])])
    };
    let reads = reads(&text, count);
    reads.chunks(READ).flat_map(|read| (0..READ).map(|from| longest(&read[from..]))).collect()
}
