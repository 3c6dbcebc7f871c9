// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_splitter_8_128_8_1024_16_2
//
// The upper LEVELS levels of a BitUnpacker: splits a string into 2 to the power of LEVELS strings
// of equal width.
//
// Each string begins with its first field; bits after its last field are undefined. With zero
// levels it is a wire.
//
// Parameters: FIELDS = 8, F = 128, LEN = 8, IN = 1024, INW = 16, LEVELS = 2
// Written by selvedge 0.2.0

`ifndef SELVEDGE_BIT_SPLITTER_8_128_8_1024_16_2_V
`define SELVEDGE_BIT_SPLITTER_8_128_8_1024_16_2_V

`default_nettype none

module selvedge_bit_splitter_8_128_8_1024_16_2 (
  // the string
  input  wire [1023:0] string_i,
  // bits of each field, 0 to F
  input  wire   [63:0] length_i,
  // the strings, string 0 lowest
  output wire [1023:0] strings_o
);

  reg [8*8-1:0] length_0;
  reg [4*9-1:0] length_1;
  reg [2*10-1:0] length_2;
  reg [1024-1:0] string_3;
  reg [1024-1:0] string_2;
  reg [1023:0] moved_2;
  reg [1024-1:0] string_1;
  reg [511:0] moved_1;

  always @(*) begin : split
    integer g;
    integer b;
    // the lengths of all strings, from the fields up
    length_0 = length_i;
    for (g = 0; g < 4; g = g + 1) begin
      length_1[g*9 +: 9] = {1'd0, length_0[2*g*8 +: 8]} + {1'd0, length_0[(2*g+1)*8 +: 8]};
    end
    for (g = 0; g < 2; g = g + 1) begin
      length_2[g*10 +: 10] = {1'd0, length_1[2*g*9 +: 9]} + {1'd0, length_1[(2*g+1)*9 +: 9]};
    end
    // the strings, halved level by level
    string_3 = string_i;
    for (g = 0; g < 1; g = g + 1) begin
      // the longest step first, so that the others need fewer bits
      moved_2 = string_3[g*1024 +: 1024];
      for (b = 8; b >= 0; b = b - 1) begin
        if (length_2[2*g*10+b]) moved_2 = moved_2 >> (1 << b);
      end
      string_2[2*g*512 +: 512] = string_3[g*1024 +: 512];
      string_2[(2*g+1)*512 +: 512] = (length_2[2*g*10+9] ? string_3[g*1024+512 +: 512] :
          moved_2[511:0]);
    end
    for (g = 0; g < 2; g = g + 1) begin
      // the longest step first, so that the others need fewer bits
      moved_1 = string_2[g*512 +: 512];
      for (b = 7; b >= 0; b = b - 1) begin
        if (length_1[2*g*9+b]) moved_1 = moved_1 >> (1 << b);
      end
      string_1[2*g*256 +: 256] = string_2[g*512 +: 256];
      string_1[(2*g+1)*256 +: 256] = (length_1[2*g*9+8] ? string_2[g*512+256 +: 256] :
          moved_1[255:0]);
    end
  end

  assign strings_o = string_1;

  // the lengths of right halves place nothing
  wire unused;
  assign unused = &{1'b0, length_2[19:10]};

endmodule

`default_nettype wire

`endif
