// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor
//
// Compresses cache lines by base-delta-immediate: one line per cycle.
//
// CABA, section 5.1; LATTE-CC, section IV.C.1. The payload is the smallest of eleven encodings;
// ties go to the wider base.
//
// Parameters: line_bytes = 128, first_word = false, pipeline_depth = 2
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// BDI, base-delta-immediate compression: a compressor and a decompressor of cache lines.
//
// Source: CABA, section 5.1 (algorithm, figure 6); LATTE-CC, section IV.C.1 (encodings, 2/2
// cycles).
//
// A line of 32, 64 or 128 bytes consists of words of 8, 4 or 2 bytes. Each word is stored as a
// short difference (delta) from one of two bases: zero, or the first word that is not a short
// difference from zero. `Encoding` lists the eleven encodings, `Compressed` defines the layout of a
// payload, and `compress` and `decompress` are the arithmetic. Subtraction wraps in the word's
// width. A delta of k bytes is in -2^(8k-1) ..= 2^(8k-1)-1. The smallest payload wins; ties go to
// the wider base. `Base` is the rule for the stored base. CABA's routines take the first word
// (section 5.1.2), even if it is a short difference from zero, so that they need no search. The
// papers do not define an encoding without deltas; here it means that all words are equal.
//
// PARAMETERS
// - line_bytes, default 128, allowed 32, 64, 128: bytes of a line
// - first_word, default false, allowed true, false: (compressor only) the base is the first word,
//   even if it is a short difference from zero
// - pipeline_depth, default 2, allowed 1 to 5: registers from input to output: the latency in
//   cycles
//
// LATTE-CC assumes 2 cycles to compress and 2 to decompress; CABA's dedicated hardware takes 5 and
// 1. One register is at the output. The others are between the steps of the logic, each at the
// position that shortens the longest path most:
//
// - 1, compressor search, trials, choice, subtraction, packing: spreading, bases, addition
// - 2, compressor search, trials / choice, subtraction, packing: spreading / bases, addition
// - 3, compressor search / trials / choice, subtraction, packing: spreading / bases / addition
// - 4, compressor search / trials / choice, subtraction / packing: as at depth 3, with a register
//   that shortens no path
// - 5, compressor search / trials / choice / subtraction / packing: as at depth 3, with two such
//   registers
//
// The search finds for each encoding the words that are deltas from zero, and the base. The trials
// select the encoding. The choice selects the base and the mask of that encoding.
//
// PORTS AND TIMING
// Both blocks have a valid/ready stream on each side: an item moves in a cycle in which valid and
// ready are both high. `valid_o` stays high until `ready_i`. The pipeline is elastic: a register
// takes a new item when it is empty or when its own item moves on. So a stall closes gaps before it
// reaches the input, no item is lost, and one line passes per cycle while nothing stalls. `ready_o`
// depends on `ready_i` in the same cycle; no other output depends on an input. An output keeps its
// last value while `valid_o` is low.
//
//   depth 2     0     1     2     3     4     5
//   clk_i     /--\__/--\__/--\__/--\__/--\__/--\__
//   valid_i   /-----------------------\___________
//   line_i    < A  >< B  >< C        >============
//   ready_o   ------------\_____/-----------------   low: both registers are full and A is not taken
//   valid_o   ____________/-----------------------
//   payload_o ============< a        >< b  >< c  >
//   ready_i   ------------\_____/-----------------
//
// UNDEFINED TAGS
// Tags 11 to 15 are undefined. For them, the decompressor gives a line of zeros with `error_o`
// high. It ignores bits that an encoding does not use (beyond its payload, or beyond the mask's
// words).
//
// STORAGE
// The storage is the registers of the pipeline: see `HwBlock::facts`. At 128 bytes and depth 2, the
// compressor holds 2,430 bits: 1,392 between trials and choice, 1,036 at the output, and 2 valid
// bits.

`default_nettype none

module bdi_compressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire          rst_ni,
  // a line is offered
  input  wire          valid_i,
  // the line: byte 0 in bits 7 to 0
  input  wire [1023:0] line_i,
  // the line is taken in this cycle
  output wire          ready_o,
  // a payload is offered
  output wire          valid_o,
  // tag of the payload's encoding
  output wire    [3:0] encoding_o,
  // size of the payload in bytes
  output wire    [7:0] size_o,
  // base, mask and deltas from bit 0 up; zero beyond the size
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  // near: the first bit of each field
  localparam NEAR_LINE = 0;
  localparam NEAR_TAG = 1379;
  // chosen: the first bit of each field
  localparam CHOSEN_WORDS = 0;
  localparam CHOSEN_TAG = 1024;
  localparam CHOSEN_BASE = 1028;
  localparam CHOSEN_MASK = 1092;
  // result: the first bit of each field
  localparam RESULT_PAYLOAD = 0;
  localparam RESULT_TAG = 1024;
  localparam RESULT_SIZE = 1028;
  wire [1378:0] first;
  wire [1391:0] near;
  wire near_valid;
  reg [1155:0] chosen;
  reg [1155:0] deltas;
  reg [1035:0] result;
  wire deltas_ready;
  wire [1391:0] nears_near;
  wire [63:0] choose_base;
  wire [63:0] choose_mask;
  wire [1023:0] subtract_deltas;
  wire [1023:0] pack_payload;
  wire [7:0] pack_size;
  wire [1391:0] after_nears_data;
  wire results_ready;
  wire [1035:0] results_data;

  bdi_compressor_bdi_firsts firsts (
    .line_i  (line_i),
    .first_o (first)
  );

  bdi_compressor_bdi_nears nears (
    .first_i (first),
    .near_o  (nears_near)
  );

  bdi_compressor_bdi_choose choose (
    .near_i (near),
    .base_o (choose_base),
    .mask_o (choose_mask)
  );

  bdi_compressor_bdi_subtract subtract (
    .line_i   (chosen[CHOSEN_WORDS +: 1024]),
    .tag_i    (chosen[CHOSEN_TAG +: 4]),
    .base_i   (chosen[CHOSEN_BASE +: 64]),
    .mask_i   (chosen[CHOSEN_MASK +: 64]),
    .deltas_o (subtract_deltas)
  );

  bdi_compressor_bdi_pack pack (
    .deltas_i  (deltas[CHOSEN_WORDS +: 1024]),
    .tag_i     (deltas[CHOSEN_TAG +: 4]),
    .base_i    (deltas[CHOSEN_BASE +: 64]),
    .mask_i    (deltas[CHOSEN_MASK +: 64]),
    .payload_o (pack_payload),
    .size_o    (pack_size)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1392)) after_nears (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (nears_near),
    .ready_o (ready_o),
    .valid_o (near_valid),
    .data_o  (after_nears_data),
    .ready_i (deltas_ready)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1036)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (near_valid),
    .data_i  (result),
    .ready_o (results_ready),
    .valid_o (valid_o),
    .data_o  (results_data),
    .ready_i (ready_i)
  );

  assign near = after_nears_data;

  always @(*) begin
    chosen = {132'd0, near[NEAR_LINE +: 1024]};
    chosen[CHOSEN_TAG +: 4] = near[NEAR_TAG +: 4];
    chosen[CHOSEN_BASE +: 64] = choose_base;
    chosen[CHOSEN_MASK +: 64] = choose_mask;
  end

  always @(*) begin
    deltas = {132'd0, subtract_deltas};
    deltas[CHOSEN_TAG +: 4] = chosen[CHOSEN_TAG +: 4];
    deltas[CHOSEN_BASE +: 64] = chosen[CHOSEN_BASE +: 64];
    deltas[CHOSEN_MASK +: 64] = chosen[CHOSEN_MASK +: 64];
  end

  always @(*) begin
    result = {12'd0, pack_payload};
    result[RESULT_TAG +: 4] = deltas[CHOSEN_TAG +: 4];
    result[RESULT_SIZE +: 8] = pack_size;
  end

  assign payload_o = results_data[RESULT_PAYLOAD +: 1024];
  assign encoding_o = results_data[RESULT_TAG +: 4];
  assign size_o = results_data[RESULT_SIZE +: 8];
  // from the last register to the first: ready if empty or if the next one is ready
  assign deltas_ready = results_ready;

endmodule

`default_nettype wire
