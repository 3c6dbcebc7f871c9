//! The kit of Selvedge's hardware blocks. A block is a golden model and RTL, with the same ports and the same cycles. The
//! papers' blocks are in the other crates of `hw`; a crate with its own blocks needs only this crate.
//!
//! | module | contents |
//! |---|---|
//! | [`block`] | the contract: [`HwBlock`], [`Clocked`], [`RtlBlock`] |
//! | [`clock`] | the time of a clock's edges |
//! | [`corners`] | corner cases that a block's stimulus must reach: [`Corners`] |
//! | [`documentation`] | a block's page, from its module's comments |
//! | [`ports`](mod@ports) | typed port values that convert to bits, declared by [`ports!`] |
//! | [`params`] | parameter declarations, parsing and errors |
//! | [`registry`] | blocks without their types: [`BlockEntry`], and the list of added blocks |
//! | [`engine`] | [`Instance`]: a block under an engine: model, RTL, Verilog, or two of them in lockstep |
//! | [`compiled`] | [`CompiledBlock`]: Verilog that another crate compiles and steps |
//! | [`equivalence`] | checks of a block's RTL and stimulus under every choice of parameters |
//! | [`lockstep`] | [`Lockstep`](lockstep::Lockstep): model and RTL of a block, for property tests |
//! | [`pipeline`] | the golden model of an elastic pipeline |
//! | [`prng`], [`traffic`] | random numbers and traffic for stimuli |
//! | [`verify`](mod@verify) | model against RTL over a block's stimulus |
//! | [`wave`] | recorded ports and registers as a waveform |
//! | `recorder` | recording of a probed instance as a circuit with a free-running clock |
//! | [`wave_event`] | events of a block as rows of text in a waveform |
//! | [`vcd`](mod@vcd) | a waveform as VCD |
//! | [`value_names`] | names of a port's values |
//! | [`file`] | files of bounded size |
//! | [`index_function`] | from line addresses to the sets of a cache |
//! | `items` | comparison of a block with a circuit of another latency |
//! | [`names`] | the nearest names to an unknown one |
//! | [`printable`](mod@printable) | text of unknown origin, escaped for a terminal |
//! | [`rtl`] | registers, memories, pipelines and tools of RTL |

// `#[hdl_gen]` generates `::selvedge_hw::rtl::source` in every crate, also here.
extern crate self as selvedge_hw;

pub mod block;
pub mod clock;
pub mod compiled;
pub mod corners;
mod coverage;
pub mod documentation;
pub mod engine;
pub mod equivalence;
pub mod file;
pub mod index_function;
mod items;
pub mod lockstep;
pub mod names;
pub mod params;
pub mod pipeline;
pub mod ports;
pub mod printable;
pub mod prng;
mod recorder;
pub mod registry;
pub mod rtl;
pub mod traffic;
pub mod value_names;
pub mod vcd;
pub mod verify;
pub mod wave;
pub mod wave_event;

pub use block::{Clocked, Facts, HwBlock, RtlBlock, StatedStorage, Stimulus, StimulusIter, Storage};
pub use clock::Clock;
pub use compiled::{BlockCompiler, ComparisonPace, CompileError, CompiledBlock, Ended};
pub use corners::{Corner, Corners, PortCorners};
pub use coverage::{BlockTraffic, TrafficCoverage};
pub use engine::{BlockForm, BuildError, Divergence, Engine, Instance, PlantedUpset, StepError};
pub use params::{Allowed, ParamError, ParamSpec};
pub use ports::{Direction, Payload, Port, PortValue, Ports};
pub use prng::Prng;
pub use registry::{BlockEntry, ClockedBits, CornersBits, NameTaken, PortBits, StimulusBits};
pub use value_names::ValueNames;
pub use wave_event::WaveEvent;
// For the macros.
#[doc(hidden)]
pub use selvedge_state;
pub use serde;

/// Imports for a file with a block.
pub mod prelude {
    pub use crate::rtl::prelude::*;
    pub use crate::{
        Allowed, Corners, Facts, HwBlock, ParamError, ParamSpec, PortCorners, Prng, Stimulus, StimulusIter,
        Storage, ValueNames, WaveEvent, block_params,
    };
}
