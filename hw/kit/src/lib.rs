//! The kit of Selvedge's hardware blocks: a block exists as a golden model and as RTL with the same ports and the same cycles.
//! No block is in this crate: the papers' are in `selvedge-blocks`, and a crate with blocks of its own needs this one alone.
//!
//! | module | what it gives |
//! |---|---|
//! | [`block`] | the contract: [`HwBlock`], [`Clocked`], [`RtlBlock`] |
//! | [`clock`] | the time of a clock's edges |
//! | [`corners`] | what a block's stimulus must reach: [`Corners`] |
//! | [`documentation`] | a block's page, made of its module's comments |
//! | [`ports`](mod@ports) | typed port values that convert to bits, declared by [`ports!`] |
//! | [`params`] | parameter declarations, parsing and errors |
//! | [`registry`] | blocks without their types: [`BlockEntry`], and the list of those that a program adds |
//! | [`engine`] | [`Instance`]: a block under an engine: model, RTL, Verilog, or two of them in lockstep |
//! | [`compiled`] | [`CompiledBlock`]: Verilog that somebody else compiles and steps |
//! | [`pipeline`] | the golden model of an elastic pipeline |
//! | [`prng`], [`traffic`] | random numbers and traffic for stimuli |
//! | [`verify`](mod@verify) | model against RTL over a block's stimulus |
//! | [`wave`] | recorded ports and registers as a waveform |
//! | [`vcd`](mod@vcd) | a waveform as VCD |
//! | [`value_names`] | names of a port's values |
//! | [`file`] | files of bounded size |
//! | [`index_function`] | from line addresses to the sets of a cache |
//! | `items` | a block that keeps up with a circuit of another latency |
//! | [`names`] | the nearest names to one that does not exist |
//! | [`printable`](mod@printable) | text of others, made fit for a terminal |
//! | [`rtl`] | the kit that RTL stands on |

// `#[hdl_gen]` writes `::selvedge_hw::rtl::source`, here as in other crates.
extern crate self as selvedge_hw;

pub mod block;
pub mod clock;
pub mod compiled;
pub mod corners;
pub mod documentation;
pub mod engine;
pub mod file;
pub mod index_function;
mod items;
pub mod names;
pub mod params;
pub mod pipeline;
pub mod ports;
pub mod printable;
pub mod prng;
pub mod registry;
pub mod rtl;
pub mod traffic;
pub mod value_names;
pub mod vcd;
pub mod verify;
pub mod wave;

pub use block::{Claim, Clocked, Facts, HwBlock, RtlBlock, Stimulus, StimulusIter, Storage};
pub use clock::Clock;
pub use compiled::{BlockCompiler, CompileError, CompiledBlock, Pace};
pub use corners::{Corner, Corners, PortCorners};
pub use engine::{BuildError, Divergence, Engine, Fault, Instance, Side};
pub use params::{Allowed, ParamError, ParamSpec};
pub use ports::{Direction, Payload, Port, PortValue, Ports};
pub use prng::Prng;
pub use registry::{BlockEntry, ClockedBits, CornersBits, NameTaken, PortBits, StimulusBits};
pub use value_names::ValueNames;
// For the macros.
#[doc(hidden)]
pub use selvedge_state;
pub use serde;

/// Everything that a file with a block needs.
pub mod prelude {
    pub use crate::rtl::prelude::*;
    pub use crate::{
        Allowed, Corners, Facts, HwBlock, ParamError, ParamSpec, PortCorners, Prng, Stimulus, StimulusIter,
        Storage, ValueNames, block_params,
    };
}
