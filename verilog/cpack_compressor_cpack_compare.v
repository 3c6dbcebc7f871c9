// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor_cpack_compare
//
// Compares one word with all positions of the dictionary, empty or not.
//
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
  output reg   [15:0] four_o,
  // positions that are equal in the upper three bytes
  output reg   [15:0] three_o,
  // positions that are equal in the upper two bytes
  output reg   [15:0] two_o
);

  always @(*) begin : comb_four_o
    integer i;
    reg [31:0] difference;
    reg two;
    reg three;
    reg four;
    for (i = 0; i < 16; i = i + 1) begin
      difference = dictionary_i[i*32 +: 32] ^ word_i;
      two = ~(|difference[31:16]);
      three = two & ~(|difference[15:8]);
      four = three & ~(|difference[7:0]);
      two_o[i] = two;
      three_o[i] = three;
      four_o[i] = four;
    end
  end

endmodule

`default_nettype wire
