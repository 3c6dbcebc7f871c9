// SPDX-License-Identifier: MIT OR Apache-2.0
// awb_synth_wrapper
//
// awb between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awb_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        stage_valid_i,
  input  wire  [5:0] stage_warp_i,
  input  wire        stage_high_i,
  input  wire        stage_last_i,
  input  wire [63:0] stage_instruction_i,
  input  wire [31:0] stage_mask_i,
  input  wire [15:0] stage_live_in_i,
  input  wire [15:0] stage_live_out_i,
  input  wire        flush_high_i,
  input  wire        flush_low_i,
  input  wire  [5:0] flush_warp_i,
  input  wire  [4:0] issue0_index_i,
  input  wire        issue0_pop_i,
  input  wire  [4:0] issue1_index_i,
  input  wire        issue1_pop_i,
  input  wire        low_pop_i,
  output reg  [47:0] high_room_o,
  output reg         low_room_o,
  output reg  [47:0] high_valid_o,
  output reg  [63:0] issue0_instruction_o,
  output reg  [31:0] issue0_mask_o,
  output reg  [15:0] issue0_live_in_o,
  output reg  [15:0] issue0_live_out_o,
  output reg         issue0_last_o,
  output reg  [63:0] issue1_instruction_o,
  output reg  [31:0] issue1_mask_o,
  output reg  [15:0] issue1_live_in_o,
  output reg  [15:0] issue1_live_out_o,
  output reg         issue1_last_o,
  output reg         low_valid_o,
  output reg   [5:0] low_warp_o,
  output reg  [63:0] low_instruction_o,
  output reg  [31:0] low_mask_o,
  output reg  [15:0] low_live_in_o,
  output reg  [15:0] low_live_out_o,
  output reg         low_last_o,
  output reg         overflow_o
);

  reg stage_valid_i_q;
  reg [5:0] stage_warp_i_q;
  reg stage_high_i_q;
  reg stage_last_i_q;
  reg [63:0] stage_instruction_i_q;
  reg [31:0] stage_mask_i_q;
  reg [15:0] stage_live_in_i_q;
  reg [15:0] stage_live_out_i_q;
  reg flush_high_i_q;
  reg flush_low_i_q;
  reg [5:0] flush_warp_i_q;
  reg [4:0] issue0_index_i_q;
  reg issue0_pop_i_q;
  reg [4:0] issue1_index_i_q;
  reg issue1_pop_i_q;
  reg low_pop_i_q;
  wire [47:0] high_room_o_d;
  wire low_room_o_d;
  wire [47:0] high_valid_o_d;
  wire [63:0] issue0_instruction_o_d;
  wire [31:0] issue0_mask_o_d;
  wire [15:0] issue0_live_in_o_d;
  wire [15:0] issue0_live_out_o_d;
  wire issue0_last_o_d;
  wire [63:0] issue1_instruction_o_d;
  wire [31:0] issue1_mask_o_d;
  wire [15:0] issue1_live_in_o_d;
  wire [15:0] issue1_live_out_o_d;
  wire issue1_last_o_d;
  wire low_valid_o_d;
  wire [5:0] low_warp_o_d;
  wire [63:0] low_instruction_o_d;
  wire [31:0] low_mask_o_d;
  wire [15:0] low_live_in_o_d;
  wire [15:0] low_live_out_o_d;
  wire low_last_o_d;
  wire overflow_o_d;

  always @(posedge clk_i) begin
    stage_valid_i_q <= stage_valid_i;
    stage_warp_i_q <= stage_warp_i;
    stage_high_i_q <= stage_high_i;
    stage_last_i_q <= stage_last_i;
    stage_instruction_i_q <= stage_instruction_i;
    stage_mask_i_q <= stage_mask_i;
    stage_live_in_i_q <= stage_live_in_i;
    stage_live_out_i_q <= stage_live_out_i;
    flush_high_i_q <= flush_high_i;
    flush_low_i_q <= flush_low_i;
    flush_warp_i_q <= flush_warp_i;
    issue0_index_i_q <= issue0_index_i;
    issue0_pop_i_q <= issue0_pop_i;
    issue1_index_i_q <= issue1_index_i;
    issue1_pop_i_q <= issue1_pop_i;
    low_pop_i_q <= low_pop_i;
    high_room_o <= high_room_o_d;
    low_room_o <= low_room_o_d;
    high_valid_o <= high_valid_o_d;
    issue0_instruction_o <= issue0_instruction_o_d;
    issue0_mask_o <= issue0_mask_o_d;
    issue0_live_in_o <= issue0_live_in_o_d;
    issue0_live_out_o <= issue0_live_out_o_d;
    issue0_last_o <= issue0_last_o_d;
    issue1_instruction_o <= issue1_instruction_o_d;
    issue1_mask_o <= issue1_mask_o_d;
    issue1_live_in_o <= issue1_live_in_o_d;
    issue1_live_out_o <= issue1_live_out_o_d;
    issue1_last_o <= issue1_last_o_d;
    low_valid_o <= low_valid_o_d;
    low_warp_o <= low_warp_o_d;
    low_instruction_o <= low_instruction_o_d;
    low_mask_o <= low_mask_o_d;
    low_live_in_o <= low_live_in_o_d;
    low_live_out_o <= low_live_out_o_d;
    low_last_o <= low_last_o_d;
    overflow_o <= overflow_o_d;
  end

  awb dut (
    .clk_i                (clk_i),
    .rst_ni               (rst_ni),
    .stage_valid_i        (stage_valid_i_q),
    .stage_warp_i         (stage_warp_i_q),
    .stage_high_i         (stage_high_i_q),
    .stage_last_i         (stage_last_i_q),
    .stage_instruction_i  (stage_instruction_i_q),
    .stage_mask_i         (stage_mask_i_q),
    .stage_live_in_i      (stage_live_in_i_q),
    .stage_live_out_i     (stage_live_out_i_q),
    .flush_high_i         (flush_high_i_q),
    .flush_low_i          (flush_low_i_q),
    .flush_warp_i         (flush_warp_i_q),
    .issue0_index_i       (issue0_index_i_q),
    .issue0_pop_i         (issue0_pop_i_q),
    .issue1_index_i       (issue1_index_i_q),
    .issue1_pop_i         (issue1_pop_i_q),
    .low_pop_i            (low_pop_i_q),
    .high_room_o          (high_room_o_d),
    .low_room_o           (low_room_o_d),
    .high_valid_o         (high_valid_o_d),
    .issue0_instruction_o (issue0_instruction_o_d),
    .issue0_mask_o        (issue0_mask_o_d),
    .issue0_live_in_o     (issue0_live_in_o_d),
    .issue0_live_out_o    (issue0_live_out_o_d),
    .issue0_last_o        (issue0_last_o_d),
    .issue1_instruction_o (issue1_instruction_o_d),
    .issue1_mask_o        (issue1_mask_o_d),
    .issue1_live_in_o     (issue1_live_in_o_d),
    .issue1_live_out_o    (issue1_live_out_o_d),
    .issue1_last_o        (issue1_last_o_d),
    .low_valid_o          (low_valid_o_d),
    .low_warp_o           (low_warp_o_d),
    .low_instruction_o    (low_instruction_o_d),
    .low_mask_o           (low_mask_o_d),
    .low_live_in_o        (low_live_in_o_d),
    .low_live_out_o       (low_live_out_o_d),
    .low_last_o           (low_last_o_d),
    .overflow_o           (overflow_o_d)
  );

endmodule

`default_nettype wire
