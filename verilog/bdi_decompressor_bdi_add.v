// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_decompressor_bdi_add
//
// Last step: makes the line. Each word is the sum of its delta and its base.
//
// Parameters: LINE = 1024
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_decompressor_bdi_add (
  // deltas, bases and tag, in the layout of BdiOperands
  input  wire [2051:0] operands_i,
  // the line
  output reg  [1023:0] line_o,
  // the tag is undefined
  output wire          error_o
);

  localparam LINE = 1024;
  localparam [3:0] B2D1 = 4'd10;
  wire [63:0] stops;
  wire widths_b8;
  wire widths_b4;

  bdi_decompressor_bdi_stops widths (
    .tag_i   (operands_i[2051:2048]),
    .b8_o    (widths_b8),
    .b4_o    (widths_b4),
    .stops_o (stops)
  );

  // tags above the last encoding are errors; their deltas and bases are zero
  assign error_o = operands_i[2051:2048] > B2D1;

  always @(*) begin : comb_line_o
    integer i;
    reg [63:0] word;
    reg [63:0] base;
    reg [63:0] sum;
    for (i = 0; i < 16; i = i + 1) begin
      word = operands_i[i*64 +: 64];
      base = operands_i[LINE+i*64 +: 64];
      sum = (word & ~stops) + (base & ~stops);
      sum = sum ^ ((word ^ base) & stops);
      line_o[i*64 +: 64] = sum;
    end
  end

  // unused bits
  wire unused = &{1'b0, widths_b8, widths_b4};

endmodule

`default_nettype wire
