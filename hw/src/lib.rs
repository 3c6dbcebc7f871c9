//! Selvedge's hardware blocks: each exists as a golden model and as RTL with the same ports and the same cycles.
//!
//! | module | what it gives |
//! |---|---|
//! | [`block`] | the contract: [`HwBlock`], [`Clocked`], [`RtlBlock`] |
//! | [`corners`] | what a block's stimulus must reach: [`Corners`] |
//! | [`ports`](mod@ports) | typed port values that convert to bits, declared by [`ports!`] |
//! | [`params`] | parameter declarations, parsing and errors |
//! | [`registry`] | [`BLOCKS`], the list of every block, without its types |
//! | [`engine`] | [`Instance`]: a block under the engine `model`, `rtl` or `lockstep` |
//! | [`verify`](mod@verify) | model against RTL over a block's stimulus |
//! | [`wave`] | recorded ports as VCD |
//! | [`file`](mod@file) | files of bounded size |
//! | [`printable`](mod@printable) | text of others, made fit for a terminal |
//! | [`rtl`] | the kit that RTL stands on |
//! | [`assist`], [`bdi`], [`bgp`], [`bpc`], [`bpg`], [`cpack`], [`decompression_queue`], [`fpc`], [`latte_controller`], [`md_cache`], [`milg`], [`qbmi`], [`sc`], [`set_index`], [`spp`] | the blocks |
//! | [`sc`] | what the blocks of statistical compression share |

// `#[hdl_gen]` writes `::selvedge_hw::rtl::source`, here as in other crates.
extern crate self as selvedge_hw;

pub mod assist;
pub mod bdi;
pub mod bgp;
pub mod block;
pub mod bpc;
pub mod bpg;
pub mod corners;
pub mod cpack;
pub mod decompression_queue;
pub mod engine;
pub mod file;
pub mod fpc;
pub mod latte_controller;
pub mod md_cache;
pub mod milg;
pub mod names;
pub mod params;
mod pipeline;
pub mod ports;
pub mod printable;
mod prng;
pub mod qbmi;
pub mod registry;
pub mod rtl;
pub mod sc;
pub mod set_index;
pub mod spp;
mod traffic;
pub mod verify;
pub mod wave;

pub use block::{Claim, Clocked, Facts, HwBlock, RtlBlock, Stimulus, StimulusIter, Storage};
pub use corners::{Corner, Corners, PortCorners};
pub use engine::{Divergence, Engine, Fault, Instance};
pub use params::{Allowed, ParamError, ParamSpec};
pub use ports::{Direction, Port, PortValue, Ports};
pub use prng::Prng;
pub use registry::{BLOCKS, BlockEntry, ClockedBits, CornersBits, NameTaken, PortBits, StimulusBits, find};
// For the macros.
#[doc(hidden)]
pub use serde;
