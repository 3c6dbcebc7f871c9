// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_decompressor_bdi_operands
//
// Second step: selects the base of each word.
//
// Parameters: LINE = 1024
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_decompressor_bdi_operands (
  // the deltas, spread to words; the line itself if it is uncompressed
  input  wire [1023:0] deltas_i,
  // tag of the encoding
  input  wire    [3:0] tag_i,
  // the base, in the low bits
  input  wire   [63:0] base_i,
  // one bit per word: it is a delta from zero
  input  wire   [63:0] mask_i,
  // from bit 0 up: the deltas, a base or zero for each delta, and the tag
  output reg  [2051:0] operands_o
);

  localparam LINE = 1024;
  localparam [3:0] ZEROS = 4'd1;
  localparam [3:0] B2D1 = 4'd10;
  wire has_base;
  wire widths_b8;
  wire widths_b4;
  wire [63:0] widths_stops;
  wire [63:0] word_bases_base;
  wire [1023:0] word_bases_bases;

  bdi_decompressor_bdi_stops widths (
    .tag_i   (tag_i),
    .b8_o    (widths_b8),
    .b4_o    (widths_b4),
    .stops_o (widths_stops)
  );

  bdi_decompressor_bdi_bases word_bases (
    .base_i  (word_bases_base),
    .mask_i  (mask_i),
    .b8_i    (widths_b8),
    .b4_i    (widths_b4),
    .bases_o (word_bases_bases)
  );

  assign has_base = (tag_i > ZEROS) & (tag_i <= B2D1);
  assign word_bases_base = has_base ? base_i : 64'd0;

  always @(*) begin : comb_operands_o
    integer i;
    operands_o = {1028'd0, deltas_i};
    for (i = 0; i < 16; i = i + 1) begin
      operands_o[LINE+i*64 +: 64] = word_bases_bases[i*64 +: 64];
    end
    operands_o[2051:2048] = tag_i;
  end

  // unused bits
  wire unused = &{1'b0, widths_stops};

endmodule

`default_nettype wire
