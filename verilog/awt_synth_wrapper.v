// SPDX-License-Identifier: MIT OR Apache-2.0
// awt_synth_wrapper
//
// awt between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awt_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        trigger_valid_i,
  input  wire  [5:0] trigger_warp_i,
  input  wire        trigger_high_i,
  input  wire  [4:0] trigger_sr_i,
  input  wire  [6:0] trigger_end_i,
  input  wire [31:0] trigger_mask_i,
  input  wire [15:0] trigger_live_in_i,
  input  wire [15:0] trigger_live_out_i,
  input  wire        kill_high_i,
  input  wire        kill_low_i,
  input  wire  [5:0] kill_warp_i,
  input  wire [47:0] high_room_i,
  input  wire        low_room_i,
  output reg         trigger_ready_o,
  output reg         full_o,
  output reg         deploy_valid_o,
  output reg   [5:0] deploy_warp_o,
  output reg         deploy_high_o,
  output reg   [4:0] deploy_sr_o,
  output reg   [6:0] deploy_inst_o,
  output reg         deploy_last_o,
  output reg  [31:0] deploy_mask_o,
  output reg  [15:0] deploy_live_in_o,
  output reg  [15:0] deploy_live_out_o,
  output reg  [47:0] active_o
);

  reg trigger_valid_i_q;
  reg [5:0] trigger_warp_i_q;
  reg trigger_high_i_q;
  reg [4:0] trigger_sr_i_q;
  reg [6:0] trigger_end_i_q;
  reg [31:0] trigger_mask_i_q;
  reg [15:0] trigger_live_in_i_q;
  reg [15:0] trigger_live_out_i_q;
  reg kill_high_i_q;
  reg kill_low_i_q;
  reg [5:0] kill_warp_i_q;
  reg [47:0] high_room_i_q;
  reg low_room_i_q;
  wire trigger_ready_o_d;
  wire full_o_d;
  wire deploy_valid_o_d;
  wire [5:0] deploy_warp_o_d;
  wire deploy_high_o_d;
  wire [4:0] deploy_sr_o_d;
  wire [6:0] deploy_inst_o_d;
  wire deploy_last_o_d;
  wire [31:0] deploy_mask_o_d;
  wire [15:0] deploy_live_in_o_d;
  wire [15:0] deploy_live_out_o_d;
  wire [47:0] active_o_d;

  always @(posedge clk_i) begin
    trigger_valid_i_q <= trigger_valid_i;
    trigger_warp_i_q <= trigger_warp_i;
    trigger_high_i_q <= trigger_high_i;
    trigger_sr_i_q <= trigger_sr_i;
    trigger_end_i_q <= trigger_end_i;
    trigger_mask_i_q <= trigger_mask_i;
    trigger_live_in_i_q <= trigger_live_in_i;
    trigger_live_out_i_q <= trigger_live_out_i;
    kill_high_i_q <= kill_high_i;
    kill_low_i_q <= kill_low_i;
    kill_warp_i_q <= kill_warp_i;
    high_room_i_q <= high_room_i;
    low_room_i_q <= low_room_i;
    trigger_ready_o <= trigger_ready_o_d;
    full_o <= full_o_d;
    deploy_valid_o <= deploy_valid_o_d;
    deploy_warp_o <= deploy_warp_o_d;
    deploy_high_o <= deploy_high_o_d;
    deploy_sr_o <= deploy_sr_o_d;
    deploy_inst_o <= deploy_inst_o_d;
    deploy_last_o <= deploy_last_o_d;
    deploy_mask_o <= deploy_mask_o_d;
    deploy_live_in_o <= deploy_live_in_o_d;
    deploy_live_out_o <= deploy_live_out_o_d;
    active_o <= active_o_d;
  end

  awt dut (
    .clk_i              (clk_i),
    .rst_ni             (rst_ni),
    .trigger_valid_i    (trigger_valid_i_q),
    .trigger_warp_i     (trigger_warp_i_q),
    .trigger_high_i     (trigger_high_i_q),
    .trigger_sr_i       (trigger_sr_i_q),
    .trigger_end_i      (trigger_end_i_q),
    .trigger_mask_i     (trigger_mask_i_q),
    .trigger_live_in_i  (trigger_live_in_i_q),
    .trigger_live_out_i (trigger_live_out_i_q),
    .kill_high_i        (kill_high_i_q),
    .kill_low_i         (kill_low_i_q),
    .kill_warp_i        (kill_warp_i_q),
    .high_room_i        (high_room_i_q),
    .low_room_i         (low_room_i_q),
    .trigger_ready_o    (trigger_ready_o_d),
    .full_o             (full_o_d),
    .deploy_valid_o     (deploy_valid_o_d),
    .deploy_warp_o      (deploy_warp_o_d),
    .deploy_high_o      (deploy_high_o_d),
    .deploy_sr_o        (deploy_sr_o_d),
    .deploy_inst_o      (deploy_inst_o_d),
    .deploy_last_o      (deploy_last_o_d),
    .deploy_mask_o      (deploy_mask_o_d),
    .deploy_live_in_o   (deploy_live_in_o_d),
    .deploy_live_out_o  (deploy_live_out_o_d),
    .active_o           (active_o_d)
  );

endmodule

`default_nettype wire
