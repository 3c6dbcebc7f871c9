// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor
//
// Compresses cache lines by C-Pack+Z with a first-in-first-out dictionary of 16 words, four words per cycle.
//
// The first four words are encoded in the cycle in which the line is taken. The dictionary starts empty with
// each line.
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
  // 0: the line as it was; 1: compressed; 2: a line of zeros
  output wire    [1:0] encoding_o,
  // its size in bits
  output wire   [10:0] size_o,
  // the payload from bit 0 up
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  localparam [10:0] LINE_BITS = 11'h400;
  // from the place of a group's words to the top of the line
  localparam [10:0] TO_TOP = 11'd896;
  localparam [2:0] LAST_GROUP = 3'd7;
  wire working;
  wire ready;
  reg [1023:0] source;
  wire [1023:0] rotated;
  wire [127:0] words;
  reg [2:0] at;
  reg [1023:0] codes;
  reg [10:0] length;
  reg seen_nonzero;
  reg [511:0] encode_dictionary_i;
  reg [4:0] encode_count_i;
  reg [3:0] encode_next_i;
  wire [135:0] encode_string_o;
  wire [7:0] encode_length_o;
  wire [511:0] encode_dictionary_o;
  wire [4:0] encode_count_o;
  wire [3:0] encode_next_o;
  // a line is being encoded
  reg busy_q;
  reg done_q;
  // groups of four words that are encoded
  reg [2:0] group_q;
  // the line, the next words in the low bits; whole again after the last ones
  reg [1023:0] line_q;
  reg [511:0] dictionary_q;
  reg [4:0] count_q;
  reg [3:0] place_q;
  reg nonzero_q;
  reg [1023:0] payload_q;
  reg [10:0] size_q;
  reg [1:0] encoding_q;

  cpack_compressor_cpack_encode encode (
    .words_i      (words),
    .dictionary_i (encode_dictionary_i),
    .count_i      (encode_count_i),
    .next_i       (encode_next_i),
    .string_o     (encode_string_o),
    .length_o     (encode_length_o),
    .dictionary_o (encode_dictionary_o),
    .count_o      (encode_count_o),
    .next_o       (encode_next_o)
  );

  assign ready = !busy_q & (ready_i | !done_q);
  assign working = busy_q | (ready & valid_i);

  // a new line starts with an empty dictionary and no codes
  always @(*) begin
    source = line_i;
    at = 3'd0;
    encode_dictionary_i = 512'd0;
    encode_count_i = 5'd0;
    encode_next_i = 4'd0;
    if (busy_q) begin
      source = line_q;
      at = group_q;
      encode_dictionary_i = dictionary_q;
      encode_count_i = count_q;
      encode_next_i = place_q;
    end
  end

  assign words = source[127:0];
  // four words go from the low end to the high end
  assign rotated = (source >> 128) | ({896'd0, words} << TO_TOP);

  // their codes go behind those that are there
  always @(*) begin
    codes = 1024'd0;
    length = 11'd0;
    seen_nonzero = 1'b0;
    if (busy_q) begin
      codes = payload_q;
      length = size_q;
      seen_nonzero = nonzero_q;
    end
    codes = codes | ({888'd0, encode_string_o} << length);
    length = length + {3'd0, encode_length_o};
    seen_nonzero = seen_nonzero | (|words);
  end

  assign ready_o = ready;
  assign valid_o = done_q;
  assign encoding_o = encoding_q;
  assign size_o = size_q;
  assign payload_o = payload_q;

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
      line_q <= rotated;
      dictionary_q <= encode_dictionary_o;
      count_q <= encode_count_o;
      place_q <= encode_next_o;
      nonzero_q <= seen_nonzero;
      payload_q <= codes;
      size_q <= length;
      if (at == LAST_GROUP) begin
        encoding_q <= 2'd1;
        if (!seen_nonzero) begin
          encoding_q <= 2'd2;
          payload_q <= 1024'd0;
          size_q <= 11'd0;
        end else if (length >= LINE_BITS) begin
          encoding_q <= 2'd0;
          payload_q <= rotated;
          size_q <= LINE_BITS;
        end
      end
    end
  end

endmodule

`default_nettype wire
