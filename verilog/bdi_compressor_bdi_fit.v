// bdi_compressor_bdi_fit
//
// Tries one encoding: are all words of the line deltas from zero or from one common base?
//
// BASE and DELTA are the bits of a word and of a delta, UP those of a word above a delta. A word is a delta
// of DELTA bits from zero when its upper bits, from the delta's sign on (SIGN = UP + 1 of them), are all
// equal. The base is the first word that is none. A word is a delta from the base when it is one of the
// 2^DELTA from base - 2^(DELTA-1) on: whole differences, of which no bit but the last is wanted here, would
// be twice the gates.
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

  localparam UP = BASE - DELTA;
  localparam SIGN = UP + 1;
  localparam WORDS = 1024 / BASE;
  reg [BASE-1:0] candidate;
  reg [UP:0] sign;
  reg immediate;
  reg found;
  reg [BASE-1:0] base;
  reg [WORDS-1:0] mask;
  reg [BASE-1:0] lowest;
  wire [UP-1:0] above;
  reg [UP-1:0] wrapped;
  reg [BASE-1:0] word;
  reg [UP-1:0] wanted;
  reg fits;

  always @(*) begin : comb_candidate
    integer i;
    candidate = {BASE{1'b0}};
    sign = {SIGN{1'b0}};
    immediate = 1'b0;
    found = 1'b0;
    base = {BASE{1'b0}};
    mask = {WORDS{1'b0}};
    for (i = 0; i < WORDS; i = i + 1) begin
      sign = line_i[i*BASE+DELTA-1 +: SIGN];
      immediate = (&sign) | !(|sign);
      mask[i] = immediate;
      candidate = {BASE{1'b0}};
      if (!immediate & !found) begin
        candidate = line_i[i*BASE +: BASE];
        found = 1'b1;
      end
      base = base | candidate;
    end
  end

  // the lowest word that is a delta from the base; it wraps around in the width of the word
  always @(*) begin
    lowest = {BASE{1'b0}};
    lowest[DELTA-1] = 1'b1;
    lowest = base - lowest;
  end

  assign above = lowest[BASE-1:DELTA];

  always @(*) begin
    wrapped = {UP{1'b0}};
    wrapped[0] = 1'b1;
    wrapped = above + wrapped;
  end

  // the bits above the delta are those of the lowest word, or one more where the delta's bits have wrapped
  always @(*) begin : comb_word
    integer i;
    word = {BASE{1'b0}};
    wanted = {UP{1'b0}};
    fits = 1'b1;
    for (i = 0; i < WORDS; i = i + 1) begin
      word = line_i[i*BASE +: BASE];
      wanted = above;
      if (word[DELTA-1:0] < lowest[DELTA-1:0]) begin
        wanted = wrapped;
      end
      if (!mask[i] & (word[BASE-1:DELTA] != wanted)) begin
        fits = 1'b0;
      end
    end
  end

  assign fits_o = fits;
  assign base_o = base;
  assign mask_o = mask;

endmodule

`default_nettype wire
