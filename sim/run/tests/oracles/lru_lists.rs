//! Compares tag array, L1D and L2 with a reference model: a list of lines per set, with the most recently used line first.
use crate::machine::{Machine, Op};
use crate::streams::streams;
use proptest::prelude::*;
use selvedge_sim::cache::{Probe, TagArray};
use selvedge_sim::config::{IndexFunction, WriteAllocate, WritePolicy};

const LINE: u64 = 128;

/// A reference cache of `sets` lists with at most `ways` lines each. Each list has the most recently used line first.
pub struct Lists {
    ways: usize,
    sets: Vec<Vec<(u64, bool)>>,
    hits: u64,
    misses: u64,
    /// Number of dirty lines that were evicted.
    written_back: u64,
}

impl Lists {
    pub fn new(sets: usize, ways: usize) -> Self {
        Self { ways, sets: vec![Vec::new(); sets], hits: 0, misses: 0, written_back: 0 }
    }

    fn set(&mut self, line: u64) -> &mut Vec<(u64, bool)> {
        let count = self.sets.len() as u64;
        &mut self.sets[(line % count) as usize]
    }

    fn has(&mut self, line: u64) -> bool {
        self.set(line).iter().any(|(held, _)| *held == line)
    }

    /// Moves or inserts the line at the front of its list. `is_write` makes it dirty. Returns the evicted line.
    fn access(&mut self, line: u64, is_write: bool) -> Option<u64> {
        let ways = self.ways;
        let set = self.set(line);
        let place = set.iter().position(|(held, _)| *held == line);
        let was_dirty = place.is_some_and(|place| set.remove(place).1);
        set.insert(0, (line, was_dirty || is_write));
        let left = if set.len() > ways { set.pop() } else { None };
        match place {
            Some(_) => self.hits += 1,
            None => self.misses += 1,
        }
        self.written_back += u64::from(left.is_some_and(|(_, dirty)| dirty));
        left.map(|(line, _)| line)
    }

    fn remove(&mut self, line: u64) {
        self.set(line).retain(|(held, _)| *held != line);
    }

    /// Returns all lines in ascending order.
    fn lines(&self) -> Vec<u64> {
        let mut lines: Vec<u64> = self.sets.iter().flatten().map(|(line, _)| *line).collect();
        lines.sort_unstable();
        lines
    }
}

/// Accesses the tag array like a cache. Returns whether the access hits, and the evicted line.
pub fn access(tags: &mut TagArray<()>, line: u64) -> (bool, Option<u64>) {
    match tags.probe(line * LINE) {
        Probe::Hit(slot) => {
            tags.touch(slot);
            (true, None)
        }
        Probe::Reserved(_) => panic!("nothing is in flight"),
        Probe::Miss => {
            let victim = tags.victim(line * LINE).expect("nothing is reserved");
            tags.reserve(victim.slot, line * LINE);
            tags.fill(victim.slot);
            (false, victim.evicted.map(|(line, ())| line / LINE))
        }
    }
}

/// Returns the lines of the tag array in ascending order.
pub fn held(tags: &TagArray<()>) -> Vec<u64> {
    let mut lines: Vec<u64> = tags.lines().map(|(line, ..)| line / LINE).collect();
    lines.sort_unstable();
    lines
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_tag_array_is_a_list_for_each_set(
        sets in 1u32..40,
        ways in 1u32..17,
        stream in (1u64..300).prop_flat_map(|lines| streams(lines + 1, 300)),
    ) {
        let mut tags = TagArray::<()>::new(sets, ways, LINE as u32, IndexFunction::Bmod);
        let mut lists = Lists::new(sets as usize, ways as usize);
        for line in stream {
            let hits = lists.has(line);
            let left = lists.access(line, false);
            prop_assert_eq!(access(&mut tags, line), (hits, left), "line {}", line);
            prop_assert_eq!(held(&tags), lists.lines());
        }
    }
}

/// Reference counters of the L1D and the L2, for accesses that do not overlap.
struct Levels {
    l1d: Lists,
    l2: Lists,
    l1d_reads: (u64, u64),
    l2_reads: (u64, u64),
    l2_writes: (u64, u64),
}

impl Levels {
    fn l2(&mut self, line: u64, is_write: bool) {
        let hits = u64::from(self.l2.has(line));
        let counts = if is_write { &mut self.l2_writes } else { &mut self.l2_reads };
        *counts = (counts.0 + hits, counts.1 + 1 - hits);
        self.l2.access(line, is_write);
    }

    fn access(&mut self, (op, line): (Op, u64), write_policy: WritePolicy) {
        match op {
            Op::Load => {
                let hits = u64::from(self.l1d.has(line));
                self.l1d_reads = (self.l1d_reads.0 + hits, self.l1d_reads.1 + 1 - hits);
                self.l1d.access(line, false);
                if hits == 0 {
                    self.l2(line, false);
                }
            }
            Op::LoadPastL1d => self.l2(line, false),
            Op::Store => {
                match write_policy {
                    WritePolicy::WriteEvict => self.l1d.remove(line),
                    // A hit updates the LRU order; a miss does not allocate.
                    _ if self.l1d.has(line) => drop(self.l1d.access(line, false)),
                    _ => {}
                }
                self.l2(line, true);
            }
        }
    }
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![6 => Just(Op::Load), 1 => Just(Op::LoadPastL1d), 2 => Just(Op::Store)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Loads and stores of one thread on the whole GPU. Each ends before the next one begins.
    #[test]
    fn l1d_and_l2_count_what_lists_count(
        l1d in (0u32..4, 1u32..5),
        l2 in (0u32..4, 1u32..7),
        evicts: bool,
        accesses in streams(96, 150).prop_flat_map(|stream| {
            let ops = prop::collection::vec(ops(), stream.len());
            ops.prop_map(move |ops| ops.into_iter().zip(stream.clone()).collect::<Vec<_>>())
        }),
    ) {
        let write_policy = if evicts { WritePolicy::WriteEvict } else { WritePolicy::WriteThrough };
        let mut machine = Machine::new(|config| {
            (config.l1d.sets, config.l1d.ways, config.l1d.write_policy) = (1 << l1d.0, l1d.1, write_policy);
            (config.l2.sets, config.l2.ways) = (1 << l2.0, l2.1);
            config.l2.write_allocate = WriteAllocate::Fetch;
        });
        machine.run(&accesses);
        let mut levels = Levels {
            l1d: Lists::new(1 << l1d.0, l1d.1 as usize),
            l2: Lists::new(1 << l2.0, l2.1 as usize),
            l1d_reads: (0, 0),
            l2_reads: (0, 0),
            l2_writes: (0, 0),
        };
        accesses.iter().for_each(|access| levels.access(*access, write_policy));
        let counted = machine.counters();
        prop_assert_eq!(counted.l1d_reads, levels.l1d_reads, "loads in the L1D");
        prop_assert_eq!(counted.l2_reads, levels.l2_reads, "loads in the L2");
        prop_assert_eq!(counted.l2_writes, levels.l2_writes, "stores in the L2");
        prop_assert_eq!(counted.l2_written_back, levels.l2.written_back, "dirty lines that left the L2");
    }
}
