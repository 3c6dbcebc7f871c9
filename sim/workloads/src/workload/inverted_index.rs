//! `inverted_index`: which files link to each page, mapped to records and sorted, in the form of Mars' program of this name.
use std::collections::BTreeMap;

use super::check::Results;
use super::helpers::mebibytes;
use super::mars::{Grouped, MarsProgram, MarsRecords, bytes};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x3a47;
const FILES: usize = 3;
/// Least number of bytes of a record, which ends with a line.
const PIECE: usize = 1024;
/// Bytes of a key: address of the file, offset and hash of the link.
const LINK: usize = 16;
/// Number of different pages with links to them.
const PAGES: u32 = 50;
/// Text before a link.
const BEFORE: &str = "<p>See also <a href=\"";

pub(super) const INVERTED_INDEX: Planned = Planned {
    name: "inverted_index",
    summary: "which files link to each page: map, bitonic sort",
    papers: "LAMAR (IIX)",
    group: Group::MapReduce,
    ptx: ("inverted_index.ptx", include_str!("../../kernels/inverted_index.ptx")),
    description: |size| {
        let files = files(size);
        let text: usize = files.iter().map(|file| file.text.len()).sum();
        let links: usize = files.iter().map(|file| file.links.len()).sum();
        format!("{text} bytes of text, {links} links, {}", mebibytes(text + 120 * links))
    },
    plan,
};

/// Returns the bytes of each file; `paper` has as many in all as Mars' input.
fn length(size: Size) -> usize {
    match size {
        Size::Tiny => 2 << 10,
        Size::Small => 48 << 10,
        Size::Study => 64 << 10,
        Size::Paper => (28 << 20) / FILES,
    }
}

/// A file of hypertext, and its links.
struct File {
    text: Vec<u8>,
    /// Offset of each link, and its text.
    links: Vec<(usize, String)>,
}

/// Returns files in which every tenth line in the mean has a link. The last line has one.
fn files(size: Size) -> [File; FILES] {
    let mut random = Random::new(SEED);
    let length = length(size);
    [(); FILES].map(|()| {
        let mut file = File { text: Vec::new(), links: Vec::new() };
        loop {
            let is_last = file.text.len() >= length;
            if is_last || random.below(10) == 0 {
                let page = page(&mut random);
                file.text.extend_from_slice(BEFORE.as_bytes());
                file.links.push((file.text.len(), page.clone()));
                file.text.extend_from_slice(format!("{page}\">there</a>.</p>\n").as_bytes());
            } else {
                let words = (0..3 + random.below(6))
                    .map(|_| ["of", "water", "and", "stone "][random.below(4) as usize]);
                let line = format!("<p>{}</p>\n", words.collect::<Vec<_>>().join(" "));
                file.text.extend_from_slice(line.as_bytes());
            }
            if is_last {
                return file;
            }
        }
    })
}

/// Returns the address of a web page. Pages with small numbers are more frequent.
fn page(random: &mut Random) -> String {
    let number = random.below(PAGES).min(random.below(PAGES));
    let site = ["www.example.org", "news.example.com", "wiki.example.net"][number as usize % 3];
    format!("http://{site}/page/{number}.html")
}

/// Returns the hash of a link.
fn hash(text: &str) -> i32 {
    let mix = |hash: i32, byte: u8| (hash << 4) ^ (hash >> 28) ^ i32::from(byte);
    text.bytes().fold(text.len() as i32, mix)
}

/// Returns the ends of the pieces of a file.
fn pieces(text: &[u8]) -> Vec<(usize, usize)> {
    let (mut out, mut from) = (Vec::new(), 0);
    while from < text.len() {
        let line = text.iter().skip(from + PIECE).position(|byte| *byte == b'\n');
        let to = line.map_or(text.len(), |line| from + PIECE + line + 1);
        out.push((from, to));
        from = to;
    }
    out
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let files = files(size);
    let mut records = MarsRecords::default();
    let mut addresses = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let address = memory.alloc(file.text.len() as u64, "file")?;
        memory.write(address, &file.text)?;
        addresses.push(address);
        for (from, to) in pieces(&file.text) {
            let key = [address.to_le_bytes(), [0; 8]].concat();
            records.push(&key, &bytes(&[from, to - from, number]));
        }
    }
    let links = files.iter().map(|file| file.links.len()).sum();
    let mut program = MarsProgram { memory, launches: Vec::new() };
    let records = program.upload(&records)?;
    let emitted = program.map(records, links, LINK, 4)?;
    let Grouped { sorted, begins, .. } = program.group(emitted, LINK, 4)?;
    Ok(Plan::of(program.launches, move |memory| {
        let workload = INVERTED_INDEX.name;
        let pages = by_page(&files, &addresses);
        let starts: Vec<usize> = pages.values().scan(0, |at, links| Some(next(at, links.len()))).collect();
        let got = memory.read_u32s(begins, starts.len())?;
        Results { workload, buffer: "groups", got: &got }.equal(starts.iter().map(|at| *at as u32))?;
        let keys = memory.read_u32s(sorted.keys, LINK / 4 * links)?;
        let values = memory.read_u32s(sorted.values, links)?;
        // Links to the same page may have any order.
        let mut got: Vec<[u32; 5]> = keys
            .chunks_exact(LINK / 4)
            .zip(&values)
            .map(|(key, file)| [key[0], key[1], key[2], key[3], *file])
            .collect();
        for (from, to) in starts.iter().zip(starts[1..].iter().chain(&[links])) {
            got[*from..*to].sort_unstable();
        }
        let expected = pages.into_values().flat_map(|mut links| {
            links.sort_unstable();
            links.into_iter().flatten()
        });
        Results { workload, buffer: "sorted keys", got: got.as_flattened() }.equal(expected)
    }))
}

/// Returns `at`, and adds `count` to it.
fn next(at: &mut usize, count: usize) -> usize {
    *at += count;
    *at - count
}

/// Returns the key and the file of each link, in the order of the pages' hashes and texts.
fn by_page<'a>(files: &'a [File], addresses: &[u64]) -> BTreeMap<(i32, &'a str), Vec<[u32; 5]>> {
    let mut pages = BTreeMap::<_, Vec<_>>::new();
    for (number, (file, address)) in files.iter().zip(addresses).enumerate() {
        for (offset, link) in &file.links {
            let hash = hash(link);
            let entry = [*address as u32, (address >> 32) as u32, *offset as u32, hash as u32, number as u32];
            pages.entry((hash, link.as_str())).or_default().push(entry);
        }
    }
    pages
}
