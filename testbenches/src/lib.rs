//! One stimulus per block, put to every use: waveforms to look at, a self-checking Verilog testbench, and the proof that
//! golden model, RTL and emitted Verilog agree cycle by cycle.
//!
//! | module | what it gives |
//! |---|---|
//! | [`vectors`] | a block's stimulus with the outputs that the golden model expects |
//! | [`wave`] | waveforms as VCD or FST, with what viewers need beside them |
//! | [`fst`](mod@fst) | a waveform as FST |
//! | [`gtkwave`] | GTKWave's save file |
//! | [`surfer`] | Surfer's command file |
//! | [`name_files`] | names of values, for viewers |
//! | [`emitted`] | a block's Verilog together with its ports and reset style |
//! | [`own`] | Verilog of the user in place of a block |
//! | [`testbench`] | the self-checking Verilog-2005 testbench |
//! | [`vector_file`] | the vectors as a text file for other tools |
//! | [`cocotb`] | a testbench in Python, for cocotb |
//! | [`verilator`] | the emitted Verilog compiled and stepped in this process |
//! | [`recorded`] | what an instance got and gave in a waveform |
//! | [`icarus`] | a run of the testbench under Icarus Verilog |
//! | [`compiler`] | the emitted Verilog compiled for the GPU, where blocks run as Verilog |
//! | [`equivalence`] | model, RTL and Verilog in lock-step |
//! | [`formal`] | proofs of properties of the emitted Verilog |
//! | [`properties`] | what blocks promise, as assertions |
//! | [`parallel`] | some threads for work that waits for them |
//! | [`skipped`] | tests that are not run, for the count of `tests/run` |
//! | [`tool`] | external programs, and what to install when one is missing |
//!
//! All of it walks the registry of `selvedge-hw`: a new block needs nothing here.

pub mod cocotb;
pub mod compiler;
pub mod emitted;
pub mod equivalence;
pub mod formal;
pub mod fst;
pub mod gtkwave;
pub mod icarus;
mod library;
pub mod literal;
pub mod name_files;
pub mod own;
pub mod parallel;
pub mod properties;
pub mod recorded;
pub mod skipped;
pub mod surfer;
pub mod testbench;
pub mod tool;
pub mod vector_file;
pub mod vectors;
pub mod verilator;
pub mod wave;

#[cfg(test)]
mod accumulator;
