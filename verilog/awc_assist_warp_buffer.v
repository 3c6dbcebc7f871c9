// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_assist_warp_buffer
//
// Holds assist-warp instructions until they issue: two per warp that replace the parent's, and two
// of low priority.
//
// CABA, section 4.3. BITS is the width of an instruction.
//
// Parameters: BITS = 64
// Part of: awc
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_assist_warp_buffer (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: nothing is held
  input  wire        rst_ni,
  // an instruction arrives
  input  wire        stage_valid_i,
  // warp of the arriving instruction
  input  wire  [5:0] stage_warp_i,
  // the instruction has high priority
  input  wire        stage_high_i,
  // the instruction is the last of its assist warp
  input  wire        stage_last_i,
  // the arriving instruction
  input  wire [63:0] stage_instruction_i,
  // lanes of the instruction
  input  wire [31:0] stage_mask_i,
  // IDs of the parent's two argument registers
  input  wire [15:0] stage_live_in_i,
  // IDs of the parent's two result registers
  input  wire [15:0] stage_live_out_i,
  // drop the high-priority instructions of a warp
  input  wire        flush_high_i,
  // drop the low-priority instructions of a warp
  input  wire        flush_low_i,
  // warp whose instructions are dropped
  input  wire  [5:0] flush_warp_i,
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
  // warps that can take a high-priority instruction in the next cycle, one bit each
  output wire [47:0] high_room_o,
  // a low-priority instruction can arrive in the next cycle
  output wire        low_room_o,
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
  // the instruction of the last cycle found no free slot and is lost
  output wire        overflow_o
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

  awc_slots even (
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

  awc_slots odd (
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

  awc_low_partition low_partition (
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
