// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_packer_32_6_3_144_3_8
//
// Packs FIELDS fields of at most F bits, field 0 lowest, without gaps into a string of OUT bits.
//
// A tree: each level merges neighbours. Bits of a field from its length on are ignored; bits of the string
// from the sum of the lengths on are zero, and those from OUT on are dropped.
//
// Parameters: FIELDS = 32, F = 6, LEN = 3, OUT = 144, OUTW = 3, SUM = 8
// Written by selvedge 0.1.0

`ifndef SELVEDGE_BIT_PACKER_32_6_3_144_3_8_V
`define SELVEDGE_BIT_PACKER_32_6_3_144_3_8_V

`default_nettype none

module selvedge_bit_packer_32_6_3_144_3_8 (
  // the fields, each in the low bits
  input  wire [191:0] field_i,
  // bits of each field that count, 0 to F
  input  wire  [95:0] length_i,
  // the string
  output wire [143:0] string_o,
  // sum of all lengths
  output wire   [7:0] length_o
);

  reg [32*6-1:0] string_0;
  reg [32*3-1:0] length_0;
  reg [16*12-1:0] string_1;
  reg [16*4-1:0] length_1;
  reg [8*24-1:0] string_2;
  reg [8*5-1:0] length_2;
  reg [4*48-1:0] string_3;
  reg [4*6-1:0] length_3;
  reg [2*96-1:0] string_4;
  reg [2*7-1:0] length_4;
  reg [1*144-1:0] string_5;
  reg [1*8-1:0] length_5;

  always @(*) begin : pack
    integer g;
    // the fields without what is beyond their lengths
    length_0 = length_i;
    for (g = 0; g < 32; g = g + 1) begin
      string_0[g*6 +: 6] = field_i[g*6 +: 6] & ~({6{1'b1}} << length_0[g*3 +: 3]);
    end
    // merged: 16 strings of up to 12 bits
    for (g = 0; g < 16; g = g + 1) begin
      string_1[g*12 +: 12] = {6'd0, string_0[2*g*6 +: 6]} | ({6'd0, string_0[(2*g+1)*6 +: 6]} <<
      length_0[2*g*3 +: 3]);
      length_1[g*4 +: 4] = {1'd0, length_0[2*g*3 +: 3]} + {1'd0, length_0[(2*g+1)*3 +: 3]};
    end
    // merged: 8 strings of up to 24 bits
    for (g = 0; g < 8; g = g + 1) begin
      string_2[g*24 +: 24] = {12'd0, string_1[2*g*12 +: 12]} | ({12'd0, string_1[(2*g+1)*12 +: 12]} <<
      length_1[2*g*4 +: 4]);
      length_2[g*5 +: 5] = {1'd0, length_1[2*g*4 +: 4]} + {1'd0, length_1[(2*g+1)*4 +: 4]};
    end
    // merged: 4 strings of up to 48 bits
    for (g = 0; g < 4; g = g + 1) begin
      string_3[g*48 +: 48] = {24'd0, string_2[2*g*24 +: 24]} | ({24'd0, string_2[(2*g+1)*24 +: 24]} <<
      length_2[2*g*5 +: 5]);
      length_3[g*6 +: 6] = {1'd0, length_2[2*g*5 +: 5]} + {1'd0, length_2[(2*g+1)*5 +: 5]};
    end
    // merged: 2 strings of up to 96 bits
    for (g = 0; g < 2; g = g + 1) begin
      string_4[g*96 +: 96] = {48'd0, string_3[2*g*48 +: 48]} | ({48'd0, string_3[(2*g+1)*48 +: 48]} <<
      length_3[2*g*6 +: 6]);
      length_4[g*7 +: 7] = {1'd0, length_3[2*g*6 +: 6]} + {1'd0, length_3[(2*g+1)*6 +: 6]};
    end
    // merged: 1 strings of up to 144 bits
    for (g = 0; g < 1; g = g + 1) begin
      string_5[g*144 +: 144] = {48'd0, string_4[2*g*96 +: 96]} | ({48'd0, string_4[(2*g+1)*96 +: 96]} <<
      length_4[2*g*7 +: 7]);
      length_5[g*8 +: 8] = {1'd0, length_4[2*g*7 +: 7]} + {1'd0, length_4[(2*g+1)*7 +: 7]};
    end
  end

  assign string_o = string_5;
  assign length_o = length_5;

endmodule

`default_nettype wire

`endif
