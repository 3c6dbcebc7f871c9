// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_ones_below
//
// Counts the ones among the lowest bits of a word.
//
// REMAINING are the bits of a number of bits.
//
// Parameters: REMAINING = 12
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_code_builder_ones_below (
  // the word
  input  wire [31:0] word_i,
  // how many bits count; all, if that is 32 or more
  input  wire [11:0] remaining_i,
  // ones among them
  output wire  [5:0] ones_o
);

  // bits that do not count
  reg [31:0] beyond;
  wire [31:0] counted;
  reg [5:0] sum;

  always @(*) begin
    beyond = 32'd0;
    if (remaining_i < 12'd32) begin
      beyond = ~beyond << remaining_i[4:0];
    end
  end

  assign counted = word_i & ~beyond;

  always @(*) begin : comb_sum
    integer bit_index;
    sum = 6'd0;
    for (bit_index = 0; bit_index < 32; bit_index = bit_index + 1) begin
      sum = sum + {5'd0, counted[bit_index]};
    end
  end

  assign ones_o = sum;

endmodule

`default_nettype wire
