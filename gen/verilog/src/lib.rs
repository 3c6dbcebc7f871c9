//! Selvedge's Verilog back end: writes a block, which is Rust, as Verilog-2005 with exactly the same behaviour.
//!
//! rust-hdl's own emitter disagrees with its simulation on common expressions. This back end gives every literal and every
//! operand its exact width. It follows every statement through all iterations of its loops. It refuses code that it cannot
//! translate: [`EmitError`] names the block, the expression and the reason. The emitted Verilog looks hand-written:
//!
//! | in Rust | in Verilog |
//! |---|---|
//! | an array of signals | a packed vector, element `i` at `x[i*W +: W]` |
//! | a `for` loop | a named `for` loop |
//! | a `Reg` | `reg x_q` in the module that has it, and an `always @(posedge clk_i ...)` |
//! | one assignment to a signal | `assign` |
//! | several | one `always @(*)` with its defaults |
//! | an array of equal sub-blocks | a `generate` loop |
//! | blocks that differ only in const generics or widths | one module with parameters |
//! | a block under all values of some of its parameters ([`Family`]) | one module with these parameters |
//! | a memory, pipeline or packer of the kit | a cell that all blocks share: `selvedge_mem` ([`Cells`]) |
//! | doc comments and `comment!` | comments |
//!
//! [`emit`] returns a [`Design`]; [`files`] writes the files around it. [`Language`] chooses SystemVerilog instead.
//!
//! ```
//! use selvedge_gen::{EmitOptions, emit};
//! use selvedge_hw::rtl::prelude::*;
//!
//! rtl_block! {
//!     /// Adds three bits.
//!     pub struct FullAdder {
//!         /// first
//!         pub a_i: Signal<In, Bit>,
//!         /// second
//!         pub b_i: Signal<In, Bit>,
//!         /// third
//!         pub c_i: Signal<In, Bit>,
//!         /// an odd number of inputs is high
//!         pub sum_o: Signal<Out, Bit>,
//!         /// at least two inputs are high
//!         pub carry_o: Signal<Out, Bit>,
//!     }
//! }
//!
//! #[hdl_gen]
//! impl Logic for FullAdder {
//!     fn update(&mut self) {
//!         self.sum_o.next = self.a_i.val() ^ self.b_i.val() ^ self.c_i.val();
//!         self.carry_o.next =
//!             (self.a_i.val() & self.b_i.val()) | (self.c_i.val() & (self.a_i.val() | self.b_i.val()));
//!     }
//! }
//!
//! let design = emit(&FullAdder::default(), "full_adder", &EmitOptions::default())?;
//! assert!(design.text().contains("assign sum_o = a_i ^ b_i ^ c_i;"));
//! # Ok::<(), selvedge_gen::EmitError>(())
//! ```

mod aliases;
mod builder;
mod cells;
mod check;
mod choices;
mod clean;
mod clock_gate;
#[cfg(test)]
mod clutter;
mod condense;
mod design;
mod elaborate;
mod enumeration;
mod error;
mod eval;
mod family;
pub mod files;
mod formula;
mod gating;
mod head;
mod hoist;
mod ir;
mod lanes;
mod layout;
mod leaf;
mod limits;
mod lower;
mod memories;
mod merge;
mod module;
mod names;
mod options;
mod schedule;
mod simplify;
mod streams;
#[cfg(test)]
mod style;
mod syntax;
mod twins;
mod verilog;
mod write;

pub use design::{Design, VerilogModule, emit, emit_family};
pub use error::{EmitError, Problem};
pub use family::{Family, FamilySample};
pub use gating::TEST_ENABLE;
pub use memories::{MemoryForm, MemoryInstance, macro_name, memories, with_macros};
pub use module::VerilogPort;
pub use options::{Cells, EmitOptions, FileHeader, Language, ResetStyle, UnknownReset};
pub use streams::interface_files;

/// Runs the code example of the page for users of rust-hdl as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/how-to/port-from-rust-hdl.md")]
struct PortFromRustHdl;
