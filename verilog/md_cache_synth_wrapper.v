// SPDX-License-Identifier: MIT OR Apache-2.0
// md_cache_synth_wrapper
//
// md_cache between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module md_cache_synth_wrapper (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire         valid_i,
  input  wire         update_i,
  input  wire  [31:0] line_i,
  input  wire   [1:0] entry_i,
  input  wire         refill_ready_i,
  input  wire         fill_valid_i,
  input  wire [255:0] fill_data_i,
  input  wire         writeback_ready_i,
  output reg          ready_o,
  output reg          valid_o,
  output reg          hit_o,
  output reg    [1:0] entry_o,
  output reg          refill_valid_o,
  output reg   [24:0] refill_block_o,
  output reg          writeback_valid_o,
  output reg   [24:0] writeback_block_o,
  output reg  [255:0] writeback_data_o
);

  reg valid_i_q;
  reg update_i_q;
  reg [31:0] line_i_q;
  reg [1:0] entry_i_q;
  reg refill_ready_i_q;
  reg fill_valid_i_q;
  reg [255:0] fill_data_i_q;
  reg writeback_ready_i_q;
  wire ready_o_d;
  wire valid_o_d;
  wire hit_o_d;
  wire [1:0] entry_o_d;
  wire refill_valid_o_d;
  wire [24:0] refill_block_o_d;
  wire writeback_valid_o_d;
  wire [24:0] writeback_block_o_d;
  wire [255:0] writeback_data_o_d;

  always @(posedge clk_i) begin
    valid_i_q <= valid_i;
    update_i_q <= update_i;
    line_i_q <= line_i;
    entry_i_q <= entry_i;
    refill_ready_i_q <= refill_ready_i;
    fill_valid_i_q <= fill_valid_i;
    fill_data_i_q <= fill_data_i;
    writeback_ready_i_q <= writeback_ready_i;
    ready_o <= ready_o_d;
    valid_o <= valid_o_d;
    hit_o <= hit_o_d;
    entry_o <= entry_o_d;
    refill_valid_o <= refill_valid_o_d;
    refill_block_o <= refill_block_o_d;
    writeback_valid_o <= writeback_valid_o_d;
    writeback_block_o <= writeback_block_o_d;
    writeback_data_o <= writeback_data_o_d;
  end

  md_cache dut (
    .clk_i             (clk_i),
    .rst_ni            (rst_ni),
    .valid_i           (valid_i_q),
    .update_i          (update_i_q),
    .line_i            (line_i_q),
    .entry_i           (entry_i_q),
    .refill_ready_i    (refill_ready_i_q),
    .fill_valid_i      (fill_valid_i_q),
    .fill_data_i       (fill_data_i_q),
    .writeback_ready_i (writeback_ready_i_q),
    .ready_o           (ready_o_d),
    .valid_o           (valid_o_d),
    .hit_o             (hit_o_d),
    .entry_o           (entry_o_d),
    .refill_valid_o    (refill_valid_o_d),
    .refill_block_o    (refill_block_o_d),
    .writeback_valid_o (writeback_valid_o_d),
    .writeback_block_o (writeback_block_o_d),
    .writeback_data_o  (writeback_data_o_d)
  );

endmodule

`default_nettype wire
