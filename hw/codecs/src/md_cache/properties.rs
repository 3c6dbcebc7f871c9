//! Properties of the metadata cache under random traffic and a random DRAM. It hits and misses as a set-associative cache with
//! least-recently-used replacement, replies with the last written entry and never loses an update. It fetches each missing block
//! once, and only after its last version was written back. The RTL does the same in the same cycles.
use crate::md_cache::{MdCache, MdCacheIn, MdCacheOut, MdCacheParams, WAYS};
use proptest::prelude::*;
use selvedge_hw::lockstep::Lockstep;
use selvedge_hw::{Clocked, Prng};
use std::collections::HashMap;

/// A read, or an update with its new entry.
#[derive(Clone, Copy, Debug)]
struct CheckedAccess {
    line: u32,
    update: Option<u8>,
}

fn params() -> impl Strategy<Value = MdCacheParams> {
    (prop::sample::select(vec![4u32, 8, 16]), prop::sample::select(vec![2u32, 4]))
        .prop_map(|(kilobytes, entry_bits)| MdCacheParams { kilobytes, entry_bits })
}

/// Returns lines of few blocks in few sets, so that sets overflow, and random lines.
fn accesses() -> impl Strategy<Value = Vec<CheckedAccess>> {
    let crowded =
        (0u32..3, 0u32..7, 0u32..64).prop_map(|(set, tag, offset)| (set + tag * 128) * 128 + offset);
    let line = prop_oneof![8 => crowded, 1 => any::<u32>()];
    let access = (line, prop::option::of(0u8..4)).prop_map(|(line, update)| CheckedAccess { line, update });
    prop::collection::vec(access, 1..300)
}

/// A cache of blocks with true least-recently-used replacement. Each set lists its blocks, the most recent last.
struct LruCache {
    sets: Vec<Vec<(u32, bool)>>,
}

impl LruCache {
    fn new(params: &MdCacheParams) -> Self {
        LruCache { sets: vec![Vec::new(); params.sets() as usize] }
    }

    /// Returns whether the access hits, and the dirty block that it evicts.
    fn access(&mut self, block: u32, update: bool) -> (bool, Option<u32>) {
        let count = self.sets.len() as u32;
        let set = &mut self.sets[(block % count) as usize];
        let found = set.iter().position(|(held, _)| *held == block);
        let (held, evicted) = match found {
            Some(at) => (set.remove(at), None),
            None if set.len() == WAYS => ((block, false), Some(set.remove(0))),
            None => ((block, false), None),
        };
        set.push((block, held.1 || update));
        (found.is_some(), evicted.filter(|(_, dirty)| *dirty).map(|(block, _)| block))
    }
}

/// DRAM with the metadata of all lines. A block that was never written holds random words seeded with its number.
struct MetadataDram {
    blocks: HashMap<u32, [u64; 4]>,
    /// Requested block, and cycles until it arrives.
    pending: Option<(u32, u64)>,
    fetched: Vec<u32>,
    written: Vec<u32>,
}

fn untouched(block: u32) -> [u64; 4] {
    let mut prng = Prng::new(u64::from(block));
    std::array::from_fn(|_| prng.bits())
}

/// A cache with its DRAM and a source of random delays.
struct CacheAndDram {
    cache: Lockstep<MdCache>,
    dram: MetadataDram,
    delays: Prng,
}

impl CacheAndDram {
    fn new(params: &MdCacheParams, seed: u64) -> Self {
        let dram =
            MetadataDram { blocks: HashMap::new(), pending: None, fetched: Vec::new(), written: Vec::new() };
        CacheAndDram { cache: Lockstep::new(params), dram, delays: Prng::new(seed) }
    }

    /// Steps one cycle with this request, if any.
    fn step(&mut self, request: Option<CheckedAccess>) -> MdCacheOut {
        let fill = match &mut self.dram.pending {
            Some((block, 0)) => Some(*block),
            Some((_, cycles)) => {
                *cycles -= 1;
                None
            }
            None => None,
        };
        let data = fill.map(|block| *self.dram.blocks.entry(block).or_insert_with(|| untouched(block)));
        let inputs = MdCacheIn {
            valid_i: request.is_some(),
            update_i: request.is_some_and(|access| access.update.is_some()),
            line_i: request.map_or(0, |access| access.line),
            entry_i: request.and_then(|access| access.update).unwrap_or_default(),
            refill_ready_i: self.delays.chance(60),
            fill_valid_i: fill.is_some(),
            fill_data_i: data.unwrap_or_default(),
            writeback_ready_i: self.delays.chance(30),
        };
        let outputs = self.cache.step(&inputs);
        if fill.is_some() {
            self.dram.pending = None;
        }
        // A write that is accepted in the same cycle as a fetch comes first.
        if outputs.writeback_valid_o && inputs.writeback_ready_i {
            self.dram.blocks.insert(outputs.writeback_block_o, outputs.writeback_data_o);
            self.dram.written.push(outputs.writeback_block_o);
        }
        if outputs.refill_valid_o && inputs.refill_ready_i {
            assert!(self.dram.pending.is_none(), "one fetch at a time");
            self.dram.pending = Some((outputs.refill_block_o, self.delays.below(12)));
            self.dram.fetched.push(outputs.refill_block_o);
        }
        outputs
    }

    /// Steps one access from its request to its reply.
    fn access(&mut self, access: CheckedAccess) -> MdCacheOut {
        while !self.step(Some(access)).ready_o {}
        for _ in 0..500 {
            let outputs = self.step(None);
            if outputs.valid_o {
                return outputs;
            }
        }
        panic!("no answer to {access:?}");
    }
}

/// Returns the entry of a line in DRAM's initial contents.
fn initial_entry(params: &MdCacheParams, line: u32) -> u8 {
    let place = (line % params.lines_per_block()) * params.entry_bits;
    let word = untouched(line >> params.offset_bits())[(place / 64) as usize];
    (word >> (place % 64)) as u8 & ((1 << params.entry_bits) - 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn it_is_a_cache_with_lru_replacement_that_never_loses_an_update(
        params in params(),
        accesses in accesses(),
        seed in any::<u64>(),
    ) {
        let mut system = CacheAndDram::new(&params, seed);
        let mut reference = LruCache::new(&params);
        let mut entries: HashMap<u32, u8> = HashMap::new();
        let (mut fetched, mut written) = (Vec::new(), Vec::new());
        for access in accesses {
            let answer = system.access(access);
            let block = access.line >> params.offset_bits();
            let (hit, evicted) = reference.access(block, access.update.is_some());
            prop_assert_eq!(answer.hit_o, hit, "{:?}", access);
            fetched.extend((!hit).then_some(block));
            written.extend(evicted);
            if let Some(entry) = access.update {
                entries.insert(access.line, entry);
            }
            let expected =
                *entries.entry(access.line).or_insert_with(|| initial_entry(&params, access.line));
            prop_assert_eq!(answer.entry_o, expected, "{:?}", access);
        }
        for _ in 0..500 {
            system.step(None);
        }
        prop_assert_eq!(&system.dram.fetched, &fetched, "each miss costs one access, a hit none");
        prop_assert_eq!(&system.dram.written, &written, "dirty blocks are written back in the order of their eviction");
    }

    #[test]
    fn hits_are_taken_every_second_cycle_and_answered_three_cycles_later(lines in prop::collection::vec(0u32..64, 2..40)) {
        let mut system = CacheAndDram::new(&MdCacheParams::default(), 1);
        system.access(CheckedAccess { line: 0, update: None });
        let mut taken = Vec::new();
        let mut answered = Vec::new();
        let mut next = lines.iter();
        let mut request = next.next();
        for cycle in 0..2 * lines.len() + 4 {
            let outputs = system.step(request.map(|line| CheckedAccess { line: *line, update: None }));
            if outputs.ready_o && request.is_some() {
                taken.push(cycle);
                request = next.next();
            }
            if outputs.valid_o {
                prop_assert!(outputs.hit_o);
                answered.push(cycle);
            }
        }
        let expected: Vec<usize> = (0..lines.len()).map(|i| 2 * i).collect();
        prop_assert_eq!(&taken, &expected);
        prop_assert_eq!(answered, expected.iter().map(|cycle| cycle + 3).collect::<Vec<_>>());
    }

    #[test]
    fn reset_invalidates_everything(accesses in accesses(), cut in 0usize..20) {
        let params = MdCacheParams::default();
        let mut system = CacheAndDram::new(&params, 7);
        for access in &accesses {
            system.access(*access);
        }
        // Resets in the middle of an access, too.
        for _ in 0..cut {
            system.step(Some(accesses[0]));
        }
        system.cache.reset();
        system.dram.pending = None;
        let mut reference = LruCache::new(&params);
        for access in &accesses {
            let block = access.line >> params.offset_bits();
            let expected = reference.access(block, access.update.is_some()).0;
            prop_assert_eq!(system.access(*access).hit_o, expected);
        }
    }

    #[test]
    fn model_and_rtl_agree_on_random_ports(params in params(), seed in any::<u64>()) {
        let mut cache = Lockstep::<MdCache>::new(&params);
        let mut prng = Prng::new(seed);
        for _ in 0..1500 {
            if prng.below(300) == 0 {
                cache.reset();
                continue;
            }
            let inputs = MdCacheIn {
                valid_i: prng.chance(80),
                update_i: prng.chance(40),
                line_i: (prng.below(7) << 14 | prng.below(3) << 7 | prng.below(4)) as u32,
                entry_i: prng.below(1 << params.entry_bits) as u8,
                refill_ready_i: prng.chance(50),
                fill_valid_i: prng.chance(50),
                fill_data_i: std::array::from_fn(|_| prng.bits()),
                writeback_ready_i: prng.chance(20),
            };
            cache.step(&inputs);
        }
    }
}
