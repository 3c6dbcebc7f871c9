// SPDX-License-Identifier: MIT OR Apache-2.0
// awc
//
// Runs assist warps on an SM: turns trigger events into instructions for the schedulers.
//
// CABA, sections 4.3 and 4.4. ENTRIES is the size of the table; ROWS, INDEX, KEYS and WORDS are
// parameters of the table.
//
// Parameters: entries = 48, idle_limit = 8
// In this file: ENTRIES = 48, ROWS = 6, INDEX = 6, KEYS = 528, WORDS = 9
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// AWC, assist warp controller: runs assist warps on an SM, from trigger events to instructions for
// the schedulers.
//
// Source: CABA, sections 4.3 and 4.4. In the paper the controller contains the table, and the store
// and the buffer are separate. Here it contains all three (`awt`, `aws`, `awb`), so that an SM
// steps one instance. It adds the map of events, the throttle, and the connections between the
// three blocks.
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
// The programmer writes the map: each event starts one routine with one priority. For compression,
// an event combines the encoding of a line and its direction, load or store (section 5.2.1); five
// bits hold both.
//
// Choices where the paper is silent:
// - An event that is not in the map is never taken; `trigger_known_o` distinguishes it from an
//   event that the table refuses. `trigger_high_o` is low if the refused routine may be dropped.
// - Throttle. The paper monitors "the utilization of the functional units and idleness of the
//   cores" and gives no rule. Here both are counted over windows of 128 cycles. Deployment is
//   throttled in the next window if a class of units was busy in more than `busy_limit` cycles, or
//   if fewer than `idle_limit` cycles were idle.
// - Only low priority is throttled. High priority is "required for correctness" and its parent
//   waits for it: throttling it would stall the warps whose lines have already arrived.
//   Low-priority triggers are taken while throttled, until the table refuses them; a refused store
//   leaves uncompressed. Nothing waits for low priority, so throttling cannot deadlock.
// - `busy_i` has three bits (arithmetic, special functions, load-store); the SM defines when a
//   class is busy. `idle_i` is high in a cycle in which no scheduler issues for a regular warp or
//   at high priority. An idle cycle that low priority uses still counts as idle; otherwise
//   low-priority instructions would cause their own throttling.
// - A kill acts on the table and the buffer in the same cycle. An instruction that was fetched in
//   the cycle before is flushed as it reaches the buffer. So after the cycle of the kill nothing of
//   the assist warp is left.
// - The block does not report the end of a routine's execution. It ends when the instruction marked
//   as last leaves the pipeline.
//
// PARAMETERS
// - entries, default 48, allowed 8, 48: active assist warps at the same time
// - busy_limit, default 96, allowed 64, 96, 128: busy cycles of a class of units in a window above
//   which low priority is throttled; 128 never throttles
// - idle_limit, default 8, allowed 0, 8: idle cycles in a window below which low priority is
//   throttled; 0 never throttles
//
// PORTS AND TIMING
// `high_valid_o`, `low_*`, `throttled_o`, `full_o` and `active_o` come from registers. `issue*_o`
// come from memories, at the index of the same cycle. `trigger_*_o` follow from registers and the
// trigger, `fetch_o` from registers and the kill. An event must be mapped and its routine loaded
// before it is triggered; other routines may run during this time.
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
// By default 56,001 bits: the table 5,678, the store 32,833, the buffer 16,929 (see their pages),
// and 561 in the controller itself. The controller has the map (32 x 13) and its 32 flags, four
// counters of 8 bits, the cycle in the window (7), the throttle's output (1), and 73 bits for the
// instruction that is being fetched. The paper gives no size.
//
// Assist warps: short subroutines that an SM runs on behalf of its warps, in CABA to decompress and
// compress lines.
//
// Source: CABA, sections 4 and 5. Its hardware consists of three structures (section 4.3): the
// store, the controller with its table, and the buffer. Here the table is a separate block. The
// controller contains the other three blocks, so that an SM steps one instance.
//
//              event, warp, lanes                     SR.ID, Inst.ID            word
//    [ SM ] --------------------> awc: [ map, awt ] -----------------> [ aws ] ------> [ awb ] --high--> beats the parent
//       |        busy, idle            [ throttle ] <---------- room ----------------     |  +---low---> idle cycles
//       +--------- kill ---------------------^------------------------ flush -------------^
//
// - aws: the assist warp store: the instructions of the routines, loaded before a kernel starts
// - awt: the assist warp table: the active assist warps, deployed round-robin
// - awb: the assist warp buffer: deployed instructions until they issue
// - awc: the assist warp controller: trigger events, throttling, and the other three
//
// Terms that all four blocks share: a *routine* is a subroutine in the store. *SR.ID* is the slot
// where it starts, *Inst.ID* the number of its next instruction, and *SR.End* the number of its
// last instruction. A *high-priority* assist warp is needed for correctness, and its parent waits
// for it (decompression of a load). A *low-priority* assist warp runs in idle cycles and may be
// dropped (compression of a store).

`default_nettype none

module awc #(
  // Busy cycles of a class of units, out of 128, above which low priority is throttled; verified
  // with 64, 96, 128
  parameter integer BUSY_LIMIT = 96
) (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: no event is known, no assist warp is active; the store survives
  // it
  input  wire        rst_ni,
  // write a word of the store
  input  wire        load_i,
  // address of the word: SR.ID x 16 + Inst.ID
  input  wire  [8:0] load_address_i,
  // the instruction to write
  input  wire [63:0] load_data_i,
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
  // the even warp that scheduler 0 looks at, divided by two
  input  wire  [4:0] issue0_index_i,
  // scheduler 0 pops the instruction of that warp
  input  wire        issue0_pop_i,
  // the odd warp that scheduler 1 looks at, divided by two
  input  wire  [4:0] issue1_index_i,
  // scheduler 1 pops the instruction of that warp
  input  wire        issue1_pop_i,
  // the oldest low-priority instruction is popped
  input  wire        low_pop_i,
  // the event is in the map
  output wire        trigger_known_o,
  // the event starts a routine of high priority
  output wire        trigger_high_o,
  // a valid trigger is taken in this cycle
  output wire        trigger_ready_o,
  // the table has no free entry
  output wire        full_o,
  // an instruction is fetched from the store
  output wire        fetch_o,
  // warps with a high-priority instruction, one bit each
  output wire [47:0] high_valid_o,
  // the oldest instruction of the warp that scheduler 0 looks at, zero if it has none
  output wire [63:0] issue0_instruction_o,
  // lanes of the instruction
  output wire [31:0] issue0_mask_o,
  // IDs of the parent's two argument registers
  output wire [15:0] issue0_live_in_o,
  // IDs of the parent's two result registers
  output wire [15:0] issue0_live_out_o,
  // the instruction is the last of its assist warp
  output wire        issue0_last_o,
  // the oldest instruction of the warp that scheduler 1 looks at, zero if it has none
  output wire [63:0] issue1_instruction_o,
  // lanes of the instruction
  output wire [31:0] issue1_mask_o,
  // IDs of the parent's two argument registers
  output wire [15:0] issue1_live_in_o,
  // IDs of the parent's two result registers
  output wire [15:0] issue1_live_out_o,
  // the instruction is the last of its assist warp
  output wire        issue1_last_o,
  // the buffer holds a low-priority instruction
  output wire        low_valid_o,
  // warp of the oldest low-priority instruction
  output wire  [5:0] low_warp_o,
  // the oldest low-priority instruction
  output wire [63:0] low_instruction_o,
  // lanes of the instruction
  output wire [31:0] low_mask_o,
  // IDs of the parent's two argument registers
  output wire [15:0] low_live_in_o,
  // IDs of the parent's two result registers
  output wire [15:0] low_live_out_o,
  // the instruction is the last of its assist warp
  output wire        low_last_o,
  // low priority is throttled in this window
  output wire        throttled_o,
  // entries of the table that are in use, one bit each
  output wire [47:0] active_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (BUSY_LIMIT != 64 && BUSY_LIMIT != 96 && BUSY_LIMIT != 128) begin : gen_wrong_busy_limit
      awc_BUSY_LIMIT_must_be_64_96_or_128 wrong_busy_limit ();
    end
  endgenerate

  wire control_fetch;
  wire [4:0] control_fetch_sr;
  wire [6:0] control_fetch_inst;
  wire control_stage_valid;
  wire [5:0] control_stage_warp;
  wire control_stage_high;
  wire control_stage_last;
  wire [31:0] control_stage_mask;
  wire [15:0] control_stage_live_in;
  wire [15:0] control_stage_live_out;
  wire store_valid;
  wire [63:0] store_instruction;
  wire [47:0] buffer_high_room;
  wire buffer_low_room;
  wire buffer_overflow;

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
    .high_room_i        (buffer_high_room),
    .low_room_i         (buffer_low_room),
    .trigger_known_o    (trigger_known_o),
    .trigger_high_o     (trigger_high_o),
    .trigger_ready_o    (trigger_ready_o),
    .full_o             (full_o),
    .fetch_o            (control_fetch),
    .fetch_sr_o         (control_fetch_sr),
    .fetch_inst_o       (control_fetch_inst),
    .stage_valid_o      (control_stage_valid),
    .stage_warp_o       (control_stage_warp),
    .stage_high_o       (control_stage_high),
    .stage_last_o       (control_stage_last),
    .stage_mask_o       (control_stage_mask),
    .stage_live_in_o    (control_stage_live_in),
    .stage_live_out_o   (control_stage_live_out),
    .throttled_o        (throttled_o),
    .active_o           (active_o)
  );

  awc_assist_warp_store store (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .write_i         (load_i),
    .write_address_i (load_address_i),
    .write_data_i    (load_data_i),
    .fetch_i         (control_fetch),
    .sr_i            (control_fetch_sr),
    .inst_i          (control_fetch_inst),
    .valid_o         (store_valid),
    .instruction_o   (store_instruction)
  );

  awc_assist_warp_buffer buffer (
    .clk_i                (clk_i),
    .rst_ni               (rst_ni),
    .stage_valid_i        (store_valid),
    .stage_warp_i         (control_stage_warp),
    .stage_high_i         (control_stage_high),
    .stage_last_i         (control_stage_last),
    .stage_instruction_i  (store_instruction),
    .stage_mask_i         (control_stage_mask),
    .stage_live_in_i      (control_stage_live_in),
    .stage_live_out_i     (control_stage_live_out),
    .flush_high_i         (kill_high_i),
    .flush_low_i          (kill_low_i),
    .flush_warp_i         (kill_warp_i),
    .issue0_index_i       (issue0_index_i),
    .issue0_pop_i         (issue0_pop_i),
    .issue1_index_i       (issue1_index_i),
    .issue1_pop_i         (issue1_pop_i),
    .low_pop_i            (low_pop_i),
    .high_room_o          (buffer_high_room),
    .low_room_o           (buffer_low_room),
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
    .overflow_o           (buffer_overflow)
  );

  assign fetch_o = control_fetch;

  // unused bits
  wire unused = &{1'b0, control_stage_valid, buffer_overflow};

endmodule

`default_nettype wire
