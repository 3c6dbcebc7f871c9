//! Stimulus of the SPP: evictions and misses of a small cache, with phases of different load. Addresses repeat, stream or alias.
use super::params::SppParams;
use super::rtl::SppIn;
use selvedge_hw::block::Stimulus;
use selvedge_hw::prng::Prng;

/// Number of blocks that are queried and evicted repeatedly.
const WORKING_SET: usize = 96;

/// Percentages of cycles with queries and with evictions: full load, low load, mostly evictions, mostly queries.
const LOADS: [(u64, u64); 4] = [(100, 100), (40, 30), (5, 90), (90, 5)];

/// Returns the endless stimulus of the SPP.
pub(super) fn spp(params: &SppParams, seed: u64) -> impl Iterator<Item = Stimulus<SppIn>> + use<> {
    let params = *params;
    let mut prng = Prng::new(seed);
    let blocks: [u32; WORKING_SET] = std::array::from_fn(|_| prng.bits() as u32);
    let mut load = LOADS[0];
    let mut remaining = 0u64;
    let mut started = false;
    std::iter::from_fn(move || {
        let reset = !started || prng.below(3000) == 0;
        started = true;
        if reset {
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            load = LOADS[prng.below(LOADS.len() as u64) as usize];
            remaining = 50 + prng.below(400);
        }
        remaining -= 1;
        let mut inputs = SppIn {
            query_i: prng.chance(load.0),
            query_address_i: block(&mut prng, &blocks),
            requested_i: 1 << prng.below(u64::from(params.sectors)),
            evict_i: prng.chance(load.1),
            evict_address_i: block(&mut prng, &blocks),
            used_i: used(&mut prng, &params),
        };
        match prng.below(10) {
            0 => inputs.query_address_i = inputs.evict_address_i,
            1 => inputs.query_address_i = alias(&mut prng, &params, inputs.evict_address_i),
            _ => {}
        }
        Some(Stimulus::step(inputs))
    })
}

/// Returns a block of the working set or a random block.
fn block(prng: &mut Prng, blocks: &[u32; WORKING_SET]) -> u32 {
    if prng.chance(70) { blocks[prng.below(WORKING_SET as u64) as usize] } else { prng.bits() as u32 }
}

/// Returns another address with the same entry: the same bits are inverted in two slices.
fn alias(prng: &mut Prng, params: &SppParams, address: u32) -> u32 {
    let turned = 1 + prng.below(u64::from(params.entries) - 1) as u32;
    address ^ turned ^ (turned << params.index_bits())
}

/// Returns the used sectors: often one, often all, sometimes none.
fn used(prng: &mut Prng, params: &SppParams) -> u8 {
    let all = ((1u32 << params.sectors) - 1) as u8;
    match prng.below(10) {
        0..3 => 1 << prng.below(u64::from(params.sectors)),
        3..5 => all,
        5 => 0,
        _ => prng.bits() as u8 & all,
    }
}
