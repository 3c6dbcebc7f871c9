// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_pack
//
// Makes the payload of the chosen encoding. For each width of words, H8, H4 and H2 are the numbers
// of bits of base and mask.
//
// Parameters: H8 = 80, H4 = 64, H2 = 80
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_pack (
  // the deltas, each in the low bits of its word; the line itself if it stays uncompressed
  input  wire [1023:0] deltas_i,
  // tag of the encoding
  input  wire    [3:0] tag_i,
  // base of the encoding
  input  wire   [63:0] base_i,
  // mask of the encoding
  input  wire   [63:0] mask_i,
  // the payload; zero beyond its size
  output reg  [1023:0] payload_o,
  // size of the payload in bytes
  output reg     [7:0] size_o
);

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
  localparam [7:0] LINE_BYTES = 8'd128;
  localparam [7:0] B8D1_BYTES = 8'd26;
  localparam [7:0] B8D2_BYTES = 8'd42;
  localparam [7:0] B8D4_BYTES = 8'd74;
  localparam [7:0] B4D1_BYTES = 8'd40;
  localparam [7:0] B4D2_BYTES = 8'd72;
  localparam [7:0] B2D1_BYTES = 8'd74;
  wire [1023:0] pack_b8d1_payload;
  wire [1023:0] pack_b8d2_payload;
  wire [1023:0] pack_b8d4_payload;
  wire [1023:0] pack_b4d1_payload;
  wire [1023:0] pack_b4d2_payload;
  wire [1023:0] pack_b2d1_payload;

  bdi_compressor_bdi_pack_one #(.BASE (64), .DELTA (8)) pack_b8d1 (
    .deltas_i  (deltas_i),
    .base_i    (base_i),
    .mask_i    (mask_i[15:0]),
    .payload_o (pack_b8d1_payload)
  );

  bdi_compressor_bdi_pack_one #(.BASE (64), .DELTA (16)) pack_b8d2 (
    .deltas_i  (deltas_i),
    .base_i    (base_i),
    .mask_i    (mask_i[15:0]),
    .payload_o (pack_b8d2_payload)
  );

  bdi_compressor_bdi_pack_one #(.BASE (64), .DELTA (32)) pack_b8d4 (
    .deltas_i  (deltas_i),
    .base_i    (base_i),
    .mask_i    (mask_i[15:0]),
    .payload_o (pack_b8d4_payload)
  );

  bdi_compressor_bdi_pack_one #(.BASE (32), .DELTA (8)) pack_b4d1 (
    .deltas_i  (deltas_i),
    .base_i    (base_i[31:0]),
    .mask_i    (mask_i[31:0]),
    .payload_o (pack_b4d1_payload)
  );

  bdi_compressor_bdi_pack_one #(.BASE (32), .DELTA (16)) pack_b4d2 (
    .deltas_i  (deltas_i),
    .base_i    (base_i[31:0]),
    .mask_i    (mask_i[31:0]),
    .payload_o (pack_b4d2_payload)
  );

  bdi_compressor_bdi_pack_one #(.BASE (16), .DELTA (8)) pack_b2d1 (
    .deltas_i  (deltas_i),
    .base_i    (base_i[15:0]),
    .mask_i    (mask_i),
    .payload_o (pack_b2d1_payload)
  );

  always @(*) begin
    payload_o = deltas_i;
    size_o = LINE_BYTES;
    case (tag_i)
      ZEROS: begin
        payload_o = 1024'd0;
        size_o = 8'd0;
      end
      B8D0: begin
        payload_o = {960'd0, base_i};
        size_o = 8'd8;
      end
      B4D0: begin
        payload_o = {960'd0, base_i};
        size_o = 8'd4;
      end
      B2D0: begin
        payload_o = {960'd0, base_i};
        size_o = 8'd2;
      end
      B8D1: begin
        payload_o = pack_b8d1_payload;
        size_o = B8D1_BYTES;
      end
      B8D2: begin
        payload_o = pack_b8d2_payload;
        size_o = B8D2_BYTES;
      end
      B8D4: begin
        payload_o = pack_b8d4_payload;
        size_o = B8D4_BYTES;
      end
      B4D1: begin
        payload_o = pack_b4d1_payload;
        size_o = B4D1_BYTES;
      end
      B4D2: begin
        payload_o = pack_b4d2_payload;
        size_o = B4D2_BYTES;
      end
      B2D1: begin
        payload_o = pack_b2d1_payload;
        size_o = B2D1_BYTES;
      end
      default: ;
    endcase
  end

endmodule

`default_nettype wire
