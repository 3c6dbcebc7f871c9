// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_packer_32_32_6_1024_16_11
//
// Packs FIELDS fields of at most F bits, field 0 lowest, without gaps into a string of OUT bits.
//
// A tree: each level merges neighbours. Bits of a field from its length on are ignored; bits of the string
// from the sum of the lengths on are zero, and those from OUT on are dropped.
//
// Parameters: FIELDS = 32, F = 32, LEN = 6, OUT = 1024, OUTW = 16, SUM = 11
// Written by selvedge 0.1.0

`ifndef SELVEDGE_BIT_PACKER_32_32_6_1024_16_11_V
`define SELVEDGE_BIT_PACKER_32_32_6_1024_16_11_V

`default_nettype none

module selvedge_bit_packer_32_32_6_1024_16_11 (
  // the fields, each in the low bits
  input  wire [1023:0] field_i,
  // bits of each field that count, 0 to F
  input  wire  [191:0] length_i,
  // the string
  output wire [1023:0] string_o,
  // sum of all lengths
  output wire   [10:0] length_o
);

  reg [32*32-1:0] string_0;
  reg [32*6-1:0] length_0;
  reg [16*64-1:0] string_1;
  reg [16*7-1:0] length_1;
  reg [8*128-1:0] string_2;
  reg [8*8-1:0] length_2;
  reg [4*256-1:0] string_3;
  reg [4*9-1:0] length_3;
  reg [2*512-1:0] string_4;
  reg [2*10-1:0] length_4;
  reg [1*1024-1:0] string_5;
  reg [1*11-1:0] length_5;

  always @(*) begin : pack
    integer g;
    // the fields without what is beyond their lengths
    length_0 = length_i;
    for (g = 0; g < 32; g = g + 1) begin
      string_0[g*32 +: 32] = field_i[g*32 +: 32] & ~({32{1'b1}} << length_0[g*6 +: 6]);
    end
    // merged: 16 strings of up to 64 bits
    for (g = 0; g < 16; g = g + 1) begin
      string_1[g*64 +: 64] = {32'd0, string_0[2*g*32 +: 32]} | ({32'd0, string_0[(2*g+1)*32 +: 32]} <<
      length_0[2*g*6 +: 6]);
      length_1[g*7 +: 7] = {1'd0, length_0[2*g*6 +: 6]} + {1'd0, length_0[(2*g+1)*6 +: 6]};
    end
    // merged: 8 strings of up to 128 bits
    for (g = 0; g < 8; g = g + 1) begin
      string_2[g*128 +: 128] = {64'd0, string_1[2*g*64 +: 64]} | ({64'd0, string_1[(2*g+1)*64 +: 64]} <<
      length_1[2*g*7 +: 7]);
      length_2[g*8 +: 8] = {1'd0, length_1[2*g*7 +: 7]} + {1'd0, length_1[(2*g+1)*7 +: 7]};
    end
    // merged: 4 strings of up to 256 bits
    for (g = 0; g < 4; g = g + 1) begin
      string_3[g*256 +: 256] = {128'd0, string_2[2*g*128 +: 128]} | ({128'd0, string_2[(2*g+1)*128 +: 128]} <<
      length_2[2*g*8 +: 8]);
      length_3[g*9 +: 9] = {1'd0, length_2[2*g*8 +: 8]} + {1'd0, length_2[(2*g+1)*8 +: 8]};
    end
    // merged: 2 strings of up to 512 bits
    for (g = 0; g < 2; g = g + 1) begin
      string_4[g*512 +: 512] = {256'd0, string_3[2*g*256 +: 256]} | ({256'd0, string_3[(2*g+1)*256 +: 256]} <<
      length_3[2*g*9 +: 9]);
      length_4[g*10 +: 10] = {1'd0, length_3[2*g*9 +: 9]} + {1'd0, length_3[(2*g+1)*9 +: 9]};
    end
    // merged: 1 strings of up to 1024 bits
    for (g = 0; g < 1; g = g + 1) begin
      string_5[g*1024 +: 1024] = {512'd0, string_4[2*g*512 +: 512]} | ({512'd0, string_4[(2*g+1)*512 +: 512]}
      << length_4[2*g*10 +: 10]);
      length_5[g*11 +: 11] = {1'd0, length_4[2*g*10 +: 10]} + {1'd0, length_4[(2*g+1)*10 +: 10]};
    end
  end

  assign string_o = string_5;
  assign length_o = length_5;

endmodule

`default_nettype wire

`endif
