// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_decompressor_bdi_spread
//
// First step: splits the payload. For each width of words, H8, H4 and H2 are the numbers of bits of
// base and mask together.
//
// Parameters: H8 = 80, H4 = 64, H2 = 80
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_decompressor_bdi_spread (
  // the payload
  input  wire [1023:0] payload_i,
  // tag of the encoding
  input  wire    [3:0] tag_i,
  // the deltas, spread to words; the line itself if it is uncompressed
  output reg  [1023:0] deltas_o,
  // one bit per word: it is a delta from zero
  output reg    [63:0] mask_o
);

  localparam [3:0] UNCOMPRESSED = 4'd0;
  localparam [3:0] B8D1 = 4'd3;
  localparam [3:0] B8D2 = 4'd4;
  localparam [3:0] B8D4 = 4'd5;
  localparam [3:0] B4D1 = 4'd7;
  localparam [3:0] B4D2 = 4'd8;
  localparam [3:0] B2D1 = 4'd10;
  wire [1023:0] spread_b8d1_deltas;
  wire [1023:0] spread_b8d2_deltas;
  wire [1023:0] spread_b8d4_deltas;
  wire [1023:0] spread_b4d1_deltas;
  wire [1023:0] spread_b4d2_deltas;
  wire [1023:0] spread_b2d1_deltas;

  bdi_decompressor_bdi_spread_one #(.BASE (64), .DELTA (8)) spread_b8d1 (
    .payload_i (payload_i),
    .deltas_o  (spread_b8d1_deltas)
  );

  bdi_decompressor_bdi_spread_one #(.BASE (64), .DELTA (16)) spread_b8d2 (
    .payload_i (payload_i),
    .deltas_o  (spread_b8d2_deltas)
  );

  bdi_decompressor_bdi_spread_one #(.BASE (64), .DELTA (32)) spread_b8d4 (
    .payload_i (payload_i),
    .deltas_o  (spread_b8d4_deltas)
  );

  bdi_decompressor_bdi_spread_one #(.BASE (32), .DELTA (8)) spread_b4d1 (
    .payload_i (payload_i),
    .deltas_o  (spread_b4d1_deltas)
  );

  bdi_decompressor_bdi_spread_one #(.BASE (32), .DELTA (16)) spread_b4d2 (
    .payload_i (payload_i),
    .deltas_o  (spread_b4d2_deltas)
  );

  bdi_decompressor_bdi_spread_one #(.BASE (16), .DELTA (8)) spread_b2d1 (
    .payload_i (payload_i),
    .deltas_o  (spread_b2d1_deltas)
  );

  // zeros and equal words have no deltas and no mask
  always @(*) begin
    deltas_o = 1024'd0;
    mask_o = 64'd0;
    case (tag_i)
      UNCOMPRESSED: begin
        deltas_o = payload_i;
      end
      B8D1: begin
        deltas_o = spread_b8d1_deltas;
        mask_o = {48'd0, payload_i[79:64]};
      end
      B8D2: begin
        deltas_o = spread_b8d2_deltas;
        mask_o = {48'd0, payload_i[79:64]};
      end
      B8D4: begin
        deltas_o = spread_b8d4_deltas;
        mask_o = {48'd0, payload_i[79:64]};
      end
      B4D1: begin
        deltas_o = spread_b4d1_deltas;
        mask_o = {32'd0, payload_i[63:32]};
      end
      B4D2: begin
        deltas_o = spread_b4d2_deltas;
        mask_o = {32'd0, payload_i[63:32]};
      end
      B2D1: begin
        deltas_o = spread_b2d1_deltas;
        mask_o = payload_i[79:16];
      end
      default: ;
    endcase
  end

endmodule

`default_nettype wire
