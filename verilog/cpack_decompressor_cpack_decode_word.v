// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_decompressor_cpack_decode_word
//
// Decodes one word, and takes its bits off the string.
//
// A letter of a code's name stands for a byte: z for zero, m for a match with a word of the dictionary, x for
// neither.
//
// Parameters: D = 512, DW = 8
// Part of: cpack_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module cpack_decompressor_cpack_decode_word (
  // 0: the string is words as they were; 1: codes; else all words are zero
  input  wire   [1:0] encoding_i,
  // the string
  input  wire [135:0] string_i,
  // the dictionary before this word
  input  wire [511:0] dictionary_i,
  // words in it
  input  wire   [4:0] count_i,
  // the place of the next one
  input  wire   [3:0] next_i,
  // the word
  output wire  [31:0] word_o,
  // bits that it took
  output wire   [5:0] length_o,
  // no such code, or no such place in the dictionary
  output wire         error_o,
  // the string behind the word
  output wire [135:0] string_o,
  // the dictionary after this word
  output wire [511:0] dictionary_o,
  // words in it
  output reg    [4:0] count_o,
  // the place of the next one
  output reg    [3:0] next_o
);

  wire [33:0] code;
  // the two bits of the code and the two above, which count when the first are 11
  wire [1:0] kind;
  wire [1:0] kind_above;
  reg [3:0] place;
  reg [31:0] entry;
  reg [31:0] word;
  reg [5:0] length;
  reg uses;
  reg enters;
  reg invalid;
  reg [511:0] dictionary;

  assign code = string_i[33:0];
  assign kind = code[1:0];
  assign kind_above = code[3:2];

  // the index follows the code's own two or four bits
  always @(*) begin
    place = code[7:4];
    if (kind == 2'd2) begin
      place = code[5:2];
    end
  end

  always @(*) begin : comb_entry
    integer i;
    entry = 32'd0;
    for (i = 0; i < 16; i = i + 1) begin
      if (place == i[3:0]) begin
        entry = dictionary_i[i*32 +: 32];
      end
    end
  end

  always @(*) begin
    word = 32'd0;
    length = 6'd0;
    uses = 1'b0;
    enters = 1'b0;
    invalid = 1'b0;
    if (encoding_i == 2'd0) begin
      word = code[31:0];
      length = 6'd32;
    end else if (encoding_i == 2'd1) begin
      if (kind == 2'd0) begin
        // zzzz
        length = 6'd2;
      end else if (kind == 2'd1) begin
        // xxxx
        word = code[33:2];
        length = 6'd34;
        enters = 1'b1;
      end else if (kind == 2'd2) begin
        // mmmm
        word = entry;
        length = 6'd6;
        uses = 1'b1;
      end else if (kind_above == 2'd0) begin
        // mmxx
        word = entry;
        word[15:0] = code[23:8];
        length = 6'd24;
        uses = 1'b1;
        enters = 1'b1;
      end else if (kind_above == 2'd1) begin
        // zzzx
        word[7:0] = code[11:4];
        length = 6'd12;
      end else if (kind_above == 2'd2) begin
        // mmmx
        word = entry;
        word[7:0] = code[15:8];
        length = 6'd16;
        uses = 1'b1;
        enters = 1'b1;
      end else begin
        length = 6'd4;
        invalid = 1'b1;
      end
    end
  end

  assign word_o = word;
  assign length_o = length;
  assign error_o = invalid | (uses & ({1'b0, place} >= count_i));
  assign string_o = string_i >> length;

  always @(*) begin : comb_dictionary
    integer i;
    dictionary = dictionary_i;
    count_o = count_i;
    next_o = next_i;
    if (enters) begin
      for (i = 0; i < 16; i = i + 1) begin
        if (next_i == i[3:0]) begin
          dictionary[i*32 +: 32] = word;
        end
      end
      next_o = next_i + 4'd1;
      if (!count_i[4]) begin
        count_o = count_i + 5'd1;
      end
    end
  end

  assign dictionary_o = dictionary;

endmodule

`default_nettype wire
