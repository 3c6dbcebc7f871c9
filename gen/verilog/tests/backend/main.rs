//! Tests of the Verilog back end against Icarus, Verilator and Yosys.

mod cells;
mod files;
mod golden;
mod layouts;
mod lint;
mod merging;
#[expect(
    clippy::nonminimal_bool,
    clippy::erasing_op,
    reason = "odd expressions are what these patterns are about"
)]
mod patterns;
mod refusals;
mod sequential;
mod source;
mod tools;
