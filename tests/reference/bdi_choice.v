// What bdi_compressor chooses for a line, written by hand as BDI is defined: each encoding searches for a base of its own and
// subtracts it from whole words.

`default_nettype none

// One encoding with deltas: WIDE bits of a word, DELTA of a delta.
module bdi_encoding #(
  parameter integer WIDE = 64,
  parameter integer DELTA = 8,
  parameter integer LINE = 1024
) (
  input  wire      [LINE-1:0] line_i,
  // whether every word is a delta from zero or from the base
  output reg                  fits_o,
  // the first word that is no delta from zero, or zero
  output reg       [WIDE-1:0] base_o,
  // one bit per word: it is a delta from zero
  output reg  [LINE/WIDE-1:0] mask_o
);

  localparam integer WORDS = LINE / WIDE;
  reg [WIDE-1:0] word;
  reg [WIDE-1:0] difference;
  integer i;

  always @(*) begin
    base_o = {WIDE{1'b0}};
    for (i = WORDS - 1; i >= 0; i = i - 1) begin
      word = line_i[i*WIDE +: WIDE];
      mask_o[i] = &word[WIDE-1:DELTA-1] | ~|word[WIDE-1:DELTA-1];
      if (!mask_o[i])
        base_o = word;
    end
    fits_o = 1'b1;
    for (i = 0; i < WORDS; i = i + 1) begin
      difference = line_i[i*WIDE +: WIDE] - base_o;
      if (!mask_o[i] && difference[WIDE-1:DELTA-1] != {(WIDE-DELTA+1){difference[WIDE-1]}})
        fits_o = 1'b0;
    end
  end

endmodule

module bdi_choice #(
  parameter integer LINE = 1024,
  // tags of the encodings with deltas, four bits each, smallest payload first
  parameter [23:0] ORDER = 24'd0
) (
  input  wire    [LINE-1:0] line_i,
  // the tag of the encoding with the smallest payload
  output reg          [3:0] tag_o,
  // a tag
  input  wire         [3:0] tag_i,
  // base and mask of the encoding with that tag
  output reg         [63:0] base_o,
  output reg  [LINE/16-1:0] mask_o
);

  wire [15:0] fits;
  wire [63:0] base_b8d4, base_b8d2, base_b8d1;
  wire [31:0] base_b4d2, base_b4d1;
  wire [15:0] base_b2d1;
  wire [LINE/64-1:0] mask_b8d4, mask_b8d2, mask_b8d1;
  wire [LINE/32-1:0] mask_b4d2, mask_b4d1;
  wire [LINE/16-1:0] mask_b2d1;
  integer rank;

  bdi_encoding #(64,  8, LINE) b8d1 (line_i,  fits[3], base_b8d1, mask_b8d1);
  bdi_encoding #(64, 16, LINE) b8d2 (line_i,  fits[4], base_b8d2, mask_b8d2);
  bdi_encoding #(64, 32, LINE) b8d4 (line_i,  fits[5], base_b8d4, mask_b8d4);
  bdi_encoding #(32,  8, LINE) b4d1 (line_i,  fits[7], base_b4d1, mask_b4d1);
  bdi_encoding #(32, 16, LINE) b4d2 (line_i,  fits[8], base_b4d2, mask_b4d2);
  bdi_encoding #(16,  8, LINE) b2d1 (line_i, fits[10], base_b2d1, mask_b2d1);

  always @(*) begin
    tag_o = 4'd0;
    for (rank = 5; rank >= 0; rank = rank - 1)
      if (fits[ORDER[4*rank +: 4]])
        tag_o = ORDER[4*rank +: 4];
    if (line_i == {(LINE/64){line_i[63:0]}}) tag_o = 4'd2;
    if (line_i == {(LINE/32){line_i[31:0]}}) tag_o = 4'd6;
    if (line_i == {(LINE/16){line_i[15:0]}}) tag_o = 4'd9;
    if (line_i == {LINE{1'b0}}) tag_o = 4'd1;

    base_o = 64'd0;
    mask_o = {(LINE/16){1'b0}};
    case (tag_i)
      4'd2: base_o = line_i[63:0];
      4'd3: begin base_o = base_b8d1; mask_o = mask_b8d1; end
      4'd4: begin base_o = base_b8d2; mask_o = mask_b8d2; end
      4'd5: begin base_o = base_b8d4; mask_o = mask_b8d4; end
      4'd6: base_o = line_i[31:0];
      4'd7: begin base_o = base_b4d1; mask_o = mask_b4d1; end
      4'd8: begin base_o = base_b4d2; mask_o = mask_b4d2; end
      4'd9: base_o = line_i[15:0];
      4'd10: begin base_o = base_b2d1; mask_o = mask_b2d1; end
      default: ;
    endcase
  end

endmodule

`default_nettype wire
