// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_choose
//
// Chooses the encoding with the smallest payload; ties go to the wider base.
//
// Parameters: LINE = 1024, LW = 16, N8 = 16, N4 = 32, N2 = 64, FIRST = 1472, NEAR = 1479, NW = 24
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bdi_compressor_bdi_choose (
  // the line, bases, masks and what fits, as BdiNears lays them out
  input  wire [1478:0] near_i,
  // tag of the encoding
  output wire    [3:0] tag_o,
  // the base, zero-extended; for equal words the word itself
  output reg    [63:0] base_o,
  // one bit per word: it is a delta from zero
  output reg    [63:0] mask_o
);

  // tags of the encodings with deltas, smallest payload first
  localparam [23:0] ORDER = 24'ha58473;
  localparam [3:0] UNCOMPRESSED = 4'd0;
  localparam [3:0] ZEROS = 4'd1;
  localparam [3:0] B8D0 = 4'd2;
  localparam [3:0] B8D1 = 4'd3;
  localparam [3:0] B8D2 = 4'd4;
  localparam [3:0] B8D4 = 4'd5;
  localparam [3:0] B4D0 = 4'd6;
  localparam [3:0] B4D1 = 4'd7;
  localparam [3:0] B4D2 = 4'd8;
  localparam [3:0] B2D0 = 4'd9;
  localparam [3:0] B2D1 = 4'd10;
  wire [63:0] base_b8d1;
  wire [15:0] mask_b8d1;
  wire [63:0] base_b8d2;
  wire [15:0] mask_b8d2;
  wire [63:0] base_b8d4;
  wire [15:0] mask_b8d4;
  wire [31:0] base_b4d1;
  wire [31:0] mask_b4d1;
  wire [31:0] base_b4d2;
  wire [31:0] mask_b4d2;
  wire [15:0] base_b2d1;
  wire [63:0] mask_b2d1;
  // the first 8-byte word
  wire [63:0] first;
  wire all_equal;
  wire halves_equal;
  wire quarters_equal;
  // one bit per tag: the encoding can represent the line
  reg [15:0] fits;
  reg [3:0] candidate;
  reg found;
  reg [3:0] tag;

  assign base_b8d1 = near_i[1087:1024];
  assign mask_b8d1 = near_i[1311:1296];
  assign base_b8d2 = near_i[1151:1088];
  assign mask_b8d2 = near_i[1327:1312];
  assign base_b8d4 = near_i[1215:1152];
  assign mask_b8d4 = near_i[1343:1328];
  assign base_b4d1 = near_i[1247:1216];
  assign mask_b4d1 = near_i[1375:1344];
  assign base_b4d2 = near_i[1279:1248];
  assign mask_b4d2 = near_i[1407:1376];
  assign base_b2d1 = near_i[1295:1280];
  assign mask_b2d1 = near_i[1471:1408];

  // the encodings with deltas: the first in order of payload size that fits
  always @(*) begin
    fits = 16'd0;
    fits[3] = near_i[1472];
    fits[4] = near_i[1473];
    fits[5] = near_i[1474];
    fits[7] = near_i[1475];
    fits[8] = near_i[1476];
    fits[10] = near_i[1477];
  end

  always @(*) begin : comb_tag
    integer rank;
    tag = UNCOMPRESSED;
    candidate = 4'd0;
    found = 1'b0;
    for (rank = 0; rank < 6; rank = rank + 1) begin
      candidate = ORDER[rank*4 +: 4];
      if (fits[candidate] & !found) begin
        tag = candidate;
        found = 1'b1;
      end
    end
    if (all_equal) begin
      if (!(|first)) begin
        tag = ZEROS;
      end else if (quarters_equal) begin
        tag = B2D0;
      end else if (halves_equal) begin
        tag = B4D0;
      end else begin
        tag = B8D0;
      end
    end
  end

  // a line of equal words has a shorter payload than any with deltas
  assign first = near_i[63:0];
  assign all_equal = near_i[1478];
  assign halves_equal = first[31:0] == first[63:32];
  assign quarters_equal = halves_equal & (first[15:0] == first[31:16]);

  // base and mask of the chosen encoding
  always @(*) begin
    base_o = 64'd0;
    mask_o = 64'd0;
    if (tag == B8D0) begin
      base_o = first;
    end else if (tag == B4D0) begin
      base_o = {32'd0, first[31:0]};
    end else if (tag == B2D0) begin
      base_o = {48'd0, first[15:0]};
    end else if (tag == B8D1) begin
      base_o = base_b8d1;
      mask_o = {48'd0, mask_b8d1};
    end else if (tag == B8D2) begin
      base_o = base_b8d2;
      mask_o = {48'd0, mask_b8d2};
    end else if (tag == B8D4) begin
      base_o = base_b8d4;
      mask_o = {48'd0, mask_b8d4};
    end else if (tag == B4D1) begin
      base_o = {32'd0, base_b4d1};
      mask_o = {32'd0, mask_b4d1};
    end else if (tag == B4D2) begin
      base_o = {32'd0, base_b4d2};
      mask_o = {32'd0, mask_b4d2};
    end else if (tag == B2D1) begin
      base_o = {48'd0, base_b2d1};
      mask_o = mask_b2d1;
    end
  end

  assign tag_o = tag;

  // bits that nothing here looks at
  wire unused = &{1'b0, near_i[1023:64]};

endmodule

`default_nettype wire
