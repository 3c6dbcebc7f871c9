//! Golden model of the metadata cache: sets of blocks with the last access to each block, and the phases of an access.
use super::params::{MdCacheParams, WAYS};
use super::rtl::{MdCacheIn, MdCacheOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// A block with its number and state.
#[derive(Clone, Copy, Debug, State)]
struct Way {
    block: u32,
    data: [u64; 4],
    dirty: bool,
    /// Number of the last access to the block.
    used: u64,
}

/// Phase of the current access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
enum AccessPhase {
    Idle,
    /// The tags of the set are available.
    LookUp,
    /// A hit: the block is available.
    Read,
    /// A miss: the victim is available.
    Evict,
    /// The missing block is requested.
    Ask,
    /// The missing block is in flight.
    Await,
}

/// Golden model of the metadata cache.
#[derive(Clone, Debug, State)]
pub struct MdCacheModel {
    params: MdCacheParams,
    sets: Vec<[Option<Way>; WAYS]>,
    accesses: u64,
    phase: AccessPhase,
    line: u32,
    update: bool,
    entry: u8,
    /// Way of the access; `victim` is the dirty block that leaves this way.
    way: usize,
    victim: Option<Way>,
    outputs: MdCacheOut,
}

impl MdCacheModel {
    /// Returns an empty model, as after reset. The parameters must be valid.
    pub fn new(params: &MdCacheParams) -> Self {
        MdCacheModel {
            params: *params,
            sets: vec![[None; WAYS]; params.sets() as usize],
            accesses: 0,
            phase: AccessPhase::Idle,
            line: 0,
            update: false,
            entry: 0,
            way: 0,
            victim: None,
            outputs: MdCacheOut { ready_o: true, ..MdCacheOut::default() },
        }
    }

    fn block(&self) -> u32 {
        self.line >> self.params.offset_bits()
    }

    fn set(&self) -> usize {
        (self.block() % self.params.sets()) as usize
    }

    /// Finds the block, or else replaces an empty or the least recently used way with it.
    fn look_up(&mut self) {
        let block = self.block();
        let set = self.set();
        let ways = &mut self.sets[set];
        self.accesses += 1;
        let found = ways.iter().position(|way| way.is_some_and(|way| way.block == block));
        self.phase = if found.is_some() { AccessPhase::Read } else { AccessPhase::Evict };
        self.way = found.unwrap_or_else(|| {
            let last_use = |way: &usize| ways[*way].map_or(0, |way| way.used);
            (0..WAYS).min_by_key(last_use).expect("there are ways")
        });
        let way = &mut ways[self.way];
        if found.is_none() {
            self.victim = way.filter(|way| way.dirty);
            *way = Some(Way { block, data: [0; 4], dirty: false, used: 0 });
        }
        if let Some(way) = way {
            way.used = self.accesses;
            way.dirty |= self.update;
        }
    }

    /// Replies from the block in the way of the access.
    fn answer(&mut self, hit: bool) {
        let bits = self.params.entry_bits;
        let place = (self.line % self.params.lines_per_block()) * bits;
        let (word, shift) = ((place / 64) as usize, place % 64);
        let set = self.set();
        let way = self.sets[set][self.way].as_mut().expect("the look-up put the block there");
        let mask = (1u64 << bits) - 1;
        if self.update {
            way.data[word] = (way.data[word] & !(mask << shift)) | (u64::from(self.entry) << shift);
        }
        self.outputs.entry_o = ((way.data[word] >> shift) & mask) as u8;
        self.outputs.hit_o = hit;
        self.outputs.valid_o = true;
        self.phase = AccessPhase::Idle;
    }

    fn write_back(&mut self, victim: Way) {
        self.outputs.writeback_valid_o = true;
        self.outputs.writeback_block_o = victim.block;
        self.outputs.writeback_data_o = victim.data;
    }
}

impl Clocked<MdCacheIn, MdCacheOut> for MdCacheModel {
    #[inline]
    fn step(&mut self, inputs: &MdCacheIn) -> MdCacheOut {
        let outputs = self.outputs;
        self.outputs.valid_o = false;
        self.outputs.writeback_valid_o &= !inputs.writeback_ready_i;
        match self.phase {
            AccessPhase::Idle => (),
            AccessPhase::LookUp => self.look_up(),
            AccessPhase::Read => self.answer(true),
            AccessPhase::Evict if self.outputs.writeback_valid_o => (),
            AccessPhase::Evict => {
                self.phase = AccessPhase::Ask;
                if let Some(victim) = self.victim.take() {
                    self.write_back(victim);
                }
            }
            AccessPhase::Ask if inputs.refill_ready_i => self.phase = AccessPhase::Await,
            AccessPhase::Ask => (),
            AccessPhase::Await if inputs.fill_valid_i => {
                let set = self.set();
                self.sets[set][self.way].as_mut().expect("the look-up put the block there").data =
                    inputs.fill_data_i;
                self.answer(false);
            }
            AccessPhase::Await => (),
        }
        if outputs.ready_o && inputs.valid_i {
            (self.line, self.update, self.entry) = (inputs.line_i, inputs.update_i, inputs.entry_i);
            self.phase = AccessPhase::LookUp;
        }
        self.outputs.ready_o = matches!(self.phase, AccessPhase::Idle | AccessPhase::Read);
        self.outputs.refill_valid_o = self.phase == AccessPhase::Ask;
        self.outputs.refill_block_o = self.block();
        outputs
    }

    fn reset(&mut self) {
        *self = MdCacheModel::new(&self.params);
    }
}
