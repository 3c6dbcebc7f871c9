// SPDX-License-Identifier: MIT OR Apache-2.0
// awc
//
// Runs assist warps on an SM: trigger events in, instructions for the schedulers out.
//
// CABA, sections 4.3 and 4.4. ENTRIES is the size of the table; ROWS, INDEX, KEYS and WORDS are the
// table's.
//
// Parameters: entries = 48, idle_limit = 8
// In this file: ENTRIES = 48, ROWS = 6, INDEX = 6, KEYS = 528, WORDS = 9
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.1.0 with reset control
//
// AWC, assist warp controller: everything that runs assist warps on an SM, from trigger events to
// instructions for the schedulers.
//
// Source: CABA, sections 4.3 and 4.4. In the paper the controller has the table, and store and
// buffer are its neighbours; here it contains all three (`awt`, `aws`, `awb`), so that an SM has
// one instance to step, and adds the map of events, the throttle, and the way of an instruction
// between them.
//
//                      +-----------------------------------------------------------------------------+
//    map_* ----------->| [ 32 events: on, priority, SR.ID, SR.End ]                                   |
//    trigger_* ------->|     |                                                                        |
//                      |     v             SR.ID, Inst.ID                 word                        |
//                      |  [ awt ] --deploy--+----------------> [ aws ] -----------+                   |
//                      |   ^  ^  ^          +-- warp, lanes, live, last [ reg ]   |                   |
//    busy_i, idle_i -->| [throttle] |                               |             |                   |
//    load_* ---------->|------|--|--|-------------------> (aws)     v             v                   |--> high_valid_o
//                      |      |  |  +----- room, per warp -------- [ awb ]                            |<-> issue0_*
//                      |      |  +-------- room, low priority -----                                   |<-> issue1_*
//    kill_* ---------->|------+--------------- flush ------------->                                   |<-> low_*
//                      +-----------------------------------------------------------------------------+
//
// The map is what the programmer gives: which event starts which routine, with which priority. For
// compression an event is the encoding of a line and whether it is loaded or stored (section
// 5.2.1); five bits hold both.
//
// Choices where the paper is silent:
// - An event that is not in the map is never taken; `trigger_known_o` distinguishes it from a table
//   without room, and `trigger_high_o` whether what is refused may be given up.
// - Throttle. The paper monitors "the utilization of the functional units and idleness of the
//   cores" and gives no rule. Here both are counted over windows of 128 cycles. In the next window
//   deployment is throttled if some class of units was busy in more than `busy_limit` cycles, or if
//   fewer than `idle_limit` cycles were idle.
// - Throttling holds back low priority alone. High priority is "required for correctness" and holds
//   up its parent: to hold it back would stall the very warps whose lines are there. Low priority
//   is taken while throttled, until the table refuses it; a store then leaves uncompressed. Nothing
//   waits for low priority, so that throttling cannot deadlock.
// - `busy_i` has three bits (arithmetic, special functions, load-store); the SM says what busy
//   means. `idle_i` is a cycle in which no scheduler issues for a regular warp or at high priority:
//   an idle cycle that low priority uses still counts as idle, or the throttle would punish its own
//   success.
// - A kill acts on table and buffer in the same cycle. What was fetched in the cycle before meets
//   the flush as it reaches the buffer. After the cycle of the kill nothing of it is left.
// - The block does not report the end of a routine's execution: the instruction marked last does
//   when it leaves the pipeline.
//
// PARAMETERS
// - entries, default 48, allowed 8, 48: active assist warps at the same time
// - busy_limit, default 96, allowed 64, 96, 128: a class of units busy in more cycles of a window
//   throttles; 128 is never
// - idle_limit, default 8, allowed 0, 8: fewer idle cycles in a window throttle
//
// PORTS AND TIMING
// `high_valid_o`, `low_*`, `throttled_o`, `full_o` and `active_o` come from registers, `issue*_o`
// from memories at the index of the same cycle, `trigger_*_o` from registers and the trigger,
// `fetch_o` from registers and the kill. Events are mapped and routines loaded before they are
// triggered; both may go on while others run.
//
//   clk_i            __/--\__/--\__/--\__/--\__/--\__/--\__
//   trigger_valid_i  __/-----\_____________________________   warp 6, a routine of two instructions, high priority
//   fetch_o          ________/-----------\_________________
//   high_valid_o[6]  ____________________/-----------\_____
//   issue0_index_i   ====================< 3        >======
//   issue0_pop_i     ____________________/-----------\_____
//   issue0_last_o    __________________________/-----\_____
//
// STORAGE
// By default 56,001 bits: the table 5,678, the store 32,833, the buffer 16,929 (see there), and 561
// of the controller's own: the map (32 x 13) and its 32 flags, four counters of 8 bits, the cycle
// in the window (7) and the throttle's output, and 73 for the instruction that is being fetched.
// The paper gives no size.
//
// Assist warps: short subroutines that an SM runs on behalf of its warps, in CABA to decompress and
// compress lines.
//
// Source: CABA, sections 4 and 5. Its hardware is three structures (section 4.3): store, controller
// with table, and buffer. The table is a block by itself here, and the controller contains all of
// them, because an SM steps one instance.
//
//              event, warp, lanes                     SR.ID, Inst.ID            word
//    [ SM ] --------------------> awc: [ map, awt ] -----------------> [ aws ] ------> [ awb ] --high--> beats the parent
//       |        busy, idle            [ throttle ] <---------- room ----------------     |  +---low---> idle cycles
//       +--------- kill ---------------------^------------------------ flush -------------^
//
// - aws: the assist warp store: the instructions of the routines, loaded before a kernel starts
// - awt: the assist warp table: the active assist warps, deployed in turn
// - awb: the assist warp buffer: deployed instructions until they issue
// - awc: the assist warp controller: trigger events, throttling, and the other three
//
// Words that all of them share: a *routine* is a subroutine in the store; *SR.ID* says where it
// starts, *Inst.ID* which of its instructions is next, *SR.End* which is the last. A
// *high-priority* assist warp is needed for correctness and blocks what waits for it (decompression
// of a load); a *low-priority* one runs in idle cycles and may be given up (compression of a
// store).

`default_nettype none

module awc #(
  // A class of units busy in more of 128 cycles throttles low priority; verified with 64, 96, 128
  parameter integer BUSY_LIMIT = 96
) (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: no event is known, no assist warp is active; the store survives
  // it
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

  awc_control #(.BUSY_LIMIT (BUSY_LIMIT)) control (
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
