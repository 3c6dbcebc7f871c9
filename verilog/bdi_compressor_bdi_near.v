// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_near
//
// Tries one encoding: are all words that are no delta from zero deltas from the base?
//
// BASE and DELTA are the bits of a word and of a delta, UP those of a word above a delta. A word is a delta
// from the base when it is one of the 2^DELTA from base - 2^(DELTA-1) on: whole differences, of which no bit
// but the last is wanted here, would be twice the gates.
//
// Parameters: LINE = 1024, LW = 16
// Used with: BASE = 64, DELTA = 8; BASE = 64, DELTA = 16; BASE = 64, DELTA = 32; BASE = 32, DELTA = 8; BASE =
// 32, DELTA = 16; BASE = 16, DELTA = 8
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bdi_compressor_bdi_near #(
  parameter integer BASE = 64,
  parameter integer DELTA = 8
) (
  // the line
  input  wire        [1023:0] line_i,
  // the base
  input  wire      [BASE-1:0] base_i,
  // one bit per word: it is a delta from zero
  input  wire [1024/BASE-1:0] mask_i,
  // the encoding can represent the line
  output wire                 fits_o
);

  localparam UP = BASE - DELTA;
  localparam WORDS = 1024 / BASE;
  wire high_half;
  reg [DELTA-1:0] lowest;
  reg [UP-1:0] flip;
  wire [UP-1:0] above;
  reg [UP-1:0] beside;
  reg [BASE-1:0] word;
  reg [UP-1:0] wanted;
  reg fits;

  // the low bits of the lowest word that is a delta from the base: those of the base, half a range below
  assign high_half = base_i[DELTA-1];

  always @(*) begin
    lowest = base_i[DELTA-1:0];
    lowest[DELTA-1] = !high_half;
  end

  // the range reaches into the block of 2^DELTA words next to the base's: above it, or below it
  always @(*) begin
    flip = {UP{1'b0}};
    if (!high_half) begin
      flip = ~flip;
    end
  end

  assign above = base_i[BASE-1:DELTA];

  always @(*) begin
    beside = {UP{1'b0}};
    beside[0] = 1'b1;
    beside = ((above ^ flip) + beside) ^ flip;
  end

  always @(*) begin : comb_word
    integer i;
    word = {BASE{1'b0}};
    wanted = {UP{1'b0}};
    fits = 1'b1;
    for (i = 0; i < WORDS; i = i + 1) begin
      word = line_i[i*BASE +: BASE];
      wanted = above;
      if ((word[DELTA-1:0] < lowest) == high_half) begin
        wanted = beside;
      end
      if (!mask_i[i] & (word[BASE-1:DELTA] != wanted)) begin
        fits = 1'b0;
      end
    end
  end

  assign fits_o = fits;

endmodule

`default_nettype wire
