//! A block outside every list: all functions of the kit work with it.
use selvedge_hw::registry::{self, Entry};
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::selvedge_state::{Reader, State, Writer};
use selvedge_hw::verify::{Unverified, verify};
use selvedge_hw::{
    Allowed, BlockEntry, BlockTraffic, Corner, Corners, Engine, Facts, HwBlock, Instance, ParamError,
    ParamSpec, PlantedUpset,
};
use selvedge_hw::{PortCorners, Prng, Stimulus, StimulusIter, Storage, TrafficCoverage, block_params};

block_params! {
    /// Parameters.
    pub struct Params {
        /// Width of the count.
        bits: u32 = 4, Allowed::OneOf(&[4, 8]);
    }
}
rtl_module! {
    /// Counts the cycles in which `enable_i` is high.
    pub struct Top<const N: usize> for Params as p {
        inputs Inputs {
            /// Count this cycle.
            enable_i: bool as Bit = 1,
        }
        outputs Outputs {
            /// The count.
            count_o: u8 as U<N> = p.bits as usize,
        }
        registers {
            count: Reg<U<N>>,
        }
    }
}

#[hdl_gen]
impl Logic for Top {
    fn update(&mut self) {
        dff_setup!(self, clk_i, count);
        self.count.d.next = self.count.q.val() + self.enable_i.val();
        self.count_o.next = self.count.q.val();
    }
}

/// A model that counts in steps of `STEP`; 1 is correct.
#[derive(selvedge_state::State)]
struct Model<const STEP: u32> {
    bits: u32,
    count: u32,
}

impl<const STEP: u32> Clocked<Inputs, Outputs> for Model<STEP> {
    fn step(&mut self, inputs: &Inputs) -> Outputs {
        let outputs = Outputs { count_o: self.count as u8 };
        self.count = (self.count + STEP * u32::from(inputs.enable_i)) % (1 << self.bits);
        outputs
    }
    fn reset(&mut self) {
        self.count = 0;
    }
}

struct Counter<const STEP: u32>;

impl<const STEP: u32> HwBlock for Counter<STEP> {
    const NAME: &'static str = "counter";
    const SUMMARY: &'static str = "counts";
    const SOURCE: &'static str = "a test";
    const PARAMS: &'static [ParamSpec] = Params::SPECS;
    const OPERATIONS: u64 = 1000;
    type Params = Params;
    type In = Inputs;
    type Out = Outputs;
    type Model = Model<STEP>;

    fn model(params: &Params) -> Result<Model<STEP>, ParamError> {
        Ok(Model { bits: params.bits, count: 0 })
    }
    fn rtl(params: &Params) -> Result<Box<dyn RtlBlock<Inputs, Outputs>>, ParamError> {
        Ok(match params.bits {
            4 => RtlInstance::boxed(Top::<4>::new(params)),
            _ => RtlInstance::boxed(Top::<8>::new(params)),
        })
    }
    fn facts(params: &Params) -> Facts {
        Facts {
            storage: vec![Storage { name: "count", bits: params.bits as usize }],
            latency: 0,
            interval: 1,
        }
    }
    fn stimulus(_: &Params, seed: u64) -> StimulusIter<Inputs> {
        let mut random = Prng::new(seed);
        Box::new((0..).map(move |cycle| match cycle {
            0 => Stimulus::reset(),
            _ => Stimulus::step(Inputs { enable_i: random.chance(50) }),
        }))
    }
    fn corners(_: &Params) -> Box<dyn Corners<Inputs, Outputs>> {
        let corners = PortCorners::new(|_: &Inputs, _: &Outputs| true);
        Box::new(corners.with("full", 5, |_, outputs| outputs.count_o == 15))
    }
}

#[test]
fn every_choice_of_parameters_is_verified() {
    for bits in [4, 8] {
        verify::<Counter<1>>(&Params { bits }, 1).unwrap_or_else(|why| panic!("{why}"));
    }
}

#[test]
fn a_model_that_is_wrong_is_found_at_its_port() {
    let why = verify::<Counter<2>>(&Params::default(), 1).expect_err("the model is wrong");
    assert!(why.to_string().contains("at port count_o: model 0x2, RTL 0x1"), "{why}");
    let Unverified::Differs { vcd, .. } = why else { panic!("{why}") };
    std::fs::remove_file(vcd).expect("the waveform is there");
}

#[test]
fn lockstep_sees_a_planted_fault_in_its_cycle() {
    let mut counter = Instance::<Counter<1>>::new("counter", &Params::default(), Engine::Lockstep)
        .expect("valid parameters");
    counter.inject(PlantedUpset { cycle: 5, bit: 2 }).expect("there is RTL");
    for _ in 0..5 {
        counter.step(&Inputs { enable_i: true }).expect("no fault yet");
    }
    let divergence = counter.step(&Inputs { enable_i: true }).expect_err("a bit is inverted");
    let divergence = divergence.divergence().expect("model and RTL differ");
    assert_eq!((divergence.cycle, divergence.port), (5, "count_o"));
}

#[test]
fn an_idle_block_still_sees_an_upset_and_a_reset() {
    let mut counter = Counter::<1>::rtl(&Params::default()).expect("valid parameters");
    let idle = Inputs::default();
    for _ in 0..3 {
        assert_eq!(counter.step(&idle).count_o, 0);
    }
    counter.upset(2);
    assert_eq!(counter.step(&idle).count_o, 4);
    assert_eq!(counter.step(&idle).count_o, 4);
    counter.reset();
    assert_eq!(counter.step(&idle).count_o, 0);
}

#[test]
fn a_block_is_added_once_and_seen_without_its_types() {
    registry::add(&Entry::<Counter<1>>::NEW).expect("the name is free");
    let taken = registry::add(&Entry::<Counter<2>>::NEW).expect_err("the name is taken").to_string();
    assert_eq!(taken, "block 'counter': the name is taken by another block");
    let added = registry::added();
    let [counter]: [&dyn BlockEntry; 1] = added.try_into().unwrap_or_else(|_| panic!("one block was added"));
    let params = counter.params(&[("bits".into(), "8".into())]).expect("8 is allowed");
    assert_eq!(counter.ports(&params).expect("valid parameters")[1].bits, 8);
}

#[test]
fn corner_cases_are_counted_until_an_instance_is_loaded() {
    let coverage = TrafficCoverage::default();
    let mut counters = ["first", "second"].map(|name| {
        Instance::<Counter<1>>::new(name, &Params { bits: 4 }, Engine::Model).expect("valid parameters")
    });
    counters.iter_mut().for_each(|counter| counter.count_corners(&coverage));
    counters[0].reset();
    for (counter, steps) in counters.iter_mut().zip([17, 3]) {
        for _ in 0..steps {
            counter.step(&Inputs { enable_i: true }).expect("one form");
        }
    }
    // The first counter is full once in 17 cycles: in the cycle in which it shows 15.
    let full = |times| vec![Corner { name: "full", times, demanded: 5 }];
    let sum = |instances, cycles, times| BlockTraffic {
        block: "counter",
        instances,
        cycles,
        operations: cycles,
        corners: full(times),
    };
    assert_eq!(coverage.blocks(), [sum(2, 20, 1)]);
    let mut saved = Writer::default();
    counters[0].save(&mut saved);
    counters[0].load(&mut Reader::new(saved.bytes())).expect("its own state");
    assert_eq!(coverage.blocks(), [sum(1, 3, 0)]);
}
