//! The metadata cache at a memory controller. The metadata say how many bursts each line takes in DRAM (CABA, section 5.3.2).
//!
//! The block `md_cache` decides hits, fetches, write-backs and the bursts of a line. It is clocked only for accesses, and its
//! DRAM port answers at once. The memory partition models the time of a fetch: requests wait there for their metadata, while
//! later requests continue.
use rustc_hash::{FxHashMap, FxHashSet};
use selvedge_gpu::mechanism::probe::Probes;
use selvedge_hw::wave::Trace;
use selvedge_hw::{Instance, StepError};
use selvedge_hw_codecs::md_cache::{MdCache, MdCacheIn, MdCacheOut, MdCacheParams};
use selvedge_state::State;

/// Bytes of a metadata block.
const BLOCK_BYTES: u64 = 32;

/// The 32 bytes of a metadata block.
type Contents = [u64; 4];

/// Location of a slice's metadata in its channel. The blocks of the channel's slices are interleaved.
#[derive(Clone, Copy, Debug, State)]
pub struct MetadataRegion {
    /// Bytes of a DRAM burst. A fetch moves one burst, which may hold several metadata blocks.
    pub burst_bytes: u32,
    /// Number of slices of the channel.
    pub slices: u32,
    /// Index of this slice among the slices of the channel.
    pub slice: u32,
}

impl MetadataRegion {
    /// Returns the address of the burst that contains block `number` of the slice.
    fn address(self, number: u32) -> u64 {
        let block = u64::from(number) * u64::from(self.slices) + u64::from(self.slice);
        let burst = u64::from(self.burst_bytes);
        block * BLOCK_BYTES / burst * burst
    }
}

/// The metadata cache of one slice of the L2, and the metadata in its DRAM.
#[derive(State)]
pub struct MetadataCache {
    block: Instance<MdCache>,
    region: MetadataRegion,
    /// Blocks that were written back; all other blocks are zero.
    memory: FxHashMap<u32, Contents>,
    /// Numbers of the lines that were written. The entries of all other lines are those that the data had before the run.
    written: FxHashSet<u32>,
    /// Numbers of the blocks in flight from DRAM.
    coming: Vec<u32>,
    /// Number of look-ups.
    pub accesses: u64,
    /// Look-ups that hit a block that is not in flight.
    pub hits: u64,
}

/// The result of a look-up. Addresses are burst addresses within the metadata region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MdAccess {
    /// The line's bursts; 0 if the line was never written.
    pub bursts: u32,
    /// Address of the burst to wait for before the line's bursts are known.
    pub fetch: Option<u64>,
    /// `true` if that burst is in flight already, so that waiting for it costs no DRAM access.
    pub in_flight: bool,
    /// Address of the dirty block to write back.
    pub write_back: Option<u64>,
}

impl MetadataCache {
    /// Returns an empty cache of `kilobytes` KB for slice `id` of the L2.
    pub fn new(id: u32, kilobytes: u32, region: MetadataRegion, probes: &Probes) -> Self {
        let params = MdCacheParams { kilobytes, ..MdCacheParams::default() };
        MetadataCache {
            block: probes.instance(format!("l2.p{id}.md_cache"), &params),
            region,
            memory: FxHashMap::default(),
            written: FxHashSet::default(),
            coming: Vec::new(),
            accesses: 0,
            hits: 0,
        }
    }

    /// Sets the cycle of the next access to `now`.
    pub fn advance_to(&mut self, now: u64) {
        self.block.advance_to(now);
    }

    /// Looks up the bursts of the partition's line number `line`, and replaces them by `update` if given. The entry of a line is
    /// one less. A block that is still in flight must be waited for again, which costs no further DRAM access.
    ///
    /// # Errors
    /// The first difference between the block's engines.
    pub fn access(&mut self, line: u64, update: Option<u32>) -> Result<MdAccess, Box<StepError>> {
        // The block has 32-bit line numbers. Higher bits, which local memory and further programs have, are folded in.
        let line = (line ^ line >> u32::BITS) as u32;
        let number = line / self.block.params().lines_per_block();
        let request = MdCacheIn {
            valid_i: true,
            update_i: update.is_some(),
            line_i: line,
            entry_i: update.unwrap_or(1) as u8 - 1,
            ..MdCacheIn::default()
        };
        self.clock(request)?;
        if update.is_some() {
            self.written.insert(line);
        }
        let mut written = None;
        let mut fill = None;
        let reply = loop {
            let fetched = fill.take();
            let inputs = MdCacheIn {
                fill_valid_i: fetched.is_some(),
                fill_data_i: fetched.unwrap_or_default(),
                ..MdCacheIn::default()
            };
            let outputs = self.clock(inputs)?;
            if outputs.writeback_valid_o {
                self.memory.insert(outputs.writeback_block_o, outputs.writeback_data_o);
                written = Some(outputs.writeback_block_o);
            }
            if outputs.refill_valid_o {
                fill = Some(self.memory.get(&outputs.refill_block_o).copied().unwrap_or_default());
            }
            if outputs.valid_o {
                break outputs;
            }
        };
        let region = self.region;
        let address = |number: u32| region.address(number);
        let in_flight = self.coming.iter().any(|coming| address(*coming) == address(number));
        // A block may be evicted while it is in flight, and requested again.
        if !reply.hit_o && !in_flight {
            self.coming.push(number);
        }
        self.accesses += 1;
        self.hits += u64::from(reply.hit_o && !in_flight);
        Ok(MdAccess {
            bursts: if self.written.contains(&line) { u32::from(reply.entry_o) + 1 } else { 0 },
            fetch: (!reply.hit_o || in_flight).then_some(address(number)),
            in_flight,
            write_back: written.map(address),
        })
    }

    /// Clocks the block once, with a DRAM that accepts every request.
    fn clock(&mut self, inputs: MdCacheIn) -> Result<MdCacheOut, Box<StepError>> {
        self.block.step(&MdCacheIn { refill_ready_i: true, writeback_ready_i: true, ..inputs })
    }

    /// Records that the burst at `address` has arrived.
    pub fn arrived(&mut self, address: u64) {
        let region = self.region;
        self.coming.retain(|number| region.address(*number) != address);
    }

    /// Returns the recorded ports of the block, if it is probed.
    pub fn trace(&self) -> Option<Trace> {
        self.block.trace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use selvedge_gpu::mechanism::probe::ProbeSpec;
    use selvedge_hw::Engine;

    /// Lines that share a metadata block.
    const LINES: u64 = 128;

    fn cache() -> MetadataCache {
        cache_in(MetadataRegion { burst_bytes: 32, slices: 1, slice: 0 })
    }

    fn cache_in(region: MetadataRegion) -> MetadataCache {
        MetadataCache::new(0, 8, region, &Probes::new(ProbeSpec::default(), Engine::Lockstep))
    }

    impl MetadataCache {
        fn read(&mut self, line: u64) -> MdAccess {
            self.access(line, None).expect("the engines agree")
        }
    }

    #[test]
    fn neighbours_share_a_block() {
        let mut md = cache();
        assert_eq!(md.read(0).fetch, Some(0));
        let again = md.read(1);
        assert_eq!((again.fetch, again.in_flight), (Some(0), true));
        md.arrived(0);
        for line in 1..LINES {
            assert_eq!(md.read(line), MdAccess::default());
        }
        assert_eq!(md.read(LINES).fetch, Some(32));
        assert_eq!((md.accesses, md.hits), (130, 127));
    }

    #[test]
    fn a_dirty_block_is_written_back_when_its_set_overflows_and_comes_again_as_it_was() {
        let mut md = cache();
        let same_set = |i: u64| i * 64 * LINES; // 64 sets
        assert_eq!(md.access(same_set(0) + 5, Some(3)).expect("the engines agree").bursts, 3);
        for i in 1..4 {
            assert_eq!(md.read(same_set(i)).write_back, None);
        }
        assert_eq!(md.read(same_set(4)).write_back, Some(0));
        assert_eq!(md.read(same_set(5)).write_back, None);
        assert_eq!((md.read(same_set(0) + 5).bursts, md.read(same_set(0) + 4).bursts), (3, 0));
    }

    #[test]
    fn a_block_that_is_replaced_in_flight_is_fetched_once() {
        let mut md = cache();
        let same_set = |i: u64| i * 64 * LINES;
        (0..5).for_each(|i| assert!(!md.read(same_set(i)).in_flight));
        let again = md.read(same_set(0));
        assert_eq!((again.fetch, again.in_flight), (Some(0), true));
    }

    #[test]
    fn a_burst_of_64_bytes_brings_two_blocks() {
        let mut md = cache_in(MetadataRegion { burst_bytes: 64, slices: 1, slice: 0 });
        assert_eq!(md.read(0).fetch, Some(0));
        let other = md.read(LINES);
        assert_eq!((other.fetch, other.in_flight), (Some(0), true));
        md.arrived(0);
        assert_eq!(md.read(LINES), MdAccess::default());
        assert_eq!(md.read(2 * LINES).fetch, Some(64));
    }

    #[test]
    fn blocks_of_the_slices_of_a_channel_take_turns() {
        let address = |burst_bytes, slice| MetadataRegion { burst_bytes, slices: 2, slice }.address(3);
        assert_eq!([address(32, 0), address(32, 1)], [192, 224]);
        assert_eq!([address(64, 0), address(64, 1)], [192, 192]);
    }

    #[test]
    fn a_number_above_32_bits_is_folded() {
        let mut md = cache();
        assert_eq!(md.read(1 << 32).fetch, md.read(1).fetch);
    }
}
