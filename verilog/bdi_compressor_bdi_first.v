// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_first
//
// The base and the mask of one encoding.
//
// BASE and DELTA are the bits of a word and of a delta, LOW those of the base that are chosen here.
// A word is a delta of DELTA bits from zero when its upper bits, from the delta's sign on (SIGN =
// BASE - DELTA + 1 of them), are all equal. The base is the first word that is none (SEARCH is 1),
// or the line's first word (SEARCH is 0).
//
// Parameters: SEARCH = 1, LINE = 1024, LW = 16
// Used with: BASE = 64, DELTA = 8; BASE = 64, DELTA = 16; BASE = 64, DELTA = 32; BASE = 32, DELTA =
// 8; BASE = 32, DELTA = 16; BASE = 16, DELTA = 8
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bdi_compressor_bdi_first #(
  parameter integer BASE = 64,
  parameter integer DELTA = 8
) (
  // the line
  input  wire        [1023:0] line_i,
  // the low bits of the base; zero when no word needs one
  output wire   [2*DELTA-1:0] base_o,
  // one bit per word: it is a delta from zero
  output wire [1024/BASE-1:0] mask_o,
  // the bit of the word that is the base
  output wire [1024/BASE-1:0] first_o
);

  localparam SIGN = BASE - DELTA + 1;
  localparam LOW = 2 * DELTA;
  localparam WORDS = 1024 / BASE;
  reg [LOW-1:0] candidate;
  reg [SIGN-1:0] sign;
  reg [WORDS-1:0] mask;
  // every bit from the first word on that is no delta from zero
  reg [WORDS-1:0] seen;
  // that word's bit
  reg [WORDS-1:0] first;
  reg [LOW-1:0] base;

  always @(*) begin : comb_sign
    integer i;
    sign = {SIGN{1'b0}};
    mask = {WORDS{1'b0}};
    for (i = 0; i < WORDS; i = i + 1) begin
      sign = line_i[i*BASE+DELTA-1 +: SIGN];
      mask[i] = (&sign) | !(|sign);
    end
  end

  always @(*) begin
    first = {WORDS{1'b0}};
    first[0] = 1'b1;
    first = ~mask & ~(seen << 1);
  end

  always @(*) begin
    seen = {WORDS{1'b0}};
    // the first zero of the mask, in steps that double, since a chain over 64 words is a long path
    seen = ~mask;
    seen = seen | (seen << 1);
    seen = seen | (seen << 2);
    seen = seen | (seen << 4);
    seen = seen | (seen << 8);
    seen = seen | (seen << 16);
    seen = seen | (seen << 32);
  end

  always @(*) begin : comb_candidate
    integer i;
    candidate = {LOW{1'b0}};
    base = {LOW{1'b0}};
    for (i = 0; i < WORDS; i = i + 1) begin
      candidate = {LOW{1'b0}};
      if (first[i]) begin
        candidate = line_i[i*BASE +: LOW];
      end
      base = base | candidate;
    end
  end

  assign base_o = base;
  assign mask_o = mask;
  assign first_o = first;

endmodule

`default_nettype wire
