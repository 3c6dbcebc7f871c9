// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_compressor
//
// Compresses cache lines by frequent patterns of segments: one line per cycle.
//
// Each of the GROUPS segments of four words has one prefix. The head has the same length for all
// lines. A line becomes shorter unless all its segments are raw; then no segment moves.
//
// Parameters: line_bytes = 128, segmented = true, pipeline_depth = 2
// In this file: GROUPS = 8
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// FPC, frequent pattern compression: a compressor and a decompressor of cache lines.
//
// Source: LATTE-CC, table I (5 cycles to decompress); CABA, section 5.1.4 (the segmented variant,
// algorithms 3 and 4). The patterns come from the original algorithm, which both papers cite.
//
// A line of 32, 64 or 128 bytes is a sequence of 32-bit words. Each word with a frequent `Pattern`
// is stored as a 3-bit prefix and a few bits of data:
//
// - 0, pattern run of 1 to 8 zero words: 3: words of the run minus one
// - 1, pattern 4 bits, sign-extended: 4
// - 2, pattern byte, sign-extended: 8
// - 3, pattern halfword, sign-extended: 16
// - 4, pattern halfword above a zero halfword: 16
// - 5, pattern two halfwords, each a sign-extended byte: 16
// - 6, pattern four equal bytes: 8
// - 7, pattern any other word: 32
//
// A word takes the pattern with the fewest data bits; of patterns with equal bits, the lowest
// prefix counts. A line that would not become shorter stays uncompressed. With `segmented` all four
// words of a segment share one prefix: the first pattern in that order that they all have. Zeros
// are then a pattern without data, and runs do not exist.
//
// CHOICES WHERE THE PAPERS ARE SILENT
// - **Position of the prefixes.** CABA moves them to the head of the line, so that the positions of
//   all words are known at once. Decompression in five cycles needs the same in the original
//   algorithm. Both variants here begin with a head of 3-bit symbols: the prefixes, and the length
//   of a run directly after its prefix 0. Sizes do not depend on the position: a run takes 6 bits,
//   as in the original. `Compressed` describes the layout of the payload.
// - **Words of a segment.** CABA does not give the number. `SEGMENT_WORDS` is 4, so that a 128-byte
//   line has eight segments, and the loop of CABA's algorithm 3 runs eight times.
// - **Cycles to compress.** No paper gives the number. By default one register is between the two
//   halves of the logic and one is at the output.
//
// STRUCTURE
//   segments
//   compressor    line -> classify -> gather -> |register| -> move down --> |registers| -> payload
//                 a prefix for four words, their data         by 1, 2, 4 ... lanes
//   decompressor  payload -> |register| -> align -> |register| -> far -> |register| -> near -> |register| -> rebuild -> |register| -> line
//                                          data from             moves by 32,         moves by 4,           words from
//                                          bit 0 up              16, 8 lanes          2, 1 lanes            their data
//
//   words
//   compressor    line -> classify -> |register| -> pack ---> |registers| -> payload
//                 a symbol for each word            two packers, head and data, joined by a shifter
//   decompressor  payload -> parse -> parse -> align -> split -> expand -> |register| -> line
//                 half the prefixes each      data from   upper and lower half of the
//                                             bit 0 up    unpacker, words from their data
// Segments need much less logic than words. The data of all words in a segment have the same
// length, so each word is at one of four positions and no shifter moves it. The data of a segment
// take 0, 1, 2, 4 or 8 lanes of 16 bits. The compressor moves them down by the lanes that the
// segments before leave free, and the decompressor moves them up. A segment never passes another
// one, so all move at once through one row of lanes, by one power of two after the other. The head
// has a fixed length, so nothing is parsed and the data begin at a fixed bit. A line becomes
// shorter unless all its segments are raw, because any other segment saves at least 64 bits. Raw
// segments do not move and have no head, so no copy of the line is needed. In the same way the
// decompressor treats an uncompressed line as raw segments.
//
// PARAMETERS
// - line_bytes, default 128, allowed 32, 64, 128: bytes of a line
// - segmented, default true, allowed true, false: CABA's variant: one prefix per segment of four
//   words
// - pipeline_depth, default 2 (compressor), 5 (decompressor), allowed 1, 2, 5 (compressor), 1 to 5
//   (decompressor): registers from input to output: the latency in cycles
//
// The default is the variant that the simulator's mechanisms use.
//
// At depth 1 all logic is before the only register. The compressor of words then has a separate
// module without state, `fpc_compress`. From depth 2 on, one register is between the compressor's
// two halves. Further registers follow the logic, so that a synthesis tool can move them into it;
// Yosys and ABC do not.
//
// The decompressor's registers cut the longest path. With segments, they are added after the last
// moves (depth 2), after the alignment of the data (3), after the moves by eight lanes or more (4),
// and after the inputs (5). With words, they are added after half of the prefixes (2) and after all
// prefixes (3). The other two (4, 5) are between the later steps, which are shorter.
//
// PORTS AND TIMING
// Both blocks are valid/ready streams on both sides: an item moves in a cycle in which valid and
// ready are both high. `valid_o` never drops before `ready_i`. The pipeline is elastic: a stall
// fills empty registers before it reaches the input, and one line per cycle passes when nothing
// stalls. `ready_o` depends on `ready_i` in the same cycle; no other output depends on an input. An
// output keeps its last value while `valid_o` is low. `encoding` is 1 for a compressed payload and
// 0 for an uncompressed line. The size is in bits.
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
// INVALID PAYLOADS
// A zero run that exceeds the line gives a line of zeros and a high `error_o`. With segments every
// payload is valid, and `error_o` is always low. Data beyond the payload's last bit read as zeros;
// bits after the last word's data are ignored.
//
// STORAGE
// Every register of the pipeline; `HwBlock::facts` lists them. No paper states the storage.

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
  // 1: head and data; 0: uncompressed line
  output wire          encoding_o,
  // size of the payload in bits
  output wire   [10:0] size_o,
  // head and data from bit 0 up; zero beyond the size
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  // result: the first bit of each field
  localparam RESULT_PAYLOAD = 0;
  localparam RESULT_ENCODING = 1024;
  localparam RESULT_SIZE = 1025;
  localparam LINE = 1024;
  localparam [10:0] LINE_BITS = 11'h400;
  localparam [10:0] HEAD_BITS = 11'd24;
  reg [23:0] first_prefixes;
  wire [1095:0] gathered;
  wire gathered_valid;
  reg [23:0] prefixes;
  // free lanes of the line; 0 also if all are free
  wire [5:0] free;
  reg [1023:0] payload;
  reg [10:0] size;
  reg [1035:0] result;
  wire [71:0] classify_symbols;
  wire [1023:0] gather_strings;
  wire [47:0] free_lanes_counts;
  reg [1095:0] middle_data;
  wire [1023:0] close_lanes;
  wire results_ready;
  wire [1035:0] results_data;

  fpc_compressor_fpc_classify classify (
    .line_i    (line_i),
    .symbols_o (classify_symbols)
  );

  fpc_compressor_fpc_gather gather (
    .line_i     (line_i),
    .prefixes_i (first_prefixes),
    .strings_o  (gather_strings)
  );

  fpc_compressor_fpc_free_lanes free_lanes (
    .prefixes_i (first_prefixes),
    .counts_o   (free_lanes_counts)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1096)) middle (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (middle_data),
    .ready_o (ready_o),
    .valid_o (gathered_valid),
    .data_o  (gathered),
    .ready_i (results_ready)
  );

  fpc_compressor_fpc_close close (
    .lanes_i     (gathered[1023:0]),
    .distances_i (gathered[1089:1048]),
    .lanes_o     (close_lanes)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1036)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (gathered_valid),
    .data_i  (result),
    .ready_o (results_ready),
    .valid_o (valid_o),
    .data_o  (results_data),
    .ready_i (ready_i)
  );

  always @(*) begin : comb_first_prefixes
    integer g;
    for (g = 0; g < 8; g = g + 1) begin
      first_prefixes[g*3 +: 3] = classify_symbols[g*9 +: 3];
    end
  end

  always @(*) begin : comb_middle_data
    integer g;
    middle_data = {72'd0, gather_strings};
    for (g = 0; g < 8; g = g + 1) begin
      middle_data[LINE+g*3 +: 3] = first_prefixes[g*3 +: 3];
    end
    middle_data[1095:1048] = free_lanes_counts;
  end

  // data without gaps, after the head; an uncompressed line has no head
  always @(*) begin : comb_prefixes
    integer g;
    for (g = 0; g < 8; g = g + 1) begin
      prefixes[g*3 +: 3] = gathered[LINE+g*3 +: 3];
    end
  end

  assign free = gathered[1095:1090];

  always @(*) begin
    payload = close_lanes;
    size = LINE_BITS;
    if (!(&prefixes)) begin
      payload = (close_lanes << HEAD_BITS) | {1000'd0, prefixes};
      size = {1'b0, ~free + 6'd1, 4'd0} + HEAD_BITS;
    end
  end

  always @(*) begin
    result = {12'd0, payload};
    result[RESULT_ENCODING] = ~(&prefixes);
    result[RESULT_SIZE +: 11] = size;
  end

  assign payload_o = results_data[RESULT_PAYLOAD +: 1024];
  assign encoding_o = results_data[RESULT_ENCODING];
  assign size_o = results_data[RESULT_SIZE +: 11];

endmodule

`default_nettype wire
