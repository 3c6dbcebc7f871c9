// SPDX-License-Identifier: MIT OR Apache-2.0
// awb
//
// Holds assist-warp instructions until they issue: two per warp that replace the parent's, and two
// of low priority.
//
// CABA, section 4.3. BITS is the width of an instruction.
//
// In this file: BITS = INSTRUCTION_BITS
// Source: CABA, section 4.3
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// AWB, assist warp buffer: holds fetched assist-warp instructions until they issue.
//
// Source: CABA, section 4.3. In the paper it is part of the SM's instruction buffer. A
// high-priority instruction is next to the instructions of its parent warp; low-priority
// instructions are in a partition of two entries.
//
//    stage_* --+--> [ 24 even warps x 2 instructions ] <--index-- scheduler 0 --> issue0_*
//              +--> [ 24 odd warps  x 2 instructions ] <--index-- scheduler 1 --> issue1_*
//              +--> [ 2 low-priority instructions    ] ------------ head -------> low_*
//    flush_* ------> empties the slots of a warp, takes its instructions out of the low partition
//
// `high_valid_o` shows the schedulers which warps have an assist-warp instruction. For such a warp
// a scheduler issues that instruction instead of the parent's own. It sends the warp's index, gets
// the instruction in the same cycle, and pops it. A scheduler that has nothing else to issue may
// take the head of the low partition.
//
// Choices where the paper is silent:
// - Two schedulers (table 1) share the warps by parity, so the instructions are in two memories
//   with one read port each. Only one scheduler may take from the low partition in a cycle; the SM
//   chooses which.
// - A warp has two slots. Common simulators give a warp's instruction buffer the same size.
// - Room is reported one cycle ahead. `high_room_o` and `low_room_o` count the instruction that is
//   staged in the same cycle. So an instruction that is fetched now finds a free slot in the next
//   cycle. A slot that is popped in the same cycle does not count as free yet.
// - An instruction that finds no free slot is lost, and `overflow_o` is high in the next cycle. A
//   controller that observes the room never stages one. A high-priority instruction of a warp from
//   48 on, which does not exist, is lost in the same way.
// - A flush has a warp and a priority, like the controller's kill. It also drops an instruction of
//   the warp that is staged in the same cycle, because that instruction was fetched before. An
//   instruction that issues in the same cycle is issued.
// - A pop without an instruction has no effect.
//
// PARAMETERS
// - instruction_bits, default 64, allowed 32, 64: bits of an instruction
//
// PORTS AND TIMING
// `high_valid_o`, `low_*` and `overflow_o` come from registers. `issue*_o` come from the memories,
// at the index of the same cycle; they are zero for a warp that is not in `high_valid_o`.
// `high_room_o` and `low_room_o` follow from registers and the staged instruction.
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
// partition, three flags per warp, and one overflow flag. In the paper high-priority instructions
// use the existing instruction buffer and cost nothing more. Here they have separate memories,
// because this block does not hold the parent's instructions.
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

module awb #(
  // Bits of an instruction; verified with 32, 64
  parameter integer INSTRUCTION_BITS = 64
) (
  // clock
  input  wire                        clk_i,
  // asynchronous reset, active low: nothing is held
  input  wire                        rst_ni,
  // an instruction arrives
  input  wire                        stage_valid_i,
  // warp of the arriving instruction
  input  wire                  [5:0] stage_warp_i,
  // the instruction has high priority
  input  wire                        stage_high_i,
  // the instruction is the last of its assist warp
  input  wire                        stage_last_i,
  // the arriving instruction
  input  wire [INSTRUCTION_BITS-1:0] stage_instruction_i,
  // lanes of the instruction
  input  wire                 [31:0] stage_mask_i,
  // IDs of the parent's two argument registers
  input  wire                 [15:0] stage_live_in_i,
  // IDs of the parent's two result registers
  input  wire                 [15:0] stage_live_out_i,
  // drop the high-priority instructions of a warp
  input  wire                        flush_high_i,
  // drop the low-priority instructions of a warp
  input  wire                        flush_low_i,
  // warp whose instructions are dropped
  input  wire                  [5:0] flush_warp_i,
  // the even warp that scheduler 0 looks at, divided by two
  input  wire                  [4:0] issue0_index_i,
  // scheduler 0 pops the instruction of that warp
  input  wire                        issue0_pop_i,
  // the odd warp that scheduler 1 looks at, divided by two
  input  wire                  [4:0] issue1_index_i,
  // scheduler 1 pops the instruction of that warp
  input  wire                        issue1_pop_i,
  // the oldest low-priority instruction is popped
  input  wire                        low_pop_i,
  // warps that can take a high-priority instruction in the next cycle, one bit each
  output wire                 [47:0] high_room_o,
  // a low-priority instruction can arrive in the next cycle
  output wire                        low_room_o,
  // warps with a high-priority instruction, one bit each
  output wire                 [47:0] high_valid_o,
  // the oldest instruction of the warp that scheduler 0 looks at, zero if it has none
  output wire [INSTRUCTION_BITS-1:0] issue0_instruction_o,
  // lanes of the instruction
  output wire                 [31:0] issue0_mask_o,
  // IDs of the parent's two argument registers
  output wire                 [15:0] issue0_live_in_o,
  // IDs of the parent's two result registers
  output wire                 [15:0] issue0_live_out_o,
  // the instruction is the last of its assist warp
  output wire                        issue0_last_o,
  // the oldest instruction of the warp that scheduler 1 looks at, zero if it has none
  output wire [INSTRUCTION_BITS-1:0] issue1_instruction_o,
  // lanes of the instruction
  output wire                 [31:0] issue1_mask_o,
  // IDs of the parent's two argument registers
  output wire                 [15:0] issue1_live_in_o,
  // IDs of the parent's two result registers
  output wire                 [15:0] issue1_live_out_o,
  // the instruction is the last of its assist warp
  output wire                        issue1_last_o,
  // the buffer holds a low-priority instruction
  output wire                        low_valid_o,
  // warp of the oldest low-priority instruction
  output wire                  [5:0] low_warp_o,
  // the oldest low-priority instruction
  output wire [INSTRUCTION_BITS-1:0] low_instruction_o,
  // lanes of the instruction
  output wire                 [31:0] low_mask_o,
  // IDs of the parent's two argument registers
  output wire                 [15:0] low_live_in_o,
  // IDs of the parent's two result registers
  output wire                 [15:0] low_live_out_o,
  // the instruction is the last of its assist warp
  output wire                        low_last_o,
  // the instruction of the last cycle found no free slot and is lost
  output wire                        overflow_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (INSTRUCTION_BITS != 32 && INSTRUCTION_BITS != 64) begin : gen_wrong_instruction_bits
      awb_INSTRUCTION_BITS_must_be_32_or_64 wrong_instruction_bits ();
    end
  endgenerate

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
  wire even_write;
  wire even_slot;
  wire even_valid;
  wire [64:0] even_context;
  wire odd_write;
  wire odd_slot;
  wire odd_valid;
  wire [64:0] odd_context;
  wire low_partition_stage;
  wire low_partition_overflow;
  wire [64:0] low_partition_context;
  // warps with at least one high-priority instruction
  reg [47:0] one_q;
  // warps with two high-priority instructions
  reg [47:0] two_q;
  // slot of each warp's oldest instruction
  reg [47:0] first_q;
  reg overflow_q;
  wire [63:0] first_padded;
  wire [63:0] one_padded;

  awb_slots #(.INSTRUCTION_BITS (INSTRUCTION_BITS)) even (
    .clk_i         (clk_i),
    .write_i       (even_write),
    .write_pair_i  (stage_warp_i[5:1]),
    .write_slot_i  (slot),
    .instruction_i (stage_instruction_i),
    .context_i     (bundle),
    .pair_i        (issue0_index_i),
    .slot_i        (even_slot),
    .valid_i       (even_valid),
    .instruction_o (issue0_instruction_o),
    .context_o     (even_context)
  );

  awb_slots #(.INSTRUCTION_BITS (INSTRUCTION_BITS)) odd (
    .clk_i         (clk_i),
    .write_i       (odd_write),
    .write_pair_i  (stage_warp_i[5:1]),
    .write_slot_i  (slot),
    .instruction_i (stage_instruction_i),
    .context_i     (bundle),
    .pair_i        (issue1_index_i),
    .slot_i        (odd_slot),
    .valid_i       (odd_valid),
    .instruction_o (issue1_instruction_o),
    .context_o     (odd_context)
  );

  awb_low_partition #(.INSTRUCTION_BITS (INSTRUCTION_BITS)) low_partition (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .stage_i       (low_partition_stage),
    .warp_i        (stage_warp_i),
    .instruction_i (stage_instruction_i),
    .context_i     (bundle),
    .flush_i       (flush_low_i),
    .flush_warp_i  (flush_warp_i),
    .pop_i         (low_pop_i),
    .room_o        (low_room_o),
    .overflow_o    (low_partition_overflow),
    .valid_o       (low_valid_o),
    .warp_o        (low_warp_o),
    .instruction_o (low_instruction_o),
    .context_o     (low_partition_context)
  );

  always @(*) begin
    bundle = 65'd0;
    bundle[BUNDLE_MASK +: 32] = stage_mask_i;
    bundle[BUNDLE_LIVE_IN +: 16] = stage_live_in_i;
    bundle[BUNDLE_LIVE_OUT +: 16] = stage_live_out_i;
    bundle[BUNDLE_LAST] = stage_last_i;
  end

  // one bit per warp: the arriving instruction's, the flush's, and the pops'
  always @(*) begin
    comes = 48'd0;
    if (stage_valid_i & stage_high_i) begin
      comes[stage_warp_i] = 1'b1;
    end
  end

  always @(*) begin
    flushed = 48'd0;
    if (flush_high_i) begin
      flushed[flush_warp_i] = 1'b1;
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
      popped[warp0] = 1'b1;
    end
    if (issue1_pop_i) begin
      popped[warp1] = 1'b1;
    end
    popped = popped & one_q;
  end

  // an arriving instruction takes the free slot, unless both are full or it is flushed
  assign placed = comes & ~two_q & ~flushed;
  assign slot = |((first_q ^ one_q) & comes);
  assign even_write = (|placed) & ~stage_warp_i[0];
  assign odd_write = (|placed) & stage_warp_i[0];
  // instructions per warp: a pop removes one, an arrival adds one, a flush removes all
  assign stay = (one_q & ~popped) | (two_q & popped);

  // a slot is still free after the arriving instruction has taken one
  assign high_room_o = ~(two_q | (one_q & comes));
  assign high_valid_o = one_q;
  assign first_padded = {16'd0, first_q};
  assign even_slot = first_padded[warp0];
  assign one_padded = {16'd0, one_q};
  assign even_valid = one_padded[warp0];
  assign issue0_mask_o = even_context[BUNDLE_MASK +: 32];
  assign issue0_live_in_o = even_context[BUNDLE_LIVE_IN +: 16];
  assign issue0_live_out_o = even_context[BUNDLE_LIVE_OUT +: 16];
  assign issue0_last_o = even_context[BUNDLE_LAST];
  assign odd_slot = first_padded[warp1];
  assign odd_valid = one_padded[warp1];
  assign issue1_mask_o = odd_context[BUNDLE_MASK +: 32];
  assign issue1_live_in_o = odd_context[BUNDLE_LIVE_IN +: 16];
  assign issue1_live_out_o = odd_context[BUNDLE_LIVE_OUT +: 16];
  assign issue1_last_o = odd_context[BUNDLE_LAST];
  // low priority
  assign low_partition_stage = stage_valid_i & ~stage_high_i;
  assign low_mask_o = low_partition_context[BUNDLE_MASK +: 32];
  assign low_live_in_o = low_partition_context[BUNDLE_LIVE_IN +: 16];
  assign low_live_out_o = low_partition_context[BUNDLE_LIVE_OUT +: 16];
  assign low_last_o = low_partition_context[BUNDLE_LAST];
  // an arriving instruction without a free slot is lost
  assign lost = stage_valid_i & stage_high_i & ~(|placed) & ~(flush_high_i & (stage_warp_i ==
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
      overflow_q <= lost | low_partition_overflow;
    end
  end

endmodule

`default_nettype wire
