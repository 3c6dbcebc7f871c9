//! Golden model of the BGP: the prediction, the two arrays and the flip of the default, cycle by cycle.
use super::hash::indices;
use super::params::BgpParams;
use super::rtl::{BgpIn, BgpOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Golden model of the BGP.
#[derive(Clone, Debug, State)]
pub struct BgpModel {
    params: BgpParams,
    /// The two bitarrays; `true` is a set bit.
    arrays: [Vec<bool>; 2],
    /// Insertions into each array since it was cleared.
    inserted: [u32; 2],
    /// Insertions that the second array still ignores.
    idle: u32,
    evictions: u32,
    insertions: u32,
    outputs: BgpOut,
}

impl BgpModel {
    /// Returns the model in its reset state: the filter is empty and the default is coarse. The parameters must be valid.
    pub fn new(params: &BgpParams) -> Self {
        let array = vec![false; params.bitarray_bits as usize];
        BgpModel {
            params: *params,
            arrays: [array.clone(), array],
            inserted: [0; 2],
            idle: params.half_period(),
            evictions: 0,
            insertions: 0,
            outputs: BgpOut { default_coarse_o: true, ..BgpOut::default() },
        }
    }

    fn holds(&self, address: u32) -> bool {
        let active = &self.arrays[usize::from(self.outputs.active_o)];
        indices(address, self.params.index_bits()).iter().all(|index| active[*index])
    }

    fn clear(&mut self, array: usize) {
        self.arrays[array].fill(false);
        self.inserted[array] = 0;
    }

    fn clear_all(&mut self) {
        self.clear(0);
        self.clear(1);
        self.idle = self.params.half_period();
        self.outputs.active_o = false;
    }

    fn insert(&mut self, address: u32) {
        let filled = if self.idle > 0 { 1 } else { 2 };
        self.idle = self.idle.saturating_sub(1);
        for array in 0..filled {
            for index in indices(address, self.params.index_bits()) {
                self.arrays[array][index] = true;
            }
            self.inserted[array] += 1;
        }
        for array in 0..2 {
            if self.inserted[array] == self.params.refresh_period {
                self.clear(array);
                self.outputs.active_o = array == 0;
            }
        }
    }

    fn evict(&mut self, address: u32, used: u8) {
        let low_locality = used.count_ones() < self.params.fg_threshold;
        let contradicts = low_locality == self.outputs.default_coarse_o;
        if contradicts {
            self.insert(address);
        }
        self.evictions += 1;
        self.insertions += u32::from(contradicts);
        if self.evictions == self.params.skew_window {
            if self.insertions > self.params.skew_limit() {
                self.outputs.default_coarse_o = !self.outputs.default_coarse_o;
                self.outputs.flip_o = true;
                self.clear_all();
            }
            (self.evictions, self.insertions) = (0, 0);
        }
    }
}

impl Clocked<BgpIn, BgpOut> for BgpModel {
    fn step(&mut self, inputs: &BgpIn) -> BgpOut {
        let outputs = self.outputs;
        self.outputs.flip_o = false;
        self.outputs.valid_o = inputs.query_i && !inputs.evict_i;
        if inputs.evict_i {
            self.evict(inputs.address_i, inputs.used_i);
        } else if inputs.query_i {
            self.outputs.coarse_o = self.holds(inputs.address_i) != self.outputs.default_coarse_o;
        }
        outputs
    }

    fn reset(&mut self) {
        *self = BgpModel::new(&self.params);
    }
}
