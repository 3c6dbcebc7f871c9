// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor
//
// Decompresses cache lines of frequent patterns of segments: one line per cycle.
//
// Each of the GROUPS segments of four words has one prefix, and the head consists of these
// prefixes. An uncompressed line is treated as raw segments. Every payload is valid, so there are
// no errors.
//
// Parameters: line_bytes = 128, segmented = true, pipeline_depth = 5
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

module fpc_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // 1: head and data; 0: uncompressed line
  input  wire          encoding_i,
  // head and data from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // a zero run exceeds the line; the line is zero
  output wire          error_o,
  // the line: byte 0 in bits 7 to 0
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  localparam BITS = 6;
  localparam LINE = 1024;
  localparam PRE = 24;
  localparam [4:0] HEAD_BITS = 5'd24;
  localparam [23:0] RAW = {24{1'b1}};
  wire [1024:0] first;
  wire first_valid;
  reg [1023:0] data;
  reg [23:0] prefixes;
  wire [1089:0] aligned;
  wire aligned_valid;
  wire aligned_ready;
  wire [1068:0] moved;
  wire moved_valid;
  wire moved_ready;
  wire [1047:0] placed;
  wire placed_valid;
  wire placed_ready;
  reg [23:0] last_prefixes;
  reg [1024:0] after_input_data;
  wire [47:0] free_lanes_counts;
  reg [1089:0] after_align_data;
  wire [1023:0] far_lanes;
  reg [1068:0] after_far_data;
  wire [1023:0] near_strings;
  reg [1047:0] after_near_data;
  wire [1023:0] rebuild_line;
  wire results_ready;

  selvedge_elastic_pipe_1 #(.DATA_BITS (1025)) after_input (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (after_input_data),
    .ready_o (ready_o),
    .valid_o (first_valid),
    .data_o  (first),
    .ready_i (aligned_ready)
  );

  fpc_decompressor_fpc_free_lanes free_lanes (
    .prefixes_i (prefixes),
    .counts_o   (free_lanes_counts)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1090)) after_align (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (first_valid),
    .data_i  (after_align_data),
    .ready_o (aligned_ready),
    .valid_o (aligned_valid),
    .data_o  (aligned),
    .ready_i (moved_ready)
  );

  fpc_decompressor_fpc_far far (
    .lanes_i     (aligned[1023:0]),
    .distances_i (aligned[1089:1048]),
    .lanes_o     (far_lanes)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1069)) after_far (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (aligned_valid),
    .data_i  (after_far_data),
    .ready_o (moved_ready),
    .valid_o (moved_valid),
    .data_o  (moved),
    .ready_i (placed_ready)
  );

  fpc_decompressor_fpc_near near (
    .lanes_i     (moved[1023:0]),
    .distances_i (moved[1068:1048]),
    .strings_o   (near_strings)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1048)) after_near (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (moved_valid),
    .data_i  (after_near_data),
    .ready_o (placed_ready),
    .valid_o (placed_valid),
    .data_o  (placed),
    .ready_i (results_ready)
  );

  fpc_decompressor_fpc_rebuild rebuild (
    .strings_i  (placed[1023:0]),
    .prefixes_i (last_prefixes),
    .line_o     (rebuild_line)
  );

  selvedge_elastic_pipe_1 #(.DATA_BITS (1024)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (placed_valid),
    .data_i  (rebuild_line),
    .ready_o (results_ready),
    .valid_o (valid_o),
    .data_o  (line_o),
    .ready_i (ready_i)
  );

  always @(*) begin
    after_input_data = {1'b0, payload_i};
    after_input_data[1024] = encoding_i;
  end

  // data from bit 0; an uncompressed line consists of raw segments
  always @(*) begin
    data = first[1023:0];
    prefixes = RAW;
    if (first[1024]) begin
      prefixes = data[23:0];
      data = data >> HEAD_BITS;
    end
  end

  always @(*) begin : comb_after_align_data
    integer g;
    after_align_data = {66'd0, data};
    for (g = 0; g < 8; g = g + 1) begin
      after_align_data[LINE+g*3 +: 3] = prefixes[g*3 +: 3];
    end
    after_align_data[1089:1048] = free_lanes_counts[41:0];
  end

  always @(*) begin : comb_after_far_data
    integer g;
    after_far_data = {45'd0, far_lanes};
    for (g = 0; g < 8; g = g + 1) begin
      after_far_data[LINE+g*3 +: 3] = aligned[LINE+g*3 +: 3];
    end
    for (g = 0; g < 7; g = g + 1) begin
      after_far_data[LINE+PRE+g*3 +: 3] = aligned[LINE+PRE+g*BITS +: 3];
    end
  end

  always @(*) begin : comb_after_near_data
    integer g;
    after_near_data = {24'd0, near_strings};
    for (g = 0; g < 8; g = g + 1) begin
      after_near_data[LINE+g*3 +: 3] = moved[LINE+g*3 +: 3];
    end
  end

  // rebuild words from their data
  always @(*) begin : comb_last_prefixes
    integer g;
    for (g = 0; g < 8; g = g + 1) begin
      last_prefixes[g*3 +: 3] = placed[LINE+g*3 +: 3];
    end
  end

  assign error_o = 1'b0;

  // unused bits
  wire unused = &{1'b0, free_lanes_counts[47:42]};

endmodule

`default_nettype wire
