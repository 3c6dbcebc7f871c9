//! The kit that all RTL of this crate stands on.
//!
//! | module | what it gives |
//! |---|---|
//! | [`bits`] | [`U`](bits::U) and [`W`](bits::W): fast fixed-width values for signals |
//! | [`describe`] | [`rtl_block!`](crate::rtl_block): a block's struct, whose doc comments reach the Verilog |
//! | [`layout`] | [`layouts!`](crate::layouts): names for the fields of wide vectors |
//! | [`reg`](mod@reg) | [`Reg`](reg::Reg): a register with reset, and [`DataReg`](reg::DataReg), one without; wired by [`dff_setup!`](crate::dff_setup) |
//! | [`mem`] | [`Mem`](mem::Mem), [`SyncMem`](mem::SyncMem): memories with asynchronous or registered read |
//! | [`replicated_mem`] | [`ReplicatedMem`](replicated_mem::ReplicatedMem): a memory with several read ports, a copy for each |
//! | [`bit_array`] | [`BitArray`](bit_array::BitArray): bits set and tested one at a time, cleared at once |
//! | [`pipe`] | [`Pipe`](pipe::Pipe): a number of pipeline stages |
//! | [`elastic`] | [`ElasticPipe`](elastic::ElasticPipe): pipeline stages between valid/ready partners that close gaps |
//! | [`packer`], [`unpacker`] | [`BitPacker`](packer::BitPacker), [`BitJoiner`](packer::BitJoiner), [`BitUnpacker`](unpacker::BitUnpacker), [`BitSplitter`](unpacker::BitSplitter): fields of variable length to one string of bits, and back |
//! | [`valid_ready`] | [`ValidReady`](valid_ready::ValidReady): a two-entry stage between valid/ready partners |
//! | [`gate`] | [`Gate`](gate::Gate): skips a sub-block whose inputs did not change |
//! | [`idle`] | [`Idle`](idle::Idle): skips a clocked sub-block that has come to rest |
//! | [`source`] | a block's body as data: what `#[hdl_gen]` makes, and rust-hdl's syntax tree of it |
//! | [`registers`] | [`Registers`](registers::Registers): every register of a block by name, and what it holds |
//! | [`once`] | [`Once`](once::Once): evaluates pure logic once per change of its inputs |
//! | [`activity`] | whether a register or memory changed: what does not change need not be evaluated |
//! | [`circuit`] | evaluates a block in order and once per clock, as a simulation does |
//! | [`step`] | [`Stepper`](step::Stepper): clocks a block, one cycle per call |
//! | [`elaborate`](mod@elaborate) | [`elaborate!`](crate::elaborate): from a block's parameters to its RTL, const generics by name |
//! | [`module`] | [`rtl_module!`](crate::rtl_module): the top of a block, each port stated once |
//! | [`top`] | [`RtlTop`](top::RtlTop): a block's signals as typed ports, written by [`rtl_top!`](crate::rtl_top) |
//!
//! # Writing a block
//!
//! ```
//! use selvedge_hw::rtl::prelude::*;
//!
//! rtl_block! {
//!     /// Counts the cycles in which `enable_i` is high.
//!     #[derive(LogicBlock, Default)]
//!     pub struct Counter<const N: usize> {
//!         /// clock
//!         pub clk_i: Signal<In, Clock>,
//!         /// asynchronous reset, active low
//!         pub rst_ni: Signal<In, Bit>,
//!         /// count this cycle
//!         pub enable_i: Signal<In, Bit>,
//!         /// the count, modulo 2^N
//!         pub count_o: Signal<Out, U<N>>,
//!         count: Reg<U<N>>,
//!     }
//! }
//! impl<const N: usize> Logic for Counter<N> {
//!     #[hdl_gen]
//!     fn update(&mut self) {
//!         dff_setup!(self, clk_i, count);
//!         comment!("one step per enabled cycle");
//!         if self.enable_i.val() {
//!             self.count.d.next = self.count.q.val() + 1;
//!         }
//!         self.count_o.next = self.count.q.val();
//!     }
//!     fn timing(&self) -> Vec<TimingInfo> {
//!         self.describe()
//!     }
//! }
//!
//! let mut counter = Stepper::new(Counter::<8>::default()).unwrap();
//! let seen = counter.step(|c| c.enable_i.next = true, |c| c.count_o.val().to_u64()).unwrap();
//! assert_eq!(seen, 0);
//! let seen = counter.step(|c| c.enable_i.next = false, |c| c.count_o.val().to_u64()).unwrap();
//! assert_eq!(seen, 1);
//! ```
//!
//! What [`#[hdl_gen]`](selvedge_macros::hdl_gen) accepts: assignments to `.next`, `if`/`else`, `match` on a `LogicState`,
//! `for i in A..B`, arrays of signals and of sub-blocks, `comment!`. There is no `let`: a scalar `Local` that is assigned
//! anew in each turn of a loop takes its place. What it does not accept, as `..=` in a loop, is a compile error.

pub mod activity;
pub mod bit_array;
pub mod bits;
pub mod circuit;
pub mod describe;
pub mod elaborate;
pub mod elastic;
pub mod gate;
pub mod idle;
pub mod layout;
pub mod mem;
pub mod module;
pub mod once;
pub mod packer;
pub mod pipe;
pub mod reg;
pub mod registers;
pub mod replicated_mem;
pub mod source;
pub mod step;
pub mod top;
pub mod unpacker;
pub mod valid_ready;

/// Everything that a file with RTL needs: `use crate::rtl::prelude::*;`.
pub mod prelude {
    pub use super::bit_array::BitArray;
    pub use super::bits::{U, W, array, bit_cast, bit_cast_to, to_bits::ToBits};
    pub use super::describe::Described;
    pub use super::elaborate::{width_of, word_count};
    pub use super::elastic::ElasticPipe;
    pub use super::gate::{Gate, Pending};
    pub use super::idle::Idle;
    pub use super::mem::{Mem, SyncMem};
    pub use super::once::{Once, PureLogic};
    pub use super::packer::{BitJoiner, BitPacker};
    pub use super::pipe::Pipe;
    pub use super::reg::{DataReg, Reg};
    pub use super::replicated_mem::ReplicatedMem;
    pub use super::step::{ClockedBlock, StepError, Stepper, settle};
    pub use super::top::{RtlInstance, RtlTop, Wire};
    pub use super::unpacker::{BitSplitter, BitUnpacker};
    pub use super::valid_ready::ValidReady;
    pub use crate::block::{Clocked, RtlBlock};
    pub use crate::{comment, dff_setup, elaborate, layouts, rtl_block, rtl_module, rtl_top};
    pub use rust_hdl_core::prelude::{
        Bit, Block, Clock, Constant, In, Local, Logic, LogicBlock, LogicState, Out, Probe, Signal, Synth,
        TimingInfo, TypeDescriptor, TypeKind, VCDValue, Verilog, VerilogLiteral, Wrapper, ast, block, clog2,
        logic, probe, synth, type_descriptor,
    };
    pub use selvedge_macros::hdl_gen;
}
