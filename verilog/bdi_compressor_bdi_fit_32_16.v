// bdi_compressor_bdi_fit_32_16
//
// Tries one encoding: are all words of the line deltas from zero or from one common base?
//
// BASE and DELTA are the bits of a word and of a delta. A word is a delta of DELTA bits when its upper bits,
// from the delta's sign on (SIGN = BASE - DELTA + 1 of them), are all equal. The base is the first word that
// is none.
//
// Parameters: BASE = 32, DELTA = 16, SIGN = 17, WORDS = 32, LINE = 1024, LW = 16
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_compressor_bdi_fit_32_16 (
  // the line
  input  wire [1023:0] line_i,
  // the encoding can represent the line
  output wire          fits_o,
  // the base; zero when no word needs one
  output wire   [31:0] base_o,
  // one bit per word: it is a delta from zero
  output wire   [31:0] mask_o
);

  localparam BASE = 32;
  reg [31:0] word;
  reg [31:0] difference;
  reg [16:0] upper;
  reg immediate;
  reg found;
  reg fits;
  reg [31:0] base;
  reg [31:0] mask;

  always @(*) begin : comb_word
    integer i;
    word = 32'd0;
    difference = 32'd0;
    upper = 17'd0;
    immediate = 1'b0;
    found = 1'b0;
    fits = 1'b1;
    base = 32'd0;
    mask = 32'd0;
    for (i = 0; i < 32; i = i + 1) begin : each_word
      word = line_i[i*BASE +: 32];
      upper = word[31:15];
      immediate = (&upper) | !(|upper);
      mask[i] = immediate;
      if (!immediate & !found) begin
        base = word;
        found = 1'b1;
      end
      // the subtraction wraps around in the width of the word
      difference = word - base;
      upper = difference[31:15];
      if (!immediate & (|upper) & !(&upper)) begin
        fits = 1'b0;
      end
    end
  end

  assign fits_o = fits;
  assign base_o = base;
  assign mask_o = mask;

  // bits that nothing here looks at
  wire unused = &{1'b0, difference[14:0]};

endmodule

`default_nettype wire
