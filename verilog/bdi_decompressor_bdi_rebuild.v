// bdi_decompressor_bdi_rebuild
//
// Second half of the decompressor: the line from bases and deltas.
//
// Parameters: LINE = 1024, LW = 16, N8 = 16, N4 = 32, N2 = 64
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_decompressor_bdi_rebuild (
  // the deltas, spread to words; the line itself when it is uncompressed
  input  wire [1023:0] deltas_i,
  // tag of the encoding
  input  wire    [3:0] tag_i,
  // the base, in the low bits
  input  wire   [63:0] base_i,
  // one bit per word: it is a delta from zero
  input  wire   [63:0] mask_i,
  // the line
  output reg  [1023:0] line_o,
  // the tag means nothing
  output reg           error_o
);

  localparam [3:0] UNCOMPRESSED = 4'd0;
  localparam [3:0] ZEROS = 4'd1;
  localparam [3:0] B8D4 = 4'd5;
  localparam [3:0] B4D2 = 4'd8;
  localparam [3:0] B2D1 = 4'd10;
  wire [15:0] add_b8_mask_i;
  wire [1023:0] add_b8_line_o;
  wire [31:0] add_b4_base_i;
  wire [31:0] add_b4_mask_i;
  wire [1023:0] add_b4_line_o;
  wire [15:0] add_b2_base_i;
  wire [1023:0] add_b2_line_o;

  bdi_decompressor_bdi_add #(.BASE (64)) add_b8 (
    .deltas_i (deltas_i),
    .base_i   (base_i),
    .mask_i   (add_b8_mask_i),
    .line_o   (add_b8_line_o)
  );

  bdi_decompressor_bdi_add #(.BASE (32)) add_b4 (
    .deltas_i (deltas_i),
    .base_i   (add_b4_base_i),
    .mask_i   (add_b4_mask_i),
    .line_o   (add_b4_line_o)
  );

  bdi_decompressor_bdi_add #(.BASE (16)) add_b2 (
    .deltas_i (deltas_i),
    .base_i   (add_b2_base_i),
    .mask_i   (mask_i),
    .line_o   (add_b2_line_o)
  );

  assign add_b8_mask_i = mask_i[15:0];
  assign add_b4_base_i = base_i[31:0];
  assign add_b4_mask_i = mask_i[31:0];
  assign add_b2_base_i = base_i[15:0];

  // tags rise with the width of the word: 2 to 5, 6 to 8, 9 and 10; those above mean nothing
  always @(*) begin
    line_o = 1024'd0;
    error_o = 1'b0;
    if (tag_i == UNCOMPRESSED) begin
      line_o = deltas_i;
    end else if (tag_i == ZEROS) begin
      line_o = 1024'd0;
    end else if (tag_i <= B8D4) begin
      line_o = add_b8_line_o;
    end else if (tag_i <= B4D2) begin
      line_o = add_b4_line_o;
    end else if (tag_i <= B2D1) begin
      line_o = add_b2_line_o;
    end else begin
      error_o = 1'b1;
    end
  end

endmodule

`default_nettype wire
