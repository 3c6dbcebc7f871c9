//! The metadata cache at a memory controller: how many bursts each line takes in DRAM (CABA, section 5.3.2).
//!
//! 8 KB, 4 ways, blocks of one 32-byte burst. An entry is 4 bits, so a block covers 64 lines (8 KB of data). The
//! metadata lie in a reserved region of the same partition's DRAM; a miss costs one more DRAM access, and a dirty
//! block that is replaced another. The hardware block `md_cache` is the same cache but for its timing: it takes one access at
//! a time, so that no block is ever on its way when another access comes.
use crate::cache::{Probe, TagArray};
use crate::config::IndexFunction;

/// Bytes of a metadata block: one DRAM burst.
pub const BLOCK_BYTES: u32 = 32;
/// Lines whose metadata share a block.
pub const LINES_PER_BLOCK: u64 = 64;

/// Tags of the metadata cache of one partition, addressed by metadata block.
pub struct MdCache {
    tags: TagArray<bool>,
    /// Blocks that are being fetched.
    coming: Vec<u64>,
    /// Look-ups.
    pub accesses: u64,
    /// Look-ups that hit.
    pub hits: u64,
}

/// What a look-up costs in DRAM accesses, as metadata block addresses within the metadata region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MdAccess {
    /// Block to wait for before the line's bursts are known.
    pub fetch: Option<u64>,
    /// Is that block on its way already, so that waiting for it costs no access?
    pub on_its_way: bool,
    /// Dirty block to write back.
    pub write_back: Option<u64>,
}

impl MdCache {
    /// An empty cache of `kilobytes` KB and `ways` ways.
    pub fn new(kilobytes: u32, ways: u32) -> Self {
        let sets = kilobytes * 1024 / BLOCK_BYTES / ways;
        MdCache {
            tags: TagArray::new(sets, ways, BLOCK_BYTES, IndexFunction::Bmod),
            coming: Vec::new(),
            accesses: 0,
            hits: 0,
        }
    }

    /// Looks up the metadata of the partition's line number `line`; `write` changes them. A block that is still being
    /// fetched is to be waited for again, which costs no further access.
    pub fn access(&mut self, line: u64, write: bool) -> MdAccess {
        let block = line / LINES_PER_BLOCK * u64::from(BLOCK_BYTES);
        self.accesses += 1;
        let is_coming = self.coming.contains(&block);
        let mut cost = MdAccess { on_its_way: is_coming, ..MdAccess::default() };
        let slot = match self.tags.probe(block) {
            Probe::Hit(slot) => {
                cost.fetch = is_coming.then_some(block);
                self.hits += u64::from(!is_coming);
                slot
            }
            _ => {
                let victim = self.tags.victim(block).expect("no way is ever left reserved");
                cost.write_back = victim.evicted.and_then(|(old, dirty)| dirty.then_some(old));
                cost.fetch = Some(block);
                // A block may be replaced while it is still coming, and asked for again.
                if !is_coming {
                    self.coming.push(block);
                }
                self.tags.reserve(victim.slot, block);
                self.tags.fill(victim.slot);
                victim.slot
            }
        };
        self.tags.touch(slot);
        *self.tags.state_mut(slot) |= write;
        cost
    }

    /// The block has been fetched.
    pub fn arrived(&mut self, block: u64) {
        self.coming.retain(|b| *b != block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_hw::md_cache::{MdCache as Hardware, MdCacheIn, MdCacheModel, MdCacheParams};
    use selvedge_hw::{Clocked, HwBlock, Prng};

    #[test]
    fn neighbours_share_a_block() {
        let mut md = MdCache::new(8, 4);
        assert_eq!(md.access(0, false).fetch, Some(0));
        let again = md.access(1, false);
        assert_eq!((again.fetch, again.on_its_way), (Some(0), true));
        md.arrived(0);
        for line in 1..LINES_PER_BLOCK {
            assert_eq!(md.access(line, false), MdAccess::default());
        }
        assert_eq!(md.access(LINES_PER_BLOCK, false).fetch, Some(32));
        assert_eq!((md.accesses, md.hits), (66, 63));
    }

    #[test]
    fn a_dirty_block_is_written_back_when_its_set_overflows() {
        let mut md = MdCache::new(8, 4);
        let same_set = |i: u64| i * 64 * LINES_PER_BLOCK; // 64 sets
        md.access(same_set(0), true);
        for i in 1..4 {
            assert_eq!(md.access(same_set(i), false).write_back, None);
        }
        assert_eq!(md.access(same_set(4), false).write_back, Some(0));
        assert_eq!(md.access(same_set(5), false).write_back, None);
    }

    /// Takes one access through the hardware block, with a DRAM that answers at once: hit, fetched and written block.
    fn in_hardware(block: &mut MdCacheModel, line: u64, write: bool) -> (bool, Option<u64>, Option<u64>) {
        let ready = MdCacheIn { refill_ready_i: true, writeback_ready_i: true, ..MdCacheIn::default() };
        let request = MdCacheIn { valid_i: true, update_i: write, line_i: line as u32, ..ready };
        assert!(block.step(&request).ready_o, "the last access is over");
        let address = |number: u32| u64::from(number) * u64::from(BLOCK_BYTES);
        let (mut fetched, mut written) = (None, None);
        loop {
            let outputs = block.step(&MdCacheIn { fill_valid_i: fetched.is_some(), ..ready });
            fetched = fetched.or(outputs.refill_valid_o.then(|| address(outputs.refill_block_o)));
            written = written.or(outputs.writeback_valid_o.then(|| address(outputs.writeback_block_o)));
            if outputs.valid_o {
                return (outputs.hit_o, fetched, written);
            }
        }
    }

    #[test]
    fn the_hardware_block_hits_fetches_and_writes_back_alike() {
        let mut block = Hardware::model(&MdCacheParams::default()).expect("the default is valid");
        let mut md = MdCache::new(8, 4);
        let mut prng = Prng::new(1);
        let mut write_backs = 0;
        for _ in 0..30_000 {
            let crowded =
                (prng.below(6) * 64 + prng.below(20)) * LINES_PER_BLOCK + prng.below(LINES_PER_BLOCK);
            let line = if prng.chance(80) { crowded } else { prng.below(1 << 32) };
            let write = prng.chance(30);
            let (hit, fetched, written) = in_hardware(&mut block, line, write);
            let cost = md.access(line, write);
            assert_eq!(
                (hit, fetched, written),
                (cost.fetch.is_none(), cost.fetch, cost.write_back),
                "line {line}"
            );
            write_backs += u32::from(written.is_some());
            // With fetches that are over before the next access, no block is ever on its way.
            cost.fetch.into_iter().for_each(|block| md.arrived(block));
        }
        assert!(md.hits > 10_000 && md.accesses - md.hits > 5_000 && write_backs > 1_000);
    }
}
