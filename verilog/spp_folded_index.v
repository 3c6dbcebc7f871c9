// SPDX-License-Identifier: MIT OR Apache-2.0
// spp_folded_index
//
// The table's index of a block address: the XOR of its four slices.
//
// A is the width of the index. WIDE, the width of the address with zeros above it, is four times A.
//
// Parameters: A = 8, WIDE = 32
// Part of: spp
// Source: LAMAR, section 3.3.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module spp_folded_index (
  // the block address
  input  wire [31:0] address_i,
  // the index
  output reg   [7:0] index_o
);

  localparam A = 8;

  always @(*) begin : comb_index_o
    integer slice;
    index_o = 8'd0;
    for (slice = 0; slice < 4; slice = slice + 1) begin
      index_o = index_o ^ address_i[slice*A +: 8];
    end
  end

endmodule

`default_nettype wire
