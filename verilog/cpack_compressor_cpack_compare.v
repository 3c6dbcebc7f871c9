// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor_cpack_compare
//
// Compares one word with all positions of the dictionary, empty or not.
//
// Parameters: D = 512, DW = 8
// Part of: cpack_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module cpack_compressor_cpack_compare (
  // the word to compare
  input  wire  [31:0] word_i,
  // the dictionary
  input  wire [511:0] dictionary_i,
  // positions that are equal in all four bytes, one bit each
  output wire  [15:0] four_o,
  // positions that are equal in the upper three bytes
  output wire  [15:0] three_o,
  // positions that are equal in the upper two bytes
  output wire  [15:0] two_o
);

  reg [31:0] difference;
  reg two;
  reg three;
  reg four;
  reg [15:0] twos;
  reg [15:0] threes;
  reg [15:0] fours;

  always @(*) begin : comb_twos
    integer i;
    twos = 16'd0;
    threes = 16'd0;
    fours = 16'd0;
    for (i = 0; i < 16; i = i + 1) begin
      difference = dictionary_i[i*32 +: 32] ^ word_i;
      two = !(|difference[31:16]);
      three = two & !(|difference[15:8]);
      four = three & !(|difference[7:0]);
      twos[i] = two;
      threes[i] = three;
      fours[i] = four;
    end
  end

  assign two_o = twos;
  assign three_o = threes;
  assign four_o = fours;

endmodule

`default_nettype wire
