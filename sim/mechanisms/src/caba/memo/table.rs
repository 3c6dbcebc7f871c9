//! The look-up table of an SM, which lies in the shared memory that no CTA has: entries of 16 bytes, each of which one access
//! reads or writes as a whole.
use super::super::instruction::TABLE_WORDS;
use selvedge_gpu::mechanism::Shared;
use selvedge_gpu::sm::part::Word;
use selvedge_state::State;

/// Bytes of an entry.
pub const ENTRY_BYTES: u32 = 4 * TABLE_WORDS as u32;

/// Lanes whose entries the banks of shared memory serve together: 8 of 16 bytes are all 32 banks.
const TOGETHER: usize = 8;

/// An entry: tag, inputs, results. A tag of zero is none.
pub type Entry = [u32; TABLE_WORDS];

/// The table, as the SM's assist warps have it.
pub type SharedTable = Shared<Table>;

/// A look-up table.
#[derive(Clone, Debug, Default, State)]
pub struct Table {
    entries: Vec<Entry>,
}

impl Table {
    /// Makes it a table of the given number of entries, a power of two or none, all empty.
    pub fn clear(&mut self, entries: u32) {
        self.entries.clear();
        self.entries.resize(entries as usize, Entry::default());
    }

    /// How many entries it has.
    pub fn size(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Bits that a hash is moved down by to be the number of an entry.
    pub fn shift(&self) -> u32 {
        32 - self.size().max(1).trailing_zeros()
    }

    /// An entry; one of a number that a larger table had is another one.
    pub fn get(&self, number: u32) -> Entry {
        let at = number.checked_rem(self.size()).unwrap_or(0);
        self.entries.get(at as usize).copied().unwrap_or_default()
    }

    /// Replaces an entry.
    pub fn put(&mut self, number: u32, entry: Entry) {
        let at = number.checked_rem(self.size()).unwrap_or(0);
        if let Some(own) = self.entries.get_mut(at as usize) {
            *own = entry;
        }
    }
}

/// Cycles for which the banks are taken when each lane accesses an entry: eight lanes at a time, whose entries are all in
/// other groups of four banks or the same take one.
pub fn bank_cycles(entries: &[Option<u32>; 32]) -> u32 {
    let cycles = entries.chunks(TOGETHER).map(|lanes| {
        let mut groups: [Vec<u32>; TOGETHER] = Default::default();
        for entry in lanes.iter().flatten() {
            let group = &mut groups[*entry as usize % TOGETHER];
            if !group.contains(entry) {
                group.push(*entry);
            }
        }
        groups.iter().map(Vec::len).max().unwrap_or(0) as u32
    });
    cycles.sum()
}

/// The entries of a table when `left` bytes of shared memory belong to no CTA and at most `most` entries are wanted:
/// a power of two, and none below [`super::LEAST_ENTRIES`].
pub fn entries_in(left: u32, most: u32) -> u32 {
    let entries = (left / ENTRY_BYTES).min(most);
    if entries < super::LEAST_ENTRIES { 0 } else { 1 << entries.ilog2() }
}

/// Do two words agree in the lanes of `mask`?
pub fn agree(a: &Word, b: &Word, mask: u32) -> bool {
    (0..32).all(|lane| mask >> lane & 1 == 0 || a[lane] == b[lane])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_in_one_group_of_banks_follow_each_other() {
        let all = |entry: fn(u32) -> u32| std::array::from_fn(|lane| Some(entry(lane as u32)));
        assert_eq!(bank_cycles(&all(|lane| lane)), 4, "512 bytes, 128 at a time");
        assert_eq!(bank_cycles(&all(|_| 5)), 4, "the same entry for all is read once for each eight lanes");
        assert_eq!(bank_cycles(&all(|lane| 8 * lane)), 32, "one group of banks has them all");
        assert_eq!(bank_cycles(&[None; 32]), 0);
        let mut one = [None; 32];
        one[31] = Some(3);
        assert_eq!(bank_cycles(&one), 1);
    }

    #[test]
    fn the_table_takes_a_power_of_two_of_what_is_left() {
        assert_eq!(entries_in(48 << 10, 1024), 1024);
        assert_eq!(entries_in(12 << 10, 1024), 512, "768 entries would fit");
        assert_eq!(entries_in(1023, 1024), 0, "63 entries are not worth it");
        assert_eq!(entries_in(1024, 1024), 64);
    }

    #[test]
    fn an_entry_that_is_replaced_is_gone() {
        let mut table = Table::default();
        assert_eq!(table.get(7), [0; 4], "a table without entries finds nothing");
        table.put(7, [1; 4]);
        table.clear(64);
        assert_eq!((table.size(), table.shift()), (64, 26));
        table.put(7, [1, 2, 3, 4]);
        table.put(64 + 7, [5, 6, 7, 8]);
        assert_eq!(table.get(7), [5, 6, 7, 8], "the number of a larger table");
        table.clear(64);
        assert_eq!(table.get(7), [0; 4]);
    }
}
