// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_joiner_8_128_8_1024_16_11
//
// Joins FIELDS fields of at most F bits without gaps. The fields come in one string, F bits apart.
//
// A BitPacker for fields of 32, 64, 96, ... bits. The bits of a field from its length on must be
// zero.
//
// Parameters: FIELDS = 8, F = 128, LEN = 8, OUT = 1024, OUTW = 16, SUM = 11
// Written by selvedge 0.2.0

`ifndef SELVEDGE_BIT_JOINER_8_128_8_1024_16_11_V
`define SELVEDGE_BIT_JOINER_8_128_8_1024_16_11_V

`default_nettype none

module selvedge_bit_joiner_8_128_8_1024_16_11 (
  // the fields, field 0 lowest
  input  wire [1023:0] strings_i,
  // valid bits of each field, 0 to F
  input  wire   [63:0] length_i,
  // the string
  output wire [1023:0] string_o,
  // sum of all lengths
  output wire   [10:0] length_o
);

  reg [8*128-1:0] string_0;
  reg [8*8-1:0] length_0;
  reg [4*256-1:0] string_1;
  reg [4*9-1:0] length_1;
  reg [2*512-1:0] string_2;
  reg [2*10-1:0] length_2;
  reg [1*1024-1:0] string_3;
  reg [1*11-1:0] length_3;

  always @(*) begin : pack
    integer g;
    length_0 = length_i;
    string_0 = strings_i;
    // merged: 4 strings of up to 256 bits
    for (g = 0; g < 4; g = g + 1) begin
      string_1[g*256 +: 256] = {128'd0, string_0[2*g*128 +: 128]} | ({128'd0, string_0[(2*g+1)*128
          +: 128]} << length_0[2*g*8 +: 8]);
      length_1[g*9 +: 9] = {1'd0, length_0[2*g*8 +: 8]} + {1'd0, length_0[(2*g+1)*8 +: 8]};
    end
    // merged: 2 strings of up to 512 bits
    for (g = 0; g < 2; g = g + 1) begin
      string_2[g*512 +: 512] = {256'd0, string_1[2*g*256 +: 256]} | ({256'd0, string_1[(2*g+1)*256
          +: 256]} << length_1[2*g*9 +: 9]);
      length_2[g*10 +: 10] = {1'd0, length_1[2*g*9 +: 9]} + {1'd0, length_1[(2*g+1)*9 +: 9]};
    end
    // merged: 1 strings of up to 1024 bits
    for (g = 0; g < 1; g = g + 1) begin
      string_3[g*1024 +: 1024] = {512'd0, string_2[2*g*512 +: 512]} | ({512'd0, string_2[(2*g+1)*512
          +: 512]} << length_2[2*g*10 +: 10]);
      length_3[g*11 +: 11] = {1'd0, length_2[2*g*10 +: 10]} + {1'd0, length_2[(2*g+1)*10 +: 10]};
    end
  end

  assign string_o = string_3;
  assign length_o = length_3;

endmodule

`default_nettype wire

`endif
