// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_firsts
//
// Puts bases and masks of all encodings with deltas above the line.
//
// From bit LINE up, first come the bases as BdiNears needs them: 64 bits for B8D4, 32 for B8D2, 16
// for B8D1, 32 for B4D2, 16 for B4D1, and 16 for B2D1. Then come three bits, for B8D2, B8D1 and
// B4D1. Each is set if the upper bits of that base are copies of its sign. Then come the masks, in
// order of the tags. If one of the three bits is clear, the base has the same upper bits as the
// base with the next wider delta. Both bases are then the same word: the words before it are deltas
// from zero for the narrower delta, and so also for the wider one.
//
// Parameters: LINE = 1024
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_firsts (
  // the line
  input  wire [1023:0] line_i,
  // the line, bases and masks
  output wire [1378:0] first_o
);

  // first: the first bit of each field
  localparam FIRST_BASE_B8D4 = 1024;
  localparam FIRST_BASE_B8D2 = 1088;
  localparam FIRST_BASE_B8D1 = 1120;
  localparam FIRST_BASE_B4D2 = 1136;
  localparam FIRST_BASE_B4D1 = 1168;
  localparam FIRST_BASE_B2D1 = 1184;
  localparam FIRST_SIGNS_B8D2 = 1200;
  localparam FIRST_SIGNS_B8D1 = 1201;
  localparam FIRST_SIGNS_B4D1 = 1202;
  localparam FIRST_ZERO_B8D1 = 1203;
  localparam FIRST_ZERO_B8D2 = 1219;
  localparam FIRST_ZERO_B8D4 = 1235;
  localparam FIRST_ZERO_B4D1 = 1251;
  localparam FIRST_ZERO_B4D2 = 1283;
  localparam FIRST_ZERO_B2D1 = 1315;
  reg [1378:0] first;
  wire [15:0] first_b8d1_base;
  wire [15:0] first_b8d1_mask;
  wire [15:0] first_b8d1_first;
  wire [31:0] first_b8d2_base;
  wire [15:0] first_b8d2_mask;
  wire [15:0] first_b8d2_first;
  wire [63:0] first_b8d4_base;
  wire [15:0] first_b8d4_mask;
  wire [15:0] first_b8d4_first;
  wire [15:0] first_b4d1_base;
  wire [31:0] first_b4d1_mask;
  wire [31:0] first_b4d1_first;
  wire [31:0] first_b4d2_base;
  wire [31:0] first_b4d2_mask;
  wire [31:0] first_b4d2_first;
  wire [15:0] first_b2d1_base;
  wire [63:0] first_b2d1_mask;
  wire [63:0] first_b2d1_first;

  bdi_compressor_bdi_first #(.BASE (64), .DELTA (8)) first_b8d1 (
    .line_i  (line_i),
    .base_o  (first_b8d1_base),
    .mask_o  (first_b8d1_mask),
    .first_o (first_b8d1_first)
  );

  bdi_compressor_bdi_first #(.BASE (64), .DELTA (16)) first_b8d2 (
    .line_i  (line_i),
    .base_o  (first_b8d2_base),
    .mask_o  (first_b8d2_mask),
    .first_o (first_b8d2_first)
  );

  bdi_compressor_bdi_first #(.BASE (64), .DELTA (32)) first_b8d4 (
    .line_i  (line_i),
    .base_o  (first_b8d4_base),
    .mask_o  (first_b8d4_mask),
    .first_o (first_b8d4_first)
  );

  bdi_compressor_bdi_first #(.BASE (32), .DELTA (8)) first_b4d1 (
    .line_i  (line_i),
    .base_o  (first_b4d1_base),
    .mask_o  (first_b4d1_mask),
    .first_o (first_b4d1_first)
  );

  bdi_compressor_bdi_first #(.BASE (32), .DELTA (16)) first_b4d2 (
    .line_i  (line_i),
    .base_o  (first_b4d2_base),
    .mask_o  (first_b4d2_mask),
    .first_o (first_b4d2_first)
  );

  bdi_compressor_bdi_first #(.BASE (16), .DELTA (8)) first_b2d1 (
    .line_i  (line_i),
    .base_o  (first_b2d1_base),
    .mask_o  (first_b2d1_mask),
    .first_o (first_b2d1_first)
  );

  always @(*) begin
    first = {355'd0, line_i};
    first[FIRST_BASE_B8D4 +: 64] = first_b8d4_base;
    first[FIRST_BASE_B8D2 +: 32] = first_b8d2_base;
    first[FIRST_BASE_B8D1 +: 16] = first_b8d1_base;
    first[FIRST_BASE_B4D2 +: 32] = first_b4d2_base;
    first[FIRST_BASE_B4D1 +: 16] = first_b4d1_base;
    first[FIRST_BASE_B2D1 +: 16] = first_b2d1_base;
    // the base is a delta from zero of the next wider kind
    first[FIRST_SIGNS_B8D2] = |(first_b8d2_first & first_b8d4_mask);
    first[FIRST_SIGNS_B8D1] = |(first_b8d1_first & first_b8d2_mask);
    first[FIRST_SIGNS_B4D1] = |(first_b4d1_first & first_b4d2_mask);
    first[FIRST_ZERO_B8D1 +: 16] = first_b8d1_mask;
    first[FIRST_ZERO_B8D2 +: 16] = first_b8d2_mask;
    first[FIRST_ZERO_B8D4 +: 16] = first_b8d4_mask;
    first[FIRST_ZERO_B4D1 +: 32] = first_b4d1_mask;
    first[FIRST_ZERO_B4D2 +: 32] = first_b4d2_mask;
    first[FIRST_ZERO_B2D1 +: 64] = first_b2d1_mask;
  end

  assign first_o = first;

  // unused bits
  wire unused = &{1'b0, first_b8d4_first, first_b4d2_first, first_b2d1_first};

endmodule

`default_nettype wire
