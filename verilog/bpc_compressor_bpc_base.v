// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_compressor_bpc_base
//
// Encodes a base word by the shortest field of 0, 4, 8 or 16 bits whose sign-extension is the word,
// or by all 32 bits.
//
// Part of: bpc_compressor
// Source: LATTE-CC, table I
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_compressor_bpc_base (
  // the base word
  input  wire [31:0] base_i,
  // code of the word, its first bit in bit 0
  output reg  [32:0] code_o,
  // number of bits of the code
  output reg   [5:0] length_o
);

  // bits of the word from the sign of 4, 8 and 16 bits up
  wire [28:0] upper_4;
  wire [24:0] upper_8;
  wire [16:0] upper_16;

  assign upper_4 = base_i[31:3];
  assign upper_8 = base_i[31:7];
  assign upper_16 = base_i[31:15];

  always @(*) begin
    if (!(|base_i)) begin
      code_o = 33'd0;
      length_o = 6'd3;
    end else if ((&upper_4) | ~(|upper_4)) begin
      code_o = {26'd0, base_i[3:0], 3'd4};
      length_o = 6'd7;
    end else if ((&upper_8) | ~(|upper_8)) begin
      code_o = {22'd0, base_i[7:0], 3'd2};
      length_o = 6'd11;
    end else if ((&upper_16) | ~(|upper_16)) begin
      code_o = {14'd0, base_i[15:0], 3'd6};
      length_o = 6'd19;
    end else begin
      code_o = {base_i, 1'b1};
      length_o = 6'd33;
    end
  end

endmodule

`default_nettype wire
