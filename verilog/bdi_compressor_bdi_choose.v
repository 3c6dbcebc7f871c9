// bdi_compressor_bdi_choose
//
// Chooses the encoding with the smallest payload; ties go to the wider base.
//
// Parameters: LINE = 1024, LW = 16, N8 = 16, N4 = 32, N2 = 64
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_compressor_bdi_choose (
  // the line
  input  wire [1023:0] line_i,
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
  // the first 8-byte word
  wire [63:0] first;
  reg all_equal;
  wire halves_equal;
  wire quarters_equal;
  // one bit per tag: the encoding can represent the line
  reg [15:0] fits;
  reg [3:0] candidate;
  reg found;
  reg [3:0] tag;
  wire fit_b8d1_fits_o;
  wire [63:0] fit_b8d1_base_o;
  wire [15:0] fit_b8d1_mask_o;
  wire fit_b8d2_fits_o;
  wire [63:0] fit_b8d2_base_o;
  wire [15:0] fit_b8d2_mask_o;
  wire fit_b8d4_fits_o;
  wire [63:0] fit_b8d4_base_o;
  wire [15:0] fit_b8d4_mask_o;
  wire fit_b4d1_fits_o;
  wire [31:0] fit_b4d1_base_o;
  wire [31:0] fit_b4d1_mask_o;
  wire fit_b4d2_fits_o;
  wire [31:0] fit_b4d2_base_o;
  wire [31:0] fit_b4d2_mask_o;
  wire fit_b2d1_fits_o;
  wire [15:0] fit_b2d1_base_o;
  wire [63:0] fit_b2d1_mask_o;

  bdi_compressor_bdi_fit #(.BASE (64), .DELTA (8)) fit_b8d1 (
    .line_i (line_i),
    .fits_o (fit_b8d1_fits_o),
    .base_o (fit_b8d1_base_o),
    .mask_o (fit_b8d1_mask_o)
  );

  bdi_compressor_bdi_fit #(.BASE (64), .DELTA (16)) fit_b8d2 (
    .line_i (line_i),
    .fits_o (fit_b8d2_fits_o),
    .base_o (fit_b8d2_base_o),
    .mask_o (fit_b8d2_mask_o)
  );

  bdi_compressor_bdi_fit #(.BASE (64), .DELTA (32)) fit_b8d4 (
    .line_i (line_i),
    .fits_o (fit_b8d4_fits_o),
    .base_o (fit_b8d4_base_o),
    .mask_o (fit_b8d4_mask_o)
  );

  bdi_compressor_bdi_fit #(.BASE (32), .DELTA (8)) fit_b4d1 (
    .line_i (line_i),
    .fits_o (fit_b4d1_fits_o),
    .base_o (fit_b4d1_base_o),
    .mask_o (fit_b4d1_mask_o)
  );

  bdi_compressor_bdi_fit #(.BASE (32), .DELTA (16)) fit_b4d2 (
    .line_i (line_i),
    .fits_o (fit_b4d2_fits_o),
    .base_o (fit_b4d2_base_o),
    .mask_o (fit_b4d2_mask_o)
  );

  bdi_compressor_bdi_fit #(.BASE (16), .DELTA (8)) fit_b2d1 (
    .line_i (line_i),
    .fits_o (fit_b2d1_fits_o),
    .base_o (fit_b2d1_base_o),
    .mask_o (fit_b2d1_mask_o)
  );

  // the encodings with deltas: the first in order of payload size that fits
  always @(*) begin
    fits = 16'd0;
    fits[3] = fit_b8d1_fits_o;
    fits[4] = fit_b8d2_fits_o;
    fits[5] = fit_b8d4_fits_o;
    fits[7] = fit_b4d1_fits_o;
    fits[8] = fit_b4d2_fits_o;
    fits[10] = fit_b2d1_fits_o;
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
  assign first = line_i[63:0];

  always @(*) begin : comb_all_equal
    integer i;
    all_equal = 1'b1;
    for (i = 1; i < 16; i = i + 1) begin
      if (line_i[i*64 +: 64] != first) begin
        all_equal = 1'b0;
      end
    end
  end

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
      base_o = fit_b8d1_base_o;
      mask_o = {48'd0, fit_b8d1_mask_o};
    end else if (tag == B8D2) begin
      base_o = fit_b8d2_base_o;
      mask_o = {48'd0, fit_b8d2_mask_o};
    end else if (tag == B8D4) begin
      base_o = fit_b8d4_base_o;
      mask_o = {48'd0, fit_b8d4_mask_o};
    end else if (tag == B4D1) begin
      base_o = {32'd0, fit_b4d1_base_o};
      mask_o = {32'd0, fit_b4d1_mask_o};
    end else if (tag == B4D2) begin
      base_o = {32'd0, fit_b4d2_base_o};
      mask_o = {32'd0, fit_b4d2_mask_o};
    end else if (tag == B2D1) begin
      base_o = {48'd0, fit_b2d1_base_o};
      mask_o = fit_b2d1_mask_o;
    end
  end

  assign tag_o = tag;

endmodule

`default_nettype wire
