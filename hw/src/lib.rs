//! Selvedge's hardware blocks: each exists as a golden model and as RTL with the same ports and the same cycles.
//!
//! | module | what it gives |
//! |---|---|
//! | [`block`] | the contract: [`HwBlock`], [`Clocked`], [`RtlBlock`] |
//! | [`ports`](mod@ports) | typed port values that convert to bits, declared by [`ports!`] |
//! | [`params`] | parameter declarations, parsing and errors |
//! | [`registry`] | [`BLOCKS`], the list of every block, without its types |
//! | [`engine`] | [`Instance`]: a block under the engine `model`, `rtl` or `lockstep` |
//! | [`wave`] | recorded ports as VCD |
//! | [`rtl`] | the kit that RTL stands on |
//! | [`bdi`], [`bgp`], [`milg`] | the blocks |

pub mod bdi;
pub mod bgp;
pub mod block;
pub mod engine;
pub mod milg;
pub mod params;
pub mod ports;
mod prng;
pub mod registry;
pub mod rtl;
mod rtl_instance;
pub mod wave;

pub use block::{Clocked, Facts, HwBlock, RtlBlock, Stimulus, StimulusIter, Storage};
pub use engine::{Divergence, Engine, Fault, Instance};
pub use params::{Allowed, ParamError, ParamSpec};
pub use ports::{Direction, Port, PortValue, Ports};
pub use prng::Prng;
pub use registry::{BLOCKS, BlockEntry, ClockedBits, PortBits, StimulusBits, find};
