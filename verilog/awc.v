// awc
//
// Runs assist warps on an SM: trigger events in, instructions for the schedulers out.
//
// CABA, sections 4.3 and 4.4. ENTRIES is the size of the table; INDEX, KEYS and WORDS are the table's.
//
// Parameters: entries = 48, busy_limit = 96, idle_limit = 8
// In this file: ENTRIES = 48, INDEX = 6, KEYS = 528, WORDS = 9
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module awc (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: no event is known, no assist warp is active; the store survives it
  input  wire        rst_ni,
  // write a word of the store
  input  wire        load_i,
  // where: SR.ID x 16 + Inst.ID
  input  wire  [8:0] load_address_i,
  // the instruction
  input  wire [63:0] load_data_i,
  // write an event's line of the map
  input  wire        map_write_i,
  // the event
  input  wire  [4:0] map_event_i,
  // it starts a routine; otherwise it is taken out of the map
  input  wire        map_enable_i,
  // the assist warp has high priority
  input  wire        map_high_i,
  // SR.ID of the routine
  input  wire  [4:0] map_sr_i,
  // SR.End: Inst.ID of its last instruction
  input  wire  [6:0] map_end_i,
  // an event triggers an assist warp
  input  wire        trigger_valid_i,
  // the event
  input  wire  [4:0] trigger_event_i,
  // the parent warp
  input  wire  [5:0] trigger_warp_i,
  // the lanes
  input  wire [31:0] trigger_mask_i,
  // registers of the parent with arguments
  input  wire [15:0] trigger_live_in_i,
  // registers of the parent for results
  input  wire [15:0] trigger_live_out_i,
  // kill the high-priority assist warps of a warp
  input  wire        kill_high_i,
  // kill the low-priority assist warps of a warp
  input  wire        kill_low_i,
  // the warp whose assist warps are killed
  input  wire  [5:0] kill_warp_i,
  // a class of functional units is busy
  input  wire  [2:0] busy_i,
  // no scheduler issues for a regular warp or at high priority
  input  wire        idle_i,
  // the even warp that scheduler 0 looks at, divided by two
  input  wire  [4:0] issue0_index_i,
  // scheduler 0 takes its instruction
  input  wire        issue0_pop_i,
  // the odd warp that scheduler 1 looks at, divided by two
  input  wire  [4:0] issue1_index_i,
  // scheduler 1 takes its instruction
  input  wire        issue1_pop_i,
  // the low-priority instruction at the head is taken
  input  wire        low_pop_i,
  // the event is in the map
  output wire        trigger_known_o,
  // the event starts a routine of high priority
  output wire        trigger_high_o,
  // the trigger would be taken
  output wire        trigger_ready_o,
  // no entry of the table is free
  output wire        full_o,
  // an instruction is fetched from the store
  output wire        fetch_o,
  // the warp has a high-priority instruction
  output wire [47:0] high_valid_o,
  // the oldest instruction of the warp that scheduler 0 looks at
  output wire [63:0] issue0_instruction_o,
  // its lanes
  output wire [31:0] issue0_mask_o,
  // registers of the parent with arguments
  output wire [15:0] issue0_live_in_o,
  // registers of the parent for results
  output wire [15:0] issue0_live_out_o,
  // it is the last of its assist warp
  output wire        issue0_last_o,
  // the oldest instruction of the warp that scheduler 1 looks at
  output wire [63:0] issue1_instruction_o,
  // its lanes
  output wire [31:0] issue1_mask_o,
  // registers of the parent with arguments
  output wire [15:0] issue1_live_in_o,
  // registers of the parent for results
  output wire [15:0] issue1_live_out_o,
  // it is the last of its assist warp
  output wire        issue1_last_o,
  // there is a low-priority instruction
  output wire        low_valid_o,
  // its warp
  output wire  [5:0] low_warp_o,
  // the oldest one
  output wire [63:0] low_instruction_o,
  // its lanes
  output wire [31:0] low_mask_o,
  // registers of the parent with arguments
  output wire [15:0] low_live_in_o,
  // registers of the parent for results
  output wire [15:0] low_live_out_o,
  // it is the last of its assist warp
  output wire        low_last_o,
  // low priority is held back in this window
  output wire        throttled_o,
  // the entries of the table in use
  output wire [47:0] active_o
);

  wire control_fetch_o;
  wire [4:0] control_fetch_sr_o;
  wire [6:0] control_fetch_inst_o;
  wire control_stage_valid_o;
  wire [5:0] control_stage_warp_o;
  wire control_stage_high_o;
  wire control_stage_last_o;
  wire [31:0] control_stage_mask_o;
  wire [15:0] control_stage_live_in_o;
  wire [15:0] control_stage_live_out_o;
  wire store_valid_o;
  wire [63:0] store_instruction_o;
  wire [47:0] buffer_high_room_o;
  wire buffer_low_room_o;
  wire buffer_overflow_o;

  awc_control control (
    .clk_i              (clk_i),
    .rst_ni             (rst_ni),
    .map_write_i        (map_write_i),
    .map_event_i        (map_event_i),
    .map_enable_i       (map_enable_i),
    .map_high_i         (map_high_i),
    .map_sr_i           (map_sr_i),
    .map_end_i          (map_end_i),
    .trigger_valid_i    (trigger_valid_i),
    .trigger_event_i    (trigger_event_i),
    .trigger_warp_i     (trigger_warp_i),
    .trigger_mask_i     (trigger_mask_i),
    .trigger_live_in_i  (trigger_live_in_i),
    .trigger_live_out_i (trigger_live_out_i),
    .kill_high_i        (kill_high_i),
    .kill_low_i         (kill_low_i),
    .kill_warp_i        (kill_warp_i),
    .busy_i             (busy_i),
    .idle_i             (idle_i),
    .high_room_i        (buffer_high_room_o),
    .low_room_i         (buffer_low_room_o),
    .trigger_known_o    (trigger_known_o),
    .trigger_high_o     (trigger_high_o),
    .trigger_ready_o    (trigger_ready_o),
    .full_o             (full_o),
    .fetch_o            (control_fetch_o),
    .fetch_sr_o         (control_fetch_sr_o),
    .fetch_inst_o       (control_fetch_inst_o),
    .stage_valid_o      (control_stage_valid_o),
    .stage_warp_o       (control_stage_warp_o),
    .stage_high_o       (control_stage_high_o),
    .stage_last_o       (control_stage_last_o),
    .stage_mask_o       (control_stage_mask_o),
    .stage_live_in_o    (control_stage_live_in_o),
    .stage_live_out_o   (control_stage_live_out_o),
    .throttled_o        (throttled_o),
    .active_o           (active_o)
  );

  awc_assist_warp_store store (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .write_i         (load_i),
    .write_address_i (load_address_i),
    .write_data_i    (load_data_i),
    .fetch_i         (control_fetch_o),
    .sr_i            (control_fetch_sr_o),
    .inst_i          (control_fetch_inst_o),
    .valid_o         (store_valid_o),
    .instruction_o   (store_instruction_o)
  );

  awc_assist_warp_buffer buffer (
    .clk_i                (clk_i),
    .rst_ni               (rst_ni),
    .stage_valid_i        (store_valid_o),
    .stage_warp_i         (control_stage_warp_o),
    .stage_high_i         (control_stage_high_o),
    .stage_last_i         (control_stage_last_o),
    .stage_instruction_i  (store_instruction_o),
    .stage_mask_i         (control_stage_mask_o),
    .stage_live_in_i      (control_stage_live_in_o),
    .stage_live_out_i     (control_stage_live_out_o),
    .flush_high_i         (kill_high_i),
    .flush_low_i          (kill_low_i),
    .flush_warp_i         (kill_warp_i),
    .issue0_index_i       (issue0_index_i),
    .issue0_pop_i         (issue0_pop_i),
    .issue1_index_i       (issue1_index_i),
    .issue1_pop_i         (issue1_pop_i),
    .low_pop_i            (low_pop_i),
    .high_room_o          (buffer_high_room_o),
    .low_room_o           (buffer_low_room_o),
    .high_valid_o         (high_valid_o),
    .issue0_instruction_o (issue0_instruction_o),
    .issue0_mask_o        (issue0_mask_o),
    .issue0_live_in_o     (issue0_live_in_o),
    .issue0_live_out_o    (issue0_live_out_o),
    .issue0_last_o        (issue0_last_o),
    .issue1_instruction_o (issue1_instruction_o),
    .issue1_mask_o        (issue1_mask_o),
    .issue1_live_in_o     (issue1_live_in_o),
    .issue1_live_out_o    (issue1_live_out_o),
    .issue1_last_o        (issue1_last_o),
    .low_valid_o          (low_valid_o),
    .low_warp_o           (low_warp_o),
    .low_instruction_o    (low_instruction_o),
    .low_mask_o           (low_mask_o),
    .low_live_in_o        (low_live_in_o),
    .low_live_out_o       (low_live_out_o),
    .low_last_o           (low_last_o),
    .overflow_o           (buffer_overflow_o)
  );

  assign fetch_o = control_fetch_o;

  // bits that nothing here looks at
  wire unused = &{1'b0, control_stage_valid_o, buffer_overflow_o};

endmodule

`default_nettype wire
