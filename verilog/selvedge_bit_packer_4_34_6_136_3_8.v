// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_packer_4_34_6_136_3_8
//
// Packs FIELDS fields of at most F bits, field 0 lowest, without gaps into a string of OUT bits.
//
// A tree: each level merges neighbours. Bits of a field from its length on are ignored; bits of the string
// from the sum of the lengths on are zero, and those from OUT on are dropped.
//
// Parameters: FIELDS = 4, F = 34, LEN = 6, OUT = 136, OUTW = 3, SUM = 8
// Written by selvedge 0.1.0

`ifndef SELVEDGE_BIT_PACKER_4_34_6_136_3_8_V
`define SELVEDGE_BIT_PACKER_4_34_6_136_3_8_V

`default_nettype none

module selvedge_bit_packer_4_34_6_136_3_8 (
  // the fields, each in the low bits
  input  wire [135:0] field_i,
  // bits of each field that count, 0 to F
  input  wire  [23:0] length_i,
  // the string
  output wire [135:0] string_o,
  // sum of all lengths
  output wire   [7:0] length_o
);

  reg [4*34-1:0] string_0;
  reg [4*6-1:0] length_0;
  reg [2*68-1:0] string_1;
  reg [2*7-1:0] length_1;
  reg [1*136-1:0] string_2;
  reg [1*8-1:0] length_2;

  always @(*) begin : pack
    integer g;
    // the fields without what is beyond their lengths
    length_0 = length_i;
    for (g = 0; g < 4; g = g + 1) begin
      string_0[g*34 +: 34] = field_i[g*34 +: 34] & ~({34{1'b1}} << length_0[g*6 +: 6]);
    end
    // merged: 2 strings of up to 68 bits
    for (g = 0; g < 2; g = g + 1) begin
      string_1[g*68 +: 68] = {34'd0, string_0[2*g*34 +: 34]} | ({34'd0, string_0[(2*g+1)*34 +: 34]} <<
      length_0[2*g*6 +: 6]);
      length_1[g*7 +: 7] = {1'd0, length_0[2*g*6 +: 6]} + {1'd0, length_0[(2*g+1)*6 +: 6]};
    end
    // merged: 1 strings of up to 136 bits
    for (g = 0; g < 1; g = g + 1) begin
      string_2[g*136 +: 136] = {68'd0, string_1[2*g*68 +: 68]} | ({68'd0, string_1[(2*g+1)*68 +: 68]} <<
      length_1[2*g*7 +: 7]);
      length_2[g*8 +: 8] = {1'd0, length_1[2*g*7 +: 7]} + {1'd0, length_1[(2*g+1)*7 +: 7]};
    end
  end

  assign string_o = string_2;
  assign length_o = length_2;

endmodule

`default_nettype wire

`endif
