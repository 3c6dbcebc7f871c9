//! Stimulus of the code builder: tables of every fill and skew that reply to reads, and a consumer that stalls.
//!
//! The replies depend on the reads, so the stimulus runs a golden model.
use super::model::CodeBuilderModel;
use super::params::{CodeBuilderParams, ESCAPE_BITS, TABLE_LATENCY};
use super::rtl::{CodeBuilderIn, CodeBuilderOut};
use crate::sc::vft::{COUNT_MAX, ValueCount};
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::corners::{Corner, Corners};
use selvedge_hw::prng::Prng;
use std::collections::VecDeque;

/// Number of table entries that exist.
#[derive(Clone, Copy, Debug)]
enum TableFill {
    None,
    One,
    Few,
    Half,
    All,
}

/// Distribution of the counts.
#[derive(Clone, Copy, Debug)]
enum Skew {
    Equal,
    /// Fibonacci numbers, for which Huffman's codes would have the maximum length.
    Steep,
    /// Only the largest and the smallest count, for which many of Huffman's codes would be too long.
    Cliff,
    /// Few large counts and many small ones.
    Natural,
    Uniform,
}

/// The tables, in a repeating sequence. Small tables come first because their builds are short.
const TABLES: [(TableFill, Skew); 14] = [
    (TableFill::Few, Skew::Steep),
    (TableFill::None, Skew::Equal),
    (TableFill::One, Skew::Uniform),
    (TableFill::Few, Skew::Equal),
    (TableFill::All, Skew::Natural),
    (TableFill::Few, Skew::Uniform),
    (TableFill::Half, Skew::Steep),
    (TableFill::All, Skew::Equal),
    (TableFill::One, Skew::Equal),
    (TableFill::Few, Skew::Natural),
    (TableFill::All, Skew::Steep),
    (TableFill::Half, Skew::Cliff),
    (TableFill::None, Skew::Natural),
    (TableFill::All, Skew::Cliff),
];

fn count(prng: &mut Prng, skew: Skew, number: usize) -> u16 {
    match skew {
        Skew::Equal => 7,
        Skew::Cliff if number.is_multiple_of(3) => COUNT_MAX,
        Skew::Cliff => 1,
        Skew::Uniform => 1 + prng.below(u64::from(COUNT_MAX)) as u16,
        Skew::Natural => {
            let magnitude = prng.below(13);
            1 + (prng.below(1 << magnitude) as u16).min(COUNT_MAX - 1)
        }
        Skew::Steep => {
            let (mut last, mut this) = (0, 1);
            for _ in 0..number {
                (last, this) = (this, last + this);
                if this > COUNT_MAX {
                    return 1;
                }
            }
            this
        }
    }
}

fn table(prng: &mut Prng, entries: usize, fill: TableFill, skew: Skew) -> Vec<ValueCount> {
    let mut table = vec![ValueCount::default(); entries];
    let wanted = match fill {
        TableFill::None => 0,
        TableFill::One => 1,
        TableFill::Few => 2 + prng.below(22) as usize,
        TableFill::Half => entries / 2 - prng.below(8) as usize,
        TableFill::All => entries,
    };
    for number in 0..wanted {
        let mut place = prng.below(entries as u64) as usize;
        while table[place].count > 0 {
            place = (place + 1) % entries;
        }
        table[place] = ValueCount { value: prng.bits() as u32, count: count(prng, skew, number) };
    }
    table
}

/// Partners of the builder during one build: the table, and the consumer of the codes.
struct Partners {
    table: Vec<ValueCount>,
    escape_weight: u16,
    /// Minimum cycles from a read to its reply (`delay`), and the maximum of the random addition (`jitter`).
    delay: u64,
    jitter: u64,
    ready_percent: u64,
    /// Idle cycles before the start.
    pause: u64,
    /// Cycles of the build after which a reset comes, if one comes.
    reset_after: Option<u64>,
    /// Reads that wait for a reply, each with the earliest cycle of the reply.
    reads: VecDeque<(u64, u16)>,
}

impl Partners {
    fn new(prng: &mut Prng, entries: usize, (fill, skew): (TableFill, Skew)) -> Self {
        let delay = if prng.chance(70) { TABLE_LATENCY } else { 1 + prng.below(5) };
        let top = 1 << prng.below(ESCAPE_BITS as u64 + 1);
        Partners {
            table: table(prng, entries, fill, skew),
            escape_weight: prng.below(top) as u16,
            delay,
            jitter: if prng.chance(70) { 0 } else { 3 },
            ready_percent: [100, 100, 60, 10][prng.below(4) as usize],
            pause: if prng.chance(50) { 0 } else { prng.below(20) },
            reset_after: prng.chance(25).then(|| prng.below(3 * entries as u64)),
            reads: VecDeque::new(),
        }
    }
}

/// Returns the builder's stimulus, which never ends.
pub(super) fn code_builder(
    params: &CodeBuilderParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<CodeBuilderIn>> + use<> {
    let entries = params.entries;
    let mut model = CodeBuilderModel::new(params);
    let mut prng = Prng::new(seed);
    let mut tables = TABLES.iter().cycle();
    let mut partners = Partners::new(&mut prng, entries, TABLES[0]);
    let mut cycle = 0u64;
    let mut started = false;
    let mut building = false;
    std::iter::from_fn(move || {
        cycle += 1;
        if !started || (building && partners.reset_after == Some(0)) {
            (started, building) = (true, false);
            partners.reset_after = None;
            partners.reads.clear();
            model.reset();
            return Some(Stimulus::reset());
        }
        // In cycles without a reply, the read ports carry random values.
        let mut inputs = CodeBuilderIn {
            start_i: building && prng.chance(3),
            escape_weight_i: prng.below(1 << ESCAPE_BITS) as u16,
            read_valid_i: false,
            read_value_i: prng.bits() as u32,
            read_count_i: prng.below(u64::from(COUNT_MAX) + 1) as u16,
            code_ready_i: prng.chance(partners.ready_percent),
        };
        if building {
            partners.reset_after = partners.reset_after.map(|cycles| cycles - 1);
        } else if partners.pause > 0 {
            partners.pause -= 1;
        } else {
            (inputs.start_i, inputs.escape_weight_i) = (true, partners.escape_weight);
        }
        let due = partners.reads.front().is_some_and(|(due, _)| *due <= cycle);
        if let Some((_, index)) = due.then(|| partners.reads.pop_front()).flatten() {
            let ValueCount { value, count } = partners.table[usize::from(index)];
            (inputs.read_valid_i, inputs.read_value_i, inputs.read_count_i) = (true, value, count);
        }
        let outputs = model.step(&inputs);
        if outputs.read_o {
            let due = cycle + partners.delay + prng.below(partners.jitter + 1);
            partners.reads.push_back((due, outputs.read_index_o));
        }
        if outputs.code_valid_o && outputs.code_last_o && inputs.code_ready_i {
            building = false;
            partners = Partners::new(&mut prng, entries, *tables.next().expect("the tables come round"));
        } else {
            building |= inputs.start_i;
        }
        Some(Stimulus::step(inputs))
    })
}

/// Corner cases of builds, observed at the ports. An operation is a cycle.
pub(super) struct CodeBuilderCorners {
    params: CodeBuilderParams,
    cycles: u64,
    busy: bool,
    /// Number of codes of this build that were taken, and the position of the escape among them, from 1.
    codes: usize,
    escape_place: usize,
    /// Number of builds that ended with the given number of codes.
    escape_only: u64,
    two_codes: u64,
    some_codes: u64,
    all_codes: u64,
    escape_first: u64,
    escape_between: u64,
    escape_last: u64,
    longest_codes: u64,
    stalls: u64,
    starts_while_busy: u64,
    starts_at_once: u64,
    /// `true` if the last code of a build was taken in the previous cycle.
    just_ended: bool,
    resets_while_busy: u64,
}

impl CodeBuilderCorners {
    pub(super) fn new(params: &CodeBuilderParams) -> Self {
        CodeBuilderCorners {
            params: *params,
            cycles: 0,
            busy: false,
            codes: 0,
            escape_place: 0,
            escape_only: 0,
            two_codes: 0,
            some_codes: 0,
            all_codes: 0,
            escape_first: 0,
            escape_between: 0,
            escape_last: 0,
            longest_codes: 0,
            stalls: 0,
            starts_while_busy: 0,
            starts_at_once: 0,
            just_ended: false,
            resets_while_busy: 0,
        }
    }

    fn build_ends(&mut self) {
        match self.codes {
            1 => self.escape_only += 1,
            2 => self.two_codes += 1,
            codes if codes == self.params.entries + 1 => self.all_codes += 1,
            _ => self.some_codes += 1,
        }
        if self.codes > 2 {
            match self.escape_place {
                1 => self.escape_first += 1,
                place if place == self.codes => self.escape_last += 1,
                _ => self.escape_between += 1,
            }
        }
        self.codes = 0;
    }
}

impl Corners<CodeBuilderIn, CodeBuilderOut> for CodeBuilderCorners {
    fn reset(&mut self) {
        self.resets_while_busy += u64::from(self.busy);
        (self.busy, self.just_ended, self.codes) = (false, false, 0);
    }
    fn clock(&mut self, inputs: &CodeBuilderIn, outputs: &CodeBuilderOut) {
        self.cycles += 1;
        self.busy = outputs.busy_o;
        self.starts_while_busy += u64::from(inputs.start_i && outputs.busy_o);
        self.starts_at_once += u64::from(inputs.start_i && self.just_ended);
        self.stalls += u64::from(outputs.code_valid_o && !inputs.code_ready_i);
        self.just_ended = false;
        if outputs.code_valid_o && inputs.code_ready_i {
            self.codes += 1;
            if outputs.code_escape_o {
                self.escape_place = self.codes;
            }
            self.longest_codes += u64::from(usize::from(outputs.code_length_o) == self.params.max_code_bits);
            if outputs.code_last_o {
                self.just_ended = true;
                self.build_ends();
            }
        }
    }
    fn operations(&self) -> u64 {
        self.cycles
    }
    fn seen(&self) -> Vec<Corner> {
        [
            ("a build of an empty table", self.escape_only, 2),
            ("a build of one entry", self.two_codes, 2),
            ("a build of some entries", self.some_codes, 5),
            ("a build of a full table", self.all_codes, 3),
            ("the escape is the first code", self.escape_first, 1),
            ("the escape is between others", self.escape_between, 1),
            ("the escape is the last code", self.escape_last, 1),
            ("a code of the greatest length", self.longest_codes, 10),
            ("a code waits", self.stalls, 100),
            ("a start while busy", self.starts_while_busy, 100),
            ("a start right behind the last code", self.starts_at_once, 3),
            ("a reset while busy", self.resets_while_busy, 2),
        ]
        .map(|(name, times, demanded)| Corner { name, times, demanded })
        .to_vec()
    }
}
