// SPDX-License-Identifier: MIT OR Apache-2.0
// latte_controller_synth_wrapper
//
// latte_controller between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module latte_controller_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        access_i,
  input  wire  [4:0] set_i,
  input  wire        hit_i,
  input  wire        insert_i,
  input  wire  [1:0] schedule_i,
  input  wire [11:0] warps_i,
  input  wire [15:0] cycles_i,
  input  wire        low_hit_i,
  input  wire  [7:0] low_latency_i,
  input  wire        high_hit_i,
  input  wire  [7:0] high_latency_i,
  input  wire        miss_return_i,
  input  wire [11:0] miss_latency_i,
  input  wire  [4:0] lookup_set_i,
  output reg   [1:0] lookup_mode_o,
  output reg         lookup_dedicated_o,
  output reg   [1:0] mode_o,
  output reg         decided_o,
  output reg  [13:0] tolerance_o,
  output reg         learning_o,
  output reg         ep_end_o,
  output reg         build_o,
  output reg         new_codes_o
);

  reg access_i_q;
  reg [4:0] set_i_q;
  reg hit_i_q;
  reg insert_i_q;
  reg [1:0] schedule_i_q;
  reg [11:0] warps_i_q;
  reg [15:0] cycles_i_q;
  reg low_hit_i_q;
  reg [7:0] low_latency_i_q;
  reg high_hit_i_q;
  reg [7:0] high_latency_i_q;
  reg miss_return_i_q;
  reg [11:0] miss_latency_i_q;
  reg [4:0] lookup_set_i_q;
  wire [1:0] lookup_mode_o_d;
  wire lookup_dedicated_o_d;
  wire [1:0] mode_o_d;
  wire decided_o_d;
  wire [13:0] tolerance_o_d;
  wire learning_o_d;
  wire ep_end_o_d;
  wire build_o_d;
  wire new_codes_o_d;

  always @(posedge clk_i) begin
    access_i_q <= access_i;
    set_i_q <= set_i;
    hit_i_q <= hit_i;
    insert_i_q <= insert_i;
    schedule_i_q <= schedule_i;
    warps_i_q <= warps_i;
    cycles_i_q <= cycles_i;
    low_hit_i_q <= low_hit_i;
    low_latency_i_q <= low_latency_i;
    high_hit_i_q <= high_hit_i;
    high_latency_i_q <= high_latency_i;
    miss_return_i_q <= miss_return_i;
    miss_latency_i_q <= miss_latency_i;
    lookup_set_i_q <= lookup_set_i;
    lookup_mode_o <= lookup_mode_o_d;
    lookup_dedicated_o <= lookup_dedicated_o_d;
    mode_o <= mode_o_d;
    decided_o <= decided_o_d;
    tolerance_o <= tolerance_o_d;
    learning_o <= learning_o_d;
    ep_end_o <= ep_end_o_d;
    build_o <= build_o_d;
    new_codes_o <= new_codes_o_d;
  end

  latte_controller dut (
    .clk_i              (clk_i),
    .rst_ni             (rst_ni),
    .access_i           (access_i_q),
    .set_i              (set_i_q),
    .hit_i              (hit_i_q),
    .insert_i           (insert_i_q),
    .schedule_i         (schedule_i_q),
    .warps_i            (warps_i_q),
    .cycles_i           (cycles_i_q),
    .low_hit_i          (low_hit_i_q),
    .low_latency_i      (low_latency_i_q),
    .high_hit_i         (high_hit_i_q),
    .high_latency_i     (high_latency_i_q),
    .miss_return_i      (miss_return_i_q),
    .miss_latency_i     (miss_latency_i_q),
    .lookup_set_i       (lookup_set_i_q),
    .lookup_mode_o      (lookup_mode_o_d),
    .lookup_dedicated_o (lookup_dedicated_o_d),
    .mode_o             (mode_o_d),
    .decided_o          (decided_o_d),
    .tolerance_o        (tolerance_o_d),
    .learning_o         (learning_o_d),
    .ep_end_o           (ep_end_o_d),
    .build_o            (build_o_d),
    .new_codes_o        (new_codes_o_d)
  );

endmodule

`default_nettype wire
