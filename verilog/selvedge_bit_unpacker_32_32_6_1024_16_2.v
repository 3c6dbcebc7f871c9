// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_unpacker_32_32_6_1024_16_2
//
// Takes a string of FIELDS times F bits apart into FIELDS fields of at most F bits, field 0 lowest.
//
// A tree: each level splits a string in two. Bits of a field from its length on are zero. The first DONE
// levels have been split already.
//
// Parameters: FIELDS = 32, F = 32, LEN = 6, IN = 1024, INW = 16, DONE = 2
// Written by selvedge 0.1.0

`ifndef SELVEDGE_BIT_UNPACKER_32_32_6_1024_16_2_V
`define SELVEDGE_BIT_UNPACKER_32_32_6_1024_16_2_V

`default_nettype none

module selvedge_bit_unpacker_32_32_6_1024_16_2 (
  // the string, or 2 to the power of DONE strings of equal width, of which each begins with its first field
  input  wire [1023:0] string_i,
  // bits of each field, 0 to F
  input  wire  [191:0] length_i,
  // the fields, each in the low bits
  output wire [1023:0] field_o
);

  reg [32*6-1:0] length_0;
  reg [16*7-1:0] length_1;
  reg [8*8-1:0] length_2;
  reg [1024-1:0] string_3;
  reg [1024-1:0] string_2;
  reg [255:0] whole_2;
  reg [1024-1:0] string_1;
  reg [127:0] whole_1;
  reg [1024-1:0] string_0;
  reg [63:0] whole_0;
  reg [32*32-1:0] fields;

  always @(*) begin : unpack
    integer g;
    // the lengths of all strings, from the fields up
    length_0 = length_i;
    for (g = 0; g < 16; g = g + 1) begin
      length_1[g*7 +: 7] = {1'd0, length_0[2*g*6 +: 6]} + {1'd0, length_0[(2*g+1)*6 +: 6]};
    end
    for (g = 0; g < 8; g = g + 1) begin
      length_2[g*8 +: 8] = {1'd0, length_1[2*g*7 +: 7]} + {1'd0, length_1[(2*g+1)*7 +: 7]};
    end
    // the strings, halved level by level
    string_3 = string_i;
    for (g = 0; g < 4; g = g + 1) begin
      whole_2 = string_3[g*256 +: 256];
      string_2[2*g*128 +: 128] = whole_2[127:0];
      string_2[(2*g+1)*128 +: 128] = whole_2[length_2[2*g*8 +: 8] +: 128];
    end
    for (g = 0; g < 8; g = g + 1) begin
      whole_1 = string_2[g*128 +: 128];
      string_1[2*g*64 +: 64] = whole_1[63:0];
      string_1[(2*g+1)*64 +: 64] = whole_1[length_1[2*g*7 +: 7] +: 64];
    end
    for (g = 0; g < 16; g = g + 1) begin
      whole_0 = string_1[g*64 +: 64];
      string_0[2*g*32 +: 32] = whole_0[31:0];
      string_0[(2*g+1)*32 +: 32] = whole_0[length_0[2*g*6 +: 6] +: 32];
    end
    // the fields without what follows them
    for (g = 0; g < 32; g = g + 1) begin
      fields[g*32 +: 32] = string_0[g*32 +: 32] & ~({32{1'b1}} << length_0[g*6 +: 6]);
    end
  end

  assign field_o = fields;

  // the lengths of right halves place nothing
  wire unused;
  assign unused = &{1'b0, length_2[15:8], length_2[31:24], length_2[47:40], length_2[63:56]};

endmodule

`default_nettype wire

`endif
