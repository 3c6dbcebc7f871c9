//! `inverted_index`, `page_view_count`, `page_view_rank`: web texts mapped to pairs, sorted and reduced, as Mars'
//! workloads of these names.
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Launch, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x3a45;
const THREADS_PER_BLOCK: u32 = 128;
const PTX: (&str, &str) = ("map_reduce.ptx", include_str!("../../kernels/map_reduce.ptx"));

pub(super) const INVERTED_INDEX: Planned = Planned {
    name: "inverted_index",
    summary: "which pages are linked from how many documents: map, bitonic sort, reduce",
    papers: "LAMAR (IIX)",
    group: Group::MapReduce,
    ptx: PTX,
    description: |size| describe(&documents(lines_of_records(size)), has_records(size)),
    plan: |size, memory| plan_links(size, memory),
};

pub(super) const PAGE_VIEW_COUNT: Planned = Planned {
    name: "page_view_count",
    summary: "how many visitors saw each page of a log: map, bitonic sort, reduce",
    papers: "LAMAR and CABA (PVC)",
    group: Group::MapReduce,
    ptx: PTX,
    description: |size| describe(&log(lines_of_records(size)), has_records(size)),
    plan: |size, memory| plan_views(size, memory),
};

pub(super) const PAGE_VIEW_RANK: Planned = Planned {
    name: "page_view_rank",
    summary: "pages ranked by their views: map, bitonic sort, reduce",
    papers: "CABA (PVR)",
    group: Group::MapReduce,
    ptx: PTX,
    description: |size| describe(&totals(lines(size)), false),
    plan: |size, memory| plan(PAGE_VIEW_RANK.name, totals(lines(size)), memory),
};

/// Returns the number of lines. It is not a power of two.
fn lines(size: Size) -> usize {
    match size {
        Size::Tiny => 500,
        Size::Small => 5000,
        Size::Study => 50_000,
        Size::Paper => 500_000,
    }
}

/// Returns whether pairs are records with the positions of key and value, as in Mars. Otherwise they are hashes.
fn has_records(size: Size) -> bool {
    size == Size::Study
}

fn plan_links(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let make = if has_records(size) { plan_records } else { plan };
    make(INVERTED_INDEX.name, documents(lines_of_records(size)), memory)
}

fn plan_views(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let make = if has_records(size) { plan_records } else { plan };
    make(PAGE_VIEW_COUNT.name, log(lines_of_records(size)), memory)
}

/// Returns the number of lines for workloads whose pairs may be records, which take longer to sort.
fn lines_of_records(size: Size) -> usize {
    if has_records(size) { 5000 } else { lines(size) }
}

/// Start of a line with a link.
const LINK: &str = "<p>See also <a href=\"";

/// A text, and the pairs of its lines.
struct TextPairs {
    bytes: Vec<u8>,
    /// Offset of each line, in bytes.
    line: Vec<u32>,
    /// Key and value of each line.
    pairs: Vec<Option<(u32, u32)>>,
    kind: MapReduceKind,
}

/// Map and reduce functions of a text.
enum MapReduceKind {
    Log,
    Totals,
    /// The document that contains each line.
    Documents(Vec<u32>),
}

impl TextPairs {
    fn new(kind: MapReduceKind) -> Self {
        TextPairs { bytes: Vec::new(), line: Vec::new(), pairs: Vec::new(), kind }
    }

    fn push(&mut self, line: &str, pair: Option<(u32, u32)>) {
        self.line.push(self.bytes.len() as u32);
        self.bytes.extend_from_slice(line.as_bytes());
        self.bytes.push(b'\n');
        self.pairs.push(pair);
    }
}

impl TextPairs {
    /// Returns the key of line `number` as text, and its value; `None` if the line has no pair. The value is the hash
    /// of a visitor or the number of a document. Equal values mean equal texts.
    fn pair(&self, number: usize) -> Option<(&[u8], u32)> {
        let (_, value) = self.pairs[number]?;
        let line = &self.bytes[self.line[number] as usize..];
        let (key, end) = match self.kind {
            MapReduceKind::Documents(_) => (&line[LINK.len()..], b'"'),
            MapReduceKind::Log | MapReduceKind::Totals => (line, b'\t'),
        };
        let size = key.iter().position(|byte| *byte == end).unwrap_or(key.len());
        Some((&key[..size], value))
    }

    /// Returns the order of line `number` among lines with the same key: the visitor's text, or the document's
    /// number.
    fn rank(&self, number: usize) -> (&[u8], u32) {
        if let MapReduceKind::Documents(documents) = &self.kind {
            return (&[], documents[number]);
        }
        let line = &self.bytes[self.line[number] as usize..];
        let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
        let tab = line.iter().position(|byte| *byte == b'\t').unwrap_or(end);
        (&line[(tab + 1).min(end)..end], 0)
    }

    /// Returns the text with its lines in two halves, each sorted by key and value: the first in descending order,
    /// the second in ascending order. A line without a pair is greater than all others.
    fn in_halves(self) -> Self {
        let sort = |lines: &mut Vec<usize>| {
            lines.sort_by_key(|line| match self.pair(*line) {
                Some((key, _)) => (false, key, self.rank(*line)),
                None => (true, &[][..], (&[][..], 0)),
            });
        };
        let count = self.line.len();
        let half = count.next_power_of_two() / 2;
        // Lines of the first half have equal distances in the text.
        let mut lines: Vec<usize> = (0..half).map(|at| at * count / half).collect();
        let is_first: BTreeSet<usize> = lines.iter().copied().collect();
        let mut second: Vec<usize> = (0..count).filter(|line| !is_first.contains(line)).collect();
        sort(&mut lines);
        sort(&mut second);
        lines.reverse();
        lines.extend(second);
        let line = lines.iter().map(|at| self.line[*at]).collect();
        let pairs = lines.iter().map(|at| self.pairs[*at]).collect();
        let kind = match self.kind {
            MapReduceKind::Documents(documents) => {
                MapReduceKind::Documents(lines.iter().map(|at| documents[*at]).collect())
            }
            other => other,
        };
        TextPairs { bytes: self.bytes, line, pairs, kind }
    }
}

/// Returns the hash that the kernels use. It is never all ones.
fn hash(text: &str) -> u32 {
    let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    text.bytes().fold(2_166_136_261, mix) & 0x7fff_ffff
}

/// Returns the address of a web page. Pages with small numbers are more frequent.
fn page(random: &mut Random, pages: usize) -> String {
    let number = random.below(pages as u32).min(random.below(pages as u32));
    let site = ["www.example.org", "news.example.com", "wiki.example.net"][number as usize % 3];
    format!("http://{site}/page/{number}.html")
}

/// Returns a server log: pages and the addresses of their visitors.
fn log(lines: usize) -> TextPairs {
    let (mut random, mut text) = (Random::new(SEED), TextPairs::new(MapReduceKind::Log));
    for _ in 0..lines {
        let page = page(&mut random, lines / 8);
        let visitor = format!("10.{}.{}.{}", random.below(3), random.below(4), random.below(10));
        text.push(&format!("{page}\t{visitor}"), Some((hash(&page), hash(&visitor))));
    }
    text
}

/// Returns a table of pages and their views. Few pages have many views.
fn totals(lines: usize) -> TextPairs {
    let (mut random, mut text) = (Random::new(SEED ^ 1), TextPairs::new(MapReduceKind::Totals));
    for number in 0..lines as u32 {
        let page = page(&mut random, lines);
        let views = 1 + random.below(100_000) / (1 + random.below(1000));
        text.push(&format!("{page}\t{views}"), Some((views, number)));
    }
    text
}

/// Returns documents of 20 lines of hypertext. A random half of the lines has a link.
fn documents(lines: usize) -> TextPairs {
    let number = |line: usize| (line / 20) as u32;
    let mut random = Random::new(SEED ^ 2);
    let mut text = TextPairs::new(MapReduceKind::Documents((0..lines).map(number).collect()));
    for line in 0..lines {
        if random.below(2) == 0 {
            let page = page(&mut random, lines / 10);
            let pair = Some((hash(&page), number(line)));
            text.push(&format!("{LINK}{page}\">there</a>.</p>"), pair);
        } else {
            let words =
                (0..3 + random.below(6)).map(|_| ["of", "water", "and", "stone "][random.below(4) as usize]);
            text.push(&format!("<p>{}</p>", words.collect::<Vec<_>>().join(" ")), None);
        }
    }
    text
}

fn describe(text: &TextPairs, has_records: bool) -> String {
    let lines = text.line.len();
    let (of_pair, pairs) = if has_records { (20, "records") } else { (12, "hashes") };
    let bytes = text.bytes.len() + 8 * lines + of_pair * lines.next_power_of_two();
    format!("{lines} lines, {} bytes of text, pairs as {pairs}, {}", text.bytes.len(), mebibytes(bytes))
}

/// Returns the launches of a bitonic sort of `slots` slots by `kernel`, with these pointers. They create the runs of
/// two to the power of each element of `powers`.
fn sort(kernel: &'static str, slots: usize, powers: RangeInclusive<u32>, pointers: &[u64]) -> Vec<Launch> {
    let mut launches = Vec::new();
    for run in powers.map(|power| 1 << power) {
        let distances = std::iter::successors(Some(run / 2), |distance| Some(distance / 2));
        for distance in distances.take_while(|distance| *distance > 0) {
            launches.push(launch(kernel, slots / 2, pointers, &[run, distance, slots]));
        }
    }
    launches
}

fn launch(kernel: &str, threads: usize, pointers: &[u64], numbers: &[usize]) -> Launch {
    let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
    let args = pointers.chain(numbers.iter().map(|number| int(*number))).collect();
    launch_row(kernel, threads, THREADS_PER_BLOCK, args)
}

/// Returns the plan with pairs in Mars' format. It only has the last merge of the sort, for which the lines come in
/// two sorted halves. All passes together would take more than ten times as long.
fn plan_records(
    workload: &'static str,
    text: TextPairs,
    memory: &mut DeviceMemory,
) -> Result<Plan, WorkloadError> {
    let text = text.in_halves();
    let lines = text.line.len();
    let slots = lines.next_power_of_two();
    let bytes = memory.alloc(text.bytes.len() as u64, "text")?;
    memory.write(bytes, &text.bytes)?;
    let line = place_words(memory, "line", &text.line)?;
    let records = memory.alloc(16 * slots as u64, "records")?;
    let map = if let MapReduceKind::Documents(documents) = &text.kind {
        let document = place_words(memory, "document", documents)?;
        launch("map_link_record", slots, &[bytes, line, document, records], &[lines, slots])
    } else {
        launch("map_view_record", slots, &[bytes, line, records], &[lines, slots])
    };
    let counts = memory.alloc(4 * slots as u64, "counts")?;
    let mut launches = vec![map];
    launches.extend(sort("sort_records", slots, slots.ilog2()..=slots.ilog2(), &[bytes, records]));
    launches.push(launch("reduce_records", slots, &[bytes, records, counts], &[slots]));
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_u32s(counts, slots)?;
        Results { workload, buffer: "counts", got: &got }.equal(counts_of_texts(&text, slots))
    }))
}

/// Returns the number of distinct values of each key at the position of its first record among all sorted records.
/// Other positions are 0.
fn counts_of_texts(text: &TextPairs, slots: usize) -> Vec<u32> {
    let mut values = BTreeMap::<&[u8], Vec<u32>>::new();
    for (key, value) in (0..text.line.len()).filter_map(|number| text.pair(number)) {
        values.entry(key).or_default().push(value);
    }
    runs(values.into_values(), slots)
}

fn plan(workload: &'static str, text: TextPairs, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let lines = text.line.len();
    let slots = lines.next_power_of_two();
    let bytes = memory.alloc(text.bytes.len() as u64, "text")?;
    memory.write(bytes, &text.bytes)?;
    let line = place_words(memory, "line", &text.line)?;
    let pairs = memory.alloc(8 * slots as u64, "pairs")?;
    let map = match &text.kind {
        MapReduceKind::Log => launch("map_view", slots, &[bytes, line, pairs], &[lines, slots]),
        MapReduceKind::Totals => launch("map_total", slots, &[bytes, line, pairs], &[lines, slots]),
        MapReduceKind::Documents(documents) => {
            let document = place_words(memory, "document", documents)?;
            launch("map_link", slots, &[bytes, line, document, pairs], &[lines, slots])
        }
    };
    let mut launches = vec![map];
    launches.extend(sort("sort_pass", slots, 1..=slots.ilog2(), &[pairs]));
    let (buffer, results) =
        if matches!(text.kind, MapReduceKind::Totals) { ("rank", lines) } else { ("counts", slots) };
    let result = memory.alloc(4 * results as u64, buffer)?;
    launches.push(match text.kind {
        MapReduceKind::Totals => launch("reduce_rank", lines, &[pairs, result], &[lines]),
        MapReduceKind::Log | MapReduceKind::Documents(_) => {
            launch("reduce_runs", slots, &[pairs, result], &[slots])
        }
    });
    Ok(Plan::of(launches, move |memory| {
        let expected =
            if matches!(text.kind, MapReduceKind::Totals) { ranks(&text) } else { counts(&text, slots) };
        let got = memory.read_u32s(result, results)?;
        Results { workload, buffer, got: &got }.equal(expected)
    }))
}

/// Returns the number of distinct values of each key at the position of its first pair among all sorted pairs. Other
/// positions are 0.
fn counts(text: &TextPairs, slots: usize) -> Vec<u32> {
    let mut values = BTreeMap::<u32, Vec<u32>>::new();
    text.pairs.iter().flatten().for_each(|(key, value)| values.entry(*key).or_default().push(*value));
    runs(values.into_values(), slots)
}

/// Returns the number of distinct values of each run, at the start of the run.
fn runs(values: impl Iterator<Item = Vec<u32>>, slots: usize) -> Vec<u32> {
    let mut counts = Vec::new();
    for values in values {
        let end = counts.len() + values.len();
        counts.push(values.into_iter().collect::<BTreeSet<_>>().len() as u32);
        counts.resize(end, 0);
    }
    counts.resize(slots, 0);
    counts
}

/// Returns the rank of each line, ordered from most to fewest views. Among equal lines, the later one is first.
fn ranks(text: &TextPairs) -> Vec<u32> {
    let mut order: Vec<(u32, u32)> = text.pairs.iter().copied().flatten().collect();
    order.sort_unstable();
    let mut ranks = vec![0; order.len()];
    (0..).zip(order.iter().rev()).for_each(|(rank, (_, line))| ranks[*line as usize] = rank);
    ranks
}
