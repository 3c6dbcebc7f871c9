// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_synth_wrapper
//
// awc between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        load_i,
  input  wire  [8:0] load_address_i,
  input  wire [63:0] load_data_i,
  input  wire        map_write_i,
  input  wire  [4:0] map_event_i,
  input  wire        map_enable_i,
  input  wire        map_high_i,
  input  wire  [4:0] map_sr_i,
  input  wire  [6:0] map_end_i,
  input  wire        trigger_valid_i,
  input  wire  [4:0] trigger_event_i,
  input  wire  [5:0] trigger_warp_i,
  input  wire [31:0] trigger_mask_i,
  input  wire [15:0] trigger_live_in_i,
  input  wire [15:0] trigger_live_out_i,
  input  wire        kill_high_i,
  input  wire        kill_low_i,
  input  wire  [5:0] kill_warp_i,
  input  wire  [2:0] busy_i,
  input  wire        idle_i,
  input  wire  [4:0] issue0_index_i,
  input  wire        issue0_pop_i,
  input  wire  [4:0] issue1_index_i,
  input  wire        issue1_pop_i,
  input  wire        low_pop_i,
  output reg         trigger_known_o,
  output reg         trigger_high_o,
  output reg         trigger_ready_o,
  output reg         full_o,
  output reg         fetch_o,
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
  output reg         throttled_o,
  output reg  [47:0] active_o
);

  reg load_i_q;
  reg [8:0] load_address_i_q;
  reg [63:0] load_data_i_q;
  reg map_write_i_q;
  reg [4:0] map_event_i_q;
  reg map_enable_i_q;
  reg map_high_i_q;
  reg [4:0] map_sr_i_q;
  reg [6:0] map_end_i_q;
  reg trigger_valid_i_q;
  reg [4:0] trigger_event_i_q;
  reg [5:0] trigger_warp_i_q;
  reg [31:0] trigger_mask_i_q;
  reg [15:0] trigger_live_in_i_q;
  reg [15:0] trigger_live_out_i_q;
  reg kill_high_i_q;
  reg kill_low_i_q;
  reg [5:0] kill_warp_i_q;
  reg [2:0] busy_i_q;
  reg idle_i_q;
  reg [4:0] issue0_index_i_q;
  reg issue0_pop_i_q;
  reg [4:0] issue1_index_i_q;
  reg issue1_pop_i_q;
  reg low_pop_i_q;
  wire trigger_known_o_d;
  wire trigger_high_o_d;
  wire trigger_ready_o_d;
  wire full_o_d;
  wire fetch_o_d;
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
  wire throttled_o_d;
  wire [47:0] active_o_d;

  always @(posedge clk_i) begin
    load_i_q <= load_i;
    load_address_i_q <= load_address_i;
    load_data_i_q <= load_data_i;
    map_write_i_q <= map_write_i;
    map_event_i_q <= map_event_i;
    map_enable_i_q <= map_enable_i;
    map_high_i_q <= map_high_i;
    map_sr_i_q <= map_sr_i;
    map_end_i_q <= map_end_i;
    trigger_valid_i_q <= trigger_valid_i;
    trigger_event_i_q <= trigger_event_i;
    trigger_warp_i_q <= trigger_warp_i;
    trigger_mask_i_q <= trigger_mask_i;
    trigger_live_in_i_q <= trigger_live_in_i;
    trigger_live_out_i_q <= trigger_live_out_i;
    kill_high_i_q <= kill_high_i;
    kill_low_i_q <= kill_low_i;
    kill_warp_i_q <= kill_warp_i;
    busy_i_q <= busy_i;
    idle_i_q <= idle_i;
    issue0_index_i_q <= issue0_index_i;
    issue0_pop_i_q <= issue0_pop_i;
    issue1_index_i_q <= issue1_index_i;
    issue1_pop_i_q <= issue1_pop_i;
    low_pop_i_q <= low_pop_i;
    trigger_known_o <= trigger_known_o_d;
    trigger_high_o <= trigger_high_o_d;
    trigger_ready_o <= trigger_ready_o_d;
    full_o <= full_o_d;
    fetch_o <= fetch_o_d;
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
    throttled_o <= throttled_o_d;
    active_o <= active_o_d;
  end

  awc dut (
    .clk_i                (clk_i),
    .rst_ni               (rst_ni),
    .load_i               (load_i_q),
    .load_address_i       (load_address_i_q),
    .load_data_i          (load_data_i_q),
    .map_write_i          (map_write_i_q),
    .map_event_i          (map_event_i_q),
    .map_enable_i         (map_enable_i_q),
    .map_high_i           (map_high_i_q),
    .map_sr_i             (map_sr_i_q),
    .map_end_i            (map_end_i_q),
    .trigger_valid_i      (trigger_valid_i_q),
    .trigger_event_i      (trigger_event_i_q),
    .trigger_warp_i       (trigger_warp_i_q),
    .trigger_mask_i       (trigger_mask_i_q),
    .trigger_live_in_i    (trigger_live_in_i_q),
    .trigger_live_out_i   (trigger_live_out_i_q),
    .kill_high_i          (kill_high_i_q),
    .kill_low_i           (kill_low_i_q),
    .kill_warp_i          (kill_warp_i_q),
    .busy_i               (busy_i_q),
    .idle_i               (idle_i_q),
    .issue0_index_i       (issue0_index_i_q),
    .issue0_pop_i         (issue0_pop_i_q),
    .issue1_index_i       (issue1_index_i_q),
    .issue1_pop_i         (issue1_pop_i_q),
    .low_pop_i            (low_pop_i_q),
    .trigger_known_o      (trigger_known_o_d),
    .trigger_high_o       (trigger_high_o_d),
    .trigger_ready_o      (trigger_ready_o_d),
    .full_o               (full_o_d),
    .fetch_o              (fetch_o_d),
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
    .throttled_o          (throttled_o_d),
    .active_o             (active_o_d)
  );

endmodule

`default_nettype wire
