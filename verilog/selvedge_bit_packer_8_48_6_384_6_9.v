// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_packer_8_48_6_384_6_9
//
// Packs FIELDS fields of at most F bits, field 0 lowest, without gaps into a string of OUT bits.
//
// A tree: each level merges neighbors. Bits of a field from its length on are ignored. Bits of the
// string from the sum of the lengths on are zero; bits from OUT on are dropped.
//
// Parameters: FIELDS = 8, F = 48, OUT = 384
// Written by selvedge 0.2.0

`ifndef SELVEDGE_BIT_PACKER_8_48_6_384_6_9_V
`define SELVEDGE_BIT_PACKER_8_48_6_384_6_9_V

`default_nettype none

module selvedge_bit_packer_8_48_6_384_6_9 (
  // the fields, each in the low bits
  input  wire [383:0] field_i,
  // valid bits of each field, 0 to F
  input  wire  [47:0] length_i,
  // the string
  output wire [383:0] string_o,
  // sum of all lengths
  output wire   [8:0] length_o
);

  reg [8*48-1:0] string_0;
  reg [8*6-1:0] length_0;
  reg [4*96-1:0] string_1;
  reg [4*7-1:0] length_1;
  reg [2*192-1:0] string_2;
  reg [2*8-1:0] length_2;
  reg [1*384-1:0] string_3;
  reg [1*9-1:0] length_3;

  always @(*) begin : pack
    integer g;
    length_0 = length_i;
    // clear the bits beyond the length of each field
    for (g = 0; g < 8; g = g + 1) begin
      string_0[g*48 +: 48] = field_i[g*48 +: 48] & ~({48{1'b1}} << length_0[g*6 +: 6]);
    end
    // merged: 4 strings of up to 96 bits
    for (g = 0; g < 4; g = g + 1) begin
      string_1[g*96 +: 96] = {48'd0, string_0[2*g*48 +: 48]} | ({48'd0, string_0[(2*g+1)*48 +: 48]}
          << length_0[2*g*6 +: 6]);
      length_1[g*7 +: 7] = {1'd0, length_0[2*g*6 +: 6]} + {1'd0, length_0[(2*g+1)*6 +: 6]};
    end
    // merged: 2 strings of up to 192 bits
    for (g = 0; g < 2; g = g + 1) begin
      string_2[g*192 +: 192] = {96'd0, string_1[2*g*96 +: 96]} | ({96'd0, string_1[(2*g+1)*96 +:
          96]} << length_1[2*g*7 +: 7]);
      length_2[g*8 +: 8] = {1'd0, length_1[2*g*7 +: 7]} + {1'd0, length_1[(2*g+1)*7 +: 7]};
    end
    // merged: 1 strings of up to 384 bits
    for (g = 0; g < 1; g = g + 1) begin
      string_3[g*384 +: 384] = {192'd0, string_2[2*g*192 +: 192]} | ({192'd0, string_2[(2*g+1)*192
          +: 192]} << length_2[2*g*8 +: 8]);
      length_3[g*9 +: 9] = {1'd0, length_2[2*g*8 +: 8]} + {1'd0, length_2[(2*g+1)*8 +: 8]};
    end
  end

  assign string_o = string_3;
  assign length_o = length_3;

endmodule

`default_nettype wire

`endif
