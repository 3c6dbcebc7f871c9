//! Tests of the Verilog back end against Icarus, Verilator and Yosys.

mod cells;
mod family;
mod files;
mod gates;
mod golden;
mod layouts;
mod lint;
mod memories;
mod merging;
mod patterns;
mod refusals;
mod sequential;
mod shortening;
mod source;
mod tools;
mod types;
