// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_decompressor
//
// Decompresses cache lines of C-Pack+Z with a first-in-first-out dictionary of 16 words. Four codes
// per cycle pass two steps: measurement and decoding.
//
// The first four codes are measured in the cycle in which the payload is taken. Positions in the
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

module cpack_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // 0: uncompressed line; 1: compressed; 2: line of zeros
  input  wire    [1:0] encoding_i,
  // the payload from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the payload is invalid; the line is zero
  output wire          error_o,
  // the line: byte 0 in bits 7 to 0
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  localparam [2:0] LAST_GROUP = 3'd7;
  // shift from the low 128 bits to the top of the line
  localparam [10:0] TO_TOP = 11'd896;
  wire moves;
  wire is_last;
  reg [1023:0] source;
  reg [1:0] kind;
  reg [135:0] string_here;
  wire [5:0] start;
  reg [7:0] reach;
  reg seen_wrong;
  wire [27:0] lengths_kinds;
  wire [7:0] lengths_end;
  wire [127:0] rebuild_words;
  wire rebuild_error;
  wire [511:0] rebuild_dictionary;
  wire [15:0] rebuild_known;
  wire [15:0] rebuild_next;
  // codes of a payload are left to measure
  reg busy_q;
  // number of groups of four codes already measured
  reg [2:0] group_q;
  reg [1:0] encoding_q;
  // the payload, from the 128-bit block of the next code on
  reg [1023:0] payload_q;
  // half of the bits of that block that are already measured
  reg [5:0] used_q;
  // four codes have been measured
  reg measured_q;
  // the measured codes are the line's first, or its last
  reg first_q;
  reg last_q;
  // the measured codes and their kinds
  reg [135:0] rest_q;
  reg [27:0] kinds_q;
  reg [511:0] dictionary_q;
  // positions of the dictionary that hold a word, and the position of the next word
  reg [15:0] known_q;
  reg [15:0] next_q;
  reg done_q;
  // the line has an error so far
  reg wrong_q;
  // words decoded so far, the latest in the highest bits
  reg [1023:0] line_q;
  reg [263:0] string_here_shifted;

  cpack_decompressor_cpack_lengths lengths (
    .string_i (string_here),
    .start_i  (start),
    .kinds_o  (lengths_kinds),
    .end_o    (lengths_end)
  );

  cpack_decompressor_cpack_rebuild rebuild (
    .string_i     (rest_q),
    .kinds_i      (kinds_q),
    .encoding_i   (encoding_q),
    .dictionary_i (dictionary_q),
    .known_i      (known_q),
    .next_i       (next_q),
    .words_o      (rebuild_words),
    .error_o      (rebuild_error),
    .dictionary_o (rebuild_dictionary),
    .known_o      (rebuild_known),
    .next_o       (rebuild_next)
  );

  // a stalled result stalls both stages
  assign moves = ready_i | ~done_q;
  assign is_last = group_q == LAST_GROUP;

  always @(*) begin
    source = payload_i;
    kind = encoding_i;
    string_here = payload_i[135:0];
    string_here_shifted = 264'd0;
    if (busy_q) begin
      source = payload_q;
      kind = encoding_q;
      string_here_shifted = payload_q[263:0] >> {used_q, 1'b0};
      string_here = string_here_shifted[135:0];
    end
  end

  assign start = busy_q ? used_q : 6'd0;

  always @(*) begin
    reach = lengths_end;
    if (kind == 2'd0) begin
      // an uncompressed line has 128 bits per four words
      reach = 8'd64;
    end
  end

  always @(*) begin
    seen_wrong = rebuild_error;
    if (!first_q) begin
      seen_wrong = seen_wrong | wrong_q;
    end
  end

  assign ready_o = moves & ~busy_q;
  assign valid_o = done_q;
  assign error_o = wrong_q;
  assign line_o = wrong_q ? 1024'd0 : line_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      group_q <= 3'd0;
      measured_q <= 1'b0;
      known_q <= 16'd0;
      next_q <= 16'd1;
      done_q <= 1'b0;
    end else if (moves) begin
      measured_q <= busy_q | valid_i;
      if (busy_q | valid_i) begin
        busy_q <= ~is_last;
        group_q <= group_q + 3'd1;
        if (is_last) begin
          group_q <= 3'd0;
        end
      end
      done_q <= measured_q & last_q;
      if (measured_q) begin
        known_q <= rebuild_known;
        next_q <= rebuild_next;
        if (last_q) begin
          // reset the dictionary for the next payload
          known_q <= 16'd0;
          next_q <= 16'd1;
        end
      end
    end
  end

  always @(posedge clk_i) begin
    if (moves) begin
      if (busy_q | valid_i) begin
        encoding_q <= kind;
        payload_q <= source;
        if (reach[6]) begin
          payload_q <= source >> 128;
        end
        if (reach[7]) begin
          payload_q <= source >> 256;
        end
        used_q <= reach[5:0];
        first_q <= ~busy_q;
        last_q <= is_last;
        rest_q <= string_here;
        kinds_q <= lengths_kinds;
      end
      if (measured_q) begin
        dictionary_q <= rebuild_dictionary;
        wrong_q <= seen_wrong;
        line_q <= (line_q >> 128) | ({896'd0, rebuild_words} << TO_TOP);
      end
    end
  end

  // unused bits
  wire unused = &{1'b0, string_here_shifted[263:136]};

endmodule

`default_nettype wire
