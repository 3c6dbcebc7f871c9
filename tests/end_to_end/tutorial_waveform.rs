//! The cycles and values that docs/tutorials/gtkwave.md states are those of the waveforms that its commands record.
use crate::guide::{blocks, shell};
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::Path;
use wellen::simple::{Waveform, read};

const PAGE: &str = "docs/tutorials/gtkwave.md";
const DECOMPRESSOR: &str = "selvedge.sm0.decompressor";
const COMPRESSOR: &str = "selvedge.l2.p1.compressor";

/// A waveform that a command of the page has recorded.
struct Recording {
    waveform: Waveform,
    signals: BTreeMap<String, wellen::SignalRef>,
}

impl Recording {
    fn open(file: &Path) -> Self {
        let mut waveform = read(file).expect("the waveform can be read");
        let hierarchy = waveform.hierarchy();
        let signals: BTreeMap<String, wellen::SignalRef> = hierarchy
            .all_vars()
            .map(|var| (hierarchy[var].full_name(hierarchy), hierarchy[var].signal_ref()))
            .collect();
        waveform.load_signals(&signals.values().copied().collect::<Vec<_>>());
        Recording { waveform, signals }
    }

    /// Returns the changes of a signal as picoseconds and bits, highest bit first.
    fn changes(&self, signal: &str) -> Vec<(u64, String)> {
        let signal = self.waveform.get_signal(self.signals[signal]).expect("the signal was loaded");
        let times = self.waveform.time_table();
        signal.iter_changes().map(|(index, value)| (times[index as usize], value.to_string())).collect()
    }

    /// Returns the cycles of a clock with their times.
    fn cycles(&self, clock: &str) -> Vec<(u64, u64)> {
        let number = |bits: String| u64::from_str_radix(&bits, 2).expect("a number");
        self.changes(clock).into_iter().map(|(time, bits)| (number(bits), time)).collect()
    }

    fn time(&self, clock: &str, cycle: u64) -> Option<u64> {
        self.cycles(clock).into_iter().find(|(number, _)| *number == cycle).map(|(_, time)| time)
    }

    /// Returns the bits of a signal at a time.
    fn at(&self, signal: &str, time: u64) -> String {
        let changes = self.changes(signal);
        changes[changes.partition_point(|(from, _)| *from <= time) - 1].1.clone()
    }

    /// Returns the first cycle in which all these bits of an instance are high.
    fn first(&self, clock: &str, scope: &str, signals: [&str; 2]) -> Option<u64> {
        let is_high = |time| signals.iter().all(|name| self.at(&format!("{scope}.{name}"), time) == "1");
        self.cycles(clock).into_iter().find(|(_, time)| is_high(*time)).map(|(cycle, _)| cycle)
    }
}

/// The recordings of the page's commands.
struct Recordings {
    /// `bfs.vcd`, with its names of encodings and the time of the marker.
    alone: Recording,
    names: BTreeMap<String, u64>,
    marker: u64,
    /// `both.fst`.
    both: Recording,
}

impl Recordings {
    fn of(page: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let texts = blocks(page).into_iter().filter(|block| block.kind == "sh").map(|block| block.text);
        for line in texts.collect::<String>().lines().filter(|line| line.contains(" --vcd ")) {
            let output = shell(folder.path(), line);
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let text = |name: &str| fs::read_to_string(folder.path().join(name)).expect("the command writes it");
        let names = text("bfs.bdi_encoding.names");
        let names = names.lines().filter_map(|line| line.split_once(' '));
        let names = names.filter_map(|(value, name)| Some((name.to_string(), value.parse().ok()?)));
        let save = text("bfs.gtkw");
        let marker = save.lines().find_map(|line| line.strip_prefix('*')?.split(' ').nth(1)?.parse().ok());
        Recordings {
            alone: Recording::open(&folder.path().join("bfs.vcd")),
            names: names.collect(),
            marker: marker.expect("a marker"),
            both: Recording::open(&folder.path().join("both.fst")),
        }
    }
}

/// The statements of a page that were compared.
#[derive(Default)]
struct Compared {
    /// Places of the stated numbers in the page.
    numbers: Vec<Range<usize>>,
    faults: Vec<String>,
}

impl Compared {
    fn claim(&mut self, place: Range<usize>, stated: &str, actual: &str) {
        if stated != actual {
            self.faults
                .push(format!("byte {}: the page states {stated}, the recording {actual}", place.start));
        }
        self.numbers.push(place);
    }
}

/// Returns the place of the digits, and of a point between them, that a text has at `at`.
fn digits(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = text.get(at..)?.as_bytes();
    let is_part = |index: usize| {
        rest.get(index).is_some_and(u8::is_ascii_digit)
            || rest.get(index) == Some(&b'.') && rest.get(index + 1).is_some_and(u8::is_ascii_digit)
    };
    let length = (0..).take_while(|index| is_part(*index)).count();
    (length > 0 && rest[0] != b'.').then(|| at..at + length)
}

/// Returns the place of the text in backquotes that begins at `at`.
fn quoted(text: &str, at: usize) -> Option<Range<usize>> {
    let inner = text.get(at..)?.strip_prefix('`')?;
    Some(at + 1..at + 1 + inner.find('`')?)
}

/// Compares the statements of a page with the recordings.
fn compare(page: &str, recordings: &Recordings) -> Compared {
    let mut compared = Compared::default();
    let Recordings { alone, both, .. } = recordings;
    let cycles = alone.cycles("selvedge.cycle");
    let period = cycles.windows(2).map(|pair| pair[1].1 - pair[0].1).min().expect("two cycles");
    let last = cycles.last().expect("a cycle").0;
    let taken = both.first("selvedge.l2_cycle", COMPRESSOR, ["valid_i", "ready_o"]).expect("a line");
    let left = both.first("selvedge.l2_cycle", COMPRESSOR, ["valid_o", "ready_i"]).expect("a line");
    for (phrase, actual) in [
        ("here at cycle ", last),
        ("transaction, near ", recordings.marker.div_ceil(1000)),
        ("lasts ", period),
        ("takes a line in `l2_cycle` ", taken),
        ("leaves in `l2_cycle` ", left),
    ] {
        let place = page.find(phrase).and_then(|at| digits(page, at + phrase.len()));
        match place {
            Some(place) => compared.claim(place.clone(), &page[place], &actual.to_string()),
            None => compared.faults.push(format!("no number after `{phrase}`")),
        }
    }
    let mut at = 0;
    let (mut cycle, mut columns, mut is_code) = (None, Vec::new(), false);
    for line in page.split_inclusive('\n') {
        is_code ^= line.starts_with("```");
        if line.trim().is_empty() {
            (cycle, columns) = (None, Vec::new());
        }
        if is_code {
        } else if line.starts_with("| `[") {
            compare_words(page, at..at + line.len(), &columns, recordings, &mut compared);
        } else {
            compare_line(page, at..at + line.len(), (&mut cycle, &mut columns), recordings, &mut compared);
        }
        at += line.len();
    }
    compared
}

/// A signal in a cycle, which a column of a table shows.
type Column = (String, u64);

/// Compares `signal is value`, in the last cycle that the paragraph or the row names.
fn compare_line(
    page: &str,
    line: Range<usize>,
    (cycle, columns): (&mut Option<u64>, &mut Vec<Column>),
    recordings: &Recordings,
    compared: &mut Compared,
) {
    let value = |signal: &str, cycle: u64| {
        let signal = format!("{DECOMPRESSOR}.{signal}");
        let time = recordings.alone.time("selvedge.cycle", cycle)?;
        recordings.alone.signals.contains_key(&signal).then(|| recordings.alone.at(&signal, time))
    };
    let mut at = line.start;
    while at < line.end {
        let rest = &page[at..line.end];
        let step = rest.chars().next().map_or(1, char::len_utf8);
        if let Some(place) = digits(page, at + 2).filter(|_| at == line.start && rest.starts_with("| ")) {
            *cycle = page[place.clone()].parse().ok();
            compared.numbers.push(place.clone());
            at = place.end;
        } else if let Some(place) = digits(page, at + 6).filter(|_| rest.starts_with("cycle ")) {
            *cycle = page[place.clone()].parse().ok();
            at = place.end;
            if let Some(time) = page[at..].strip_prefix(", at ").and_then(|_| digits(page, at + 5)) {
                let actual = cycle.and_then(|cycle| recordings.alone.time("selvedge.cycle", cycle));
                let actual = actual.map_or("no time".into(), |time| format!("{:.1}", time as f64 / 1000.0));
                compared.numbers.push(place);
                compared.claim(time.clone(), &page[time.clone()], &actual);
                at = time.end;
            } else if let Some(signal) = page[..place.start].strip_suffix("` in cycle ") {
                let signal = signal.rsplit('`').next().unwrap_or_default().to_string();
                let column = (signal, cycle.unwrap_or_default());
                compared.numbers.push(place);
                if rest.contains('|') {
                    columns.push(column);
                } else if !page.contains(&format!("| `{}` in cycle {} |", column.0, column.1)) {
                    compared.faults.push(format!("no column `{}` in cycle {}", column.0, column.1));
                }
            }
        } else if let Some(signal) = quoted(page, at) {
            at = signal.end + 1;
            let Some(actual) = cycle.and_then(|cycle| value(&page[signal.clone()], cycle)) else { continue };
            if !page[at..line.end].starts_with(" is ") {
                continue;
            }
            let actual = u64::from_str_radix(&actual, 2).expect("a known value of a narrow port");
            if let Some(place) = digits(page, at + 4) {
                compared.claim(place.clone(), &page[place.clone()], &actual.to_string());
                at = place.end;
            } else if let Some(place) = quoted(page, at + 4) {
                let known = recordings.names.get(&page[place.clone()]);
                compared.claim(
                    place.clone(),
                    &known.map_or("no name".into(), u64::to_string),
                    &actual.to_string(),
                );
                at = place.end + 1;
            }
        } else if let Some(place) = digits(page, at + 17).filter(|_| rest.starts_with("All its bits are ")) {
            let line_o = cycle.and_then(|cycle| value("line_o", cycle)).unwrap_or_default();
            let all = if line_o.contains('1') { "1" } else { "0" };
            compared.claim(place.clone(), &page[place.clone()], all);
            at = place.end;
        } else {
            at += step;
        }
    }
}

/// Compares the words of wide ports in a row: `[high:low]`, and a value for each column.
fn compare_words(
    page: &str,
    line: Range<usize>,
    columns: &[Column],
    recordings: &Recordings,
    compared: &mut Compared,
) {
    let mut cells = Vec::new();
    let mut at = line.start;
    for cell in page[line.clone()].split('|') {
        cells.push(at..at + cell.len());
        at += cell.len() + 1;
    }
    let range = page[cells[1].clone()].trim().trim_matches('`').trim_matches(['[', ']']);
    let bounds: Vec<usize> = range.split(':').filter_map(|bound| bound.parse().ok()).collect();
    let [high, low] = bounds[..] else { panic!("no range: {range}") };
    let start = line.start + page[line].find('[').expect("a range") + 1;
    let bound = digits(page, start).expect("a bound");
    compared.numbers.extend([bound.clone(), digits(page, bound.end + 1).expect("a bound")]);
    for (cell, (signal, cycle)) in cells[2..].iter().zip(columns) {
        let time = recordings.alone.time("selvedge.cycle", *cycle);
        let bits =
            time.map_or(String::new(), |time| recordings.alone.at(&format!("{DECOMPRESSOR}.{signal}"), time));
        let word =
            (bits.len() > high && high == low + 31).then(|| &bits[bits.len() - 1 - high..bits.len() - low]);
        let word = word.map(|word| u32::from_str_radix(word, 2).expect("a known value"));
        let place = quoted(page, cell.start + 1).expect("a value");
        compared.claim(
            place.clone(),
            &page[place.clone()],
            &word.map_or("no word".into(), |word| format!("{word:08X}")),
        );
        let Some(list) = page[cell.clone()].find("differences ").map(|found| cell.start + found + 12) else {
            continue;
        };
        for (index, byte) in word.unwrap_or_default().to_le_bytes().iter().enumerate() {
            let place = list + 4 * index..list + 4 * index + 2;
            compared.claim(place.clone(), &page[place], &format!("{byte:02X}"));
        }
    }
}

/// Returns the page with another number at `place`: its last digit is another one.
fn changed(page: &str, place: &Range<usize>) -> String {
    let last =
        page[place.clone()].rfind(|c: char| c.is_ascii_digit()).map_or(place.end - 1, |at| place.start + at);
    let digit = if page[last..].starts_with('7') { "6" } else { "7" };
    format!("{}{digit}{}", &page[..last], &page[(last + 1).min(page.len())..])
}

#[test]
fn the_tutorial_states_what_its_commands_record() {
    let page = fs::read_to_string(PAGE).expect("the page is there");
    let recordings = Recordings::of(&page);
    let Compared { numbers, faults } = compare(&page, &recordings);
    assert!(faults.is_empty(), "{PAGE}: {faults:#?}");
    assert!(numbers.len() > 40, "only {} numbers were found", numbers.len());
    for place in &numbers {
        let damaged = changed(&page, place);
        let line = page[..place.start].lines().count();
        let found = compare(&damaged, &recordings);
        let is_found = !found.faults.is_empty() || found.numbers.len() != numbers.len();
        assert!(is_found, "line {line}: another number than {} is not found", &page[place.clone()]);
    }
}
