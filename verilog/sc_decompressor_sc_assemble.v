// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor_sc_assemble
//
// Moves up to K words in at the top of a line, the first one lowest; BOTH is the bits of a line and K words.
//
// Parameters: K = 4, BOTH = 1152, BW = 18
// Part of: sc_decompressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_decompressor_sc_assemble (
  // the line so far
  input  wire [1023:0] line_i,
  // values from the table
  input  wire  [127:0] values_i,
  // how many words there are
  input  wire    [2:0] taken_i,
  // the last one is not from the table
  input  wire          escaped_i,
  // but this one
  input  wire   [31:0] word_i,
  // the line with the words
  output wire [1023:0] line_o
);

  reg [1151:0] both;
  wire [1151:0] part_0;

  always @(*) begin : comb_both
    integer i;
    both = {128'd0, line_i};
    for (i = 0; i < 4; i = i + 1) begin
      both[1024+i*32 +: 32] = values_i[i*32 +: 32];
      if (escaped_i & (taken_i == (i[2:0] + 3'd1))) begin
        both[1024+i*32 +: 32] = word_i;
      end
    end
  end

  assign part_0 = both >> ({5'd0, taken_i} << 5);
  assign line_o = part_0[1023:0];

  // bits that nothing here looks at
  wire unused = &{1'b0, part_0[1151:1024]};

endmodule

`default_nettype wire
