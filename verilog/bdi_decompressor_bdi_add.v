// bdi_decompressor_bdi_add
//
// Adds the base to every word that is not a delta from zero. BASE is the bits of a word.
//
// Parameters: LINE = 1024, LW = 16
// Used with: BASE = 64; BASE = 32; BASE = 16
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_decompressor_bdi_add #(
  parameter integer BASE = 64
) (
  // the deltas, spread to words
  input  wire        [1023:0] deltas_i,
  // the base
  input  wire      [BASE-1:0] base_i,
  // one bit per word: it is a delta from zero
  input  wire [1024/BASE-1:0] mask_i,
  // the line
  output wire        [1023:0] line_o
);

  localparam WORDS = 1024 / BASE;
  reg [BASE-1:0] word;
  reg [1023:0] line;

  always @(*) begin : comb_word
    integer i;
    word = {BASE{1'b0}};
    line = 1024'd0;
    for (i = 0; i < WORDS; i = i + 1) begin
      word = deltas_i[i*BASE +: BASE];
      if (!mask_i[i]) begin
        word = word + base_i;
      end
      line[i*BASE +: BASE] = word;
    end
  end

  assign line_o = line;

endmodule

`default_nettype wire
