// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_decompressor_bdi_add
//
// Last step: makes the line. Each word is the sum of its delta and its base.
//
// Parameters: LINE = 1024, LW = 16, N8 = 16, BOTH = 2052, BW = 33
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_decompressor_bdi_add (
  // deltas, bases and tag, in the layout of BdiOperands
  input  wire [2051:0] operands_i,
  // the line
  output wire [1023:0] line_o,
  // the tag is undefined
  output wire          error_o
);

  localparam LINE = 1024;
  localparam [3:0] B2D1 = 4'd10;
  reg [63:0] word;
  reg [63:0] base;
  wire [63:0] stops;
  reg [63:0] sum;
  reg [1023:0] line;
  wire [3:0] widths_tag_i;
  wire widths_b8_o;
  wire widths_b4_o;
  wire [63:0] widths_stops_o;

  bdi_decompressor_bdi_stops widths (
    .tag_i   (widths_tag_i),
    .b8_o    (widths_b8_o),
    .b4_o    (widths_b4_o),
    .stops_o (widths_stops_o)
  );

  // tags above the last encoding's mean nothing; their deltas and bases are zero
  assign error_o = operands_i[2051:2048] > B2D1;
  // one row of adders for words of every width: at the highest bit of each a carry ends
  assign widths_tag_i = operands_i[2051:2048];
  assign stops = widths_stops_o;

  always @(*) begin : comb_line
    integer i;
    line = 1024'd0;
    for (i = 0; i < 16; i = i + 1) begin
      word = operands_i[i*64 +: 64];
      base = operands_i[LINE+i*64 +: 64];
      sum = (word & ~stops) + (base & ~stops);
      sum = sum ^ ((word ^ base) & stops);
      line[i*64 +: 64] = sum;
    end
  end

  assign line_o = line;

  // bits that nothing here looks at
  wire unused = &{1'b0, widths_b8_o, widths_b4_o};

endmodule

`default_nettype wire
