// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_firsts
//
// Bases and masks of all encodings with deltas, side by side above the line: six bases, then six masks.
//
// Parameters: LINE = 1024, LW = 16, N8 = 16, N4 = 32, N2 = 64, FIRST = 1472, FW = 23
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bdi_compressor_bdi_firsts (
  // the line
  input  wire [1023:0] line_i,
  // the line, then those for 8-byte words with deltas of 1, 2 and 4 bytes, 4-byte words with 1 and 2, 2-byte
  // words with 1
  output wire [1471:0] first_o
);

  reg [1471:0] first;
  wire [63:0] first_b8d1_base_o;
  wire [15:0] first_b8d1_mask_o;
  wire [63:0] first_b8d2_base_o;
  wire [15:0] first_b8d2_mask_o;
  wire [63:0] first_b8d4_base_o;
  wire [15:0] first_b8d4_mask_o;
  wire [31:0] first_b4d1_base_o;
  wire [31:0] first_b4d1_mask_o;
  wire [31:0] first_b4d2_base_o;
  wire [31:0] first_b4d2_mask_o;
  wire [15:0] first_b2d1_base_o;
  wire [63:0] first_b2d1_mask_o;

  bdi_compressor_bdi_first #(.BASE (64), .DELTA (8)) first_b8d1 (
    .line_i (line_i),
    .base_o (first_b8d1_base_o),
    .mask_o (first_b8d1_mask_o)
  );

  bdi_compressor_bdi_first #(.BASE (64), .DELTA (16)) first_b8d2 (
    .line_i (line_i),
    .base_o (first_b8d2_base_o),
    .mask_o (first_b8d2_mask_o)
  );

  bdi_compressor_bdi_first #(.BASE (64), .DELTA (32)) first_b8d4 (
    .line_i (line_i),
    .base_o (first_b8d4_base_o),
    .mask_o (first_b8d4_mask_o)
  );

  bdi_compressor_bdi_first #(.BASE (32), .DELTA (8)) first_b4d1 (
    .line_i (line_i),
    .base_o (first_b4d1_base_o),
    .mask_o (first_b4d1_mask_o)
  );

  bdi_compressor_bdi_first #(.BASE (32), .DELTA (16)) first_b4d2 (
    .line_i (line_i),
    .base_o (first_b4d2_base_o),
    .mask_o (first_b4d2_mask_o)
  );

  bdi_compressor_bdi_first #(.BASE (16), .DELTA (8)) first_b2d1 (
    .line_i (line_i),
    .base_o (first_b2d1_base_o),
    .mask_o (first_b2d1_mask_o)
  );

  always @(*) begin
    first = {448'd0, line_i};
    first[1087:1024] = first_b8d1_base_o;
    first[1151:1088] = first_b8d2_base_o;
    first[1215:1152] = first_b8d4_base_o;
    first[1247:1216] = first_b4d1_base_o;
    first[1279:1248] = first_b4d2_base_o;
    first[1295:1280] = first_b2d1_base_o;
    first[1311:1296] = first_b8d1_mask_o;
    first[1327:1312] = first_b8d2_mask_o;
    first[1343:1328] = first_b8d4_mask_o;
    first[1375:1344] = first_b4d1_mask_o;
    first[1407:1376] = first_b4d2_mask_o;
    first[1471:1408] = first_b2d1_mask_o;
  end

  assign first_o = first;

endmodule

`default_nettype wire
