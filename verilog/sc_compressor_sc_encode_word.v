// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_compressor_sc_encode_word
//
// Makes the bits for a word from the output of its bank: the code, or the code of the escape and
// the word itself.
//
// Part of: sc_compressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_compressor_sc_encode_word (
  // the word
  input  wire  [31:0] word_i,
  // bank of the word
  input  wire   [2:0] bank_i,
  // output of each bank
  input  wire [167:0] codes_i,
  // code of the escape symbol, first bit lowest
  input  wire  [15:0] escape_code_i,
  // length of that code; 0: the escape has no code
  input  wire   [4:0] escape_length_i,
  // bits for the word, the first one lowest
  output reg   [47:0] field_o,
  // number of these bits; 0: the word cannot be coded
  output reg    [5:0] length_o
);

  reg [20:0] code;

  always @(*) begin : comb_code
    integer bank;
    code = 21'd0;
    for (bank = 0; bank < 8; bank = bank + 1) begin
      if (bank_i == bank[2:0]) begin
        code = code | codes_i[bank*21 +: 21];
      end
    end
  end

  always @(*) begin
    field_o = 48'd0;
    length_o = 6'd0;
    if (|escape_length_i) begin
      field_o = {32'd0, escape_code_i} | ({16'd0, word_i} << escape_length_i);
      length_o = {1'b0, escape_length_i} + 6'd32;
    end
    if (|code[20:16]) begin
      field_o = {32'd0, code[15:0]};
      length_o = {1'b0, code[20:16]};
    end
  end

endmodule

`default_nettype wire
