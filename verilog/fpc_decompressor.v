// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor
//
// Decompresses cache lines of frequent patterns: one line per cycle.
//
// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of
// CABA.
//
// Parameters: line_bytes = 128, segmented = false, pipeline_depth = 5
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

module fpc_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // 1: head and data; 0: the line as it was
  input  wire          encoding_i,
  // head and data from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // a zero run reached beyond the line; the line is zero
  output wire          error_o,
  // the line: byte 0 in bits 7 to 0
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  localparam HALF = 16;
  localparam LINE = 1024;
  localparam SYMBOL = 6;
  reg [1179:0] first;
  reg first_valid;
  reg first_ready;
  reg [191:0] rest;
  reg [1129:0] parsed;
  reg parsed_valid;
  reg parsed_ready;
  wire error;
  reg [1023:0] data;
  reg [1121:0] aligned;
  reg aligned_valid;
  reg aligned_ready;
  reg [1121:0] strings;
  reg strings_valid;
  reg strings_ready;
  reg [95:0] prefixes;
  reg [95:0] last_prefixes;
  reg [1024:0] result;
  wire [191:0] parse_low_head_i;
  wire [47:0] parse_low_prefixes_o;
  wire [191:0] parse_low_head_o;
  wire [2:0] parse_low_run_o;
  wire [7:0] parse_low_start_o;
  wire [2:0] parse_high_run_i;
  wire [7:0] parse_high_start_i;
  wire [47:0] parse_high_prefixes_o;
  wire [191:0] parse_high_head_o;
  wire [2:0] parse_high_run_o;
  wire [7:0] parse_high_start_o;
  wire split_encoding_i;
  wire [1023:0] split_string_i;
  wire [1023:0] split_strings_o;
  wire expand_encoding_i;
  wire [1023:0] expand_strings_i;
  wire expand_error_i;
  wire [1023:0] expand_line_o;
  reg after_half_valid_i;
  reg [1179:0] after_half_data_i;
  wire after_half_ready_o;
  wire after_half_valid_o;
  wire [1179:0] after_half_data_o;
  reg after_parse_valid_i;
  reg [1129:0] after_parse_data_i;
  wire after_parse_ready_o;
  wire after_parse_valid_o;
  wire [1129:0] after_parse_data_o;
  reg after_align_valid_i;
  reg [1121:0] after_align_data_i;
  wire after_align_ready_o;
  wire after_align_valid_o;
  wire [1121:0] after_align_data_o;
  reg after_split_valid_i;
  reg [1121:0] after_split_data_i;
  wire after_split_ready_o;
  wire after_split_valid_o;
  wire [1121:0] after_split_data_o;
  wire results_ready_o;
  wire [1024:0] results_data_o;

  fpc_decompressor_fpc_parse parse_low (
    .head_i     (parse_low_head_i),
    .run_i      (3'd0),
    .start_i    (8'd0),
    .prefixes_o (parse_low_prefixes_o),
    .head_o     (parse_low_head_o),
    .run_o      (parse_low_run_o),
    .start_o    (parse_low_start_o)
  );

  fpc_decompressor_fpc_parse parse_high (
    .head_i     (rest),
    .run_i      (parse_high_run_i),
    .start_i    (parse_high_start_i),
    .prefixes_o (parse_high_prefixes_o),
    .head_o     (parse_high_head_o),
    .run_o      (parse_high_run_o),
    .start_o    (parse_high_start_o)
  );

  fpc_decompressor_fpc_split split (
    .encoding_i (split_encoding_i),
    .string_i   (split_string_i),
    .prefixes_i (prefixes),
    .strings_o  (split_strings_o)
  );

  fpc_decompressor_fpc_expand expand (
    .encoding_i (expand_encoding_i),
    .strings_i  (expand_strings_i),
    .prefixes_i (last_prefixes),
    .error_i    (expand_error_i),
    .line_o     (expand_line_o)
  );

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1180)) after_half (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (after_half_valid_i),
    .data_i  (after_half_data_i),
    .ready_o (after_half_ready_o),
    .valid_o (after_half_valid_o),
    .data_o  (after_half_data_o),
    .ready_i (parsed_ready)
  );

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1130)) after_parse (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (after_parse_valid_i),
    .data_i  (after_parse_data_i),
    .ready_o (after_parse_ready_o),
    .valid_o (after_parse_valid_o),
    .data_o  (after_parse_data_o),
    .ready_i (aligned_ready)
  );

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1122)) after_align (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (after_align_valid_i),
    .data_i  (after_align_data_i),
    .ready_o (after_align_ready_o),
    .valid_o (after_align_valid_o),
    .data_o  (after_align_data_o),
    .ready_i (strings_ready)
  );

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1122)) after_split (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (after_split_valid_i),
    .data_i  (after_split_data_i),
    .ready_o (after_split_ready_o),
    .valid_o (after_split_valid_o),
    .data_o  (after_split_data_o),
    .ready_i (results_ready_o)
  );

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1025)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (strings_valid),
    .data_i  (result),
    .ready_o (results_ready_o),
    .valid_o (valid_o),
    .data_o  (results_data_o),
    .ready_i (ready_i)
  );

  // the prefixes of the first half
  assign parse_low_head_i = payload_i[191:0];

  always @(*) begin : comb_first
    integer g;
    first = {156'd0, payload_i};
    for (g = 0; g < 16; g = g + 1) begin
      first[LINE+g*SYMBOL +: 6] = parse_low_head_o[g*SYMBOL +: 6];
      first[LINE+HALF*SYMBOL+g*3 +: 3] = parse_low_prefixes_o[g*3 +: 3];
    end
    first[1170:1168] = parse_low_run_o;
    first[1178:1171] = parse_low_start_o;
    first[1179] = encoding_i;
    after_half_data_i = first;
    first = after_half_data_o;
  end

  always @(*) begin
    first_valid = valid_i;
    after_half_valid_i = first_valid;
    first_valid = after_half_valid_o;
  end

  // those of the second half, and where the data begin
  always @(*) begin : comb_rest
    integer g;
    rest = 192'd0;
    for (g = 0; g < 16; g = g + 1) begin
      rest[g*SYMBOL +: 6] = first[LINE+g*SYMBOL +: 6];
    end
  end

  assign parse_high_run_i = first[1170:1168];
  assign parse_high_start_i = first[1178:1171];
  assign error = (|parse_high_run_o) & first[1179];

  always @(*) begin : comb_parsed
    integer g;
    parsed = {106'd0, first[1023:0]};
    for (g = 0; g < 16; g = g + 1) begin
      parsed[LINE+g*3 +: 3] = first[LINE+HALF*SYMBOL+g*3 +: 3];
      parsed[LINE+(HALF+g)*3 +: 3] = parse_high_prefixes_o[g*3 +: 3];
    end
    parsed[1127:1120] = parse_high_start_o;
    parsed[1128] = error;
    parsed[1129] = first[1179];
    after_parse_data_i = parsed;
    parsed = after_parse_data_o;
  end

  always @(*) begin
    parsed_valid = first_valid;
    after_parse_valid_i = parsed_valid;
    parsed_valid = after_parse_valid_o;
  end

  // the data from bit 0 up; a line as it was stays where it is
  always @(*) begin
    data = parsed[1023:0];
    if (parsed[1129]) begin
      data = data >> parsed[1127:1120];
    end
  end

  always @(*) begin : comb_aligned
    integer g;
    aligned = {98'd0, data};
    for (g = 0; g < 32; g = g + 1) begin
      aligned[LINE+g*3 +: 3] = parsed[LINE+g*3 +: 3];
    end
    aligned[1121:1120] = parsed[1129:1128];
    after_align_data_i = aligned;
    aligned = after_align_data_o;
  end

  always @(*) begin
    aligned_valid = parsed_valid;
    after_align_valid_i = aligned_valid;
    aligned_valid = after_align_valid_o;
  end

  // strings of a few words
  always @(*) begin : comb_prefixes
    integer g;
    prefixes = 96'd0;
    for (g = 0; g < 32; g = g + 1) begin
      prefixes[g*3 +: 3] = aligned[LINE+g*3 +: 3];
    end
  end

  assign split_encoding_i = aligned[1121];
  assign split_string_i = aligned[1023:0];

  always @(*) begin : comb_strings
    integer g;
    strings = {98'd0, split_strings_o};
    for (g = 0; g < 32; g = g + 1) begin
      strings[LINE+g*3 +: 3] = prefixes[g*3 +: 3];
    end
    strings[1121:1120] = aligned[1121:1120];
    after_split_data_i = strings;
    strings = after_split_data_o;
  end

  always @(*) begin
    strings_valid = aligned_valid;
    after_split_valid_i = strings_valid;
    strings_valid = after_split_valid_o;
  end

  // words from their data
  always @(*) begin : comb_last_prefixes
    integer g;
    last_prefixes = 96'd0;
    for (g = 0; g < 32; g = g + 1) begin
      last_prefixes[g*3 +: 3] = strings[LINE+g*3 +: 3];
    end
  end

  assign expand_strings_i = strings[1023:0];
  assign expand_error_i = strings[1120];
  assign expand_encoding_i = strings[1121];

  always @(*) begin
    result = {1'b0, expand_line_o};
    result[1024] = strings[1120];
  end

  assign line_o = results_data_o[1023:0];
  assign error_o = results_data_o[1024];

  // from the last register back: each is ready when it is empty or the next one is
  always @(*) begin
    strings_ready = results_ready_o;
    strings_ready = after_split_ready_o;
  end

  always @(*) begin
    aligned_ready = strings_ready;
    aligned_ready = after_align_ready_o;
  end

  always @(*) begin
    parsed_ready = aligned_ready;
    parsed_ready = after_parse_ready_o;
  end

  always @(*) begin
    first_ready = parsed_ready;
    first_ready = after_half_ready_o;
  end

  assign ready_o = first_ready;

  // bits that nothing here looks at
  wire unused = &{1'b0, parse_high_head_o};

endmodule

`default_nettype wire
