// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_low_partition
//
// Holds two low-priority instructions, oldest first. A flush drops the instructions of one warp.
//
// Part of: awc
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_low_partition (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low; empties the partition
  input  wire        rst_ni,
  // an instruction arrives
  input  wire        stage_i,
  // warp of the arriving instruction
  input  wire  [5:0] warp_i,
  // the arriving instruction
  input  wire [63:0] instruction_i,
  // its lanes, live-in and live-out registers, and last flag
  input  wire [64:0] context_i,
  // drop the instructions of a warp
  input  wire        flush_i,
  // warp whose instructions are dropped
  input  wire  [5:0] flush_warp_i,
  // the oldest instruction is popped
  input  wire        pop_i,
  // an instruction can arrive in the next cycle
  output wire        room_o,
  // the arriving instruction finds no free entry
  output wire        overflow_o,
  // the partition holds an instruction
  output wire        valid_o,
  // warp of the oldest instruction
  output wire  [5:0] warp_o,
  // the oldest instruction
  output wire [63:0] instruction_o,
  // its lanes, live-in and live-out registers, and last flag
  output wire [64:0] context_o
);

  wire enter;
  wire keep_front;
  wire keep_back;
  reg front_valid_q;
  reg [5:0] front_warp_q;
  reg [63:0] front_instruction_q;
  reg [64:0] front_context_q;
  reg back_valid_q;
  reg [5:0] back_warp_q;
  reg [63:0] back_instruction_q;
  reg [64:0] back_context_q;

  assign room_o = ~back_valid_q & ~(front_valid_q & stage_i);
  // a flush drops the arriving instruction and the stored ones
  assign enter = stage_i & ~(flush_i & (warp_i == flush_warp_i));
  assign keep_front = front_valid_q & ~pop_i & ~(flush_i & (front_warp_q == flush_warp_i));
  assign keep_back = back_valid_q & ~(flush_i & (back_warp_q == flush_warp_i));

  assign overflow_o = enter & keep_front & keep_back;

  assign valid_o = front_valid_q;
  assign warp_o = front_warp_q;
  assign instruction_o = front_instruction_q;
  assign context_o = front_context_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      front_valid_q <= 1'b0;
      back_valid_q <= 1'b0;
    end else begin
      front_valid_q <= keep_front | keep_back | enter;
      // an arrival fills the back entry if one instruction stays; if both stay, it is full
      back_valid_q <= (keep_front & keep_back) | (enter & (keep_front | keep_back));
    end
  end

  always @(posedge clk_i) begin
    if (!keep_front) begin
      if (keep_back) begin
        front_warp_q <= back_warp_q;
        front_instruction_q <= back_instruction_q;
        front_context_q <= back_context_q;
      end else if (enter) begin
        front_warp_q <= warp_i;
        front_instruction_q <= instruction_i;
        front_context_q <= context_i;
      end
    end
  end

  always @(posedge clk_i) begin
    if (enter & ~(keep_front & keep_back)) begin
      back_warp_q <= warp_i;
      back_instruction_q <= instruction_i;
      back_context_q <= context_i;
    end
  end

endmodule

`default_nettype wire
