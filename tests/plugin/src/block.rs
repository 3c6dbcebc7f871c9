//! The block counts consecutive misses. While the counter is full, loads bypass the L1D, except every 16th.
use selvedge_hw::prelude::*;

block_params! {
    /// Parameters.
    pub struct Params {
        /// Width of the counter of misses.
        miss_bits: u32 = 4, Allowed::OneOf(&[3, 4]);
    }
}
rtl_module! {
    /// Lets loads bypass the L1D while nothing hits there.
    pub struct Top<const MISS: usize> for Params as _params {
        inputs Inputs {
            /// A load asks whether to bypass the L1D.
            ask_i: bool as Bit = 1,
            /// A load has hit.
            hit_i: bool as Bit = 1,
            /// A load has missed.
            miss_i: bool as Bit = 1,
        }
        outputs Outputs {
            /// The load that asks bypasses the L1D.
            bypass_o: bool as Bit = 1,
        }
        registers {
            asks: Reg<U<4>>,
            misses: Reg<U<MISS>>,
        }
    }
}

#[hdl_gen]
impl Logic for Top {
    fn update(&mut self) {
        dff_setup!(self, clk_i, misses, asks);
        comment!("a hit clears the counter");
        if self.hit_i.val() {
            self.misses.d.next = 0.into();
        } else if self.miss_i.val() & !self.misses.q.val().all() {
            self.misses.d.next = self.misses.q.val() + 1;
        }
        self.asks.d.next = self.asks.q.val() + self.ask_i.val();
        self.bypass_o.next = self.misses.q.val().all() & self.asks.q.val().any();
    }
}

elaborate! {
    fn top(params: &Params as PARAMS) -> Box<dyn RtlBlock<Inputs, Outputs>> {
        for miss_bits in [3, 4] {
            Top { MISS = PARAMS.miss_bits as usize }
        }
    }
}

#[derive(selvedge_state::State)]
pub struct Model {
    full: u32,
    misses: u32,
    asks: u32,
}
impl Clocked<Inputs, Outputs> for Model {
    fn step(&mut self, inputs: &Inputs) -> Outputs {
        let outputs = Outputs { bypass_o: self.misses == self.full && self.asks != 0 };
        self.misses = if inputs.hit_i { 0 } else { (self.misses + u32::from(inputs.miss_i)).min(self.full) };
        self.asks = (self.asks + u32::from(inputs.ask_i)) % 16;
        outputs
    }
    fn reset(&mut self) {
        (self.misses, self.asks) = (0, 0);
    }
}

pub struct StreamFilterBlock;
impl HwBlock for StreamFilterBlock {
    const NAME: &'static str = "stream_filter";
    const SUMMARY: &'static str = "lets loads bypass the L1D while nothing hits there";
    const SOURCE: &'static str = "an example";
    const MODULE: &'static str = include_str!("block.rs");
    const PARAMS: &'static [ParamSpec] = Params::SPECS;
    type Params = Params;
    type In = Inputs;
    type Out = Outputs;
    type Model = Model;
    fn model(params: &Params) -> Result<Model, ParamError> {
        Ok(Model { full: (1 << params.miss_bits) - 1, misses: 0, asks: 0 })
    }
    fn rtl(params: &Params) -> Result<Box<dyn RtlBlock<Inputs, Outputs>>, ParamError> {
        Self::validate(params)?;
        Ok(top(params))
    }
    fn facts(params: &Params) -> Facts {
        let counters = Storage { name: "counters", bits: params.miss_bits as usize + 4 };
        Facts { storage: vec![counters], latency: 0, interval: 1 }
    }
    fn stimulus(_: &Params, seed: u64) -> StimulusIter<Inputs> {
        let mut random = Prng::new(seed);
        // Hits are rare for 1,000 cycles, then frequent for 1,000 cycles.
        Box::new((0u64..).map(move |cycle| {
            let hits = if cycle / 1000 % 2 == 0 { 1 } else { 30 };
            let [ask_i, hit_i, miss_i] = [50, hits, 60].map(|percent| random.chance(percent));
            if cycle == 0 { Stimulus::reset() } else { Stimulus::step(Inputs { ask_i, hit_i, miss_i }) }
        }))
    }
    fn corners(_: &Params) -> Box<dyn Corners<Inputs, Outputs>> {
        let corners = PortCorners::new(|_: &Inputs, _: &Outputs| true);
        Box::new(corners.with("a load bypasses", 1000, |inputs, outputs| inputs.ask_i && outputs.bypass_o))
    }
}
