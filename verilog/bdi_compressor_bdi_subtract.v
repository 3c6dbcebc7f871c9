// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_subtract
//
// Takes from each word the chosen base, or zero. A line that stays uncompressed passes.
//
// It has base zero, so that the subtraction alone would do, too; but a solver then has to find that out.
//
// Parameters: LINE = 1024, LW = 16, N8 = 16, N4 = 32, N2 = 64
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bdi_compressor_bdi_subtract (
  // the line
  input  wire [1023:0] line_i,
  // tag of the encoding
  input  wire    [3:0] tag_i,
  // its base
  input  wire   [63:0] base_i,
  // its mask
  input  wire   [63:0] mask_i,
  // the deltas, each in the low bits of its word
  output reg  [1023:0] deltas_o
);

  localparam [3:0] UNCOMPRESSED = 4'd0;
  reg [63:0] word;
  reg [63:0] base;
  wire [63:0] stops;
  reg [63:0] difference;
  reg [1023:0] deltas;
  wire widths_b8_o;
  wire widths_b4_o;
  wire [63:0] widths_stops_o;
  wire [1023:0] word_bases_bases_o;

  bdi_compressor_bdi_stops widths (
    .tag_i   (tag_i),
    .b8_o    (widths_b8_o),
    .b4_o    (widths_b4_o),
    .stops_o (widths_stops_o)
  );

  bdi_compressor_bdi_bases word_bases (
    .base_i  (base_i),
    .mask_i  (mask_i),
    .b8_i    (widths_b8_o),
    .b4_i    (widths_b4_o),
    .bases_o (word_bases_bases_o)
  );

  // one row of subtractors for words of every width: at the highest bit of each a borrow ends
  assign stops = widths_stops_o;

  always @(*) begin : comb_word
    integer i;
    word = 64'd0;
    base = 64'd0;
    difference = 64'd0;
    deltas = 1024'd0;
    for (i = 0; i < 16; i = i + 1) begin
      word = line_i[i*64 +: 64];
      base = word_bases_bases_o[i*64 +: 64];
      difference = (word | stops) - (base & ~stops);
      difference = difference ^ (~(word ^ base) & stops);
      deltas[i*64 +: 64] = difference;
    end
  end

  always @(*) begin
    deltas_o = deltas;
    if (tag_i == UNCOMPRESSED) begin
      deltas_o = line_i;
    end
  end

endmodule

`default_nettype wire
