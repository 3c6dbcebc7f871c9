//! The look-up table of an SM, in the shared memory that no CTA uses. It has entries of 16 bytes. An access reads or writes a
//! whole entry.
use crate::instruction::TABLE_WORDS;
use selvedge_gpu::mechanism::Shared;
use selvedge_gpu::sm::part::Word;
use selvedge_state::State;

/// Bytes of an entry.
pub const ENTRY_BYTES: u32 = 4 * TABLE_WORDS as u32;

/// Min entries of a table: two for each lane of a warp. A smaller table is not used.
pub(super) const LEAST_ENTRIES: u32 = 64;

/// Lanes whose entries the banks of shared memory serve in one cycle: eight entries of 16 bytes use all 32 banks.
const TOGETHER: usize = 8;

/// An entry: tag, inputs, results. An empty entry has the tag 0.
pub type MemoEntry = [u32; TABLE_WORDS];

/// The table, shared by the SM's assist warps.
pub type SharedTable = Shared<LookUpTable>;

/// A look-up table.
#[derive(Clone, Debug, Default, State)]
pub struct LookUpTable {
    entries: Vec<MemoEntry>,
}

impl LookUpTable {
    /// Makes the table empty, with the given number of entries, a power of two or 0.
    pub fn clear(&mut self, entries: u32) {
        self.entries.clear();
        self.entries.resize(entries as usize, MemoEntry::default());
    }

    /// Returns the number of entries.
    pub fn size(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Returns the bits by which a hash is shifted right to give the number of an entry.
    pub fn shift(&self) -> u32 {
        32 - self.size().max(1).trailing_zeros()
    }

    /// Returns an entry. Numbers beyond the table's size wrap around.
    pub fn get(&self, number: u32) -> MemoEntry {
        let at = number.checked_rem(self.size()).unwrap_or(0);
        self.entries.get(at as usize).copied().unwrap_or_default()
    }

    /// Replaces an entry. Numbers beyond the table's size wrap around.
    pub fn put(&mut self, number: u32, entry: MemoEntry) {
        let at = number.checked_rem(self.size()).unwrap_or(0);
        if let Some(own) = self.entries.get_mut(at as usize) {
            *own = entry;
        }
    }
}

/// Returns the cycles for which the banks are used when each lane accesses an entry. Eight lanes take one cycle if their
/// entries are in different groups of four banks, or equal.
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

/// Returns the entries of a table in `left` free bytes of shared memory: a power of two of at most `most`, or 0 below
/// [`LEAST_ENTRIES`].
pub(crate) fn entries_in(left: u32, most: u32) -> u32 {
    let entries = (left / ENTRY_BYTES).min(most);
    if entries < LEAST_ENTRIES { 0 } else { 1 << entries.ilog2() }
}

/// Returns whether two words are equal in the lanes of `mask`.
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
        let mut table = LookUpTable::default();
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
