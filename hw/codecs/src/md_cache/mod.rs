//! Metadata cache: holds the number of DRAM bursts of each compressed line, at a memory controller.
//!
//! Source: CABA, section 5.3.2: 8 KB, 4 ways. The metadata of all lines are in a reserved region of DRAM. A hit needs no DRAM
//! access; a miss costs one more DRAM access.
//!
//! ```text
//! line_i = | tag | set | line in the block |
//!
//! request --> [tags, order, valid and dirty bits of the set] --> way --> [data: one block] --> entry --> reply
//!                                   |                             ^ |
//!                                miss: least recently used way    | +-- dirty block --> [write-back buffer] --> DRAM
//!                                   +------> refill request --> DRAM --> fill
//! ```
//!
//! A request reads or updates a line's entry. An update that misses fetches the block first, because it needs the other entries
//! of the block. Replacement is least recently used, with empty ways first.
//!
//! Choices where the paper is silent:
//! - A block is one DRAM burst of 32 bytes, the minimum that a miss can fetch.
//! - An entry has 2 bits by default, the number of bursts minus one, and a block covers 128 lines, 16 KB of data. The paper's
//!   8 MB of metadata for 4 GB of memory give 2 bits per line of 128 bytes. With `entry_bits` = 4 an entry also holds the
//!   encoding. The cache does not interpret entries.
//! - The cache handles one request at a time. While it fetches a block it takes no other request, so no request can hit a block
//!   that is in flight. Hits are taken every second cycle, about as fast as DRAM can begin lines.
//! - A miss moves its dirty victim into a write-back buffer of one block and requests its own block at once. It waits only
//!   while an earlier block is still in the buffer. So DRAM has taken the last version of a block before the cache requests
//!   that block again.
//! - Reset invalidates all blocks, without a write-back.
//! - A line number has 32 bits; in a smaller memory the upper bits are zero.
//!
//! # Parameters
//! | name | default | allowed | meaning |
//! |---|---|---|---|
//! | `kilobytes` | 8 | 4, 8, 16 | size of the data in KB, in 4 ways |
//! | `entry_bits` | 2 | 2, 4 | bits of a line's entry |
//!
//! # Ports and timing
//! All outputs come from registers, except `ready_o` and `refill_valid_o`, which follow from registers through at most one
//! gate. A reply is valid for one cycle, in which the requester must take it. Requests to DRAM are valid/ready. `fill_valid_i`
//! replies to the last refill request, at least one cycle after it was taken; at other times it is ignored.
//!
//! ```text
//! clk_i           __/--\__/--\__/--\__/--\__/--\__/--\__      a hit, then a miss
//! valid_i         __/-----\_____/-----\_________________
//! line_i          ==< A  >======< B  >==================
//! ready_o         --------\_____/-----\_________________      low until the fetch has ended
//! valid_o         ____________________/-----\___________      A, three cycles after its request
//! hit_o, entry_o  ====================< A   >===========
//! refill_valid_o  ________________________________/-----      B, three cycles after its request
//! ```
//!
//! # Storage
//! The paper counts 8 KB: the data, 65,536 bits. This block holds 72,054 by default. A tag has 19 bits (4,864 in all). A set
//! has order (6), valid bits (4), dirty bits (4) and 1 flag that is high if the set was used since reset (960 in all). The rest
//! are registers: the outputs of the three memories (76, 14, 256), the request (35), the state of the access (27), the reply
//! (4) and the write-back buffer (282).

mod entry;
mod lookup;
mod model;
mod params;
#[cfg(test)]
mod properties;
mod rtl;
mod stimulus;

pub use model::MdCacheModel;
pub use params::{MdCacheParams, WAYS};
pub use rtl::{MdCacheIn, MdCacheOut, MdCacheTop};

use params::{BLOCK_BITS, ORDER_BITS};
use selvedge_hw::block::{Facts, HwBlock, RtlBlock, StatedStorage, StimulusIter, Storage};
use selvedge_hw::corners::Corners;
use selvedge_hw::params::{ParamError, ParamSpec};
use selvedge_hw::ports::Payload;
use selvedge_hw::value_names::ValueNames;
use selvedge_hw::wave_event::WaveEvent;

/// The metadata cache; see the [module](self).
pub struct MdCache;

impl HwBlock for MdCache {
    const NAME: &'static str = "md_cache";
    const SUMMARY: &'static str = "caches the burst count of each compressed line at the memory controller";
    const MODULE: &'static str = include_str!("mod.rs");
    const SOURCE: &'static str = "CABA, section 5.3.2";
    const PARAMS: &'static [ParamSpec] = MdCacheParams::SPECS;
    const CLAIM: Option<StatedStorage> = Some(StatedStorage { bits: 65_536, source: "CABA, section 5.3.2" });
    const PAYLOADS: &'static [Payload] = &[
        Payload { valid: "valid_o", ports: &["hit_o", "entry_o"] },
        Payload { valid: "refill_valid_o", ports: &["refill_block_o"] },
        Payload { valid: "writeback_valid_o", ports: &["writeback_block_o", "writeback_data_o"] },
    ];
    const VALUE_NAMES: &'static [ValueNames] =
        &[ValueNames { what: "md_cache_result", ports: &["hit_o"], names: &[(0, "miss"), (1, "hit")] }];
    const EVENTS: &'static [WaveEvent] = &[
        WaveEvent::item("request", &["valid_i", "ready_o"], &["line_i"]),
        WaveEvent::item("reply", &["valid_o"], &["hit_o", "entry_o"]),
        WaveEvent::item("refill", &["refill_valid_o", "refill_ready_i"], &["refill_block_o"]),
        WaveEvent::decision("eviction", &["writeback_valid_o", "writeback_ready_i"], &["writeback_block_o"]),
    ];
    type Params = MdCacheParams;
    type In = MdCacheIn;
    type Out = MdCacheOut;
    type Model = MdCacheModel;

    fn model(params: &MdCacheParams) -> Result<MdCacheModel, ParamError> {
        Self::validate(params)?;
        Ok(MdCacheModel::new(params))
    }
    fn rtl(params: &MdCacheParams) -> Result<Box<dyn RtlBlock<MdCacheIn, MdCacheOut>>, ParamError> {
        Self::validate(params)?;
        Ok(rtl::md_cache(params))
    }
    fn facts(params: &MdCacheParams) -> Facts {
        let (sets, tag, entry) =
            (params.sets() as usize, params.tag_bits() as usize, params.entry_bits as usize);
        let state = ORDER_BITS + 2 * WAYS;
        Facts {
            storage: vec![
                Storage { name: "data", bits: sets * WAYS * BLOCK_BITS },
                Storage { name: "tags", bits: sets * WAYS * tag },
                Storage { name: "order, valid and dirty bits", bits: sets * state },
                Storage { name: "sets used since reset", bits: sets },
                Storage { name: "outputs of the memories", bits: BLOCK_BITS + WAYS * tag + state },
                Storage { name: "request", bits: 32 + 1 + entry },
                Storage {
                    name: "phase of the access, its way, victim's tag and dirty bit",
                    bits: 5 + 2 + tag + 1,
                },
                Storage { name: "answer and its flags", bits: entry + 2 },
                Storage { name: "write-back buffer", bits: 1 + params.block_bits() as usize + BLOCK_BITS },
            ],
            latency: 3,
            interval: 2,
        }
    }
    fn stimulus(params: &MdCacheParams, seed: u64) -> StimulusIter<MdCacheIn> {
        Box::new(stimulus::md_cache(params, seed))
    }
    fn corners(params: &MdCacheParams) -> Box<dyn Corners<MdCacheIn, MdCacheOut>> {
        Box::new(stimulus::MdCacheCorners::new(params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_is_the_sum_that_the_module_states() {
        assert_eq!(MdCache::facts(&MdCacheParams::default()).storage_bits(), 72_054);
    }

    #[test]
    fn the_default_is_8_kb_in_64_sets_of_4_ways_as_the_paper_has_it() {
        let params = MdCacheParams::default();
        assert_eq!((params.sets(), params.lines_per_block(), params.tag_bits()), (64, 128, 19));
    }

    #[test]
    fn a_size_that_is_not_elaborated_is_refused_with_what_is_allowed() {
        let params = MdCacheParams { kilobytes: 6, ..MdCacheParams::default() };
        let error = MdCache::model(&params).unwrap_err().to_string();
        assert_eq!(error, "md_cache: parameter 'kilobytes' = '6': must be 4, 8, 16");
    }
}
