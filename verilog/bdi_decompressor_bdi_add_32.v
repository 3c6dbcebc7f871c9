// bdi_decompressor_bdi_add_32
//
// Adds the base to every word that is not a delta from zero. BASE is the bits of a word.
//
// Parameters: BASE = 32, WORDS = 32, LINE = 1024, LW = 16
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_decompressor_bdi_add_32 (
  // the deltas, spread to words
  input  wire [1023:0] deltas_i,
  // the base
  input  wire   [31:0] base_i,
  // one bit per word: it is a delta from zero
  input  wire   [31:0] mask_i,
  // the line
  output wire [1023:0] line_o
);

  localparam BASE = 32;
  reg [31:0] word;
  reg [1023:0] line;

  always @(*) begin : comb_word
    integer i;
    word = 32'd0;
    line = 1024'd0;
    for (i = 0; i < 32; i = i + 1) begin : each_word
      word = deltas_i[i*BASE +: 32];
      if (!mask_i[i]) begin
        word = word + base_i;
      end
      line[i*BASE +: 32] = word;
    end
  end

  assign line_o = line;

endmodule

`default_nettype wire
