// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_decompressor_cpack_rebuild
//
// Rebuilds four words from their codes, and enters new words into the dictionary.
//
// The kinds decide which words enter and at which positions. A code may refer to an earlier word of
// the same four.
//
// Part of: cpack_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module cpack_decompressor_cpack_rebuild (
  // the codes from bit 0 up, or four uncompressed words
  input  wire [135:0] string_i,
  // kind of each code, one-hot in seven bits
  input  wire  [27:0] kinds_i,
  // 0: uncompressed words; 1: codes; 2: zeros; 3: invalid
  input  wire   [1:0] encoding_i,
  // the dictionary before these words
  input  wire [511:0] dictionary_i,
  // positions that hold a word, one bit each
  input  wire  [15:0] known_i,
  // position of the next word, one-hot
  input  wire  [15:0] next_i,
  // the words, the first in the low bits
  output wire [127:0] words_o,
  // the encoding, a code or an index into the dictionary is invalid
  output reg          error_o,
  // the dictionary after these words
  output reg  [511:0] dictionary_o,
  // positions that hold a word after these words
  output wire  [15:0] known_o,
  // position of the next word after these words
  output reg   [15:0] next_o
);

  reg [127:0] words;
  // positions that hold a word, the position of the next word, and the positions that the four
  // words entered
  reg [15:0] known;
  reg [63:0] entered;

  always @(*) begin : comb_words
    integer i;
    integer j;
    integer k;
    reg [135:0] rest;
    reg [135:0] behind;
    reg [6:0] kind;
    // the code's index into the dictionary, and the same index one-hot
    reg [3:0] index;
    reg [15:0] named;
    reg uses;
    reg [31:0] entry;
    reg [31:0] literal;
    reg [31:0] word;
    reg [15:0] enters;
    rest = string_i;
    words = 128'd0;
    known = known_i;
    next_o = next_i;
    entered = 64'd0;
    enters = 16'd0;
    error_o = &encoding_i;
    for (k = 0; k < 4; k = k + 1) begin
      kind = 7'd0;
      if (encoding_i == 2'd1) begin
        kind = kinds_i[k*7 +: 7];
      end
      // literal bits, and the named dictionary position
      literal = 32'd0;
      if (encoding_i == 2'd0) begin
        literal = string_i[k*32 +: 32];
      end
      if (kind[1]) begin
        literal = literal | rest[33:2];
      end
      if (kind[3]) begin
        literal = literal | {16'd0, rest[23:8]};
      end
      if (kind[4]) begin
        literal = literal | {24'd0, rest[11:4]};
      end
      if (kind[5]) begin
        literal = literal | {24'd0, rest[15:8]};
      end
      uses = kind[2] | kind[3] | kind[5];
      index = rest[7:4];
      if (kind[2]) begin
        index = rest[5:2];
      end
      named = 16'd0;
      for (i = 0; i < 16; i = i + 1) begin
        if (uses & (index == i[3:0])) begin
          named[i] = 1'b1;
        end
      end
      error_o = error_o | kind[6] | (uses & ~(|(named & known)));
      // the named word: an earlier word of this group, or the dictionary entry
      entry = 32'd0;
      for (i = 0; i < 16; i = i + 1) begin
        if (named[i] & ~enters[i]) begin
          entry = entry | dictionary_i[i*32 +: 32];
        end
      end
      for (j = 0; j < 3; j = j + 1) begin
        if (|(named & entered[j*16 +: 16])) begin
          entry = entry | words[j*32 +: 32];
        end
      end
      word = literal;
      if (kind[2]) begin
        word = entry;
      end
      if (kind[3] | kind[5]) begin
        word[31:16] = entry[31:16];
      end
      if (kind[5]) begin
        word[15:8] = entry[15:8];
      end
      words[k*32 +: 32] = word;
      // words coded as xxxx, mmxx and mmmx enter the dictionary
      if (kind[1] | kind[3] | kind[5]) begin
        entered[k*16 +: 16] = next_o;
        enters = enters | next_o;
        known = known | next_o;
        next_o = {next_o[14:0], next_o[15]};
      end
      // bits after the code
      behind = 136'd0;
      if (kind[0]) begin
        behind = behind | (rest >> 2);
      end
      if (kind[1]) begin
        behind = behind | (rest >> 34);
      end
      if (kind[2]) begin
        behind = behind | (rest >> 6);
      end
      if (kind[3]) begin
        behind = behind | (rest >> 24);
      end
      if (kind[4]) begin
        behind = behind | (rest >> 12);
      end
      if (kind[5]) begin
        behind = behind | (rest >> 16);
      end
      rest = behind;
    end
  end

  assign words_o = words;
  assign known_o = known;

  always @(*) begin : comb_dictionary_o
    integer i;
    integer k;
    dictionary_o = dictionary_i;
    for (i = 0; i < 16; i = i + 1) begin
      for (k = 0; k < 4; k = k + 1) begin
        if (entered[k*16+i]) begin
          dictionary_o[i*32 +: 32] = words[k*32 +: 32];
        end
      end
    end
  end

endmodule

`default_nettype wire
