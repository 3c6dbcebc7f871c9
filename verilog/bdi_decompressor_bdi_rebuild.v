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
  output wire [1023:0] line_o,
  // the tag means nothing
  output wire          error_o
);

  localparam [3:0] ZEROS = 4'd1;
  localparam [3:0] B8D4 = 4'd5;
  localparam [3:0] B4D2 = 4'd8;
  localparam [3:0] B2D1 = 4'd10;
  reg [63:0] word;
  reg [63:0] base;
  wire [63:0] stops;
  reg [63:0] sum;
  reg [1023:0] line;
  wire has_base;
  reg [63:0] word_bases_base_i;
  wire word_bases_b8_i;
  wire word_bases_b4_i;
  wire [1023:0] word_bases_bases_o;
  wire [63:0] word_bases_stops_o;

  bdi_decompressor_bdi_bases word_bases (
    .base_i  (word_bases_base_i),
    .mask_i  (mask_i),
    .b8_i    (word_bases_b8_i),
    .b4_i    (word_bases_b4_i),
    .bases_o (word_bases_bases_o),
    .stops_o (word_bases_stops_o)
  );

  // tags rise with the width of the word: 2 to 5, 6 to 8, 9 and 10; those above mean nothing
  assign error_o = tag_i > B2D1;
  assign has_base = (tag_i > ZEROS) & (tag_i <= B2D1);

  always @(*) begin
    word_bases_base_i = 64'd0;
    if (has_base) begin
      word_bases_base_i = base_i;
    end
  end

  assign word_bases_b8_i = tag_i <= B8D4;
  assign word_bases_b4_i = (tag_i > B8D4) & (tag_i <= B4D2);
  // one row of adders for words of every width: at the highest bit of each a carry ends
  assign stops = word_bases_stops_o;

  always @(*) begin : comb_word
    integer i;
    word = 64'd0;
    base = 64'd0;
    sum = 64'd0;
    line = 1024'd0;
    for (i = 0; i < 16; i = i + 1) begin
      word = deltas_i[i*64 +: 64];
      base = word_bases_bases_o[i*64 +: 64];
      sum = (word & ~stops) + (base & ~stops);
      sum = sum ^ ((word ^ base) & stops);
      line[i*64 +: 64] = sum;
    end
  end

  assign line_o = line;

endmodule

`default_nettype wire
