// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_control
//
// Starts an assist warp for each event in its map, deploys assist warps round-robin, and throttles
// low priority.
//
// CABA, sections 4.3 and 4.4. ENTRIES is the size of the table; ROWS, INDEX, KEYS and WORDS are
// parameters of the table.
//
// Parameters: ENTRIES = 48, ROWS = 6, INDEX = 6, KEYS = 528, WORDS = 9
// Part of: awc
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_control #(
  // Busy cycles of a class of units, out of 128, above which low priority is throttled; verified
  // with 64, 96, 128
  parameter integer BUSY_LIMIT = 96
) (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: no event is known, no assist warp is active
  input  wire        rst_ni,
  // write an event's word in the map
  input  wire        map_write_i,
  // the event to write
  input  wire  [4:0] map_event_i,
  // the event starts a routine; otherwise it is removed from the map
  input  wire        map_enable_i,
  // the assist warp has high priority
  input  wire        map_high_i,
  // SR.ID of the routine
  input  wire  [4:0] map_sr_i,
  // SR.End: Inst.ID of the routine's last instruction
  input  wire  [6:0] map_end_i,
  // an event triggers an assist warp
  input  wire        trigger_valid_i,
  // the triggering event
  input  wire  [4:0] trigger_event_i,
  // parent warp of the assist warp
  input  wire  [5:0] trigger_warp_i,
  // lanes of the assist warp
  input  wire [31:0] trigger_mask_i,
  // IDs of the parent's two argument registers
  input  wire [15:0] trigger_live_in_i,
  // IDs of the parent's two result registers
  input  wire [15:0] trigger_live_out_i,
  // kill the high-priority assist warps of a warp
  input  wire        kill_high_i,
  // kill the low-priority assist warps of a warp
  input  wire        kill_low_i,
  // warp whose assist warps are killed
  input  wire  [5:0] kill_warp_i,
  // classes of functional units that are busy, one bit each
  input  wire  [2:0] busy_i,
  // no scheduler issues for a regular warp or at high priority
  input  wire        idle_i,
  // warps that can take a high-priority instruction in the next cycle, one bit each
  input  wire [47:0] high_room_i,
  // the buffer can take a low-priority instruction in the next cycle
  input  wire        low_room_i,
  // the event is in the map
  output wire        trigger_known_o,
  // the event starts a routine of high priority
  output wire        trigger_high_o,
  // a valid trigger is taken in this cycle
  output wire        trigger_ready_o,
  // the table has no free entry
  output wire        full_o,
  // fetch an instruction from the store
  output wire        fetch_o,
  // SR.ID of the fetched instruction's routine
  output wire  [4:0] fetch_sr_o,
  // Inst.ID of the fetched instruction
  output wire  [6:0] fetch_inst_o,
  // the instruction that was fetched in the last cycle goes to the buffer
  output wire        stage_valid_o,
  // warp of that instruction
  output wire  [5:0] stage_warp_o,
  // the instruction has high priority
  output wire        stage_high_o,
  // the instruction is the last of its assist warp
  output wire        stage_last_o,
  // lanes of the instruction
  output wire [31:0] stage_mask_o,
  // IDs of the parent's two argument registers
  output wire [15:0] stage_live_in_o,
  // IDs of the parent's two result registers
  output wire [15:0] stage_live_out_o,
  // low priority is throttled in this window
  output wire        throttled_o,
  // entries of the table that are in use, one bit each
  output wire [47:0] active_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (BUSY_LIMIT != 64 && BUSY_LIMIT != 96 && BUSY_LIMIT != 128) begin : gen_wrong_busy_limit
      awc_control_BUSY_LIMIT_must_be_64_96_or_128 wrong_busy_limit ();
    end
  endgenerate

  // route: the first bit of each field
  localparam ROUTE_LAST_ID = 0;
  localparam ROUTE_SR = 7;
  localparam ROUTE_HIGH = 12;
  reg [12:0] new_route;
  wire [12:0] route;
  wire event_known;
  wire [12:0] routes_read_data;
  // the events in the map
  reg [31:0] known_q;
  wire assist_warps_trigger_valid;
  wire assist_warps_low_room;
  wire assist_warps_trigger_ready;
  wire assist_warps_deploy_valid;
  wire [5:0] assist_warps_deploy_warp;
  wire assist_warps_deploy_high;
  wire assist_warps_deploy_last;
  wire [31:0] assist_warps_deploy_mask;
  wire [15:0] assist_warps_deploy_live_in;
  wire [15:0] assist_warps_deploy_live_out;
  wire throttle_throttled;
  reg stage_valid_q;
  reg [5:0] stage_warp_q;
  reg stage_high_q;
  reg stage_last_q;
  reg [31:0] stage_mask_q;
  reg [15:0] stage_live_in_q;
  reg [15:0] stage_live_out_q;

  selvedge_mem #(.A (5), .BITS (13)) routes (
    .clk_i           (clk_i),
    .write_i         (map_write_i),
    .write_address_i (map_event_i),
    .write_data_i    (new_route),
    .read_address_i  (trigger_event_i),
    .read_data_o     (routes_read_data)
  );

  awc_assist_warp_table assist_warps (
    .clk_i              (clk_i),
    .rst_ni             (rst_ni),
    .trigger_valid_i    (assist_warps_trigger_valid),
    .trigger_warp_i     (trigger_warp_i),
    .trigger_high_i     (route[ROUTE_HIGH]),
    .trigger_sr_i       (route[ROUTE_SR +: 5]),
    .trigger_end_i      (route[ROUTE_LAST_ID +: 7]),
    .trigger_mask_i     (trigger_mask_i),
    .trigger_live_in_i  (trigger_live_in_i),
    .trigger_live_out_i (trigger_live_out_i),
    .kill_high_i        (kill_high_i),
    .kill_low_i         (kill_low_i),
    .kill_warp_i        (kill_warp_i),
    .high_room_i        (high_room_i),
    .low_room_i         (assist_warps_low_room),
    .trigger_ready_o    (assist_warps_trigger_ready),
    .full_o             (full_o),
    .deploy_valid_o     (assist_warps_deploy_valid),
    .deploy_warp_o      (assist_warps_deploy_warp),
    .deploy_high_o      (assist_warps_deploy_high),
    .deploy_sr_o        (fetch_sr_o),
    .deploy_inst_o      (fetch_inst_o),
    .deploy_last_o      (assist_warps_deploy_last),
    .deploy_mask_o      (assist_warps_deploy_mask),
    .deploy_live_in_o   (assist_warps_deploy_live_in),
    .deploy_live_out_o  (assist_warps_deploy_live_out),
    .active_o           (active_o)
  );

  awc_throttle #(.BUSY_LIMIT (BUSY_LIMIT)) throttle (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .busy_i      (busy_i),
    .idle_i      (idle_i),
    .throttled_o (throttle_throttled)
  );

  // map word of an event: SR.End (lowest bits), SR.ID, priority
  always @(*) begin
    new_route = {6'd0, map_end_i};
    new_route[ROUTE_SR +: 5] = map_sr_i;
    new_route[ROUTE_HIGH] = map_high_i;
  end

  assign route = routes_read_data;
  assign event_known = known_q[trigger_event_i];
  assign assist_warps_trigger_valid = trigger_valid_i & event_known;
  assign trigger_known_o = event_known;
  assign trigger_high_o = route[ROUTE_HIGH];
  assign trigger_ready_o = event_known & assist_warps_trigger_ready;
  assign throttled_o = throttle_throttled;
  assign assist_warps_low_room = low_room_i & ~throttle_throttled;
  // the store replies in the next cycle; delay the rest of the instruction to match
  assign fetch_o = assist_warps_deploy_valid;

  assign stage_valid_o = stage_valid_q;
  assign stage_warp_o = stage_warp_q;
  assign stage_high_o = stage_high_q;
  assign stage_last_o = stage_last_q;
  assign stage_mask_o = stage_mask_q;
  assign stage_live_in_o = stage_live_in_q;
  assign stage_live_out_o = stage_live_out_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_valid_q <= 1'b0;
    end else begin
      stage_valid_q <= assist_warps_deploy_valid;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      known_q <= 32'd0;
    end else if (map_write_i) begin
      known_q[map_event_i] <= map_enable_i;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_warp_q <= 6'd0;
      stage_high_q <= 1'b0;
      stage_last_q <= 1'b0;
      stage_mask_q <= 32'd0;
      stage_live_in_q <= 16'd0;
      stage_live_out_q <= 16'd0;
    end else if (assist_warps_deploy_valid) begin
      stage_warp_q <= assist_warps_deploy_warp;
      stage_high_q <= assist_warps_deploy_high;
      stage_last_q <= assist_warps_deploy_last;
      stage_mask_q <= assist_warps_deploy_mask;
      stage_live_in_q <= assist_warps_deploy_live_in;
      stage_live_out_q <= assist_warps_deploy_live_out;
    end
  end

endmodule

`default_nettype wire
