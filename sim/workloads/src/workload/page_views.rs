//! `page_view_count` and `page_view_rank`: logs of a web server mapped to records, sorted and reduced, in the form of Mars'
//! programs of these names.
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::check::Results;
use super::helpers::mebibytes;
use super::mars::{Grouped, MarsProgram, MarsRecords, bytes, in_stages};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x3a45;
/// Bytes of a key of `page_view_count`: address of the text, offset of the line, hash.
const LINE: usize = 16;
/// Bytes of a value of its first program: size of the line, number of the program.
const PHASE: usize = 8;

pub(super) const PAGE_VIEW_COUNT: Planned = Planned {
    name: "page_view_count",
    summary: "which visitors saw each page of a log: map, bitonic sort and reduce, then map and sort",
    papers: "LAMAR and CABA (PVC)",
    group: Group::MapReduce,
    ptx: ("page_view_count.ptx", include_str!("../../kernels/page_view_count.ptx")),
    description: |size| {
        let text = Log::new(lines_to_count(size)).text.len();
        let lines = lines_to_count(size);
        format!("{lines} lines, {text} bytes of text, {}", mebibytes(text + 200 * lines))
    },
    plan: count,
};

pub(super) const PAGE_VIEW_RANK: Planned = Planned {
    name: "page_view_rank",
    summary: "pages ranked by their views: map, bitonic sort",
    papers: "CABA (PVR)",
    group: Group::MapReduce,
    ptx: ("page_view_rank.ptx", include_str!("../../kernels/page_view_rank.ptx")),
    description: |size| {
        let lines = lines_to_rank(size);
        format!("{lines} lines, {}", mebibytes(100 * lines))
    },
    plan: rank,
};

/// Returns the number of lines of `page_view_count`; `paper` is Mars' number.
fn lines_to_count(size: Size) -> usize {
    match size {
        Size::Tiny => 250,
        Size::Small => 1000,
        Size::Study => 4000,
        Size::Paper => 1_000_000,
    }
}

/// Returns the number of lines of `page_view_rank`; `paper` is Mars' number.
fn lines_to_rank(size: Size) -> usize {
    match size {
        Size::Tiny => 500,
        Size::Small => 8000,
        Size::Study => 32_000,
        Size::Paper => 1_000_000,
    }
}

/// Returns the address of one of 1,024 pages.
fn page(random: &mut Random) -> String {
    format!("http://www.example.com/{}.html", random.below(1024))
}

/// A server's log, with lines `PAGE\tVISITOR\tTIME\0`.
struct Log {
    text: Vec<u8>,
    /// Offset of each line and of the end.
    line: Vec<usize>,
}

impl Log {
    fn new(lines: usize) -> Self {
        let mut random = Random::new(SEED);
        let mut log = Log { text: Vec::new(), line: vec![0] };
        for _ in 0..lines {
            let page = page(&mut random);
            let [a, b, c, d] = [(); 4].map(|()| random.below(256));
            let line = format!("{page}\t{a}.{b}.{c}.{d}\t{}\0", random.below(1000));
            log.text.extend_from_slice(line.as_bytes());
            log.line.push(log.text.len());
        }
        log
    }

    /// Returns line `number` without its end.
    fn at(&self, number: usize) -> &[u8] {
        &self.text[self.line[number]..self.line[number + 1] - 1]
    }
}

/// Returns the page of a line.
fn page_of(line: &[u8]) -> &[u8] {
    line.split(|byte| *byte == b'\t').next().unwrap_or_default()
}

/// Returns the hash of `text` and a zero at its end.
fn hash(text: &[u8]) -> i32 {
    text.iter()
        .chain(&[0])
        .fold(text.len() as i32 + 1, |hash, byte| (hash << 4) ^ (hash >> 28) ^ i32::from(*byte))
}

fn count(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let log = Log::new(lines_to_count(size));
    let text = memory.alloc(log.text.len() as u64, "text")?;
    memory.write(text, &log.text)?;
    let mut records = MarsRecords::default();
    for ends in log.line.windows(2) {
        let key = [text.to_le_bytes().to_vec(), bytes(&[ends[0], 0])].concat();
        records.push(&key, &bytes(&[ends[1] - ends[0], 0]));
    }
    let found: Rc<Cell<Option<Grouped>>> = Rc::default();
    let (result, mut stage) = (Rc::clone(&found), 0);
    let launches = in_stages(move |memory| {
        let mut program = MarsProgram { memory, launches: Vec::new() };
        stage += 1;
        match (stage, found.get()) {
            (1, _) => {
                let records = program.upload(&records)?;
                let emitted = program.map(records, records.count, LINE, PHASE)?;
                found.set(Some(program.group(emitted, LINE, PHASE)?));
            }
            (2, Some(lines)) => {
                let different = program.reduce(&lines, LINE, PHASE)?;
                let emitted = program.map(different, different.count, LINE, 4)?;
                found.set(Some(program.group(emitted, LINE, 4)?));
            }
            _ => return Ok(None),
        }
        Ok(Some(program.launches))
    });
    Ok(Plan::following(launches, move |memory| {
        let Some(Grouped { sorted, begins, .. }) = result.get() else { return Ok(()) };
        let workload = PAGE_VIEW_COUNT.name;
        let pages = by_page(&log);
        let got = memory.read_u32s(begins, pages.len())?;
        let starts = pages.values().scan(0, |at, lines| {
            *at += lines.len();
            Some((*at - lines.len()) as u32)
        });
        Results { workload, buffer: "groups", got: &got }.equal(starts)?;
        let keys = memory.read_u32s(sorted.keys, LINE / 4 * sorted.count)?;
        let lines = lines_of(&log, pages, &keys);
        let expected = lines.iter().flat_map(|line| {
            let hash = hash(page_of(log.at(*line)));
            [text as u32, (text >> 32) as u32, log.line[*line] as u32, hash as u32]
        });
        Results { workload, buffer: "sorted keys", got: &keys }.equal(expected)?;
        let got = memory.read_u32s(sorted.values, sorted.count)?;
        let visitors = lines.iter().map(|line| (log.line[*line] + page_of(log.at(*line)).len() + 1) as u32);
        Results { workload, buffer: "sorted values", got: &got }.equal(visitors)
    }))
}

/// Different lines of each page, in the order of the pages' hashes and texts.
type Pages<'a> = BTreeMap<(i32, &'a [u8]), BTreeSet<&'a [u8]>>;

fn by_page(log: &Log) -> Pages<'_> {
    let mut pages = Pages::new();
    for line in (0..log.line.len() - 1).map(|number| log.at(number)) {
        let page = page_of(line);
        pages.entry((hash(page), page)).or_default().insert(line);
    }
    pages
}

/// Returns the line of each key. The order of a page's lines is that of `keys`, if these are such lines.
fn lines_of(log: &Log, pages: Pages<'_>, keys: &[u32]) -> Vec<usize> {
    let number_at: BTreeMap<usize, usize> =
        log.line.iter().enumerate().map(|(at, line)| (*line, at)).collect();
    let by_text: BTreeMap<&[u8], usize> = (0..log.line.len() - 1).map(|line| (log.at(line), line)).collect();
    let mut keys = keys.chunks_exact(LINE / 4);
    let mut out = Vec::new();
    for mut lines in pages.into_values() {
        while let Some(first) = lines.first().copied() {
            let got = keys.next().and_then(|key| number_at.get(&(key[2] as usize)).copied());
            let got = got.filter(|number| *number + 1 < log.line.len() && lines.remove(log.at(*number)));
            out.push(got.unwrap_or_else(|| {
                lines.remove(first);
                by_text[first]
            }));
        }
    }
    out
}

/// Returns the views of each line, and where the line begins.
fn views(lines: usize) -> Vec<(u32, u32)> {
    let mut random = Random::new(SEED ^ 1);
    let mut offset = 0;
    let line = |_| {
        let page = page(&mut random);
        let views = random.below(1 << 31);
        let begins = offset;
        offset += format!("{page}\t{views}\n").len() as u32;
        (views, begins)
    };
    (0..lines).map(line).collect()
}

fn rank(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let lines = lines_to_rank(size);
    let mut records = MarsRecords::default();
    for (views, offset) in views(lines) {
        records.push(&views.to_le_bytes(), &offset.to_le_bytes());
    }
    let mut program = MarsProgram { memory, launches: Vec::new() };
    let records = program.upload(&records)?;
    let emitted = program.map(records, records.count, 4, 4)?;
    let Grouped { sorted, begins, .. } = program.group(emitted, 4, 4)?;
    Ok(Plan::of(program.launches, move |memory| {
        let workload = PAGE_VIEW_RANK.name;
        let mut ordered = views(lines);
        ordered.sort_unstable_by(|one, other| other.cmp(one));
        let got = memory.read_u32s(sorted.keys, lines)?;
        Results { workload, buffer: "sorted keys", got: &got }
            .equal(ordered.iter().map(|(views, _)| *views))?;
        let starts: Vec<usize> =
            (0..lines).filter(|at| *at == 0 || ordered[*at].0 != ordered[*at - 1].0).collect();
        let got = memory.read_u32s(begins, starts.len())?;
        Results { workload, buffer: "groups", got: &got }.equal(starts.iter().map(|at| *at as u32))?;
        // Lines with equal views may have any order.
        let mut got = memory.read_u32s(sorted.values, lines)?;
        for (from, to) in starts.iter().zip(starts[1..].iter().chain(&[lines])) {
            got[*from..*to].sort_unstable_by(|one, other| other.cmp(one));
        }
        Results { workload, buffer: "sorted values", got: &got }
            .equal(ordered.iter().map(|(_, offset)| *offset))
    }))
}
