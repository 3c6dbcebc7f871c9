// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_compressor
//
// Compresses cache lines by frequent patterns: one line per cycle, two or more cycles each.
//
// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of
// CABA.
//
// Parameters: line_bytes = 128, segmented = false, pipeline_depth = 2
// In this file: GROUPS = 32, GROUP = 1
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control
//
// FPC, frequent pattern compression: a compressor and a decompressor of cache lines.
//
// Source: LATTE-CC, table I (5 cycles to decompress); CABA, section 5.1.4 (the segmented variant, algorithms
// 3 and 4); the patterns are those of the original algorithm, which both papers cite.
//
// A line of 32, 64 or 128 bytes is seen as 32-bit words. Each word that has a frequent `Pattern` is kept as a
// 3-bit prefix and a few bits of data:
//
// - 0, pattern run of 1 to 8 zero words: 3: words of the run less one
// - 1, pattern 4 bits, sign-extended: 4
// - 2, pattern byte, sign-extended: 8
// - 3, pattern halfword, sign-extended: 16
// - 4, pattern halfword above a zero halfword: 16
// - 5, pattern two halfwords, each a sign-extended byte: 16
// - 6, pattern four equal bytes: 8
// - 7, pattern any other word: 32
//
// A word takes the pattern with the fewest data bits, ties go to the lower prefix. A line that would not
// become shorter stays as it is. With `segmented` all four words of a segment share one prefix: the first
// pattern in that order which they all have; zeros are then a pattern without data, and there are no runs.
//
// WHAT THE PAPERS LEAVE OPEN
// - **Place of the prefixes.** CABA moves them to the head of the line, so that the places of all words are
//   known at once; decompression in five cycles needs the same of the original algorithm. Both variants here
//   begin with a head of 3-bit symbols: a prefix, or the length of a run right behind its prefix 0. Sizes do
//   not depend on it: a run takes 6 bits, as in the original. `Compressed` says how the payload is laid out.
// - **Words of a segment.** CABA does not say how many; `SEGMENT_WORDS` is 4, so that a 128-byte line has
//   eight segments, and the loop of CABA's algorithm 3 runs eight times.
// - **Cycles to compress.** No paper gives any; the default is one register between the two halves of the
//   logic and one at the output.
//
// STRUCTURE
//   compressor    line -> classify -> |register| -> pack ---> |registers| -> payload
//                 a symbol for each word            two packers, head and data, joined by a shifter
//
//   decompressor  payload -> parse -> parse -> align -> split -> expand -> |register| -> line
//                 half the prefixes each      data from   upper and lower half of the
//                                             bit 0 up    unpacker, words from their data
//
// PARAMETERS
// - line_bytes, default 128, allowed 32, 64, 128: bytes of a line
// - segmented, default false, allowed true, false: CABA's variant: one prefix for each segment of four words
// - pipeline_depth, default 2 (compressor), 5 (decompressor), allowed 1, 2, 5 (compressor), 1 to 5
//   (decompressor): registers from input to output: the latency in cycles
//
// At depth 1 all logic lies before the one register; the compressor's is then a module of its own,
// `fpc_compress`, without any state. From depth 2 on a register lies between the compressor's two halves, and
// further registers follow the logic, for a synthesis tool to move into it; Yosys and ABC do not. The
// decompressor's stand where they cut the longest path: behind half of the prefixes (2) and all of them (3);
// the other two (4, 5) stand between the steps behind them, which are shorter.
//
// PORTS AND TIMING
// Both blocks are valid/ready streams on both sides: an item moves in a cycle in which valid and ready are
// both high. `valid_o` never drops before `ready_i`. The pipeline is elastic: a stall closes gaps before it
// reaches the input, and one line per cycle passes when nothing stalls. `ready_o` depends on `ready_i` in the
// same cycle; no other output depends on an input. An output keeps its last value while `valid_o` is low.
// `encoding` is 1 for a compressed payload and 0 for a line as it was; the size is in bits.
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
// PAYLOADS THAT NO COMPRESSOR MAKES
// A zero run beyond the end of the line gives a line of zeros and `error_o` high. Data beyond the payload's
// last bit read as zeros; bits behind the last word's data are ignored.
//
// STORAGE
// Every register of the pipeline: see `HwBlock::facts`. No paper states any.

`default_nettype none

module fpc_compressor (
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
  // 1: head and data; 0: the line as it was
  output wire          encoding_o,
  // its size in bits
  output wire   [10:0] size_o,
  // head and data from bit 0 up; zero beyond the size
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  localparam LINE = 1024;
  reg [1035:0] result;
  reg [1311:0] classified;
  reg [287:0] symbols;
  wire results_ready_o;
  wire [1035:0] results_data_o;
  wire [287:0] classify_symbols_o;
  wire middle_valid_o;
  wire [1311:0] middle_data_o;
  wire [1023:0] pack_line_i;
  wire pack_encoding_o;
  wire [10:0] pack_size_o;
  wire [1023:0] pack_payload_o;

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1036)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (middle_valid_o),
    .data_i  (result),
    .ready_o (results_ready_o),
    .valid_o (valid_o),
    .data_o  (results_data_o),
    .ready_i (ready_i)
  );

  fpc_compressor_fpc_classify classify (
    .line_i    (line_i),
    .symbols_o (classify_symbols_o)
  );

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1312)) middle (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (classified),
    .ready_o (ready_o),
    .valid_o (middle_valid_o),
    .data_o  (middle_data_o),
    .ready_i (results_ready_o)
  );

  fpc_compressor_fpc_pack pack (
    .line_i     (pack_line_i),
    .symbols_i  (symbols),
    .encoding_o (pack_encoding_o),
    .size_o     (pack_size_o),
    .payload_o  (pack_payload_o)
  );

  always @(*) begin : comb_classified
    integer g;
    classified = {288'd0, line_i};
    for (g = 0; g < 32; g = g + 1) begin
      classified[LINE+g*9 +: 9] = classify_symbols_o[g*9 +: 9];
    end
  end

  // head and data
  assign pack_line_i = middle_data_o[1023:0];

  always @(*) begin : comb_symbols
    integer g;
    symbols = 288'd0;
    for (g = 0; g < 32; g = g + 1) begin
      symbols[g*9 +: 9] = middle_data_o[LINE+g*9 +: 9];
    end
  end

  always @(*) begin
    result = {12'd0, pack_payload_o};
    result[1024] = pack_encoding_o;
    result[1035:1025] = pack_size_o;
  end

  assign payload_o = results_data_o[1023:0];
  assign encoding_o = results_data_o[1024];
  assign size_o = results_data_o[1035:1025];

endmodule

`default_nettype wire
