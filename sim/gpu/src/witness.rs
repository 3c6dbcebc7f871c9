//! A witness of the data that each load receives. Stores have numbers; the version of a sector is the number of the last store to
//! it. The witness follows the version of every sector in every L1D, L2 slice, DRAM channel and packet.
//!
//! Values come from functional memory when an instruction issues, so an error of a cache cannot change them. The witness checks
//! that the caches would have supplied the same values. It follows the stores through bypasses, partial writes, sector misses,
//! evictions and write-backs. No load may receive a sector
//!
//! - with a version from before its launch, if an earlier launch has stored to the sector,
//! - with a version older than a store of the same SM that left the load/store unit before the load,
//! - from a cache that does not hold the sector.
//!
//! The numbers follow the order in which stores leave the load/store units. Number 0 represents the data that the host wrote.
//! The witness does not influence the simulated GPU.
use crate::cache::sectors::{MOST_LINE_BYTES, MOST_SECTORS};
use crate::cache::{LinePart, SECTOR_BYTES};
use crate::mechanism::shared::Shared;
use rustc_hash::FxHashMap;
use selvedge_ptx::memory::program_of;
use selvedge_state::State;
use std::collections::VecDeque;

/// Versions of the sectors in an aligned block of the max line size. `known` marks the sectors that have a version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
struct WitnessedBlock {
    known: u8,
    by: [u32; MOST_SECTORS],
}

impl WitnessedBlock {
    fn set(&mut self, sector: usize, store: u32) {
        self.known |= 1 << sector;
        self.by[sector] = store;
    }

    /// Sets the store of a sector, unless a newer one is known.
    fn raise(&mut self, sector: usize, store: u32) {
        self.set(sector, self.by[sector].max(store));
    }

    fn get(&self, sector: usize) -> Option<u32> {
        (self.known >> sector & 1 == 1).then(|| self.by[sector])
    }
}

/// Number of a cache. L1Ds have the numbers of their SMs; read-only caches have higher numbers.
pub type CacheId = u16;

/// A load that waits for sectors, with the oldest store that it may see in each.
#[derive(Clone, Copy, Debug, State)]
struct Wait {
    line: u64,
    floor: WitnessedBlock,
}

/// The witness. Without a ledger it checks nothing.
#[derive(Clone, Default, State)]
pub struct Witness(Option<Shared<Ledger>>);

/// State of the witness. Blocks have the max line size.
#[derive(Default, State)]
struct Ledger {
    /// Number of the last store.
    stores: u32,
    /// Per program, the last store before its launch began.
    begun: FxHashMap<u8, u32>,
    /// Per block, the newest store, and the newest one before the launch.
    newest: FxHashMap<u64, WitnessedBlock>,
    before: FxHashMap<u64, WitnessedBlock>,
    /// Per L1D and block, the newest store that has left the SM.
    passed: FxHashMap<(CacheId, u64), WitnessedBlock>,
    /// Versions in the L1Ds. Evicted sectors stay in the table, but are not read any more.
    l1d: FxHashMap<(CacheId, u64), WitnessedBlock>,
    /// Versions in the L2.
    l2: FxHashMap<u64, WitnessedBlock>,
    /// Per sector, the versions in flight from the L2 to DRAM, oldest first.
    leaving: FxHashMap<u64, VecDeque<u32>>,
    dram: FxHashMap<u64, WitnessedBlock>,
    /// Versions that DRAM has read, by the token of the read.
    read: FxHashMap<u64, VecDeque<WitnessedBlock>>,
    /// Versions that packets carry, by the packets' witness number.
    carried: FxHashMap<u32, WitnessedBlock>,
    last_carried: u32,
    /// Loads that wait for a fill of their line.
    waiting: FxHashMap<(CacheId, u64), Vec<Wait>>,
    /// Loads that bypassed the L1D, by the token of their read.
    bypassing: FxHashMap<(CacheId, u32), Vec<Wait>>,
    /// The first error that was found.
    wrong: Option<String>,
}

/// Returns the block of a line, and the positions of `sectors` in the block.
fn places(line: u64, sectors: u32) -> (u64, impl Iterator<Item = usize>) {
    let (block, offset) = (line / u64::from(MOST_LINE_BYTES), line % u64::from(MOST_LINE_BYTES));
    let mask = sectors << (offset / u64::from(SECTOR_BYTES));
    debug_assert!(mask < 1 << MOST_SECTORS, "a line within a block");
    (block, (0..MOST_SECTORS).filter(move |place| mask >> place & 1 == 1))
}

/// Returns the number of a sector in memory.
fn sector(block: u64, place: usize) -> u64 {
    block * MOST_SECTORS as u64 + place as u64
}

impl Witness {
    /// Creates a witness of a GPU with empty caches.
    pub fn new() -> Self {
        Witness(Some(Shared::default()))
    }

    fn note<R: Default>(&self, note: impl FnOnce(&mut Ledger) -> R) -> R {
        self.0.as_ref().map_or_else(R::default, |ledger| note(&mut ledger.lock()))
    }

    /// Returns the first error, if any.
    pub fn wrong(&self) -> Option<String> {
        self.note(|ledger| ledger.wrong.clone())
    }

    /// Records that a launch of a program begins. It must see all earlier stores.
    pub fn launch(&self, program: u8) {
        self.note(|ledger| {
            ledger.begun.insert(program, ledger.stores);
        });
    }

    /// Records a store or atomic that is about to leave an SM. Returns the witness number of its packet.
    pub fn store(&self, line: u64, sectors: u32) -> u32 {
        self.note(|ledger| {
            ledger.stores += 1;
            let mut row = WitnessedBlock::default();
            places(line, sectors).1.for_each(|place| row.set(place, ledger.stores));
            ledger.carry(row)
        })
    }

    /// Cancels a store that could not leave its SM.
    pub fn not_stored(&self, carried: u32) {
        self.note(|ledger| {
            ledger.carried.remove(&carried);
        });
    }

    /// Records that a store has left its SM. The L1D holds and updates the sectors `kept`.
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

    /// Records a store that only an L1D keeps. `sectors` are whole sectors of the L1D.
    pub fn kept(&self, cache: CacheId, line: u64, sectors: u32) {
        self.note(|ledger| {
            ledger.stores += 1;
            let (block, touched) = places(line, sectors);
            let mut row = WitnessedBlock::default();
            touched.for_each(|place| row.set(place, ledger.stores));
            ledger.stored(cache, line, sectors, row);
            let held = ledger.l1d.entry((cache, block)).or_default();
            places(line, sectors).1.for_each(|place| held.set(place, row.by[place]));
        });
    }

    /// Records sectors that leave an L1D for the L2. Returns the witness number of their packet.
    pub fn written_back(&self, cache: CacheId, line: u64, sectors: u32) -> u32 {
        self.note(|ledger| {
            let (block, dirty) = places(line, sectors);
            let held = ledger.l1d.get(&(cache, block)).copied().unwrap_or_default();
            let mut row = WitnessedBlock::default();
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

    /// Checks a load that hits sectors in an L1D.
    pub fn hit(&self, cache: CacheId, line: u64, sectors: u32) {
        self.note(|ledger| {
            let wait = ledger.wait(cache, line, sectors);
            let held = ledger.l1d.get(&(cache, places(line, 0).0)).copied().unwrap_or_default();
            ledger.judge(cache, &wait, held, "hits");
        });
    }

    /// Records a load that waits for sectors in flight to an L1D.
    pub fn wait(&self, cache: CacheId, line: u64, sectors: u32) {
        self.note(|ledger| {
            let wait = ledger.wait(cache, line, sectors);
            ledger.waiting.entry((cache, line)).or_default().push(wait);
        });
    }

    /// Records a load that bypasses the L1D.
    pub fn bypass(&self, cache: CacheId, line: u64, sectors: u32, token: u32) {
        self.note(|ledger| {
            let wait = ledger.wait(cache, line, sectors);
            ledger.bypassing.entry((cache, token)).or_default().push(wait);
        });
    }

    /// Checks a load that bypassed the L1D when its data arrives.
    pub fn bypass_ended(&self, cache: CacheId, line: u64, token: u32, carried: u32) {
        self.note(|ledger| {
            let row = ledger.carried.remove(&carried).unwrap_or_default();
            let Some(waits) = ledger.bypassing.get_mut(&(cache, token)) else { return };
            let Some(at) = waits.iter().position(|wait| wait.line == line) else { return };
            let wait = waits.swap_remove(at);
            if waits.is_empty() {
                ledger.bypassing.remove(&(cache, token));
            }
            ledger.judge(cache, &wait, row, "bypasses");
        });
    }

    /// Records sectors that arrive in an L1D, and checks the loads that wait for them.
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
                let floor = WitnessedBlock { known: wait.floor.known & mask, ..wait.floor };
                ledger.judge(cache, &Wait { floor, ..*wait }, row, "waited for");
                wait.floor.known &= !mask;
            }
            waits.retain(|wait| wait.floor.known != 0);
            if !waits.is_empty() {
                ledger.waiting.insert((cache, line), waits);
            }
        });
    }

    /// Records a write that arrives at the L2.
    pub fn l2_written(&self, line: u64, sectors: u32, carried: u32) {
        self.note(|ledger| {
            let row = ledger.carried.remove(&carried).unwrap_or_default();
            let (block, written) = places(line, sectors);
            let held = ledger.l2.entry(block).or_default();
            written.for_each(|place| held.raise(place, row.by[place]));
        });
    }

    /// Records the L2's reply to a read. Returns the witness number of the reply.
    pub fn l2_read(&self, line: u64, sectors: u32) -> u32 {
        self.note(|ledger| {
            let (block, read) = places(line, sectors);
            let held = ledger.l2.get(&block).copied().unwrap_or_default();
            let mut row = WitnessedBlock::default();
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

    /// Splits some sectors of a packet off into a new packet. Returns the witness number of the new packet.
    pub fn part(&self, line: u64, sectors: u32, carried: u32) -> u32 {
        self.note(|ledger| {
            let Some(whole) = ledger.carried.get(&carried).copied() else { return 0 };
            let mut row = WitnessedBlock::default();
            for place in places(line, sectors).1 {
                whole.get(place).into_iter().for_each(|by| row.set(place, by));
            }
            ledger.carry(row)
        })
    }

    /// Joins two packets into one. Returns the witness number of the result.
    pub fn joined(&self, one: u32, other: u32) -> u32 {
        self.note(|ledger| {
            let rows = [one, other].map(|carried| ledger.carried.remove(&carried));
            if rows.iter().all(Option::is_none) {
                return 0;
            }
            let mut all = WitnessedBlock::default();
            for row in rows.into_iter().flatten() {
                (0..MOST_SECTORS)
                    .for_each(|place| row.get(place).into_iter().for_each(|by| all.set(place, by)));
            }
            ledger.carry(all)
        })
    }

    /// Records sectors that leave the L2 for DRAM.
    pub fn l2_leaves(&self, part: LinePart) {
        self.note(|ledger| {
            let (block, leaving) = places(part.line, part.sectors);
            let held = ledger.l2.get(&block).copied().unwrap_or_default();
            for place in leaving {
                ledger.leaving.entry(sector(block, place)).or_default().push_back(held.by[place]);
            }
        });
    }

    /// Records that the L2 no longer holds sectors of a line. Their stores must be in DRAM or in flight to it.
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

    /// Records that DRAM performs a write.
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

    /// Records that DRAM performs a read.
    pub fn dram_read(&self, part: LinePart) {
        self.note(|ledger| {
            let row = ledger.dram.get(&places(part.line, 0).0).copied().unwrap_or_default();
            ledger.read.entry(part.token()).or_default().push_back(row);
        });
    }

    /// Records that the host copied sectors to DRAM and to the L2. The L2 then has the versions of DRAM.
    pub fn l2_copied(&self, part: LinePart) {
        self.note(|ledger| {
            let (block, come) = places(part.line, part.sectors);
            let row = ledger.dram.get(&block).copied().unwrap_or_default();
            let held = ledger.l2.entry(block).or_default();
            come.for_each(|place| held.raise(place, row.by[place]));
        });
    }

    /// Records sectors that arrive in the L2 from DRAM.
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
    fn carry(&mut self, row: WitnessedBlock) -> u32 {
        self.last_carried = self.last_carried.wrapping_add(1).max(1);
        self.carried.insert(self.last_carried, row);
        self.last_carried
    }

    fn report(&mut self, wrong: String) {
        self.wrong.get_or_insert(wrong);
    }

    /// Records a store that has left its SM.
    fn stored(&mut self, cache: CacheId, line: u64, sectors: u32, row: WitnessedBlock) {
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

    /// Returns the wait of a load of sectors, with the oldest store that it may see in each.
    fn wait(&self, cache: CacheId, line: u64, sectors: u32) -> Wait {
        let begun = self.begun.get(&program_of(line)).copied().unwrap_or(0);
        let (block, wanted) = places(line, sectors);
        let row = |rows: Option<&WitnessedBlock>| rows.copied().unwrap_or_default();
        let newest = row(self.newest.get(&block));
        let before = row(self.before.get(&block));
        let passed = row(self.passed.get(&(cache, block)));
        let mut floor = WitnessedBlock::default();
        for place in wanted {
            let launch = if newest.by[place] <= begun { newest.by[place] } else { before.by[place] };
            floor.set(place, launch.max(passed.by[place]));
        }
        Wait { line, floor }
    }

    /// Reports an error if `row` lacks a sector of the load, or has a version that is too old for the load.
    fn judge(&mut self, cache: CacheId, wait: &Wait, row: WitnessedBlock, how: &str) {
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

    /// Returns a witness of an L2 that has read a line from DRAM.
    fn line_in_l2() -> Witness {
        let witness = Witness::new();
        witness.launch(0);
        witness.dram_read(ALL);
        witness.l2_filled(ALL);
        witness
    }

    /// Performs a store that leaves cache 0 and arrives at the L2.
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
        witness.bypass(0, LINE, 0xf, 7);
        witness.bypass_ended(0, LINE, 7, witness.l2_read(LINE, 0xf));
        assert_eq!(witness.wrong(), None);
        let early = witness.l2_read(LINE, 0xf);
        store(&witness, 0b0001);
        witness.bypass(0, LINE, 0xf, 7);
        witness.bypass_ended(0, LINE, 7, early);
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
    fn a_forwarded_store_is_applied_again_to_a_fetch_that_it_followed() {
        let witness = line_in_l2();
        let carried = witness.store(LINE, 0b0001);
        witness.stored(0, LINE, 0b0001, 0, carried);
        witness.dram_read(ALL);
        let forwarded = witness.part(LINE, 0b0001, carried);
        witness.l2_written(LINE, 0b0001, forwarded);
        witness.l2_leaves(LinePart { sectors: 0b0001, ..ALL });
        witness.l2_forgets(ALL);
        witness.l2_filled(ALL);
        let early = witness.l2_read(LINE, 0b0001);
        witness.l2_written(LINE, 0b0001, carried);
        witness.wait(0, LINE, 0b0001);
        witness.filled(0, LINE, 0b0001, witness.l2_read(LINE, 0b0001));
        assert_eq!(witness.wrong(), None);
        witness.wait(0, LINE, 0b0001);
        witness.filled(0, LINE, 0b0001, early);
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
