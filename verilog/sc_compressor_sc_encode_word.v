// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_compressor_sc_encode_word
//
// Finds the code of a word among the ways of its set; without one, the code is the escape's, and the word
// follows it.
//
// Part of: sc_compressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_compressor_sc_encode_word (
  // the word
  input  wire  [31:0] word_i,
  // its set: per way 24 bits of tag, 16 of code (first bit lowest) and 5 of length, which is 0 for no entry
  input  wire [179:0] set_i,
  // code of the escape symbol, first bit lowest
  input  wire  [15:0] escape_code_i,
  // its length; 0: there is none
  input  wire   [4:0] escape_length_i,
  // the bits for the word, the first one lowest
  output wire  [47:0] field_o,
  // how many they are; 0: the word cannot be coded
  output wire   [5:0] length_o
);

  reg [44:0] entry;
  reg [47:0] field;
  reg [5:0] length;

  always @(*) begin : comb_field
    integer way;
    field = 48'd0;
    length = 6'd0;
    if (|escape_length_i) begin
      field = {32'd0, escape_code_i} | ({16'd0, word_i} << escape_length_i);
      length = {1'b0, escape_length_i} + 6'd32;
    end
    entry = 45'd0;
    for (way = 0; way < 4; way = way + 1) begin
      entry = set_i[way*45 +: 45];
      if ((|entry[44:40]) & (entry[23:0] == word_i[31:8])) begin
        field = {32'd0, entry[39:24]};
        length = {1'b0, entry[44:40]};
      end
    end
  end

  assign field_o = field;
  assign length_o = length;

endmodule

`default_nettype wire
