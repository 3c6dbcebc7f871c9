// SPDX-License-Identifier: MIT OR Apache-2.0
// awt
//
// Holds the active assist warps and deploys them round-robin, one instruction per cycle.
//
// CABA, section 4.4. INDEX is the width of an entry's number. KEYS is 11 bits per entry; WORDS is
// KEYS in 64-bit words. The entries are searched as ROWS rows of 8.
//
// Parameters: entries = 48
// In this file: ROWS = 6, INDEX = 6, KEYS = 528, WORDS = 9
// Source: CABA, section 4.4
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// AWT, assist warp table: holds the active assist warps of an SM and the next instruction of each.
//
// Source: CABA, sections 4.3 and 4.4 (figure 5).
//
//                   warp  SR.ID  priority  lanes  live-in  live-out  SR.End  Inst.ID
//    trigger_* --> +-----------------------------------------------------------------+
//     (ready: an   |  5     2      high    ffff..   r4 r5    r8 r9      11      3    |
//    entry is free)|  9    16      low     ffff..   r2 r3     -         70     42    |--> room? --> round-robin --> deploy_*
//                  |  ...                                                            |    (one per cycle; Inst.ID + 1;
//    kill_* ------>+-----------------------------------------------------------------+     freed after SR.End)
//
// A trigger takes a free entry. In every cycle one ready entry is deployed, round-robin: its warp,
// SR.ID, Inst.ID and the other fields go out, and its Inst.ID increments. After the instruction
// SR.End the entry is free. A high-priority entry is ready when the buffer has room for its warp
// (`high_room_i`). A low-priority entry is ready when its partition has room and low priority is
// not throttled (`low_room_i`). So a deployed instruction always finds a free slot, and no assist
// warp waits behind another.
//
// Choices where the paper is silent:
// - Entries are not tied to warps: a warp may have a decompression and a compression at the same
//   time. A warp has at most one instance of a routine, as section 4.2.2 demands, because all
//   instances share registers. A second trigger is refused (`trigger_ready_o` is low) until the
//   first instance is completely deployed.
// - SR.End is the Inst.ID of the routine's last instruction; it comes with the trigger.
// - `trigger_ready_o` is low for a trigger that finds no free entry. The trigger may be held or
//   withdrawn; a store then leaves uncompressed. The lowest quarter of the entries takes high
//   priority only. So throttled compressions can never fill the table and block the decompression
//   of loads.
// - A kill has a warp and a priority. A low-priority assist warp that is no longer beneficial can
//   be killed alone, without one that is needed for correctness (high priority). A kill acts before
//   the deployment of the same cycle; from then on nothing of the killed assist warps is deployed.
//   A trigger in the same cycle is younger than the kill and stays.
// - Two register IDs of 8 bits are live-in and two are live-out; the instructions refer to them. A
//   routine that needs fewer ignores the rest.
// - Round-robin: the search starts after the entry that was deployed last. High priority goes first
//   only at issue, not here. An entry that stays ready is deployed within `entries` cycles.
//
// PARAMETERS
// - entries, default 48, allowed 8, 48: active assist warps; 48 is one per warp
//
// PORTS AND TIMING
// `deploy_*` follow from registers and from `high_room_i`, `low_room_i` and the kill of the same
// cycle. `trigger_ready_o` follows from registers and the trigger. `full_o` and `active_o` come
// from registers. While `deploy_valid_o` is low, the other `deploy_*` have no meaning.
//
//   clk_i            __/--\__/--\__/--\__/--\__
//   trigger_valid_i  __/-----\_________________   SR.End = 1
//   trigger_ready_o  --------\___________/-----   for the same warp and SR.ID
//   deploy_valid_o   ________/-----------\_____
//   deploy_inst_o    ========< 0  >< 1  >======
//   deploy_last_o    ______________/-----\_____
//
// STORAGE
// By default 5,678 bits. 672 are registers: warp and SR.ID of all entries, which are compared in
// parallel (48 x 11), and three flags per entry (valid, high priority, started). Two memories have
// one word per entry; they have 64 words because addresses have 6 bits. They hold lanes, live
// registers and SR.End (64 x 71), and Inst.ID (64 x 7). The position of the last deployment takes
// 14 bits: the entries are searched as 6 rows of 8, and the position is one bit per row and a mask
// of the columns after it. The paper gives no size.
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

module awt (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: no assist warp is active
  input  wire        rst_ni,
  // an assist warp is triggered
  input  wire        trigger_valid_i,
  // parent warp of the assist warp
  input  wire  [5:0] trigger_warp_i,
  // the assist warp has high priority
  input  wire        trigger_high_i,
  // SR.ID of the assist warp's routine
  input  wire  [4:0] trigger_sr_i,
  // SR.End: Inst.ID of the routine's last instruction
  input  wire  [6:0] trigger_end_i,
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
  // warps whose high-priority instruction the buffer can take, one bit each
  input  wire [47:0] high_room_i,
  // the buffer can take a low-priority instruction, and low priority is not throttled
  input  wire        low_room_i,
  // a valid trigger is taken in this cycle
  output wire        trigger_ready_o,
  // no entry is free
  output wire        full_o,
  // an instruction is deployed in this cycle
  output wire        deploy_valid_o,
  // warp of the deployed instruction
  output wire  [5:0] deploy_warp_o,
  // the instruction has high priority
  output wire        deploy_high_o,
  // SR.ID of the instruction's routine
  output wire  [4:0] deploy_sr_o,
  // Inst.ID of the instruction
  output wire  [6:0] deploy_inst_o,
  // the instruction is the last of its routine
  output wire        deploy_last_o,
  // lanes of the instruction
  output wire [31:0] deploy_mask_o,
  // IDs of the parent's two argument registers
  output wire [15:0] deploy_live_in_o,
  // IDs of the parent's two result registers
  output wire [15:0] deploy_live_out_o,
  // entries in use, one bit each
  output wire [47:0] active_o
);

  // bundle: the first bit of each field
  localparam BUNDLE_MASK = 0;
  localparam BUNDLE_LIVE_IN = 32;
  localparam BUNDLE_LIVE_OUT = 48;
  localparam BUNDLE_LAST_ID = 64;
  // key: the first bit of each field
  localparam KEY_SR = 0;
  localparam KEY_WARP = 5;
  // entries that also take low priority
  localparam [47:0] LOW_ENTRIES = 48'hfffffffff000;
  reg [47:0] free;
  reg [10:0] key;
  wire ready;
  wire accept;
  reg [70:0] bundle;
  reg [47:0] killed;
  reg [47:0] requests;
  wire deploy;
  reg [10:0] deploy_key;
  wire [6:0] inst;
  wire ends;
  reg [47:0] next_valid;
  reg [47:0] next_high;
  reg [47:0] next_started;
  reg [527:0] next_keys;
  reg [47:0] valid_q;
  reg [47:0] high_q;
  // entries whose Inst.ID is in the memory; the others are at their first instruction
  reg [47:0] started_q;
  // SR.ID (low) and warp (high) of every entry
  reg [527:0] keys_q;
  // row of the entry that was deployed last, one-hot
  reg [5:0] last_row_q;
  // columns after that entry in its row
  reg [7:0] behind_last_q;
  wire [70:0] contexts_read_data;
  wire [6:0] insts_write_data;
  wire [6:0] insts_read_data;
  wire [47:0] compare_same;
  wire [47:0] compare_killed;
  wire [47:0] compare_room;
  wire [47:0] free_entry_first;
  wire [5:0] free_entry_index;
  wire free_entry_any;
  wire [47:0] free_entry_candidates;
  wire [5:0] free_entry_row;
  wire [7:0] free_entry_behind;
  wire [47:0] next_entry_first;
  wire [5:0] next_entry_index;
  wire [47:0] next_entry_candidates;
  wire [5:0] next_entry_row;
  wire [7:0] next_entry_behind;

  selvedge_mem #(.A (6), .BITS (71)) contexts (
    .clk_i           (clk_i),
    .write_i         (accept),
    .write_address_i (free_entry_index),
    .write_data_i    (bundle),
    .read_address_i  (next_entry_index),
    .read_data_o     (contexts_read_data)
  );

  selvedge_mem #(.A (6), .BITS (7)) insts (
    .clk_i           (clk_i),
    .write_i         (deploy),
    .write_address_i (next_entry_index),
    .write_data_i    (insts_write_data),
    .read_address_i  (next_entry_index),
    .read_data_o     (insts_read_data)
  );

  awt_entry_match compare (
    .keys_i        (keys_q),
    .trigger_key_i (key),
    .kill_warp_i   (kill_warp_i),
    .room_i        (high_room_i),
    .same_o        (compare_same),
    .killed_o      (compare_killed),
    .room_o        (compare_room)
  );

  awt_first_behind free_entry (
    .bits_i       (free),
    .row_i        (6'd0),
    .behind_i     (8'd0),
    .first_o      (free_entry_first),
    .index_o      (free_entry_index),
    .any_o        (free_entry_any),
    .candidates_o (free_entry_candidates),
    .row_o        (free_entry_row),
    .behind_o     (free_entry_behind)
  );

  awt_first_behind next_entry (
    .bits_i       (requests),
    .row_i        (last_row_q),
    .behind_i     (behind_last_q),
    .first_o      (next_entry_first),
    .index_o      (next_entry_index),
    .any_o        (deploy),
    .candidates_o (next_entry_candidates),
    .row_o        (next_entry_row),
    .behind_o     (next_entry_behind)
  );

  assign active_o = valid_q;
  assign full_o = &valid_q;

  // compare all entries in parallel
  always @(*) begin
    key = {6'd0, trigger_sr_i};
    key[KEY_WARP +: 6] = trigger_warp_i;
  end

  // accept a trigger if an entry is free and its warp does not run the routine yet
  always @(*) begin
    free = ~valid_q;
    if (!trigger_high_i) begin
      free = free & LOW_ENTRIES;
    end
  end

  assign ready = free_entry_any & ~(|(valid_q & compare_same));
  assign trigger_ready_o = ready;
  assign accept = ready & trigger_valid_i;

  always @(*) begin
    bundle = 71'd0;
    bundle[BUNDLE_MASK +: 32] = trigger_mask_i;
    bundle[BUNDLE_LIVE_IN +: 16] = trigger_live_in_i;
    bundle[BUNDLE_LIVE_OUT +: 16] = trigger_live_out_i;
    bundle[BUNDLE_LAST_ID +: 7] = trigger_end_i;
  end

  // a kill removes the warp's entries of the given priority
  always @(*) begin
    killed = 48'd0;
    if (kill_high_i) begin
      killed = high_q;
    end
    if (kill_low_i) begin
      killed = killed | ~high_q;
    end
    killed = killed & compare_killed;
  end

  // round robin: the first ready entry after the last deployed one, else the first ready entry
  always @(*) begin
    requests = high_q & compare_room;
    if (low_room_i) begin
      requests = requests | ~high_q;
    end
    requests = requests & valid_q & ~killed;
  end

  // key of that entry: select the candidate of each row first, then the row
  always @(*) begin : comb_deploy_key
    integer c;
    integer r;
    reg [10:0] row_key;
    deploy_key = 11'd0;
    for (r = 0; r < 6; r = r + 1) begin
      row_key = 11'd0;
      for (c = 0; c < 8; c = c + 1) begin
        if (next_entry_candidates[r*8+c]) begin
          row_key = row_key | keys_q[r*88+c*11 +: 11];
        end
      end
      if (next_entry_row[r]) begin
        deploy_key = deploy_key | row_key;
      end
    end
  end

  assign inst = (|(started_q & next_entry_first)) ? insts_read_data : 7'd0;
  assign ends = deploy & (inst == contexts_read_data[BUNDLE_LAST_ID +: 7]);
  assign deploy_valid_o = deploy;
  assign deploy_warp_o = deploy_key[KEY_WARP +: 6];
  assign deploy_high_o = |(high_q & next_entry_first);
  assign deploy_sr_o = deploy_key[KEY_SR +: 5];
  assign deploy_inst_o = inst;
  assign deploy_last_o = ends;
  assign deploy_mask_o = contexts_read_data[BUNDLE_MASK +: 32];
  assign deploy_live_in_o = contexts_read_data[BUNDLE_LIVE_IN +: 16];
  assign deploy_live_out_o = contexts_read_data[BUNDLE_LIVE_OUT +: 16];
  assign insts_write_data = inst + 7'd1;

  always @(*) begin : comb_next_started
    integer e;
    next_started = started_q | next_entry_first;
    next_valid = valid_q & ~killed;
    if (ends) begin
      next_valid = next_valid & ~next_entry_first;
    end
    next_high = high_q;
    next_keys = keys_q;
    if (accept) begin
      next_valid = next_valid | free_entry_first;
      next_started = next_started & ~free_entry_first;
      if (trigger_high_i) begin
        next_high = next_high | free_entry_first;
      end else begin
        next_high = next_high & ~free_entry_first;
      end
      for (e = 0; e < 48; e = e + 1) begin
        if (free_entry_first[e]) begin
          next_keys[e*11 +: 11] = key;
        end
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 48'd0;
    end else begin
      valid_q <= next_valid;
    end
  end

  always @(posedge clk_i) begin
    high_q <= next_high;
    started_q <= next_started;
    keys_q <= next_keys;
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      last_row_q <= 6'd32;
      behind_last_q <= 8'd0;
    end else if (deploy) begin
      last_row_q <= next_entry_row;
      behind_last_q <= next_entry_behind;
    end
  end

  // unused bits
  wire unused = &{1'b0, free_entry_candidates, free_entry_row, free_entry_behind};

endmodule

`default_nettype wire
