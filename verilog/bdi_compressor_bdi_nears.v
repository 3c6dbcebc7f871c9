// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_nears
//
// Tries all encodings: above what is known of the line, a bit for each with deltas, and whether all 8-byte
// words are equal.
//
// Parameters: LINE = 1024, LW = 16, N8 = 16, N4 = 32, N2 = 64, FIRST = 1472, FW = 23, NEAR = 1479, NW = 24
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bdi_compressor_bdi_nears (
  // the line, bases and masks, as BdiFirsts lays them out
  input  wire [1471:0] first_i,
  // the same; then six bits in the order of the bases: the encoding fits; then one: all words are equal
  output wire [1478:0] near_o
);

  wire [1023:0] line;
  // the first 8-byte word
  wire [63:0] first;
  reg all_equal;
  reg [1478:0] near;
  wire [63:0] near_b8d1_base_i;
  wire [15:0] near_b8d1_mask_i;
  wire near_b8d1_fits_o;
  wire [63:0] near_b8d2_base_i;
  wire [15:0] near_b8d2_mask_i;
  wire near_b8d2_fits_o;
  wire [63:0] near_b8d4_base_i;
  wire [15:0] near_b8d4_mask_i;
  wire near_b8d4_fits_o;
  wire [31:0] near_b4d1_base_i;
  wire [31:0] near_b4d1_mask_i;
  wire near_b4d1_fits_o;
  wire [31:0] near_b4d2_base_i;
  wire [31:0] near_b4d2_mask_i;
  wire near_b4d2_fits_o;
  wire [15:0] near_b2d1_base_i;
  wire [63:0] near_b2d1_mask_i;
  wire near_b2d1_fits_o;

  bdi_compressor_bdi_near #(.BASE (64), .DELTA (8)) near_b8d1 (
    .line_i (line),
    .base_i (near_b8d1_base_i),
    .mask_i (near_b8d1_mask_i),
    .fits_o (near_b8d1_fits_o)
  );

  bdi_compressor_bdi_near #(.BASE (64), .DELTA (16)) near_b8d2 (
    .line_i (line),
    .base_i (near_b8d2_base_i),
    .mask_i (near_b8d2_mask_i),
    .fits_o (near_b8d2_fits_o)
  );

  bdi_compressor_bdi_near #(.BASE (64), .DELTA (32)) near_b8d4 (
    .line_i (line),
    .base_i (near_b8d4_base_i),
    .mask_i (near_b8d4_mask_i),
    .fits_o (near_b8d4_fits_o)
  );

  bdi_compressor_bdi_near #(.BASE (32), .DELTA (8)) near_b4d1 (
    .line_i (line),
    .base_i (near_b4d1_base_i),
    .mask_i (near_b4d1_mask_i),
    .fits_o (near_b4d1_fits_o)
  );

  bdi_compressor_bdi_near #(.BASE (32), .DELTA (16)) near_b4d2 (
    .line_i (line),
    .base_i (near_b4d2_base_i),
    .mask_i (near_b4d2_mask_i),
    .fits_o (near_b4d2_fits_o)
  );

  bdi_compressor_bdi_near #(.BASE (16), .DELTA (8)) near_b2d1 (
    .line_i (line),
    .base_i (near_b2d1_base_i),
    .mask_i (near_b2d1_mask_i),
    .fits_o (near_b2d1_fits_o)
  );

  assign line = first_i[1023:0];
  assign near_b8d1_base_i = first_i[1087:1024];
  assign near_b8d1_mask_i = first_i[1311:1296];
  assign near_b8d2_base_i = first_i[1151:1088];
  assign near_b8d2_mask_i = first_i[1327:1312];
  assign near_b8d4_base_i = first_i[1215:1152];
  assign near_b8d4_mask_i = first_i[1343:1328];
  assign near_b4d1_base_i = first_i[1247:1216];
  assign near_b4d1_mask_i = first_i[1375:1344];
  assign near_b4d2_base_i = first_i[1279:1248];
  assign near_b4d2_mask_i = first_i[1407:1376];
  assign near_b2d1_base_i = first_i[1295:1280];
  assign near_b2d1_mask_i = first_i[1471:1408];
  assign first = line[63:0];

  always @(*) begin : comb_all_equal
    integer i;
    all_equal = 1'b1;
    for (i = 1; i < 16; i = i + 1) begin
      if (line[i*64 +: 64] != first) begin
        all_equal = 1'b0;
      end
    end
  end

  always @(*) begin
    near = {7'd0, first_i};
    near[1472] = near_b8d1_fits_o;
    near[1473] = near_b8d2_fits_o;
    near[1474] = near_b8d4_fits_o;
    near[1475] = near_b4d1_fits_o;
    near[1476] = near_b4d2_fits_o;
    near[1477] = near_b2d1_fits_o;
    near[1478] = all_equal;
  end

  assign near_o = near;

endmodule

`default_nettype wire
