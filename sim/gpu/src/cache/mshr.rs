//! Miss-status holding registers: one entry per line in flight, with a bit for each of its sectors that are in flight and
//! the requests that wait, each for sectors of its own.
//!
//! A sector that is missed while others of its line are in flight joins their entry. All storage is allocated once. Waiting requests are chained through one slab; entries are found through an
//! open-addressed table of at least four times their number, so that most searches end where they begin.

use super::sector_use::UnderWay;
use selvedge_state::State;

/// End of a chain.
const NONE: u32 = u32::MAX;

/// An entry of the table; valid until its line is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct MshrId(u32);

impl MshrId {
    /// The entry's number, less than the table's entries.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, State)]
struct Entry {
    line: u64,
    /// Sectors in flight.
    coming: u32,
    /// Those among them that were written after they had been asked for.
    stale: u32,
    /// Sectors that requests have asked for since the entry was taken.
    wanted: u32,
    first: u32,
    last: u32,
    waiting: u32,
}

#[derive(Clone, Copy, Debug, State)]
struct Node<T> {
    item: T,
    /// Sectors that it still waits for.
    needs: u32,
    next: u32,
}

/// A table of `entries` misses in flight, each with up to `merges` waiting requests of type `T`.
#[derive(Clone, Debug, State)]
pub struct MshrTable<T> {
    capacity: usize,
    merges: u32,
    entries: Vec<Entry>,
    free_entries: Vec<u32>,
    nodes: Vec<Node<T>>,
    free_nodes: u32,
    /// Entry numbers by hash of the line; `NONE` is empty. Its size is a power of two.
    table: Vec<u32>,
    waiting: usize,
}

impl<T: Copy> MshrTable<T> {
    /// An empty table for `entries` lines with up to `merges` requests each, the first one included.
    pub fn new(entries: u32, merges: u32) -> Self {
        let vacant = Entry { line: 0, coming: 0, stale: 0, wanted: 0, first: NONE, last: NONE, waiting: 0 };
        Self {
            capacity: entries as usize,
            merges,
            entries: vec![vacant; entries as usize],
            free_entries: (0..entries).rev().collect(),
            nodes: Vec::with_capacity(entries as usize * 2),
            free_nodes: NONE,
            table: vec![NONE; (entries as usize * 4).next_power_of_two()],
            waiting: 0,
        }
    }

    /// Where the search for `line` starts: its address bits mixed by an odd multiplier (golden ratio), top bits.
    fn home(&self, line: u64) -> usize {
        (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize & (self.table.len() - 1)
    }

    /// Position of `line` in the hash table, or of the empty place where it would go.
    fn place(&self, line: u64) -> usize {
        let mut at = self.home(line);
        while self.table[at] != NONE && self.entries[self.table[at] as usize].line != line {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    /// The entry of `line`, if it is in flight.
    pub fn find(&self, line: u64) -> Option<MshrId> {
        let id = self.table[self.place(line)];
        (id != NONE).then_some(MshrId(id))
    }

    /// Returns whether an entry is free.
    pub fn can_allocate(&self) -> bool {
        !self.free_entries.is_empty()
    }

    /// May one more request wait for entry `id`?
    pub fn can_merge(&self, id: MshrId) -> bool {
        self.entries[id.0 as usize].waiting < self.merges
    }

    /// Sectors of entry `id` that are in flight.
    pub fn coming(&self, id: MshrId) -> u32 {
        self.entries[id.0 as usize].coming
    }

    /// Sectors of entry `id` that come as they were before a write.
    pub fn stale(&self, id: MshrId) -> u32 {
        self.entries[id.0 as usize].stale
    }

    /// `sectors` of `line` are written; those in flight come as they were before.
    pub fn write(&mut self, line: u64, sectors: u32) {
        if let Some(id) = self.find(line) {
            let entry = &mut self.entries[id.0 as usize];
            entry.stale |= entry.coming & sectors;
        }
    }

    /// Sectors that requests have asked for since entry `id` was taken.
    pub fn wanted(&self, id: MshrId) -> u32 {
        self.entries[id.0 as usize].wanted
    }

    /// What entry `id` knows of its sectors.
    pub fn under_way(&self, id: MshrId) -> UnderWay {
        UnderWay { coming: self.coming(id), wanted: self.wanted(id) }
    }

    /// Takes an entry for `line`, of which nothing is in flight yet. The caller has made sure that
    /// [`Self::can_allocate`] and that the line is not in flight, and goes on with [`Self::expect`] and [`Self::merge`].
    pub fn allocate(&mut self, line: u64) -> MshrId {
        let place = self.place(line);
        debug_assert_eq!(self.table[place], NONE, "the line is already in flight");
        let id = self.free_entries.pop().expect("the caller asked can_allocate");
        self.table[place] = id;
        self.entries[id as usize] =
            Entry { line, coming: 0, stale: 0, wanted: 0, first: NONE, last: NONE, waiting: 0 };
        MshrId(id)
    }

    /// `sectors` of entry `id` are in flight from now on.
    pub fn expect(&mut self, id: MshrId, sectors: u32) {
        let entry = &mut self.entries[id.0 as usize];
        debug_assert_eq!(entry.coming & sectors, 0, "sectors asked for twice");
        entry.coming |= sectors;
    }

    /// Lets `item` wait until the sectors `needs` of entry `id`, which are in flight, have come. The caller has made
    /// sure that [`Self::can_merge`].
    pub fn merge(&mut self, id: MshrId, item: T, needs: u32) {
        debug_assert!(self.can_merge(id));
        debug_assert!(needs != 0 && needs & !self.coming(id) == 0, "nobody has asked for the sectors");
        let node = self.take_node(item, needs);
        let entry = &mut self.entries[id.0 as usize];
        entry.wanted |= needs;
        if entry.first == NONE {
            entry.first = node;
        } else {
            self.nodes[entry.last as usize].next = node;
        }
        entry.last = node;
        entry.waiting += 1;
        self.waiting += 1;
    }

    fn take_node(&mut self, item: T, needs: u32) -> u32 {
        let node = Node { item, needs, next: NONE };
        if self.free_nodes == NONE {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        let at = self.free_nodes;
        self.free_nodes = self.nodes[at as usize].next;
        self.nodes[at as usize] = node;
        at
    }

    /// `sectors` of `line` have come: appends the requests that wait for nothing more, in order of arrival, to
    /// `released`. Gives the entry's sectors that are still in flight; with none left the entry is free. Does nothing
    /// when the line is not in flight.
    pub fn arrive(&mut self, line: u64, sectors: u32, released: &mut Vec<T>) -> u32 {
        let place = self.place(line);
        let id = self.table[place];
        if id == NONE {
            return 0;
        }
        let mut entry = self.entries[id as usize];
        entry.coming &= !sectors;
        entry.stale &= !sectors;
        let mut at = entry.first;
        (entry.first, entry.last) = (NONE, NONE);
        while at != NONE {
            let node = &mut self.nodes[at as usize];
            let next = node.next;
            node.needs &= !sectors;
            if node.needs == 0 {
                released.push(node.item);
                node.next = self.free_nodes;
                self.free_nodes = at;
                entry.waiting -= 1;
                self.waiting -= 1;
            } else {
                node.next = NONE;
                match entry.last {
                    NONE => entry.first = at,
                    last => self.nodes[last as usize].next = at,
                }
                entry.last = at;
            }
            at = next;
        }
        self.entries[id as usize] = entry;
        if entry.coming == 0 {
            debug_assert_eq!(entry.waiting, 0, "a request waits for what nobody has asked for");
            self.free_entries.push(id);
            self.vacate(place);
        }
        entry.coming
    }

    /// Empties a place of the hash table and moves later entries of the same run up, so that searches still end.
    fn vacate(&mut self, mut hole: usize) {
        let mask = self.table.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let id = self.table[at];
            if id == NONE {
                break;
            }
            let home = self.home(self.entries[id as usize].line);
            // The entry may move when its home does not lie (cyclically) after the hole.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.table[hole] = id;
                hole = at;
            }
        }
        self.table[hole] = NONE;
    }

    /// Lines in flight.
    pub fn len(&self) -> usize {
        self.capacity - self.free_entries.len()
    }

    /// Returns whether no line is in flight.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Requests waiting, over all lines.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns the entries of lines in flight, each with its line.
    pub fn entries(&self) -> impl Iterator<Item = (u16, u64)> {
        let held = self.table.iter().filter(|id| **id != NONE);
        held.map(|id| (*id as u16, self.entries[*id as usize].line))
    }

    /// The lines in flight with the number of requests that wait for each, in ascending order: for reports.
    pub fn lines(&self) -> Vec<(u64, u32)> {
        let held = self.table.iter().filter(|id| **id != NONE).map(|id| &self.entries[*id as usize]);
        let mut lines: Vec<_> = held.map(|e| (e.line, e.waiting)).collect();
        lines.sort_unstable();
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    /// The whole of a line without sectors.
    const LINE: u32 = 1;

    fn miss<T: Copy>(mshr: &mut MshrTable<T>, line: u64, item: T) -> MshrId {
        let id = mshr.allocate(line);
        mshr.expect(id, LINE);
        mshr.merge(id, item, LINE);
        id
    }

    #[test]
    fn requests_come_back_in_order_of_arrival() {
        let mut mshr = MshrTable::new(2, 3);
        let id = miss(&mut mshr, 128, 'a');
        miss(&mut mshr, 256, 'x');
        mshr.merge(id, 'b', LINE);
        mshr.merge(id, 'c', LINE);
        let mut out = Vec::new();
        mshr.arrive(128, LINE, &mut out);
        assert_eq!(out, ['a', 'b', 'c']);
        assert_eq!(mshr.find(128), None);
        assert_eq!(mshr.lines(), [(256, 1)]);
    }

    #[test]
    fn each_request_waits_for_its_own_sectors() {
        let mut mshr = MshrTable::new(1, 4);
        let id = mshr.allocate(0);
        mshr.expect(id, 0b0011);
        mshr.merge(id, 'a', 0b0001);
        mshr.merge(id, 'b', 0b0011);
        mshr.expect(id, 0b0100);
        mshr.merge(id, 'c', 0b0101);
        let mut out = Vec::new();
        assert_eq!(mshr.arrive(0, 0b0011, &mut out), 0b0100);
        assert_eq!(out, ['a', 'b']);
        assert_eq!((mshr.coming(id), mshr.wanted(id), mshr.waiting()), (0b0100, 0b0111, 1));
        assert_eq!(mshr.arrive(0, 0b0100, &mut out), 0);
        assert_eq!(out, ['a', 'b', 'c']);
        assert!(mshr.is_empty() && mshr.can_allocate());
    }

    #[test]
    fn entries_and_merges_are_bounded() {
        let mut mshr = MshrTable::new(1, 2);
        assert!(mshr.can_allocate() && mshr.is_empty());
        let id = miss(&mut mshr, 0, 1);
        assert!(!mshr.can_allocate() && mshr.can_merge(id));
        mshr.merge(id, 2, LINE);
        assert!(!mshr.can_merge(id));
        assert_eq!((mshr.len(), mshr.waiting(), mshr.is_empty()), (1, 2, false));
    }

    #[test]
    fn entries_have_numbers_of_their_own() {
        let mut mshr = MshrTable::new(3, 1);
        let mut numbers = [0, 128, 256].map(|line| miss(&mut mshr, line, 1).index());
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2]);
    }

    #[test]
    fn storage_stops_growing() {
        let mut mshr = MshrTable::new(4, 4);
        let mut out = Vec::new();
        let mut sizes = Vec::new();
        for round in 0..100u64 {
            for line in 0..4 {
                let id = miss(&mut mshr, (round * 4 + line) * 128, 0u8);
                (1..4).for_each(|n| mshr.merge(id, n, LINE));
            }
            for line in 0..4 {
                out.clear();
                mshr.arrive((round * 4 + line) * 128, LINE, &mut out);
                assert_eq!(out, [0, 1, 2, 3]);
            }
            sizes.push(mshr.nodes.len());
        }
        assert!(sizes.iter().all(|n| *n == 16));
    }

    /// What is in flight of a line, and who waits for what.
    #[derive(Default)]
    struct Golden {
        coming: u32,
        waiting: Vec<(usize, u32)>,
    }

    proptest! {
        #[test]
        fn behaves_like_a_map_of_queues(
            steps in prop::collection::vec((0u64..24, 0u32..3, 1u32..16), 1..400)
        ) {
            let mut mshr = MshrTable::new(8, 4);
            let mut golden: BTreeMap<u64, Golden> = BTreeMap::new();
            for (n, (line, act, sectors)) in steps.into_iter().enumerate() {
                // Lines that collide in the hash table are made likely by a small table of 16 places.
                let line = line * 128;
                prop_assert_eq!(mshr.find(line).is_some(), golden.contains_key(&line));
                let id = match (mshr.find(line), act) {
                    (_, 0) => {
                        let mut out = Vec::new();
                        let left = mshr.arrive(line, sectors, &mut out);
                        let mut expected = Vec::new();
                        if let Some(entry) = golden.get_mut(&line) {
                            entry.coming &= !sectors;
                            entry.waiting.iter_mut().for_each(|(_, needs)| *needs &= !sectors);
                            expected.extend(entry.waiting.iter().filter(|w| w.1 == 0).map(|w| w.0));
                            entry.waiting.retain(|w| w.1 != 0);
                            prop_assert_eq!(left, entry.coming);
                            if left == 0 {
                                golden.remove(&line);
                            }
                        }
                        prop_assert_eq!(out, expected);
                        None
                    }
                    (None, _) if mshr.can_allocate() => {
                        golden.insert(line, Golden::default());
                        Some(mshr.allocate(line))
                    }
                    (None, _) => {
                        prop_assert_eq!(golden.len(), 8);
                        None
                    }
                    (Some(id), _) if mshr.can_merge(id) => Some(id),
                    (Some(_), _) => {
                        prop_assert_eq!(golden[&line].waiting.len(), 4);
                        None
                    }
                };
                if let Some(id) = id {
                    let entry = golden.get_mut(&line).expect("in flight");
                    mshr.expect(id, sectors & !entry.coming);
                    mshr.merge(id, n, sectors);
                    entry.coming |= sectors;
                    entry.waiting.push((n, sectors));
                    prop_assert_eq!(mshr.coming(id), entry.coming);
                }
                prop_assert_eq!(mshr.len(), golden.len());
                prop_assert_eq!(mshr.waiting(), golden.values().map(|e| e.waiting.len()).sum::<usize>());
            }
        }
    }
}
