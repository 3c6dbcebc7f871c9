//! Uses one stimulus per block for waveforms, a self-checking Verilog testbench, and the proof that golden model, RTL and
//! emitted Verilog agree in every cycle.
//!
//! | module | content |
//! |---|---|
//! | [`vectors`] | a block's stimulus with the outputs that the golden model expects |
//! | [`wave`] | waveforms as VCD or FST, and additional files for viewers |
//! | [`fst`](mod@fst) | a waveform as FST |
//! | [`gtkwave`] | GTKWave's save file |
//! | [`surfer`] | Surfer's command file |
//! | [`name_files`] | names of values, for viewers |
//! | [`emitted`] | a block's Verilog with its ports and reset style |
//! | [`own`] | Verilog of the user that replaces a block |
//! | [`testbench`] | the self-checking Verilog-2005 testbench |
//! | [`vector_file`] | the vectors as a text file for other tools |
//! | [`cocotb`] | a testbench in Python, for cocotb |
//! | [`verilator`] | the emitted Verilog compiled and stepped in this process |
//! | [`recorded`] | the inputs and outputs of an instance in a waveform |
//! | [`icarus`] | a run of the testbench under Icarus Verilog |
//! | [`covered`] | vectors that end when the corner cases are reached |
//! | [`compiler`] | the emitted Verilog compiled for a GPU with blocks that run as Verilog |
//! | `confined` | the refusal of Verilog that acts outside the simulation |
//! | [`equivalence`] | model, RTL and Verilog in lockstep |
//! | [`verification`] | model, RTL, emitted and custom Verilog with the coverage of the stimulus |
//! | [`mutation`] | faults that are planted in Verilog |
//! | [`formal`] | proofs of properties of the emitted Verilog |
//! | [`properties`] | properties of blocks, as assertions |
//! | [`parallel`] | threads for work that waits for them |
//! | [`skipped`] | tests that are not run, for the count of `tests/run` |
//! | [`tool`] | external programs and the packages that install them |
//!
//! All modules use the registry of `selvedge-hw`, so a new block needs no change here.

pub mod cocotb;
pub mod compiler;
mod confined;
pub mod covered;
pub mod emitted;
pub mod equivalence;
pub mod formal;
pub mod fst;
pub mod gtkwave;
pub mod icarus;
mod library;
pub mod literal;
pub mod mutation;
pub mod name_files;
pub mod own;
pub mod parallel;
pub mod properties;
pub mod pyosys;
pub mod recorded;
pub mod skipped;
pub mod surfer;
pub mod testbench;
pub mod tool;
pub mod vector_file;
pub mod vectors;
pub mod verification;
pub mod verilator;
pub mod wave;

#[cfg(test)]
mod accumulator;
