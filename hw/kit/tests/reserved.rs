//! A block with a name that Verilog reserves: `verify` rejects it, as `gen` does.
use selvedge_hw::lockstep::Lockstep;
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::verify::verify;
use selvedge_hw::{Allowed, Corners, Facts, HwBlock, ParamError, ParamSpec, PortCorners, Prng};
use selvedge_hw::{Stimulus, StimulusIter, Storage, block_params};

block_params! {
    /// Parameters.
    pub struct Params {
        /// Width of the count.
        bits: u32 = 4, Allowed::OneOf(&[4]);
    }
}

/// A counter in the module `$module`. The signal `$name` is its next value.
macro_rules! counter {
    ($module:ident, $name:ident) => {
        mod $module {
            use super::*;

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
                    parts {
                        $name: Signal<Local, U<N>>,
                    }
                }
            }

            #[hdl_gen]
            impl Logic for Top {
                fn update(&mut self) {
                    dff_setup!(self, clk_i, count);
                    self.$name.next = self.count.q.val() + self.enable_i.val();
                    self.count.d.next = self.$name.val();
                    self.count_o.next = self.count.q.val();
                }
            }

            #[derive(selvedge_state::State)]
            pub struct Model {
                count: u8,
            }

            impl Clocked<Inputs, Outputs> for Model {
                fn step(&mut self, inputs: &Inputs) -> Outputs {
                    let outputs = Outputs { count_o: self.count };
                    self.count = (self.count + u8::from(inputs.enable_i)) % 16;
                    outputs
                }
                fn reset(&mut self) {
                    self.count = 0;
                }
            }

            pub struct Counter;

            impl HwBlock for Counter {
                const NAME: &'static str = "counter";
                const SUMMARY: &'static str = "counts";
                const SOURCE: &'static str = "a test";
                const PARAMS: &'static [ParamSpec] = Params::SPECS;
                const OPERATIONS: u64 = 100;
                type Params = Params;
                type In = Inputs;
                type Out = Outputs;
                type Model = Model;

                fn model(_: &Params) -> Result<Model, ParamError> {
                    Ok(Model { count: 0 })
                }
                fn rtl(params: &Params) -> Result<Box<dyn RtlBlock<Inputs, Outputs>>, ParamError> {
                    Ok(RtlInstance::boxed(Top::<4>::new(params)))
                }
                fn facts(params: &Params) -> Facts {
                    let storage = vec![Storage { name: "count", bits: params.bits as usize }];
                    Facts { storage, latency: 0, interval: 1 }
                }
                fn stimulus(_: &Params, seed: u64) -> StimulusIter<Inputs> {
                    let mut random = Prng::new(seed);
                    Box::new((0..).map(move |_| Stimulus::step(Inputs { enable_i: random.chance(50) })))
                }
                fn corners(_: &Params) -> Box<dyn Corners<Inputs, Outputs>> {
                    Box::new(PortCorners::new(|_: &Inputs, _: &Outputs| true))
                }
            }
        }
    };
}

counter!(free, words);
counter!(of_udp, table);
counter!(of_cpp, namespace);

#[test]
fn a_name_that_gen_refuses_is_refused() {
    verify::<free::Counter>(&Params::default(), 1).unwrap_or_else(|why| panic!("{why}"));
    for (why, name) in [
        (verify::<of_udp::Counter>(&Params::default(), 1), "table"),
        (verify::<of_cpp::Counter>(&Params::default(), 1), "namespace"),
    ] {
        let why = why.expect_err("it is reserved").to_string();
        let expected = format!(
            "counter: '{name}' is a reserved word of Verilog, SystemVerilog or C++: must be another name"
        );
        assert_eq!(why, expected);
    }
}

#[test]
#[should_panic(expected = "counter: 'table' is a reserved word")]
fn lockstep_refuses_the_name_too() {
    Lockstep::<of_udp::Counter>::new(&Params::default());
}
