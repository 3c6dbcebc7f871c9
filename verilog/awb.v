// SPDX-License-Identifier: MIT OR Apache-2.0
// awb
//
// Holds assist-warp instructions until they issue: two per warp that beat the parent, two of low
// priority.
//
// CABA, section 4.3. BITS is the width of an instruction.
//
// In this file: BITS = INSTRUCTION_BITS
// Source: CABA, section 4.3
// Written by selvedge 0.1.0 with reset control
//
// AWB, assist warp buffer: assist-warp instructions that are fetched and wait for issue.
//
// Source: CABA, section 4.3. It is part of the SM's instruction buffer: high-priority instructions
// lie with those of their parent warp, low-priority ones in a partition of two entries.
//
//    stage_* --+--> [ 24 even warps x 2 instructions ] <--index-- scheduler 0 --> issue0_*
//              +--> [ 24 odd warps  x 2 instructions ] <--index-- scheduler 1 --> issue1_*
//              +--> [ 2 low-priority instructions    ] ------------ head -------> low_*
//    flush_* ------> empties the slots of a warp, takes its instructions out of the low partition
//
// A scheduler sees in `high_valid_o` which warps have an assist-warp instruction; for such a warp
// it issues that in place of the parent's own instruction. It gives the warp's index to get the
// instruction in the same cycle, and pops it. In a cycle in which a scheduler has nothing else to
// issue it may take the head of the low partition.
//
// Choices where the paper is silent:
// - Two schedulers (table 1) share the warps by parity, so that the instructions are in two
//   memories with one read port each. Only one of them may take from the low partition in a cycle;
//   whose turn it is, the SM settles.
// - A warp has two slots, as many instructions as common simulators give a warp's instruction
//   buffer.
// - Room is reported one cycle ahead: `high_room_o` and `low_room_o` count the instruction that is
//   staged in the same cycle, so that one that is fetched now has its place when it comes in the
//   next cycle. What is popped in the cycle is not counted yet.
// - An instruction without a place, which a controller that heeds the room never stages, is lost,
//   and `overflow_o` says so in the next cycle. So it is with warps from 48 on, which do not exist.
// - Flush is by warp and priority, as the controller's kill. An instruction that is staged in the
//   cycle of its warp's flush goes too: it was fetched before. One that is issued in that cycle is
//   issued.
// - A pop where there is nothing changes nothing.
//
// PARAMETERS
// - instruction_bits, default 64, allowed 32, 64: bits of an instruction
//
// PORTS AND TIMING
// `high_valid_o`, `low_*` and `overflow_o` come from registers, `issue*_o` from the memories at the
// index of the same cycle; they mean something for a warp in `high_valid_o` only. The two rooms
// follow from registers and what is staged.
//
//   clk_i            __/--\__/--\__/--\__/--\__
//   stage_valid_i    __/-----------\___________   two instructions of warp 6, high priority
//   high_room_o[6]   --------\___________/-----   already low as the second is staged
//   high_valid_o[6]  ________/-----------\_____
//   issue0_index_i   ========< 3        >======
//   issue0_pop_i     ________/-----------\_____
//   issue0_*_o       ========< 1st >< 2nd >====
//
// STORAGE
// By default 16,929 bits: 2 memories of 64 words (24 warps x 2 slots, rounded up to 6 bits of
// address) x 129 bits (instruction, lanes, live registers, last flag), 2 x 136 in the low
// partition, three flags per warp, and one. The paper puts high-priority instructions into the
// existing instruction buffer at no cost of its own; here they have their own place, since this
// block does not know the parent's instructions.
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

module awb #(
  // Bits of an instruction; verified with 32, 64
  parameter integer INSTRUCTION_BITS = 64
) (
  // clock
  input  wire                        clk_i,
  // asynchronous reset, active low: nothing is held
  input  wire                        rst_ni,
  // an instruction comes
  input  wire                        stage_valid_i,
  // its warp
  input  wire                  [5:0] stage_warp_i,
  // it has high priority
  input  wire                        stage_high_i,
  // it is the last of its assist warp
  input  wire                        stage_last_i,
  // the instruction
  input  wire [INSTRUCTION_BITS-1:0] stage_instruction_i,
  // its lanes
  input  wire                 [31:0] stage_mask_i,
  // registers of the parent with arguments
  input  wire                 [15:0] stage_live_in_i,
  // registers of the parent for results
  input  wire                 [15:0] stage_live_out_i,
  // drop the high-priority instructions of a warp
  input  wire                        flush_high_i,
  // drop the low-priority instructions of a warp
  input  wire                        flush_low_i,
  // the warp whose instructions are dropped
  input  wire                  [5:0] flush_warp_i,
  // the even warp that scheduler 0 looks at, divided by two
  input  wire                  [4:0] issue0_index_i,
  // scheduler 0 takes its instruction
  input  wire                        issue0_pop_i,
  // the odd warp that scheduler 1 looks at, divided by two
  input  wire                  [4:0] issue1_index_i,
  // scheduler 1 takes its instruction
  input  wire                        issue1_pop_i,
  // the low-priority instruction at the head is taken
  input  wire                        low_pop_i,
  // a high-priority instruction of the warp may come in the next cycle
  output wire                 [47:0] high_room_o,
  // a low-priority instruction may come in the next cycle
  output wire                        low_room_o,
  // the warp has a high-priority instruction
  output wire                 [47:0] high_valid_o,
  // the oldest instruction of the warp that scheduler 0 looks at
  output wire [INSTRUCTION_BITS-1:0] issue0_instruction_o,
  // its lanes
  output wire                 [31:0] issue0_mask_o,
  // registers of the parent with arguments
  output wire                 [15:0] issue0_live_in_o,
  // registers of the parent for results
  output wire                 [15:0] issue0_live_out_o,
  // it is the last of its assist warp
  output wire                        issue0_last_o,
  // the oldest instruction of the warp that scheduler 1 looks at
  output wire [INSTRUCTION_BITS-1:0] issue1_instruction_o,
  // its lanes
  output wire                 [31:0] issue1_mask_o,
  // registers of the parent with arguments
  output wire                 [15:0] issue1_live_in_o,
  // registers of the parent for results
  output wire                 [15:0] issue1_live_out_o,
  // it is the last of its assist warp
  output wire                        issue1_last_o,
  // there is a low-priority instruction
  output wire                        low_valid_o,
  // its warp
  output wire                  [5:0] low_warp_o,
  // the oldest one
  output wire [INSTRUCTION_BITS-1:0] low_instruction_o,
  // its lanes
  output wire                 [31:0] low_mask_o,
  // registers of the parent with arguments
  output wire                 [15:0] low_live_in_o,
  // registers of the parent for results
  output wire                 [15:0] low_live_out_o,
  // it is the last of its assist warp
  output wire                        low_last_o,
  // the instruction that came in the last cycle had no place and is lost
  output wire                        overflow_o
);

  // bundle: the first bit of each field
  localparam BUNDLE_MASK = 0;
  localparam BUNDLE_LIVE_IN = 32;
  localparam BUNDLE_LIVE_OUT = 48;
  localparam BUNDLE_LAST = 64;
  reg [64:0] bundle;
  reg [47:0] comes;
  reg [47:0] flushed;
  reg [5:0] warp0;
  reg [5:0] warp1;
  reg [47:0] popped;
  wire [47:0] placed;
  wire [47:0] stay;
  wire slot;
  wire lost;
  wire even_write_i;
  wire [4:0] even_write_pair_i;
  wire even_slot_i;
  wire [64:0] even_context_o;
  wire odd_write_i;
  wire [4:0] odd_write_pair_i;
  wire odd_slot_i;
  wire [64:0] odd_context_o;
  wire low_partition_stage_i;
  wire low_partition_overflow_o;
  wire [64:0] low_partition_context_o;
  // warps with at least one instruction
  reg [47:0] one_q;
  // warps with two
  reg [47:0] two_q;
  // the slot of each warp's oldest instruction
  reg [47:0] first_q;
  reg overflow_q;

  awb_slots #(.INSTRUCTION_BITS (INSTRUCTION_BITS)) even (
    .clk_i         (clk_i),
    .write_i       (even_write_i),
    .write_pair_i  (even_write_pair_i),
    .write_slot_i  (slot),
    .instruction_i (stage_instruction_i),
    .context_i     (bundle),
    .pair_i        (issue0_index_i),
    .slot_i        (even_slot_i),
    .instruction_o (issue0_instruction_o),
    .context_o     (even_context_o)
  );

  awb_slots #(.INSTRUCTION_BITS (INSTRUCTION_BITS)) odd (
    .clk_i         (clk_i),
    .write_i       (odd_write_i),
    .write_pair_i  (odd_write_pair_i),
    .write_slot_i  (slot),
    .instruction_i (stage_instruction_i),
    .context_i     (bundle),
    .pair_i        (issue1_index_i),
    .slot_i        (odd_slot_i),
    .instruction_o (issue1_instruction_o),
    .context_o     (odd_context_o)
  );

  awb_low_partition #(.INSTRUCTION_BITS (INSTRUCTION_BITS)) low_partition (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .stage_i       (low_partition_stage_i),
    .warp_i        (stage_warp_i),
    .instruction_i (stage_instruction_i),
    .context_i     (bundle),
    .flush_i       (flush_low_i),
    .flush_warp_i  (flush_warp_i),
    .pop_i         (low_pop_i),
    .room_o        (low_room_o),
    .overflow_o    (low_partition_overflow_o),
    .valid_o       (low_valid_o),
    .warp_o        (low_warp_o),
    .instruction_o (low_instruction_o),
    .context_o     (low_partition_context_o)
  );

  always @(*) begin
    bundle = 65'd0;
    bundle[BUNDLE_MASK +: 32] = stage_mask_i;
    bundle[BUNDLE_LIVE_IN +: 16] = stage_live_in_i;
    bundle[BUNDLE_LIVE_OUT +: 16] = stage_live_out_i;
    bundle[BUNDLE_LAST] = stage_last_i;
  end

  // the warp of the instruction that comes, of the flush, and those of the pops, a bit each
  always @(*) begin
    comes = 48'd0;
    if (stage_valid_i & stage_high_i) begin
      if (stage_warp_i <= 6'd47) begin
        comes[stage_warp_i] = 1'b1;
      end
    end
  end

  always @(*) begin
    flushed = 48'd0;
    if (flush_high_i) begin
      if (flush_warp_i <= 6'd47) begin
        flushed[flush_warp_i] = 1'b1;
      end
    end
  end

  always @(*) begin
    warp0 = 6'd0;
    warp0[5:1] = issue0_index_i;
  end

  always @(*) begin
    warp1 = 6'd1;
    warp1[5:1] = issue1_index_i;
  end

  always @(*) begin
    popped = 48'd0;
    if (issue0_pop_i) begin
      if (warp0 <= 6'd47) begin
        popped[warp0] = 1'b1;
      end
    end
    if (issue1_pop_i) begin
      if (warp1 <= 6'd47) begin
        popped[warp1] = 1'b1;
      end
    end
    popped = popped & one_q;
  end

  // it takes the slot behind the oldest instruction, unless two are there or it is flushed
  assign placed = comes & ~two_q & ~flushed;
  assign slot = |((first_q ^ one_q) & comes);
  assign even_write_i = (|placed) & !stage_warp_i[0];
  assign even_write_pair_i = stage_warp_i[5:1];
  assign odd_write_i = (|placed) & stage_warp_i[0];
  assign odd_write_pair_i = stage_warp_i[5:1];
  // counts: a pop takes one away, the new instruction adds one, a flush leaves none
  assign stay = (one_q & ~popped) | (two_q & popped);

  // room for one more besides the one that comes now
  assign high_room_o = ~(two_q | (one_q & comes));
  assign high_valid_o = one_q;
  assign even_slot_i = (warp0 <= 6'd47) ? first_q[warp0] : 1'b0;
  assign issue0_mask_o = even_context_o[BUNDLE_MASK +: 32];
  assign issue0_live_in_o = even_context_o[BUNDLE_LIVE_IN +: 16];
  assign issue0_live_out_o = even_context_o[BUNDLE_LIVE_OUT +: 16];
  assign issue0_last_o = even_context_o[BUNDLE_LAST];
  assign odd_slot_i = (warp1 <= 6'd47) ? first_q[warp1] : 1'b0;
  assign issue1_mask_o = odd_context_o[BUNDLE_MASK +: 32];
  assign issue1_live_in_o = odd_context_o[BUNDLE_LIVE_IN +: 16];
  assign issue1_live_out_o = odd_context_o[BUNDLE_LIVE_OUT +: 16];
  assign issue1_last_o = odd_context_o[BUNDLE_LAST];
  // low priority
  assign low_partition_stage_i = stage_valid_i & !stage_high_i;
  assign low_mask_o = low_partition_context_o[BUNDLE_MASK +: 32];
  assign low_live_in_o = low_partition_context_o[BUNDLE_LIVE_IN +: 16];
  assign low_live_out_o = low_partition_context_o[BUNDLE_LIVE_OUT +: 16];
  assign low_last_o = low_partition_context_o[BUNDLE_LAST];
  // an instruction that comes without a place is lost
  assign lost = stage_valid_i & stage_high_i & !(|placed) & !(flush_high_i & (stage_warp_i ==
      flush_warp_i));

  assign overflow_o = overflow_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      one_q <= 48'd0;
      two_q <= 48'd0;
      first_q <= 48'd0;
      overflow_q <= 1'b0;
    end else begin
      one_q <= (stay | placed) & ~flushed;
      two_q <= ((two_q & ~popped) | (stay & placed)) & ~flushed;
      first_q <= first_q ^ popped;
      overflow_q <= lost | low_partition_overflow_o;
    end
  end

endmodule

`default_nettype wire
