// SPDX-License-Identifier: MIT OR Apache-2.0
// awt_first_set
//
// The lowest of the bits that are set.
//
// Parameters: N = 48, INDEX = 6
// Part of: awt
// Source: CABA, section 4.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module awt_first_set (
  // bits
  input  wire [47:0] bits_i,
  // the lowest one alone; none if none is set
  output wire [47:0] first_o,
  // its number; 0 if none is set
  output wire  [5:0] index_o
);

  wire [47:0] first;
  reg [5:0] index;

  // a number and its negative have the lowest one in common, and nothing above it
  assign first = bits_i & (~bits_i + 48'd1);

  always @(*) begin : comb_index
    integer i;
    index = 6'd0;
    for (i = 0; i < 48; i = i + 1) begin
      if (first[i]) begin
        index = index | i[5:0];
      end
    end
  end

  assign first_o = first;
  assign index_o = index;

endmodule

`default_nettype wire
