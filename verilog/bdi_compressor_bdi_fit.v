// bdi_compressor_bdi_fit
//
// Tries one encoding: are all words of the line deltas from zero or from one common base?
//
// BASE and DELTA are the bits of a word and of a delta. A word is a delta of DELTA bits when its upper bits,
// from the delta's sign on (SIGN = BASE - DELTA + 1 of them), are all equal. The base is the first word that
// is none.
//
// Parameters: LINE = 1024, LW = 16
// Used with: BASE = 64, DELTA = 8; BASE = 64, DELTA = 16; BASE = 64, DELTA = 32; BASE = 32, DELTA = 8; BASE =
// 32, DELTA = 16; BASE = 16, DELTA = 8
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_compressor_bdi_fit #(
  parameter integer BASE = 64,
  parameter integer DELTA = 8
) (
  // the line
  input  wire        [1023:0] line_i,
  // the encoding can represent the line
  output wire                 fits_o,
  // the base; zero when no word needs one
  output wire      [BASE-1:0] base_o,
  // one bit per word: it is a delta from zero
  output wire [1024/BASE-1:0] mask_o
);

  localparam SIGN = BASE - DELTA + 1;
  localparam WORDS = 1024 / BASE;
  reg [BASE-1:0] word;
  reg [BASE-1:0] difference;
  reg [SIGN-1:0] upper;
  reg immediate;
  reg found;
  reg fits;
  reg [BASE-1:0] base;
  reg [WORDS-1:0] mask;

  always @(*) begin : comb_word
    integer i;
    word = {BASE{1'b0}};
    difference = {BASE{1'b0}};
    upper = {SIGN{1'b0}};
    immediate = 1'b0;
    found = 1'b0;
    fits = 1'b1;
    base = {BASE{1'b0}};
    mask = {WORDS{1'b0}};
    for (i = 0; i < WORDS; i = i + 1) begin
      word = line_i[i*BASE +: BASE];
      upper = word[BASE-1:DELTA-1];
      immediate = (&upper) | !(|upper);
      mask[i] = immediate;
      if (!immediate & !found) begin
        base = word;
        found = 1'b1;
      end
      // the subtraction wraps around in the width of the word
      difference = word - base;
      upper = difference[BASE-1:DELTA-1];
      if (!immediate & (|upper) & !(&upper)) begin
        fits = 1'b0;
      end
    end
  end

  assign fits_o = fits;
  assign base_o = base;
  assign mask_o = mask;

  // bits that nothing here looks at
  wire unused = &{1'b0, difference[DELTA-2:0]};

endmodule

`default_nettype wire
