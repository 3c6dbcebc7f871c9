//! The mechanism: an instance of the block in each SM, clocked only when an event occurs.
use crate::block::{Inputs, Params, StreamFilterBlock};
use selvedge_sim::mechanism::prelude::*;

mechanism_options! {
    /// Options of `stream_filter`.
    pub struct Options {
        /// bits of the counter of misses
        miss_bits: u32 = 4, Values::range(3, 4);
    }
}

pub struct StreamFilter;

impl Mechanism for StreamFilter {
    const NAME: &'static str = "stream_filter";
    const SUMMARY: &'static str = "loads bypass the L1D while nothing hits there";
    const SOURCE: &'static str = "an example";
    const BLOCKS: &'static [&'static str] = &["stream_filter"];
    const COUNTERS: &'static [&'static [Counter]] =
        &[&[Counter::new("bypassed_loads", "line transactions of loads that bypassed the L1D")]];
    type Options = Options;

    fn attach(setup: &Setup<Options>, site: &mut Site<'_>) {
        let (params, probes) = (Params { miss_bits: setup.options.miss_bits }, site.probes);
        let block = |sm| Stepped::new(format!("sm{sm}.stream_filter"), &params, probes);
        site.each_sm(|sm| Sm { block: block(sm), bypassed: 0 });
    }
}

/// Part of the mechanism in one SM.
#[derive(selvedge_state::State)]
struct Sm {
    block: Stepped<StreamFilterBlock>,
    bypassed: u64,
}

impl SmPart for Sm {
    fn tick(&mut self, _: u64, _: &DeviceMemory) -> Result<(), MechanismFault> {
        self.block.report()
    }
    fn busy(&self) -> bool {
        self.block.is_pending()
    }
    fn counters(&self, out: &mut MechanismCounters) {
        count(out, "bypassed_loads", self.bypassed);
    }
    fn traces(&self, out: &mut Vec<Trace>) {
        out.extend(self.block.trace());
    }
    has!(bypass: Bypass, l1d_observer: L1dObserver);
}

impl Bypass for Sm {
    fn bypasses(&mut self, now: u64, _: &Load) -> bool {
        let outputs = self.block.clock(now, &Inputs { ask_i: true, ..Inputs::default() });
        let bypasses = outputs.is_some_and(|outputs| outputs.bypass_o);
        self.bypassed += u64::from(bypasses);
        bypasses
    }
}

impl L1dObserver for Sm {
    fn l1d_event(&mut self, now: u64, event: &L1dEvent) {
        let L1dEvent::Load { decision, .. } = event else { return };
        let hit_i = matches!(decision, AccessResult::Hit | AccessResult::Pending);
        self.block.clock(now, &Inputs { hit_i, miss_i: !hit_i, ..Inputs::default() });
    }
}
