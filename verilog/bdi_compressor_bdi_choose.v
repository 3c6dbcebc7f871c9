// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_choose
//
// Selects base and mask of the encoding that the trials found, with AND and OR gates: at most one
// select bit is set.
//
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_choose (
  // the line, bases, masks and tag, in the layout of BdiNears
  input  wire [1391:0] near_i,
  // the base, zero-extended; for equal words the word itself
  output reg    [63:0] base_o,
  // one bit per word: it is a delta from zero
  output reg    [63:0] mask_o
);

  // near: the first bit of each field
  localparam NEAR_LINE = 0;
  localparam NEAR_BASE_B8D4 = 1024;
  localparam NEAR_BASE_B8D2 = 1088;
  localparam NEAR_BASE_B8D1 = 1120;
  localparam NEAR_BASE_B4D2 = 1136;
  localparam NEAR_BASE_B4D1 = 1168;
  localparam NEAR_BASE_B2D1 = 1184;
  localparam NEAR_SIGNS_B8D2 = 1200;
  localparam NEAR_SIGNS_B8D1 = 1201;
  localparam NEAR_SIGNS_B4D1 = 1202;
  localparam NEAR_ZERO_B8D1 = 1203;
  localparam NEAR_ZERO_B8D2 = 1219;
  localparam NEAR_ZERO_B8D4 = 1235;
  localparam NEAR_ZERO_B4D1 = 1251;
  localparam NEAR_ZERO_B4D2 = 1283;
  localparam NEAR_ZERO_B2D1 = 1315;
  localparam NEAR_TAG = 1379;
  localparam NEAR_TAKES = 1383;
  // one bit for each tag from 2 on
  wire [8:0] takes;
  reg [63:0] eight;
  wire [15:0] eight_mask;
  reg [31:0] four;
  wire [31:0] four_mask;
  wire [15:0] eight_mask_2;
  wire [15:0] eight_mask_3;
  wire [31:0] four_mask_2;

  assign takes = near_i[NEAR_TAKES +: 9];
  assign eight_mask = near_i[NEAR_ZERO_B8D4 +: 16];
  assign eight_mask_2 = near_i[NEAR_ZERO_B8D2 +: 16];
  assign eight_mask_3 = near_i[NEAR_ZERO_B8D1 +: 16];
  assign four_mask = near_i[NEAR_ZERO_B4D2 +: 32];
  assign four_mask_2 = near_i[NEAR_ZERO_B4D1 +: 32];

  always @(*) begin
    base_o = 64'd0;
    mask_o = 64'd0;
    // equal words: the first one
    if (takes[0]) begin
      base_o = near_i[NEAR_LINE +: 64];
    end
    if (takes[4]) begin
      base_o = base_o | {32'd0, near_i[NEAR_LINE +: 32]};
    end
    if (takes[7]) begin
      base_o = base_o | {48'd0, near_i[NEAR_LINE +: 16]};
    end
    // 8-byte words; the upper bits of a base come from the next wider delta, or copy the sign
    eight = near_i[NEAR_BASE_B8D4 +: 64];
    if (takes[3]) begin
      base_o = base_o | eight;
      mask_o = mask_o | {48'd0, eight_mask};
    end
    if (near_i[NEAR_SIGNS_B8D2]) begin
      eight = {64{near_i[NEAR_BASE_B8D2+31]}};
    end
    eight[31:0] = near_i[NEAR_BASE_B8D2 +: 32];
    if (takes[2]) begin
      base_o = base_o | eight;
      mask_o = mask_o | {48'd0, eight_mask_2};
    end
    if (near_i[NEAR_SIGNS_B8D1]) begin
      eight = {64{near_i[NEAR_BASE_B8D1+15]}};
    end
    eight[15:0] = near_i[NEAR_BASE_B8D1 +: 16];
    if (takes[1]) begin
      base_o = base_o | eight;
      mask_o = mask_o | {48'd0, eight_mask_3};
    end
    // 4-byte words
    four = near_i[NEAR_BASE_B4D2 +: 32];
    if (takes[6]) begin
      base_o = base_o | {32'd0, four};
      mask_o = mask_o | {32'd0, four_mask};
    end
    if (near_i[NEAR_SIGNS_B4D1]) begin
      four = {32{near_i[NEAR_BASE_B4D1+15]}};
    end
    four[15:0] = near_i[NEAR_BASE_B4D1 +: 16];
    if (takes[5]) begin
      base_o = base_o | {32'd0, four};
      mask_o = mask_o | {32'd0, four_mask_2};
    end
    // 2-byte words
    if (takes[8]) begin
      base_o = base_o | {48'd0, near_i[NEAR_BASE_B2D1 +: 16]};
      mask_o = mask_o | near_i[NEAR_ZERO_B2D1 +: 64];
    end
  end

  // unused bits
  wire unused = &{1'b0, near_i[NEAR_LINE+64 +: 960], near_i[NEAR_TAG +: 4]};

endmodule

`default_nettype wire
