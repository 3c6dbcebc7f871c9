// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor
//
// Compresses cache lines by C-Pack+Z with a first-in-first-out dictionary of 16 words. Four words
// per cycle pass two steps: comparison and coding.
//
// The first four words are compared in the cycle in which the line is taken. Positions in the
// dictionary are one-hot.
//
// Parameters: line_bytes = 128, dictionary = 16
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// C-Pack: compression of cache lines with a dictionary of words.
//
// Source: LATTE-CC, table I (C-Pack+Z, 8 cycles to decompress); CABA, section 5.1.4, algorithms 5
// and 6 (the variant with four dictionary values). The codes come from the original algorithm,
// which both papers cite.
//
// C-PACK+Z: `DICTIONARY` 16
// The 32-bit words of a line are coded in order. A new word enters the dictionary, which holds the
// last 16 words and drops the oldest first. The dictionary is empty at the start of each line. The
// codes (`Code`) are:
//
// - zzzz, word zero: 00
// - xxxx, word no match: 01, 32 bits of the word
// - mmmm, word equal to a word of the dictionary: 10, 4 bits of its index
// - mmxx, word upper two bytes equal to a word of the dictionary: 11, 00, index, 16 bits of the
//   word
// - zzzx, word only the lowest byte is not zero: 11, 01, 8 bits of the word
// - mmmx, word upper three bytes equal to a word of the dictionary: 11, 10, index, 8 bits of the
//   word
//
// A word takes the code with the fewest bits. If several words of the dictionary match, the lowest
// index counts. xxxx, mmxx and mmmx enter the dictionary. A line of zeros has a separate encoding
// without payload (the +Z). A line that would not become shorter stays uncompressed.
//
// The original works on 64-byte lines, whose 16 words never overflow the dictionary. At 128 bytes
// the dictionary still has 16 words, as its codes require. So a line with many new words drops the
// first ones.
//
// CABA'S VARIANT: `DICTIONARY` 4
// The dictionary has at most four values, so that all words are handled in parallel. A value is the
// first word that no earlier value covers; zero words and single bytes need no value. The payload
// begins with a head of four bits per word (two for its `Kind`, two for its value). The values in
// use follow and, if any word needs a byte, one byte per word. CABA says that the compressed words
// of a line have a fixed size, but not how many bits; here it is one byte or none. A line that
// needs a fifth value stays uncompressed. CABA does not mention a code for lines of zeros; here
// they are a head of zero words.
//
// STRUCTURE
//   compressor      line register -> kinds of four words ----> |kinds and places| -> codes -> payload register
//     (16)          (rotates)        dictionary register <-'                             after the earlier codes
//   decompressor    payload register -> lengths of four codes -> |codes, kinds| -> four words -------> line register
//     (16)          (moves by blocks)                            dictionary register <-'               (shifts)
//   dictionary 4    line -> logic without state -> |register| -> payload
// A dictionary is serial over the words of a line. The blocks handle four words per cycle, so the
// 32 words of a 128-byte line take 8 cycles. A chain of all 32 words would take one very long
// cycle.
//
// The four words of a cycle do not wait for each other. All are compared with the dictionary before
// them, and with each other. Only one bit per word is computed word by word: whether it enters. In
// the decompressor only the lengths are computed code by code. The second step follows one cycle
// later, while the first step handles the next four words. A position in the dictionary is one-hot
// in 16 bits, so that no path has a decoder.
//
// Codes are shifted to their position in a block of 128 bits, not in the whole line. Every code has
// an even number of bits, so lengths are counted in pairs of bits.
//
// PARAMETERS
// - line_bytes, default 128, allowed 32, 64, 128: bytes of a line
// - dictionary, default 16, allowed 4, 16: words of the dictionary: 16 is C-Pack+Z, 4 is CABA's
//   variant
//
// PORTS AND TIMING
// Both blocks are valid/ready streams on both sides: an item moves in a cycle in which valid and
// ready are both high. `valid_o` never drops before `ready_i`. `ready_o` depends on `ready_i` in
// the same cycle; no other output depends on an input. `encoding` is 0 for an uncompressed line, 1
// for a compressed line and 2 for a line of zeros. The size is in bits.
//
// With 16 words each step takes one cycle per four words. The first step begins in the cycle in
// which the line is taken. The interval is `line_bytes / 16`, 8 cycles for 128 bytes, which is the
// latency that LATTE-CC charges. The second step adds one cycle, so the latency is `line_bytes / 16
// + 1`. A result that is not taken stalls both steps. Payload, size and line have no meaning while
// `valid_o` is low. With four values, latency and interval are 1.
//
//   32 bytes    0     1     2     3     4     5
//   clk_i     /--\__/--\__/--\__/--\__/--\__/--\__
//   valid_i   /-----------------\_________________
//   line_i    < A  >< B        >==================
//   ready_o   ------\_____/-----\_____/-----------
//   valid_o   __________________/-----\_____/-----
//   payload_o ==================< a  >======< b  >
//   ready_i   ------------------------------------
//
// INVALID PAYLOADS
// An invalid tag, the code 11 11, or an index of an empty position in the dictionary gives a line
// of zeros and a high `error_o`. Beyond the end of the payload's register zeros are read; bits
// after the last word's code are ignored.
//
// TESTS
// A line takes nine cycles, and each cycle compares four words with the sixteen of the dictionary.
// So 20,000 lines are compared between model, RTL and Verilator instead of 100,000.
//
// STORAGE
// Line, payload, dictionary and a few counters; `HwBlock::facts` lists them. No paper states the
// storage.

`default_nettype none

module cpack_compressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low
  input  wire          rst_ni,
  // a line is offered
  input  wire          valid_i,
  // the line: byte 0 in bits 7 to 0
  input  wire [1023:0] line_i,
  // the line is taken in this cycle
  output wire          ready_o,
  // a payload is offered
  output wire          valid_o,
  // 0: uncompressed line; 1: compressed; 2: line of zeros
  output wire    [1:0] encoding_o,
  // size of the payload in bits
  output wire   [10:0] size_o,
  // the payload from bit 0 up
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  localparam [9:0] HALF_LINE = 10'd512;
  // shift from the low 128 bits to the top of the line
  localparam [10:0] TO_TOP = 11'd896;
  localparam [2:0] LAST_GROUP = 3'd7;
  wire moves;
  wire is_last;
  wire [1023:0] source;
  wire [127:0] group_words;
  // the compared words, which are at the top of the line
  wire [127:0] words;
  wire [9:0] used;
  wire [3:0] block;
  reg [1023:0] codes;
  wire [9:0] length;
  reg seen_nonzero;
  wire [19:0] compare_kinds;
  wire [63:0] compare_places;
  wire [511:0] compare_dictionary;
  wire [15:0] compare_known;
  wire [15:0] compare_next;
  wire [263:0] pack_string;
  wire [6:0] pack_half;
  // words of a line are left to compare
  reg busy_q;
  // number of groups of four words already compared
  reg [2:0] group_q;
  // the line, with the next words in the low bits; in its original order after the last group
  reg [1023:0] line_q;
  reg [511:0] dictionary_q;
  // positions of the dictionary that hold a word, and the position of the next word
  reg [15:0] known_q;
  reg [15:0] next_q;
  // four words have been compared
  reg compared_q;
  // the compared words are the line's first, or its last
  reg first_q;
  reg last_q;
  reg [19:0] kinds_q;
  reg [63:0] places_q;
  reg done_q;
  reg nonzero_q;
  reg [1023:0] payload_q;
  // half of the payload's bits
  reg [9:0] half_q;
  reg [1:0] encoding_q;
  wire [1023:0] line_shifted;

  cpack_compressor_cpack_match compare (
    .words_i      (group_words),
    .dictionary_i (dictionary_q),
    .known_i      (known_q),
    .next_i       (next_q),
    .kinds_o      (compare_kinds),
    .places_o     (compare_places),
    .dictionary_o (compare_dictionary),
    .known_o      (compare_known),
    .next_o       (compare_next)
  );

  cpack_compressor_cpack_pack pack (
    .words_i  (words),
    .kinds_i  (kinds_q),
    .places_i (places_q),
    .used_i   (used[5:0]),
    .string_o (pack_string),
    .half_o   (pack_half)
  );

  // a stalled result stalls both stages
  assign moves = ready_i | ~done_q;
  assign is_last = group_q == LAST_GROUP;
  assign source = busy_q ? line_q : line_i;
  assign group_words = source[127:0];
  // append the codes to the payload
  assign line_shifted = line_q >> TO_TOP;
  assign words = line_shifted[127:0];
  assign used = first_q ? 10'd0 : half_q;
  assign block = used[9:6];

  always @(*) begin : comb_codes
    integer b;
    codes = payload_q;
    seen_nonzero = nonzero_q;
    if (first_q) begin
      codes = 1024'd0;
      seen_nonzero = 1'b0;
    end
    for (b = 0; b < 8; b = b + 1) begin
      if (block == b[3:0]) begin
        codes[b*128 +: 64] = codes[b*128 +: 64] | pack_string[63:0];
        codes[b*128+64 +: 64] = codes[b*128+64 +: 64] | pack_string[127:64];
      end
      if ((block + 4'd1) == b[3:0]) begin
        codes[b*128 +: 64] = codes[b*128 +: 64] | pack_string[191:128];
        codes[b*128+64 +: 64] = codes[b*128+64 +: 64] | pack_string[255:192];
      end
      if ((block + 4'd2) == b[3:0]) begin
        codes[b*128 +: 8] = codes[b*128 +: 8] | pack_string[263:256];
      end
    end
    seen_nonzero = seen_nonzero | (|words);
  end

  assign length = used + {3'd0, pack_half};

  assign ready_o = moves & ~busy_q;
  assign valid_o = done_q;
  assign encoding_o = encoding_q;
  assign size_o = {half_q, 1'b0};
  assign payload_o = payload_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      group_q <= 3'd0;
      known_q <= 16'd0;
      next_q <= 16'd1;
      compared_q <= 1'b0;
      done_q <= 1'b0;
    end else if (moves) begin
      compared_q <= busy_q | valid_i;
      if (busy_q | valid_i) begin
        busy_q <= ~is_last;
        group_q <= group_q + 3'd1;
        known_q <= compare_known;
        next_q <= compare_next;
        if (is_last) begin
          // reset the dictionary for the next line
          group_q <= 3'd0;
          known_q <= 16'd0;
          next_q <= 16'd1;
        end
      end
      done_q <= compared_q & last_q;
    end
  end

  always @(posedge clk_i) begin
    if (moves) begin
      if (busy_q | valid_i) begin
        // rotate by four words
        line_q <= (source >> 128) | ({896'd0, group_words} << TO_TOP);
        dictionary_q <= compare_dictionary;
        first_q <= ~busy_q;
        last_q <= is_last;
        kinds_q <= compare_kinds;
        places_q <= compare_places;
      end
      if (compared_q) begin
        nonzero_q <= seen_nonzero;
        payload_q <= codes;
        half_q <= length;
        encoding_q <= 2'd1;
        if (last_q) begin
          if (!seen_nonzero) begin
            // a line of zeros needs no payload: its codes are zero
            encoding_q <= 2'd2;
            half_q <= 10'd0;
          end else if (length[9]) begin
            encoding_q <= 2'd0;
            payload_q <= line_q;
            half_q <= HALF_LINE;
          end
        end
      end
    end
  end

  // unused bits
  wire unused = &{1'b0, line_shifted[1023:128]};

endmodule

`default_nettype wire
