// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor_cpack_encode_word
//
// Encodes one word: the code with the fewest bits, and the dictionary with the word in it if it is new.
//
// A letter of a code's name stands for a byte: z for zero, m for a match with a word of the dictionary, x for
// neither.
//
// Parameters: D = 512, DW = 8
// Part of: cpack_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module cpack_compressor_cpack_encode_word (
  // the word
  input  wire  [31:0] word_i,
  // the dictionary before this word
  input  wire [511:0] dictionary_i,
  // words in it
  input  wire   [4:0] count_i,
  // the place of the next one
  input  wire   [3:0] next_i,
  // tag, index and literal bytes from bit 0 up
  output wire  [33:0] code_o,
  // bits of the code
  output reg    [5:0] length_o,
  // the dictionary after this word
  output wire [511:0] dictionary_o,
  // words in it
  output reg    [4:0] count_o,
  // the place of the next one
  output reg    [3:0] next_o
);

  localparam [3:0] XXXX = 4'd1;
  localparam [3:0] MMMM = 4'd2;
  localparam [3:0] MMXX = 4'd3;
  localparam [3:0] ZZZX = 4'd7;
  localparam [3:0] MMMX = 4'd11;
  reg [31:0] entry;
  // the lowest places whose four, three or two upper bytes match
  reg match4;
  reg match3;
  reg match2;
  reg [3:0] place4;
  reg [3:0] place3;
  reg [3:0] place2;
  reg enters;
  reg [33:0] code;
  reg [511:0] dictionary;

  // from the highest place down, so that the lowest match stays
  always @(*) begin : comb_entry
    integer i;
    entry = 32'd0;
    match4 = 1'b0;
    match3 = 1'b0;
    match2 = 1'b0;
    place4 = 4'd0;
    place3 = 4'd0;
    place2 = 4'd0;
    for (i = 0; i < 16; i = i + 1) begin
      entry = dictionary_i[(15-i)*32 +: 32];
      if (count_i > (5'd15 - i[4:0])) begin
        if (entry == word_i) begin
          match4 = 1'b1;
          place4 = 4'd15 - i[3:0];
        end
        if (entry[31:8] == word_i[31:8]) begin
          match3 = 1'b1;
          place3 = 4'd15 - i[3:0];
        end
        if (entry[31:16] == word_i[31:16]) begin
          match2 = 1'b1;
          place2 = 4'd15 - i[3:0];
        end
      end
    end
  end

  // the fewest bits first
  always @(*) begin
    code = 34'd0;
    length_o = 6'd2;
    enters = 1'b0;
    if (|word_i) begin
      if (match4) begin
        code[3:0] = MMMM;
        code[5:2] = place4;
        length_o = 6'd6;
      end else if (!(|word_i[31:8])) begin
        code[3:0] = ZZZX;
        code[11:4] = word_i[7:0];
        length_o = 6'd12;
      end else if (match3) begin
        code[3:0] = MMMX;
        code[7:4] = place3;
        code[15:8] = word_i[7:0];
        length_o = 6'd16;
        enters = 1'b1;
      end else if (match2) begin
        code[3:0] = MMXX;
        code[7:4] = place2;
        code[23:8] = word_i[15:0];
        length_o = 6'd24;
        enters = 1'b1;
      end else begin
        code[3:0] = XXXX;
        code[33:2] = word_i;
        length_o = 6'd34;
        enters = 1'b1;
      end
    end
  end

  assign code_o = code;

  always @(*) begin : comb_dictionary
    integer i;
    dictionary = dictionary_i;
    count_o = count_i;
    next_o = next_i;
    if (enters) begin
      for (i = 0; i < 16; i = i + 1) begin
        if (next_i == i[3:0]) begin
          dictionary[i*32 +: 32] = word_i;
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
