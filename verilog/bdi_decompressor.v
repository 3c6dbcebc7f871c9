// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_decompressor
//
// Rebuilds cache lines from base-delta-immediate payloads: one line per cycle.
//
// CABA, section 5.1; LATTE-CC, section IV.C.1. An undefined tag gives a line of zeros with error_o
// high.
//
// Parameters: line_bytes = 128, pipeline_depth = 2
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

module bdi_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // tag of the payload's encoding
  input  wire    [3:0] encoding_i,
  // base, mask and deltas from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the tag is undefined; the line is zero
  output wire          error_o,
  // the line: byte 0 in bits 7 to 0
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  // parts: the first bit of each field
  localparam PARTS_DELTAS = 0;
  localparam PARTS_TAG = 1024;
  localparam PARTS_BASE = 1028;
  localparam PARTS_MASK = 1092;
  // result: the first bit of each field
  localparam RESULT_LINE = 0;
  localparam RESULT_ERROR = 1024;
  wire [1155:0] parts;
  wire parts_valid;
  wire [2051:0] both;
  wire both_ready;
  reg [1024:0] result;
  wire [1023:0] spread_deltas;
  wire [63:0] spread_mask;
  wire [1023:0] add_line;
  wire add_error;
  reg [1155:0] after_spread_data_in;
  wire [1155:0] after_spread_data_out;
  wire results_ready;
  wire [1024:0] results_data;

  bdi_decompressor_bdi_spread spread (
    .payload_i (payload_i),
    .tag_i     (encoding_i),
    .deltas_o  (spread_deltas),
    .mask_o    (spread_mask)
  );

  bdi_decompressor_bdi_operands operands (
    .deltas_i   (parts[PARTS_DELTAS +: 1024]),
    .tag_i      (parts[PARTS_TAG +: 4]),
    .base_i     (parts[PARTS_BASE +: 64]),
    .mask_i     (parts[PARTS_MASK +: 64]),
    .operands_o (both)
  );

  bdi_decompressor_bdi_add add (
    .operands_i (both),
    .line_o     (add_line),
    .error_o    (add_error)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1156)) after_spread (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (after_spread_data_in),
    .ready_o (ready_o),
    .valid_o (parts_valid),
    .data_o  (after_spread_data_out),
    .ready_i (both_ready)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1025)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (parts_valid),
    .data_i  (result),
    .ready_o (results_ready),
    .valid_o (valid_o),
    .data_o  (results_data),
    .ready_i (ready_i)
  );

  always @(*) begin
    after_spread_data_in = {132'd0, spread_deltas};
    after_spread_data_in[PARTS_TAG +: 4] = encoding_i;
    after_spread_data_in[PARTS_BASE +: 64] = payload_i[63:0];
    after_spread_data_in[PARTS_MASK +: 64] = spread_mask;
  end

  assign parts = after_spread_data_out;

  always @(*) begin
    result = {1'b0, add_line};
    result[RESULT_ERROR] = add_error;
  end

  assign line_o = results_data[RESULT_LINE +: 1024];
  assign error_o = results_data[RESULT_ERROR];
  // from the last register to the first: ready if empty or if the next one is ready
  assign both_ready = results_ready;

endmodule

`default_nettype wire
