// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_compressor_bpc_planes
//
// Computes the differences of neighbouring words and arranges them as bit planes.
//
// P is the number of bits of a plane, one per difference. ALL is the number of bits of all 33
// planes. Plane 0 of the output is the highest plane, which holds the signs.
//
// Parameters: P = 31, ALL = 1023
// Part of: bpc_compressor
// Source: LATTE-CC, table I
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_compressor_bpc_planes (
  // the line
  input  wire [1023:0] line_i,
  // the planes before the exclusive-or
  output reg  [1022:0] planes_o
);

  localparam P = 31;

  always @(*) begin : comb_planes_o
    integer i;
    integer j;
    reg [31:0] word;
    reg [31:0] last;
    reg [32:0] delta;
    planes_o = 1023'd0;
    for (i = 0; i < 31; i = i + 1) begin
      word = line_i[i*32+32 +: 32];
      last = line_i[i*32 +: 32];
      delta = {1'b0, word} - {1'b0, last};
      for (j = 0; j < 33; j = j + 1) begin
        planes_o[(32-j)*P+i] = delta[j];
      end
    end
  end

endmodule

`default_nettype wire
