//! Area and timing of blocks, measured by outside tools on their emitted Verilog.
//!
//! ```text
//! block ─ emit ─> Verilog ─ Yosys: synth without memory_map ─> logic and $mem_v2
//!                             │
//!                             ├─ abc, once for area and once for delay ─> cells and um2 ([`asic`])
//!                             │     ├─ simulated, with the library's tables ─> energy ([`energy`])
//!                             │     └─ between registers, memories as ports ─ OpenSTA ─> delay, depth ([`timing`])
//!                             ├─ the memories' bits and ports ([`memory`]), and what they cost ([`sram`])
//!                             └─ synth_ice40, synth_ecp5 ... ─> LUTs, flip-flops, block RAM ([`fpga`])
//! ```
//!
//! Wires, clock tree and placement are in none of the standard-cell figures.

pub mod asic;
pub mod energy;
pub mod energy_study;
mod error;
pub mod figure;
pub mod fpga;
mod function;
pub mod liberty;
pub mod memory;
pub mod power_table;
pub mod sram;
pub mod study;
pub mod technology;
pub mod timing;
pub mod tool;

pub use error::AreaError;
pub use figure::Figure;
