//! Measures area, timing and energy of blocks with external tools, from their emitted Verilog.
//!
//! ```text
//! block ─ emit ─> Verilog ─ Yosys: synth without memory_map ─> logic and $mem_v2
//!                             │
//!                             ├─ abc, once for area and once for delay ─> cells and um2 ([`asic`])
//!                             │     ├─ simulated, with the library's tables ─> energy ([`energy`])
//!                             │     └─ between registers, memories as ports ─ OpenSTA ─> delay, depth ([`timing`])
//!                             ├─ the memories' bits and ports ([`memory`]), and their prices ([`sram`])
//!                             └─ synth_ice40, synth_ecp5 ... ─> LUTs, flip-flops, block RAM ([`fpga`])
//! ```
//!
//! [`batch`] studies any blocks, from the registry or from other crates. [`report`] writes the results, and [`system`] adds
//! them up for a GPU. [`depth`] finds the pipeline depth for a clock, and [`report_file`] reads figures back.
//!
//! Standard-cell figures include no wires, no clock tree and no placement.
//!
//! ```no_run
//! use selvedge_area::batch::{Job, AreaTarget};
//! use selvedge_area::liberty::{Liberty, OSU018};
//! use selvedge_area::study::AsicSetup;
//! use std::sync::atomic::AtomicBool;
//!
//! let library = Liberty::load(OSU018.as_ref())?;
//! let target = AreaTarget::Asic(Box::new(AsicSetup::find(library)?), None);
//! let entry = selvedge_blocks::find("milg").expect("a block");
//! let job = Job { entry, params: entry.defaults(), target: 0, own: None, reset: Default::default(), clock_gating: false };
//! let report = job.study(&target, None, &AtomicBool::new(false))?;
//! println!("{} kGE", report.mappings[0].area_kge.value);
//! # Ok::<(), selvedge_area::AreaError>(())
//! ```

pub mod activity;
pub mod asic;
pub mod batch;
pub mod depth;
pub mod energy;
pub mod energy_study;
mod error;
pub mod figure;
pub mod fpga;
mod function;
pub mod liberty;
pub mod memory;
pub mod operation;
pub mod power_table;
pub mod report;
pub mod report_file;
pub mod sram;
pub mod study;
pub mod system;
mod table;
pub mod technology;
pub mod timing;
pub mod tool;

pub use error::AreaError;
pub use figure::Figure;
pub use table::Table;
