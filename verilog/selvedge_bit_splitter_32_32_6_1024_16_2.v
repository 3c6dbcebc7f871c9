// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_splitter_32_32_6_1024_16_2
//
// The upper LEVELS levels of a BitUnpacker: of a string, 2 to the power of LEVELS strings of equal width.
//
// Each of them begins with its first field; what follows its last field is of no meaning.
//
// Parameters: FIELDS = 32, F = 32, LEN = 6, IN = 1024, INW = 16, LEVELS = 2
// Written by selvedge 0.1.0

`ifndef SELVEDGE_BIT_SPLITTER_32_32_6_1024_16_2_V
`define SELVEDGE_BIT_SPLITTER_32_32_6_1024_16_2_V

`default_nettype none

module selvedge_bit_splitter_32_32_6_1024_16_2 (
  // the string
  input  wire [1023:0] string_i,
  // bits of each field, 0 to F
  input  wire  [191:0] length_i,
  // the strings, string 0 lowest
  output wire [1023:0] strings_o
);

  reg [32*6-1:0] length_0;
  reg [16*7-1:0] length_1;
  reg [8*8-1:0] length_2;
  reg [4*9-1:0] length_3;
  reg [2*10-1:0] length_4;
  reg [1024-1:0] string_5;
  reg [1024-1:0] string_4;
  reg [1023:0] whole_4;
  reg [1024-1:0] string_3;
  reg [511:0] whole_3;

  always @(*) begin : split
    integer g;
    // the lengths of all strings, from the fields up
    length_0 = length_i;
    for (g = 0; g < 16; g = g + 1) begin
      length_1[g*7 +: 7] = {1'd0, length_0[2*g*6 +: 6]} + {1'd0, length_0[(2*g+1)*6 +: 6]};
    end
    for (g = 0; g < 8; g = g + 1) begin
      length_2[g*8 +: 8] = {1'd0, length_1[2*g*7 +: 7]} + {1'd0, length_1[(2*g+1)*7 +: 7]};
    end
    for (g = 0; g < 4; g = g + 1) begin
      length_3[g*9 +: 9] = {1'd0, length_2[2*g*8 +: 8]} + {1'd0, length_2[(2*g+1)*8 +: 8]};
    end
    for (g = 0; g < 2; g = g + 1) begin
      length_4[g*10 +: 10] = {1'd0, length_3[2*g*9 +: 9]} + {1'd0, length_3[(2*g+1)*9 +: 9]};
    end
    // the strings, halved level by level
    string_5 = string_i;
    for (g = 0; g < 1; g = g + 1) begin
      whole_4 = string_5[g*1024 +: 1024];
      string_4[2*g*512 +: 512] = whole_4[511:0];
      string_4[(2*g+1)*512 +: 512] = whole_4[length_4[2*g*10 +: 10] +: 512];
    end
    for (g = 0; g < 2; g = g + 1) begin
      whole_3 = string_4[g*512 +: 512];
      string_3[2*g*256 +: 256] = whole_3[255:0];
      string_3[(2*g+1)*256 +: 256] = whole_3[length_3[2*g*9 +: 9] +: 256];
    end
  end

  assign strings_o = string_3;

  // the lengths of right halves place nothing
  wire unused;
  assign unused = &{1'b0, length_4[19:10]};

endmodule

`default_nettype wire

`endif
