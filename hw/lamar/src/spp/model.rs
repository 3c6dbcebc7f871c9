//! Golden model of the SPP: the pattern history table, cycle by cycle.
use super::params::SppParams;
use super::rtl::{SppIn, SppOut};
use selvedge_hw::block::Clocked;
use selvedge_state::State;

/// Golden model of the SPP.
#[derive(Clone, Debug, State)]
pub struct SppModel {
    params: SppParams,
    /// Pattern of each entry, or `None` if it has none.
    patterns: Vec<Option<u8>>,
    /// Cycles until the end of the sweep that clears the entries.
    sweep_left: u32,
    outputs: SppOut,
}

impl SppModel {
    /// Returns the model in its reset state: the sweep starts. The parameters must be valid.
    pub fn new(params: &SppParams) -> Self {
        SppModel {
            params: *params,
            patterns: vec![None; params.entries as usize],
            sweep_left: params.entries,
            outputs: SppOut::default(),
        }
    }
}

impl Clocked<SppIn, SppOut> for SppModel {
    #[inline]
    fn step(&mut self, inputs: &SppIn) -> SppOut {
        let outputs = self.outputs;
        if inputs.evict_i && self.sweep_left == 0 {
            self.patterns[self.params.index(inputs.evict_address_i)] = Some(inputs.used_i);
        }
        self.sweep_left = self.sweep_left.saturating_sub(1);
        self.outputs.valid_o = inputs.query_i;
        if inputs.query_i {
            let pattern = self.patterns[self.params.index(inputs.query_address_i)];
            self.outputs.known_o = pattern.is_some();
            self.outputs.sectors_o = pattern.unwrap_or(self.params.unknown_pattern()) | inputs.requested_i;
        }
        outputs
    }

    fn reset(&mut self) {
        self.patterns.fill(None);
        self.sweep_left = self.params.entries;
        self.outputs = SppOut::default();
    }
}
