//! A witness of what each load gets to see: for every sector in every L1D, L2 slice and DRAM channel, and in every packet,
//! which store wrote it last.
//!
//! Values are those of functional memory when an instruction issues, so that no error of a cache could change them. The
//! witness is the check that the caches would have given them: it follows the stores through bypassing, partial writes,
//! sector misses, evictions and write-backs, and no load may get a sector
//!
//! - as it was before a launch began, if an earlier launch has stored to it,
//! - as it was before a store of its own SM that went to the L1D or past it before the load did,
//! - from a cache in which it is not.
//!
//! Stores are numbered in the order in which they leave the load/store units; 0 stands for what the host has put there.
//! Nothing in the simulated GPU depends on the witness.
use crate::cache::sectors::{MOST_LINE_BYTES, MOST_SECTORS};
use crate::cache::{LinePart, SECTOR_BYTES};
use crate::mechanism::Shared;
use rustc_hash::FxHashMap;
use selvedge_ptx::memory::program_of;
use selvedge_state::State;
use std::collections::VecDeque;

/// The stores that wrote the sectors of an aligned block of the largest line, and which of them are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
struct Row {
    known: u8,
    by: [u32; MOST_SECTORS],
}

impl Row {
    fn set(&mut self, sector: usize, store: u32) {
        self.known |= 1 << sector;
        self.by[sector] = store;
    }

    /// Numbers below do not count.
    fn raise(&mut self, sector: usize, store: u32) {
        self.set(sector, self.by[sector].max(store));
    }

    fn get(&self, sector: usize) -> Option<u32> {
        (self.known >> sector & 1 == 1).then(|| self.by[sector])
    }
}

/// A cache: an SM's L1D by its number, its read-only caches by numbers above.
pub type CacheId = u16;

/// Loads that wait for sectors, with the oldest stores that they may see.
#[derive(Clone, Copy, Debug, State)]
struct Wait {
    line: u64,
    floor: Row,
}

/// The witness, or none: then nothing is followed.
#[derive(Clone, Default, State)]
pub struct Witness(Option<Shared<Ledger>>);

/// What the witness knows. Blocks are those of the largest line.
#[derive(Default, State)]
struct Ledger {
    /// The number of the last store.
    stores: u32,
    /// By program: the last store before its launch began.
    begun: FxHashMap<u8, u32>,
    /// By block: the newest store, and the newest of those before the launch.
    newest: FxHashMap<u64, Row>,
    before: FxHashMap<u64, Row>,
    /// By L1D and block: the newest store that has left its SM.
    passed: FxHashMap<(CacheId, u64), Row>,
    /// What the arrays of the L1Ds hold. What has left the tags stays here, and is never asked for.
    l1d: FxHashMap<(CacheId, u64), Row>,
    /// What the arrays of the L2 hold.
    l2: FxHashMap<u64, Row>,
    /// Sectors in flight from the L2 to DRAM, the oldest first.
    leaving: FxHashMap<u64, VecDeque<u32>>,
    dram: FxHashMap<u64, Row>,
    /// What DRAM gave, by the token of the read.
    read: FxHashMap<u64, VecDeque<Row>>,
    /// What packets carry, by their number.
    carried: FxHashMap<u32, Row>,
    last_carried: u32,
    /// Loads that wait for a fill of their line.
    waiting: FxHashMap<(CacheId, u64), Vec<Wait>>,
    /// Loads that bypassed the L1D, by the token of their read.
    passing: FxHashMap<(CacheId, u32), Vec<Wait>>,
    /// The first thing that was wrong.
    wrong: Option<String>,
}

/// The block of a line and the places of some of its sectors in it.
fn places(line: u64, sectors: u32) -> (u64, impl Iterator<Item = usize>) {
    let (block, offset) = (line / u64::from(MOST_LINE_BYTES), line % u64::from(MOST_LINE_BYTES));
    let mask = sectors << (offset / u64::from(SECTOR_BYTES));
    debug_assert!(mask < 1 << MOST_SECTORS, "a line within a block");
    (block, (0..MOST_SECTORS).filter(move |place| mask >> place & 1 == 1))
}

/// The number of a sector in memory.
fn sector(block: u64, place: usize) -> u64 {
    block * MOST_SECTORS as u64 + place as u64
}

impl Witness {
    /// A witness of a GPU with empty caches.
    pub fn new() -> Self {
        Witness(Some(Shared::default()))
    }

    /// Returns whether there is one.
    pub fn is_there(&self) -> bool {
        self.0.is_some()
    }

    fn note<R: Default>(&self, note: impl FnOnce(&mut Ledger) -> R) -> R {
        self.0.as_ref().map_or_else(R::default, |ledger| note(&mut ledger.lock()))
    }

    /// The first thing that was wrong.
    pub fn wrong(&self) -> Option<String> {
        self.note(|ledger| ledger.wrong.clone())
    }

    /// A launch of a program begins: it sees all that was stored before.
    pub fn launch(&self, program: u8) {
        self.note(|ledger| {
            ledger.begun.insert(program, ledger.stores);
        });
    }

    /// A store or atomic is about to leave an SM: what its packet carries.
    pub fn store(&self, line: u64, sectors: u32) -> u32 {
        self.note(|ledger| {
            ledger.stores += 1;
            let mut row = Row::default();
            places(line, sectors).1.for_each(|place| row.set(place, ledger.stores));
            ledger.carry(row)
        })
    }

    /// It could not leave.
    pub fn not_stored(&self, carried: u32) {
        self.note(|ledger| {
            ledger.carried.remove(&carried);
        });
    }

    /// It has left; of sectors that the L1D holds and keeps, `kept`, the L1D knows it too.
    pub fn stored(&self, cache: CacheId, line: u64, sectors: u32, kept: u32, carried: u32) {
        self.note(|ledger| {
            let Some(row) = ledger.carried.get(&carried).copied() else { return };
            ledger.stored(cache, line, sectors, row);
            let (block, kept) = places(line, kept);
            let held = ledger.l1d.entry((cache, block)).or_default();
            kept.filter_map(|place| Some((place, row.get(place)?)))
                .for_each(|(place, by)| held.set(place, by));
        });
    }

    /// An L1D keeps a store for itself; `sectors` are whole ones of its own.
    pub fn kept(&self, cache: CacheId, line: u64, sectors: u32) {
        self.note(|ledger| {
            ledger.stores += 1;
            let (block, touched) = places(line, sectors);
            let mut row = Row::default();
            touched.for_each(|place| row.set(place, ledger.stores));
            ledger.stored(cache, line, sectors, row);
            let held = ledger.l1d.entry((cache, block)).or_default();
            places(line, sectors).1.for_each(|place| held.set(place, row.by[place]));
        });
    }

    /// Sectors leave an L1D for the L2: what their packet carries.
    pub fn written_back(&self, cache: CacheId, line: u64, sectors: u32) -> u32 {
        self.note(|ledger| {
            let (block, dirty) = places(line, sectors);
            let held = ledger.l1d.get(&(cache, block)).copied().unwrap_or_default();
            let mut row = Row::default();
            for place in dirty {
                match held.get(place) {
                    Some(by) => row.set(place, by),
                    None => ledger.report(format!(
                        "cache {cache} writes back a sector of line {line:#x} that it has not"
                    )),
                }
            }
            ledger.carry(row)
        })
    }

    /// A load finds sectors in an L1D.
    pub fn hit(&self, cache: CacheId, line: u64, sectors: u32) {
        self.note(|ledger| {
            let wait = ledger.wait(cache, line, sectors);
            let held = ledger.l1d.get(&(cache, places(line, 0).0)).copied().unwrap_or_default();
            ledger.judge(cache, &wait, held, "hits");
        });
    }

    /// A load waits for sectors that are in flight to an L1D.
    pub fn wait(&self, cache: CacheId, line: u64, sectors: u32) {
        self.note(|ledger| {
            let wait = ledger.wait(cache, line, sectors);
            ledger.waiting.entry((cache, line)).or_default().push(wait);
        });
    }

    /// A load bypasses the L1D.
    pub fn pass(&self, cache: CacheId, line: u64, sectors: u32, token: u32) {
        self.note(|ledger| {
            let wait = ledger.wait(cache, line, sectors);
            ledger.passing.entry((cache, token)).or_default().push(wait);
        });
    }

    /// Its data have come.
    pub fn passed(&self, cache: CacheId, line: u64, token: u32, carried: u32) {
        self.note(|ledger| {
            let row = ledger.carried.remove(&carried).unwrap_or_default();
            let Some(waits) = ledger.passing.get_mut(&(cache, token)) else { return };
            let Some(at) = waits.iter().position(|wait| wait.line == line) else { return };
            let wait = waits.swap_remove(at);
            if waits.is_empty() {
                ledger.passing.remove(&(cache, token));
            }
            ledger.judge(cache, &wait, row, "bypasses");
        });
    }

    /// Sectors have come to an L1D.
    pub fn filled(&self, cache: CacheId, line: u64, sectors: u32, carried: u32) {
        self.note(|ledger| {
            let row = ledger.carried.remove(&carried).unwrap_or_default();
            let (block, come) = places(line, sectors);
            let mut mask = 0;
            let held = ledger.l1d.entry((cache, block)).or_default();
            for place in come {
                mask |= 1 << place;
                held.set(place, row.by[place]);
            }
            let mut waits = ledger.waiting.remove(&(cache, line)).unwrap_or_default();
            for wait in &mut waits {
                let floor = Row { known: wait.floor.known & mask, ..wait.floor };
                ledger.judge(cache, &Wait { floor, ..*wait }, row, "waited for");
                wait.floor.known &= !mask;
            }
            waits.retain(|wait| wait.floor.known != 0);
            if !waits.is_empty() {
                ledger.waiting.insert((cache, line), waits);
            }
        });
    }

    /// A write has come to the L2.
    pub fn l2_written(&self, line: u64, sectors: u32, carried: u32) {
        self.note(|ledger| {
            let row = ledger.carried.remove(&carried).unwrap_or_default();
            let (block, written) = places(line, sectors);
            let held = ledger.l2.entry(block).or_default();
            written.for_each(|place| held.raise(place, row.by[place]));
        });
    }

    /// The L2 answers a read: what the answer carries.
    pub fn l2_read(&self, line: u64, sectors: u32) -> u32 {
        self.note(|ledger| {
            let (block, read) = places(line, sectors);
            let held = ledger.l2.get(&block).copied().unwrap_or_default();
            let mut row = Row::default();
            for place in read {
                match held.get(place) {
                    Some(by) => row.set(place, by),
                    None => ledger.report(format!(
                        "the L2 answers with sector {place} of the block of line {line:#x}, which it has not"
                    )),
                }
            }
            ledger.carry(row)
        })
    }

    /// Some sectors of a packet go on in a packet of their own: what that one carries.
    pub fn part(&self, line: u64, sectors: u32, carried: u32) -> u32 {
        self.note(|ledger| {
            let Some(whole) = ledger.carried.get(&carried).copied() else { return 0 };
            let mut row = Row::default();
            for place in places(line, sectors).1 {
                whole.get(place).into_iter().for_each(|by| row.set(place, by));
            }
            ledger.carry(row)
        })
    }

    /// Packets become one: what that one carries.
    pub fn joined(&self, one: u32, other: u32) -> u32 {
        self.note(|ledger| {
            let rows = [one, other].map(|carried| ledger.carried.remove(&carried));
            if rows.iter().all(Option::is_none) {
                return 0;
            }
            let mut all = Row::default();
            for row in rows.into_iter().flatten() {
                (0..MOST_SECTORS)
                    .for_each(|place| row.get(place).into_iter().for_each(|by| all.set(place, by)));
            }
            ledger.carry(all)
        })
    }

    /// Sectors leave the L2 for DRAM.
    pub fn l2_leaves(&self, part: LinePart) {
        self.note(|ledger| {
            let (block, leaving) = places(part.line, part.sectors);
            let held = ledger.l2.get(&block).copied().unwrap_or_default();
            for place in leaving {
                ledger.leaving.entry(sector(block, place)).or_default().push_back(held.by[place]);
            }
        });
    }

    /// A line leaves the tags of the L2, or gets none: sectors that do not leave for DRAM are there, or in flight.
    pub fn l2_forgets(&self, part: LinePart) {
        self.note(|ledger| {
            let (block, forgotten) = places(part.line, part.sectors);
            let Some(held) = ledger.l2.get(&block).copied() else { return };
            let mut left = held;
            for place in forgotten {
                let Some(by) = held.get(place) else { continue };
                let on_its_way = ledger.leaving.get(&sector(block, place)).and_then(|all| all.iter().max());
                let in_dram = ledger.dram.get(&block).map_or(0, |row| row.by[place]);
                if by > in_dram.max(on_its_way.copied().unwrap_or(0)) {
                    ledger.report(format!(
                        "line {:#x} leaves the L2 without store {by}, which DRAM has not",
                        part.line
                    ));
                }
                left.known &= !(1 << place);
                left.by[place] = 0;
            }
            ledger.l2.insert(block, left);
        });
    }

    /// DRAM serves a write.
    pub fn dram_written(&self, part: LinePart) {
        self.note(|ledger| {
            let (block, written) = places(part.line, part.sectors);
            for place in written {
                let leaving = ledger.leaving.get_mut(&sector(block, place));
                if let Some(by) = leaving.and_then(VecDeque::pop_front) {
                    ledger.dram.entry(block).or_default().raise(place, by);
                }
            }
        });
    }

    /// DRAM serves a read.
    pub fn dram_read(&self, part: LinePart) {
        self.note(|ledger| {
            let row = ledger.dram.get(&places(part.line, 0).0).copied().unwrap_or_default();
            ledger.read.entry(part.token()).or_default().push_back(row);
        });
    }

    /// Sectors have come from DRAM to the L2.
    pub fn l2_filled(&self, part: LinePart) {
        self.note(|ledger| {
            let row = ledger.read.get_mut(&part.token()).and_then(VecDeque::pop_front).unwrap_or_default();
            let (block, come) = places(part.line, part.sectors);
            let held = ledger.l2.entry(block).or_default();
            come.for_each(|place| held.raise(place, row.by[place]));
        });
    }
}

impl Ledger {
    fn carry(&mut self, row: Row) -> u32 {
        self.last_carried = self.last_carried.wrapping_add(1).max(1);
        self.carried.insert(self.last_carried, row);
        self.last_carried
    }

    fn report(&mut self, wrong: String) {
        self.wrong.get_or_insert(wrong);
    }

    /// A store has left its SM.
    fn stored(&mut self, cache: CacheId, line: u64, sectors: u32, row: Row) {
        let begun = self.begun.get(&program_of(line)).copied().unwrap_or(0);
        let (block, touched) = places(line, sectors);
        let newest = self.newest.entry(block).or_default();
        let passed = self.passed.entry((cache, block)).or_default();
        for place in touched {
            if newest.by[place] <= begun {
                self.before.entry(block).or_default().set(place, newest.by[place]);
            }
            newest.raise(place, row.by[place]);
            passed.raise(place, row.by[place]);
        }
    }

    /// A load of sectors, with the oldest stores that it may see.
    fn wait(&self, cache: CacheId, line: u64, sectors: u32) -> Wait {
        let begun = self.begun.get(&program_of(line)).copied().unwrap_or(0);
        let (block, wanted) = places(line, sectors);
        let row = |rows: Option<&Row>| rows.copied().unwrap_or_default();
        let newest = row(self.newest.get(&block));
        let before = row(self.before.get(&block));
        let passed = row(self.passed.get(&(cache, block)));
        let mut floor = Row::default();
        for place in wanted {
            let launch = if newest.by[place] <= begun { newest.by[place] } else { before.by[place] };
            floor.set(place, launch.max(passed.by[place]));
        }
        Wait { line, floor }
    }

    /// Returns whether a load sees what it must.
    fn judge(&mut self, cache: CacheId, wait: &Wait, row: Row, how: &str) {
        for place in 0..MOST_SECTORS {
            let Some(floor) = wait.floor.get(place) else { continue };
            let line = wait.line;
            match row.get(place) {
                None => self.report(format!("a load of cache {cache} {how} sector {place} of the block of line {line:#x}, which is not there")),
                Some(by) if by < floor => self.report(format!(
                    "a load of cache {cache} {how} sector {place} of the block of line {line:#x} as store {by} has left it, after store {floor}"
                )),
                Some(_) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: u64 = 0x1080;
    const ALL: LinePart = LinePart { line: LINE, sectors: 0xf };

    /// A witness of an L2 that has read a line from DRAM.
    fn line_in_l2() -> Witness {
        let witness = Witness::new();
        witness.launch(0);
        witness.dram_read(ALL);
        witness.l2_filled(ALL);
        witness
    }

    /// A store that leaves cache 0 and comes to the L2.
    fn store(witness: &Witness, sectors: u32) {
        let carried = witness.store(LINE, sectors);
        witness.stored(0, LINE, sectors, 0, carried);
        witness.l2_written(LINE, sectors, carried);
    }

    fn message(witness: &Witness) -> String {
        witness.wrong().unwrap_or_default()
    }

    #[test]
    fn a_hit_on_a_sector_as_it_was_before_a_store_of_the_same_sm_is_told() {
        let witness = line_in_l2();
        let reply = witness.l2_read(LINE, 0xf);
        store(&witness, 0b0010);
        witness.filled(0, LINE, 0xf, reply);
        witness.hit(0, LINE, 0b1101);
        assert_eq!(witness.wrong(), None, "other sectors");
        witness.hit(0, LINE, 0b0010);
        assert!(message(&witness).contains("cache 0 hits") && message(&witness).contains("after store 1"));
    }

    #[test]
    fn another_sm_may_see_what_was_there_before_until_the_next_launch() {
        let witness = line_in_l2();
        let reply = witness.l2_read(LINE, 0xf);
        store(&witness, 0b0010);
        witness.filled(1, LINE, 0xf, reply);
        witness.hit(1, LINE, 0xf);
        assert_eq!(witness.wrong(), None);
        witness.launch(0);
        witness.hit(1, LINE, 0xf);
        assert!(message(&witness).contains("cache 1 hits"));
    }

    #[test]
    fn a_load_that_waits_is_judged_by_the_stores_before_it() {
        let witness = line_in_l2();
        let reply = witness.l2_read(LINE, 0xf);
        witness.wait(0, LINE, 0b0010);
        store(&witness, 0b0010);
        witness.wait(0, LINE, 0b0100);
        witness.filled(0, LINE, 0xf, reply);
        assert_eq!(witness.wrong(), None);
        let reply = witness.l2_read(LINE, 0xf);
        store(&witness, 0b0001);
        witness.wait(0, LINE, 0b0001);
        witness.filled(0, LINE, 0xf, reply);
        assert!(message(&witness).contains("waited for"));
    }

    #[test]
    fn a_load_that_passes_by_sees_the_stores_before_it() {
        let witness = line_in_l2();
        store(&witness, 0b0001);
        witness.pass(0, LINE, 0xf, 7);
        witness.passed(0, LINE, 7, witness.l2_read(LINE, 0xf));
        assert_eq!(witness.wrong(), None);
        let early = witness.l2_read(LINE, 0xf);
        store(&witness, 0b0001);
        witness.pass(0, LINE, 0xf, 7);
        witness.passed(0, LINE, 7, early);
        assert!(message(&witness).contains("bypasses"));
    }

    #[test]
    fn a_written_line_comes_back_from_dram_as_it_left() {
        let witness = line_in_l2();
        store(&witness, 0b0011);
        let dirty = LinePart { sectors: 0b0011, ..ALL };
        witness.l2_leaves(dirty);
        witness.l2_forgets(ALL);
        witness.dram_written(dirty);
        witness.dram_read(ALL);
        witness.l2_filled(ALL);
        witness.wait(0, LINE, 0xf);
        witness.filled(0, LINE, 0xf, witness.l2_read(LINE, 0xf));
        assert_eq!(witness.wrong(), None);
    }

    #[test]
    fn a_read_that_overtakes_the_write_of_its_line_is_told() {
        let witness = line_in_l2();
        store(&witness, 0b0011);
        witness.l2_leaves(ALL);
        witness.l2_forgets(ALL);
        witness.dram_read(ALL);
        witness.dram_written(ALL);
        witness.l2_filled(ALL);
        witness.wait(0, LINE, 0xf);
        witness.filled(0, LINE, 0xf, witness.l2_read(LINE, 0xf));
        assert!(message(&witness).contains("after store 1"));
    }

    #[test]
    fn a_written_line_that_is_dropped_is_told() {
        let witness = line_in_l2();
        store(&witness, 0b0011);
        witness.l2_leaves(LinePart { sectors: 0b0001, ..ALL });
        witness.l2_forgets(ALL);
        assert!(message(&witness).contains("without store 1"));
    }

    #[test]
    fn sectors_that_are_not_there_are_told() {
        let witness = line_in_l2();
        witness.l2_forgets(LinePart { sectors: 0b1000, ..ALL });
        witness.l2_read(LINE, 0b0111);
        assert_eq!(witness.wrong(), None);
        witness.l2_read(LINE, 0b1000);
        assert!(message(&witness).contains("which it has not"));
        let witness = line_in_l2();
        witness.filled(0, LINE, 0b0011, witness.l2_read(LINE, 0b0011));
        witness.hit(0, LINE, 0b0100);
        assert!(message(&witness).contains("which is not there"));
    }

    #[test]
    fn what_an_l1d_keeps_leaves_with_the_store_that_wrote_it() {
        let witness = line_in_l2();
        witness.filled(0, LINE, 0xf, witness.l2_read(LINE, 0xf));
        witness.kept(0, LINE, 0b0100);
        witness.hit(0, LINE, 0xf);
        let carried = witness.written_back(0, LINE, 0b0100);
        witness.launch(0);
        witness.l2_written(LINE, 0b0100, carried);
        witness.wait(1, LINE, 0xf);
        witness.filled(1, LINE, 0xf, witness.l2_read(LINE, 0xf));
        assert_eq!(witness.wrong(), None);
    }
}
