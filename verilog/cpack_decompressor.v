// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_decompressor
//
// Decompresses cache lines of C-Pack+Z with a first-in-first-out dictionary of 16 words, four words per
// cycle.
//
// The first four words are decoded in the cycle in which the payload is taken. The dictionary starts empty
// with each line.
//
// Parameters: line_bytes = 128, dictionary = 16
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control
//
// C-Pack: compression of cache lines with a dictionary of words.
//
// Source: LATTE-CC, table I (C-Pack+Z, 8 cycles to decompress); CABA, section 5.1.4, algorithms 5 and 6 (the
// variant with four dictionary values). The codes are those of the original algorithm, which both papers
// cite.
//
// C-PACK+Z: `DICTIONARY` 16
// The 32-bit words of a line are coded one after the other. A word that is new enters the dictionary, which
// keeps the last 16 and forgets the oldest first; it starts empty with each line. `Code` lists the codes:
//
// - zzzz, word zero: 00
// - xxxx, word no match: 01, 32 bits of the word
// - mmmm, word a word of the dictionary: 10, 4 bits of its place
// - mmxx, word upper two bytes of one: 11, 00, place, 16 bits of the word
// - zzzx, word a byte above zeros: 11, 01, 8 bits of the word
// - mmmx, word upper three bytes of one: 11, 10, place, 8 bits of the word
//
// A word takes the code with the fewest bits; of several places that match, the lowest. xxxx, mmxx and mmmx
// enter the dictionary. A line of zeros has an encoding of its own and no payload (the +Z). A line that would
// not become shorter stays as it is.
//
// The original works on 64-byte lines, whose 16 words never fill the dictionary beyond its end. At 128 bytes
// the dictionary stays at 16 words, as in its title and its codes, so that a line of many new words forgets
// the first ones.
//
// CABA'S VARIANT: `DICTIONARY` 4
// At most four dictionary values, in fixed places, so that all words are handled at once. A value is the
// first word that nothing before covers; zero and a byte above zeros need no value. The payload is a head of
// four bits for each word (two for its `Kind`, two for its value), the values that are used, and, if any word
// needs one, a byte for each word. CABA says that the compressed words of a line have a fixed size but not
// how many bits: it is one byte or none here. A line that needs a fifth value stays as it is. CABA does not
// mention a code for lines of zeros; they are a head of zero words.
//
// STRUCTURE
//   dictionary 16   line register -> four words in a row, each with the dictionary of the one before -> payload register
//                   (rotates)        dictionary register <-'                                    '-> behind what is there
//   dictionary 4    line -> logic without state -> |register| -> payload
// A dictionary is serial over the words of a line. Four words per cycle are what makes 8 cycles of the 32
// words of a 128-byte line, the latency that LATTE-CC charges; a chain of all 32 words would take one very
// long cycle.
//
// PARAMETERS
// - line_bytes, default 128, allowed 32, 64, 128: bytes of a line
// - dictionary, default 16, allowed 4, 16: words of the dictionary: 16 is C-Pack+Z, 4 is CABA's variant
//
// PORTS AND TIMING
// Both blocks are valid/ready streams on both sides: an item moves in a cycle in which valid and ready are
// both high. `valid_o` never drops before `ready_i`. `ready_o` depends on `ready_i` in the same cycle; no
// other output depends on an input. `encoding` is 0 for a line as it was, 1 for a compressed one, 2 for a
// line of zeros; the size is in bits.
//
// With 16 words a line takes one cycle for each four of its words, the one in which it is taken among them,
// and the next line can be taken with the last one's result: latency and interval are both `line_bytes / 16`.
// Payload, size and line mean nothing while `valid_o` is low. With four values latency and interval are 1.
//
//   32 bytes    0     1     2     3     4
//   clk_i     /--\__/--\__/--\__/--\__/--\__
//   valid_i   /-----------------\___________
//   line_i    < A  >< B        >============
//   ready_o   ------\_____/-----\_____/-----
//   valid_o   ____________/-----\_____/-----
//   payload_o ============< a  >======< b  >
//   ready_i   ------------------------------
//
// PAYLOADS THAT NO COMPRESSOR MAKES
// A tag without meaning, the code 11 11 and a place of the dictionary where no word is yet give a line of
// zeros and `error_o` high. Behind the end of the payload's register zeros are read; bits behind the last
// word's code are ignored.
//
// TESTS
// A line takes eight cycles, each with four words against sixteen of the dictionary: model, RTL and Verilator
// are compared on 20,000 lines, not 100,000.
//
// STORAGE
// Line, payload, dictionary and a few counters: see `HwBlock::facts`. No paper states any.

`default_nettype none

module cpack_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // 0: the line as it was; 1: compressed; 2: a line of zeros
  input  wire    [1:0] encoding_i,
  // the payload from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the payload is none that a compressor makes; the line is zero
  output wire          error_o,
  // the line: byte 0 in bits 7 to 0
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  localparam [2:0] LAST_GROUP = 3'd7;
  wire working;
  wire ready;
  reg [1023:0] source;
  reg [1:0] kind;
  reg [2:0] at;
  wire [127:0] words;
  reg seen_wrong;
  reg [1023:0] decoded;
  wire [135:0] decode_string_i;
  reg [511:0] decode_dictionary_i;
  reg [4:0] decode_count_i;
  reg [3:0] decode_next_i;
  wire [127:0] decode_words_o;
  wire [7:0] decode_length_o;
  wire decode_error_o;
  wire [511:0] decode_dictionary_o;
  wire [4:0] decode_count_o;
  wire [3:0] decode_next_o;
  // a payload is being decoded
  reg busy_q;
  reg done_q;
  // groups of four words that are decoded
  reg [2:0] group_q;
  reg [1:0] encoding_q;
  // what is left of the payload
  reg [1023:0] string_q;
  reg [511:0] dictionary_q;
  reg [4:0] count_q;
  reg [3:0] place_q;
  // something was wrong so far
  reg wrong_q;
  reg [1023:0] line_q;
  reg error_q;

  cpack_decompressor_cpack_decode decode (
    .encoding_i   (kind),
    .string_i     (decode_string_i),
    .dictionary_i (decode_dictionary_i),
    .count_i      (decode_count_i),
    .next_i       (decode_next_i),
    .words_o      (decode_words_o),
    .length_o     (decode_length_o),
    .error_o      (decode_error_o),
    .dictionary_o (decode_dictionary_o),
    .count_o      (decode_count_o),
    .next_o       (decode_next_o)
  );

  assign ready = !busy_q & (ready_i | !done_q);
  assign working = busy_q | (ready & valid_i);

  // a new payload starts with an empty dictionary and an empty line
  always @(*) begin
    source = payload_i;
    kind = encoding_i;
    at = 3'd0;
    decode_dictionary_i = 512'd0;
    decode_count_i = 5'd0;
    decode_next_i = 4'd0;
    if (busy_q) begin
      source = string_q;
      kind = encoding_q;
      at = group_q;
      decode_dictionary_i = dictionary_q;
      decode_count_i = count_q;
      decode_next_i = place_q;
    end
  end

  assign decode_string_i = source[135:0];
  assign words = decode_words_o;

  always @(*) begin : comb_seen_wrong
    integer g;
    seen_wrong = &encoding_i;
    decoded = 1024'd0;
    if (busy_q) begin
      seen_wrong = wrong_q;
      decoded = line_q;
    end
    seen_wrong = seen_wrong | decode_error_o;
    for (g = 0; g < 8; g = g + 1) begin
      if (at == g[2:0]) begin
        decoded[g*128 +: 64] = words[63:0];
        decoded[g*128+64 +: 64] = words[127:64];
      end
    end
  end

  assign ready_o = ready;
  assign valid_o = done_q;
  assign error_o = error_q;
  assign line_o = line_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_q <= 1'b0;
      group_q <= 3'd0;
    end else if (working) begin
      busy_q <= 1'b1;
      done_q <= 1'b0;
      group_q <= at + 3'd1;
      if (at == LAST_GROUP) begin
        busy_q <= 1'b0;
        done_q <= 1'b1;
      end
    end else if (ready_i) begin
      done_q <= 1'b0;
    end
  end

  always @(posedge clk_i) begin
    if (working) begin
      encoding_q <= kind;
      string_q <= source >> decode_length_o;
      dictionary_q <= decode_dictionary_o;
      count_q <= decode_count_o;
      place_q <= decode_next_o;
      wrong_q <= seen_wrong;
      line_q <= decoded;
      if (at == LAST_GROUP) begin
        error_q <= seen_wrong;
        if (seen_wrong) begin
          line_q <= 1024'd0;
        end
      end
    end
  end

endmodule

`default_nettype wire
