//! Miss-status holding registers (MSHRs): one entry per line in flight. An entry has a mask of the sectors in flight and a list
//! of waiting requests. Each request waits for its own sectors.
//!
//! A miss of a sector joins the entry of its line if other sectors are in flight. The storage is reused, so that it stops
//! growing after the first misses. The waiting requests are linked lists in one slab. An open-addressed hash table finds
//! the entries. The table has at least four slots per entry, so most searches end at the first slot.

use super::sector_use::SectorsInFlight;
use selvedge_state::State;

/// End of a chain.
const NONE: u32 = u32::MAX;

/// Number of an MSHR entry. It is valid until the entry is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct MshrId(u32);

impl MshrId {
    /// Returns the entry's number, less than the number of entries.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, State)]
struct MshrEntry {
    line: u64,
    /// Sectors of the line that are in flight.
    coming: u32,
    /// Sectors in flight that were written after their request was sent.
    stale: u32,
    /// Sectors that requests have asked for since the entry was allocated.
    wanted: u32,
    first: u32,
    last: u32,
    waiting: u32,
}

#[derive(Clone, Copy, Debug, State)]
struct WaitingItem<T> {
    item: T,
    /// Sectors that the request still waits for.
    needs: u32,
    next: u32,
}

/// A table of up to `entries` lines in flight, each with up to `merges` waiting requests of type `T`.
#[derive(Clone, Debug, State)]
pub struct MshrTable<T> {
    capacity: usize,
    merges: u32,
    entries: Vec<MshrEntry>,
    free_entries: Vec<u32>,
    nodes: Vec<WaitingItem<T>>,
    free_nodes: u32,
    /// Entry numbers, by the hash of the line; `NONE` marks an empty slot. The length is a power of two.
    table: Vec<u32>,
    waiting: usize,
}

impl<T: Copy> MshrTable<T> {
    /// Creates an empty table for `entries` lines. Each line can have up to `merges` waiting requests, including the first one.
    pub fn new(entries: u32, merges: u32) -> Self {
        let vacant =
            MshrEntry { line: 0, coming: 0, stale: 0, wanted: 0, first: NONE, last: NONE, waiting: 0 };
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

    /// Returns the slot at which the search for `line` starts. The multiplier is the golden ratio; the upper bits of the product
    /// mix best.
    fn home(&self, line: u64) -> usize {
        (line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) as usize & (self.table.len() - 1)
    }

    /// Returns the slot of `line` in the hash table, or the empty slot where it would be inserted.
    fn place(&self, line: u64) -> usize {
        let mut at = self.home(line);
        while self.table[at] != NONE && self.entries[self.table[at] as usize].line != line {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    /// Returns the entry of `line`, if the line is in flight.
    pub fn find(&self, line: u64) -> Option<MshrId> {
        let id = self.table[self.place(line)];
        (id != NONE).then_some(MshrId(id))
    }

    /// Returns whether an entry is free.
    pub fn can_allocate(&self) -> bool {
        !self.free_entries.is_empty()
    }

    /// Returns whether entry `id` has space for one more waiting request.
    pub fn can_merge(&self, id: MshrId) -> bool {
        self.entries[id.0 as usize].waiting < self.merges
    }

    /// Returns the sectors of entry `id` that are in flight.
    pub fn coming(&self, id: MshrId) -> u32 {
        self.entries[id.0 as usize].coming
    }

    /// Returns the sectors in flight of entry `id` that will arrive with values from before a write.
    pub fn stale(&self, id: MshrId) -> u32 {
        self.entries[id.0 as usize].stale
    }

    /// Records a write to `sectors` of `line`. The sectors in flight become stale.
    pub fn write(&mut self, line: u64, sectors: u32) {
        if let Some(id) = self.find(line) {
            let entry = &mut self.entries[id.0 as usize];
            entry.stale |= entry.coming & sectors;
        }
    }

    /// Returns the sectors that requests have asked for since entry `id` was allocated.
    pub fn wanted(&self, id: MshrId) -> u32 {
        self.entries[id.0 as usize].wanted
    }

    /// Returns the sectors in flight and the requested sectors of entry `id`.
    pub fn under_way(&self, id: MshrId) -> SectorsInFlight {
        SectorsInFlight { coming: self.coming(id), wanted: self.wanted(id) }
    }

    /// Allocates an entry for `line`, with no sector in flight. [`Self::can_allocate`] must hold and the line must not be in
    /// flight. The caller then calls [`Self::expect`] and [`Self::merge`].
    pub fn allocate(&mut self, line: u64) -> MshrId {
        let place = self.place(line);
        debug_assert_eq!(self.table[place], NONE, "the line is already in flight");
        let id = self.free_entries.pop().expect("the caller asked can_allocate");
        self.table[place] = id;
        self.entries[id as usize] =
            MshrEntry { line, coming: 0, stale: 0, wanted: 0, first: NONE, last: NONE, waiting: 0 };
        MshrId(id)
    }

    /// Marks `sectors` of entry `id` as in flight. They must not be in flight already.
    pub fn expect(&mut self, id: MshrId, sectors: u32) {
        let entry = &mut self.entries[id.0 as usize];
        debug_assert_eq!(entry.coming & sectors, 0, "sectors asked for twice");
        entry.coming |= sectors;
    }

    /// Adds `item` as a waiting request, to be released when the sectors `needs` of entry `id` have arrived. The sectors must be
    /// in flight and [`Self::can_merge`] must hold.
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
        let node = WaitingItem { item, needs, next: NONE };
        if self.free_nodes == NONE {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        let at = self.free_nodes;
        self.free_nodes = self.nodes[at as usize].next;
        self.nodes[at as usize] = node;
        at
    }

    /// Records the arrival of `sectors` of `line`. Appends the requests that wait for no further sector to `released`, in order
    /// of arrival. Returns the sectors of the entry that are still in flight. When none remains, the entry is released. Does
    /// nothing if the line is not in flight.
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

    /// Empties a slot of the hash table. Moves later entries of the same run forward, so that searches still find them.
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
            // The entry may move unless its home slot lies (cyclically) after the hole.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                self.table[hole] = id;
                hole = at;
            }
        }
        self.table[hole] = NONE;
    }

    /// Returns the number of lines in flight.
    pub fn len(&self) -> usize {
        self.capacity - self.free_entries.len()
    }

    /// Returns whether no line is in flight.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of waiting requests of all lines.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// Returns the entry number and the line of each line in flight.
    pub fn entries(&self) -> impl Iterator<Item = (u16, u64)> {
        let held = self.table.iter().filter(|id| **id != NONE);
        held.map(|id| (*id as u16, self.entries[*id as usize].line))
    }

    /// Returns the lines in flight in ascending order, each with its number of waiting requests. Reports use it.
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

    /// The mask of a line that has a single sector.
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

    /// Reference for the entry of a line: the sectors in flight, and each waiting request with the sectors it needs.
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
                // The 24 lines share a hash table of 32 slots, so that collisions are likely.
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
