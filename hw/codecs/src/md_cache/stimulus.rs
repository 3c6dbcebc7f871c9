//! Stimulus of the metadata cache: adjacent lines, lines that share one set, a working set near the size of the cache, and
//! random lines. It has reads and updates, and a DRAM that is fast, slow or busy. A request stays until it is taken.
use super::model::MdCacheModel;
use super::params::MdCacheParams;
use super::rtl::{MdCacheIn, MdCacheOut};
use selvedge_hw::block::{Clocked, Stimulus};
use selvedge_hw::corners::{Corner, Corners};
use selvedge_hw::traffic::Traffic;
use std::collections::VecDeque;

/// Choice of the requested lines.
#[derive(Clone, Copy)]
enum RequestPattern {
    /// Consecutive lines from a random line on.
    Run(u32),
    /// A few blocks of one set.
    Crowded(u32),
    /// Blocks of a region of 8 blocks, of the size of the cache, or of a quarter more.
    Region {
        first: u32,
        blocks: u32,
    },
    Any,
}

/// A DRAM that delivers a requested block after a number of cycles.
struct SlowDram {
    /// Cycles until the requested block arrives; `None` without a request.
    remaining: Option<u64>,
    slowest: u64,
}

/// Endless stimulus of the cache.
pub(super) fn md_cache(
    params: &MdCacheParams,
    seed: u64,
) -> impl Iterator<Item = Stimulus<MdCacheIn>> + use<> {
    let params = *params;
    let mut traffic = Traffic::new(seed);
    let mut model = MdCacheModel::new(&params);
    let mut dram = SlowDram { remaining: None, slowest: 4 };
    let mut pattern = RequestPattern::Any;
    let mut updates = 0;
    let mut request: Option<(u32, bool, u8)> = None;
    let mut remaining = 0u64;
    let mut started = false;
    std::iter::from_fn(move || {
        traffic.next_cycle();
        let reset = !started || traffic.reset_due();
        started = true;
        if reset {
            model.reset();
            (request, dram.remaining) = (None, None);
            return Some(Stimulus::reset());
        }
        if remaining == 0 {
            pattern = choose(&mut traffic, &params);
            updates = [5, 30, 90][traffic.prng.below(3) as usize];
            dram.slowest = [1, 4, 30][traffic.prng.below(3) as usize];
            remaining = 200 + traffic.prng.below(1500);
        }
        remaining -= 1;
        if request.is_none() && traffic.offer() {
            let line = next_line(&mut pattern, &mut traffic, &params);
            request =
                Some((line, traffic.prng.chance(updates), traffic.prng.below(1 << params.entry_bits) as u8));
        }
        let (line_i, update_i, entry_i) = request.unwrap_or_default();
        // Sometimes a block arrives that was not requested.
        let arrives = match &mut dram.remaining {
            Some(0) => true,
            Some(cycles) => {
                *cycles -= 1;
                false
            }
            None => traffic.prng.chance(1),
        };
        let inputs = MdCacheIn {
            valid_i: request.is_some(),
            update_i,
            line_i,
            entry_i,
            refill_ready_i: traffic.accept(),
            fill_valid_i: arrives,
            fill_data_i: std::array::from_fn(|_| traffic.prng.bits()),
            writeback_ready_i: traffic.accept(),
        };
        let outputs = model.step(&inputs);
        if arrives {
            dram.remaining = None;
        }
        if outputs.refill_valid_o && inputs.refill_ready_i {
            dram.remaining = Some(traffic.prng.below(dram.slowest));
        }
        if outputs.ready_o {
            request = None;
        }
        Some(Stimulus::step(inputs))
    })
}

fn choose(traffic: &mut Traffic, params: &MdCacheParams) -> RequestPattern {
    let line = traffic.prng.bits() as u32;
    let ways = 4 * params.sets();
    match traffic.prng.below(6) {
        0 => RequestPattern::Run(line),
        1 => RequestPattern::Crowded(line),
        2 => RequestPattern::Region { first: line, blocks: ways },
        3 => RequestPattern::Region { first: line, blocks: ways + ways / 4 },
        4 => RequestPattern::Region { first: line, blocks: 8 },
        _ => RequestPattern::Any,
    }
}

fn next_line(pattern: &mut RequestPattern, traffic: &mut Traffic, params: &MdCacheParams) -> u32 {
    let (per_block, sets) = (params.lines_per_block(), params.sets());
    let offset = traffic.prng.below(u64::from(per_block)) as u32;
    let mut block_of = |blocks: u32| traffic.prng.below(u64::from(blocks)) as u32;
    match pattern {
        RequestPattern::Run(line) => {
            *line = line.wrapping_add(1);
            *line
        }
        RequestPattern::Crowded(line) => line.wrapping_add(block_of(6) * sets * per_block + offset),
        RequestPattern::Region { first, blocks } => {
            first.wrapping_add(block_of(*blocks) * per_block + offset)
        }
        RequestPattern::Any => traffic.prng.bits() as u32,
    }
}

/// Counts the kinds of replies, and the requests that wait. An operation is a reply.
pub(super) struct MdCacheCorners {
    answers: u64,
    /// Requests in flight: `true` for an update.
    under_way: VecDeque<bool>,
    /// A block was written back since the request was taken.
    wrote_back: bool,
    read_hits: u64,
    read_misses: u64,
    update_hits: u64,
    update_misses: u64,
    dirty_evictions: u64,
    clean_misses: u64,
    behind_writeback: u64,
    overlapping: u64,
    unasked: u64,
    requests_waiting: u64,
    resets_in_flight: u64,
    writeback_was_valid: bool,
}

impl MdCacheCorners {
    pub(super) fn new(_params: &MdCacheParams) -> Self {
        MdCacheCorners {
            answers: 0,
            under_way: VecDeque::new(),
            wrote_back: false,
            read_hits: 0,
            read_misses: 0,
            update_hits: 0,
            update_misses: 0,
            dirty_evictions: 0,
            clean_misses: 0,
            behind_writeback: 0,
            overlapping: 0,
            unasked: 0,
            requests_waiting: 0,
            resets_in_flight: 0,
            writeback_was_valid: false,
        }
    }

    /// Counts the reply of this cycle. The cache takes no other request during a miss, so `wrote_back` is about this request.
    fn answer(&mut self, hit: bool, update: bool) {
        self.answers += 1;
        let kind = match (update, hit) {
            (false, true) => &mut self.read_hits,
            (false, false) => &mut self.read_misses,
            (true, true) => &mut self.update_hits,
            (true, false) => &mut self.update_misses,
        };
        *kind += 1;
        if !hit {
            self.dirty_evictions += u64::from(self.wrote_back);
            self.clean_misses += u64::from(!self.wrote_back);
        }
    }
}

impl Corners<MdCacheIn, MdCacheOut> for MdCacheCorners {
    fn reset(&mut self) {
        self.resets_in_flight += u64::from(!self.under_way.is_empty());
        self.under_way.clear();
        (self.wrote_back, self.writeback_was_valid) = (false, false);
    }
    fn clock(&mut self, inputs: &MdCacheIn, outputs: &MdCacheOut) {
        self.wrote_back |= outputs.writeback_valid_o && !self.writeback_was_valid;
        if outputs.valid_o
            && let Some(update) = self.under_way.pop_front()
        {
            self.answer(outputs.hit_o, update);
        }
        let taken = inputs.valid_i && outputs.ready_o;
        self.behind_writeback += u64::from(outputs.refill_valid_o && outputs.writeback_valid_o);
        self.overlapping += u64::from(taken && !self.under_way.is_empty());
        self.unasked += u64::from(inputs.fill_valid_i && outputs.ready_o);
        self.requests_waiting += u64::from(inputs.valid_i && !outputs.ready_o);
        if taken {
            self.under_way.push_back(inputs.update_i);
            self.wrote_back = false;
        }
        self.writeback_was_valid = outputs.writeback_valid_o && !inputs.writeback_ready_i;
    }
    fn operations(&self) -> u64 {
        self.answers
    }
    fn seen(&self) -> Vec<Corner> {
        [
            ("read hit", self.read_hits, 1000),
            ("read miss", self.read_misses, 1000),
            ("update hit", self.update_hits, 1000),
            ("update miss", self.update_misses, 1000),
            ("miss that evicts a dirty block", self.dirty_evictions, 1000),
            ("miss that evicts none", self.clean_misses, 1000),
            ("refill asked for beside a block to be written back", self.behind_writeback, 100),
            ("request taken before the last reply", self.overlapping, 1000),
            ("block that nobody asked for", self.unasked, 100),
            ("request that waits", self.requests_waiting, 1000),
            ("reset during an access", self.resets_in_flight, 10),
        ]
        .map(|(name, times, demanded)| Corner { name, times, demanded })
        .to_vec()
    }
}
