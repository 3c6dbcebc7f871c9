//! `word_count`: counts the words of a text in a hash table. Mars' program sorts records of words instead.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x3c;
const THREADS_PER_BLOCK: u32 = 128;
/// Bytes of text per thread.
const PIECE: usize = 16;
/// Distinct words of the text. The table has about four times as many slots.
const VOCABULARY: u32 = 500;
const SLOTS: usize = 2003;

pub(super) const WORD_COUNT: Planned = Planned {
    name: "word_count",
    summary: "occurrences of words in a text by an atomic hash table",
    papers: "LATTE-CC (WC)",
    group: Group::MapReduce,
    ptx: ("word_count.ptx", include_str!("../../kernels/word_count.ptx")),
    description: |size| {
        let length = length(size);
        format!("{length} bytes of text, {}", mebibytes(length + 8 * SLOTS))
    },
    plan,
};

/// Returns the bytes of the text.
fn length(size: Size) -> usize {
    match size {
        Size::Tiny => 8 << 10,
        Size::Small => 128 << 10,
        Size::Study => 2 << 20,
        Size::Paper => 32 << 20,
    }
}

/// Returns words of 2 to 9 letters, with blanks and line ends between. Early words of the vocabulary are more
/// frequent.
fn text(length: usize) -> Vec<u8> {
    let mut random = Random::new(SEED);
    let words: Vec<Vec<u8>> = (0..VOCABULARY)
        .map(|_| (0..2 + random.below(8)).map(|_| b'a' + random.below(26) as u8).collect())
        .collect();
    let mut text = Vec::new();
    while text.len() < length {
        let number = random.below(VOCABULARY).min(random.below(VOCABULARY)).min(random.below(VOCABULARY));
        text.extend_from_slice(&words[number as usize]);
        text.push(if random.below(12) == 0 { b'\n' } else { b' ' });
    }
    text.truncate(length);
    text
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let length = length(size);
    let from = memory.alloc(length as u64, "text")?;
    memory.write(from, &text(length))?;
    let slots = place_words(memory, "slots", &[0; SLOTS])?;
    let counts = place_words(memory, "counts", &[0; SLOTS])?;
    let args = [from, slots, counts].map(Arg::Ptr).into_iter().chain([int(length), int(SLOTS)]).collect();
    let launch = launch_row("word_count", length.div_ceil(PIECE), THREADS_PER_BLOCK, args);
    Ok(Plan::of(vec![launch], move |memory| {
        // The slot of a word depends on the order of insertions; its count does not.
        let hashes = memory.read_u32s(slots, SLOTS)?;
        let mut got: Vec<(u32, u32)> = hashes.into_iter().zip(memory.read_u32s(counts, SLOTS)?).collect();
        got.retain(|(hash, _)| *hash != 0);
        got.sort_unstable();
        let (hashes, counts): (Vec<u32>, Vec<u32>) = got.into_iter().unzip();
        let (words, times): (Vec<u32>, Vec<u32>) = reference(length).into_iter().unzip();
        Results { workload: "word_count", buffer: "slots", got: &hashes }.equal(words)?;
        Results { workload: "word_count", buffer: "counts", got: &counts }.equal(times)
    }))
}

/// Returns the hash of every word with its count, sorted by hash.
fn reference(length: usize) -> std::collections::BTreeMap<u32, u32> {
    let text = text(length);
    let words = text.split(|byte| *byte < b'a').filter(|word| !word.is_empty());
    let mut counts = std::collections::BTreeMap::new();
    for word in words {
        let hash = word
            .iter()
            .fold(2_166_136_261_u32, |hash, letter| (hash ^ u32::from(*letter)).wrapping_mul(16_777_619));
        *counts.entry(hash | 1).or_insert(0) += 1;
    }
    counts
}
