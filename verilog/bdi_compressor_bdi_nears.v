// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_nears
//
// Tries all encodings and selects the one with the smallest payload; ties go to the wider base.
//
// A word is a 1-byte delta from an 8-byte base if three conditions hold. It is a 4-byte delta from
// the base, the lower halves differ by a 2-byte delta, and the lowest quarters differ by a 1-byte
// delta. So no two encodings with the same base compare the same bits. If the bases differ, the
// base of the narrower delta has only copies of its sign in its upper bits. Every word that is a
// delta from it has the same upper bits.
//
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_nears (
  // the line, bases and masks, in the layout of BdiFirsts
  input  wire [1378:0] first_i,
  // the same; then the tag of the encoding, and one bit for each tag from 2 to 10: the tag is
  // selected
  output wire [1391:0] near_o
);

  // first: the first bit of each field
  localparam FIRST_LINE = 0;
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
  // near: the first bit of each field
  localparam NEAR_TAG = 1379;
  localparam NEAR_TAKES = 1383;
  // tags of the encodings with deltas, smallest payload first
  localparam [23:0] ORDER = 24'ha58473;
  localparam [3:0] UNCOMPRESSED = 4'd0;
  localparam [3:0] ZEROS = 4'd1;
  localparam [3:0] B8D0 = 4'd2;
  localparam [3:0] B4D0 = 4'd6;
  localparam [3:0] B2D0 = 4'd9;
  localparam [15:0] ONE = 16'd1;
  wire [1023:0] line;
  reg [15:0] near_8;
  reg [31:0] near_4;
  // the first 8-byte word
  wire [63:0] first;
  reg all_equal;
  wire halves_equal;
  wire quarters_equal;
  // one bit per tag: the encoding can represent the line
  reg [15:0] fits;
  reg [3:0] tag;
  // bit of the selected tag
  reg [15:0] takes;
  reg [1391:0] near;
  wire [15:0] near_b8d4_near;
  wire [15:0] near_b8d2_near;
  wire [15:0] near_b8d1_near;
  wire [31:0] near_b4d2_near;
  wire [31:0] near_b4d1_near;
  wire [63:0] near_b2d1_near;
  wire [15:0] signs_b8d2_same;
  wire [15:0] signs_b8d1_same;
  wire [31:0] signs_b4d1_same;

  bdi_compressor_bdi_near #(.DELTA (32), .STRIDE (64)) near_b8d4 (
    .line_i (line),
    .base_i (first_i[FIRST_BASE_B8D4 +: 64]),
    .near_o (near_b8d4_near)
  );

  bdi_compressor_bdi_near #(.DELTA (16), .STRIDE (64)) near_b8d2 (
    .line_i (line),
    .base_i (first_i[FIRST_BASE_B8D2 +: 32]),
    .near_o (near_b8d2_near)
  );

  bdi_compressor_bdi_near #(.DELTA (8), .STRIDE (64)) near_b8d1 (
    .line_i (line),
    .base_i (first_i[FIRST_BASE_B8D1 +: 16]),
    .near_o (near_b8d1_near)
  );

  bdi_compressor_bdi_near #(.DELTA (16), .STRIDE (32)) near_b4d2 (
    .line_i (line),
    .base_i (first_i[FIRST_BASE_B4D2 +: 32]),
    .near_o (near_b4d2_near)
  );

  bdi_compressor_bdi_near #(.DELTA (8), .STRIDE (32)) near_b4d1 (
    .line_i (line),
    .base_i (first_i[FIRST_BASE_B4D1 +: 16]),
    .near_o (near_b4d1_near)
  );

  bdi_compressor_bdi_near #(.DELTA (8), .STRIDE (16)) near_b2d1 (
    .line_i (line),
    .base_i (first_i[FIRST_BASE_B2D1 +: 16]),
    .near_o (near_b2d1_near)
  );

  bdi_compressor_bdi_signs #(.UP (32), .STRIDE (64)) signs_b8d2 (
    .line_i (line),
    .sign_i (first_i[FIRST_BASE_B8D2+31]),
    .same_o (signs_b8d2_same)
  );

  bdi_compressor_bdi_signs #(.UP (48), .STRIDE (64)) signs_b8d1 (
    .line_i (line),
    .sign_i (first_i[FIRST_BASE_B8D1+15]),
    .same_o (signs_b8d1_same)
  );

  bdi_compressor_bdi_signs #(.UP (16), .STRIDE (32)) signs_b4d1 (
    .line_i (line),
    .sign_i (first_i[FIRST_BASE_B4D1+15]),
    .same_o (signs_b4d1_same)
  );

  assign line = first_i[FIRST_LINE +: 1024];

  // an encoding fits if each word is a delta from zero or from the base
  always @(*) begin
    fits = 16'd0;
    near_8 = near_b8d4_near;
    fits[5] = &(near_8 | first_i[FIRST_ZERO_B8D4 +: 16]);
    if (first_i[FIRST_SIGNS_B8D2]) begin
      near_8 = signs_b8d2_same;
    end
    near_8 = near_8 & near_b8d2_near;
    fits[4] = &(near_8 | first_i[FIRST_ZERO_B8D2 +: 16]);
    if (first_i[FIRST_SIGNS_B8D1]) begin
      near_8 = signs_b8d1_same;
    end
    near_8 = near_8 & near_b8d1_near;
    fits[3] = &(near_8 | first_i[FIRST_ZERO_B8D1 +: 16]);
    near_4 = near_b4d2_near;
    fits[8] = &(near_4 | first_i[FIRST_ZERO_B4D2 +: 32]);
    if (first_i[FIRST_SIGNS_B4D1]) begin
      near_4 = signs_b4d1_same;
    end
    near_4 = near_4 & near_b4d1_near;
    fits[7] = &(near_4 | first_i[FIRST_ZERO_B4D1 +: 32]);
    fits[10] = &(near_b2d1_near | first_i[FIRST_ZERO_B2D1 +: 64]);
  end

  // a line of equal words has a shorter payload than any with deltas
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

  assign halves_equal = first[31:0] == first[63:32];
  assign quarters_equal = halves_equal & (first[15:0] == first[31:16]);

  // of the encodings with deltas, select the first that fits, smallest payload first
  always @(*) begin : comb_tag
    integer rank;
    reg [3:0] candidate;
    reg found;
    tag = UNCOMPRESSED;
    found = 1'b0;
    takes = 16'd0;
    for (rank = 0; rank < 6; rank = rank + 1) begin
      candidate = ORDER[rank*4 +: 4];
      if (fits[candidate] & ~found) begin
        tag = candidate;
        takes = ONE << candidate;
        found = 1'b1;
      end
    end
    if (all_equal) begin
      takes = 16'd0;
      if (!(|first)) begin
        tag = ZEROS;
      end else if (quarters_equal) begin
        tag = B2D0;
        takes = ONE << B2D0;
      end else if (halves_equal) begin
        tag = B4D0;
        takes = ONE << B4D0;
      end else begin
        tag = B8D0;
        takes = ONE << B8D0;
      end
    end
  end

  always @(*) begin
    near = {13'd0, first_i};
    near[NEAR_TAG +: 4] = tag;
    near[NEAR_TAKES +: 9] = takes[10:2];
  end

  assign near_o = near;

  // unused bits
  wire unused = &{1'b0, takes[1:0], takes[15:11]};

endmodule

`default_nettype wire
