// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_first
//
// The base and the mask of one encoding.
//
// BASE and DELTA are the bits of a word and of a delta. A word is a delta of DELTA bits from zero when its
// upper bits, from the delta's sign on (SIGN = BASE - DELTA + 1 of them), are all equal. The base is the
// first word that is none.
//
// Parameters: LINE = 1024, LW = 16
// Used with: BASE = 64, DELTA = 8; BASE = 64, DELTA = 16; BASE = 64, DELTA = 32; BASE = 32, DELTA = 8; BASE =
// 32, DELTA = 16; BASE = 16, DELTA = 8
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
  // the base; zero when no word needs one
  output wire      [BASE-1:0] base_o,
  // one bit per word: it is a delta from zero
  output wire [1024/BASE-1:0] mask_o
);

  localparam SIGN = BASE - DELTA + 1;
  localparam WORDS = 1024 / BASE;
  reg [BASE-1:0] candidate;
  reg [SIGN-1:0] sign;
  reg [WORDS-1:0] mask;
  // every bit from the first word on that is no delta from zero
  reg [WORDS-1:0] seen;
  // that word's bit
  wire [WORDS-1:0] first;
  reg [BASE-1:0] base;

  always @(*) begin : comb_sign
    integer i;
    sign = {SIGN{1'b0}};
    mask = {WORDS{1'b0}};
    for (i = 0; i < WORDS; i = i + 1) begin
      sign = line_i[i*BASE+DELTA-1 +: SIGN];
      mask[i] = (&sign) | !(|sign);
    end
  end

  // the first zero of the mask, in steps that double, since a chain over 64 words is a long path
  always @(*) begin
    seen = ~mask;
    seen = seen | (seen << 1);
    seen = seen | (seen << 2);
    seen = seen | (seen << 4);
    seen = seen | (seen << 8);
    seen = seen | (seen << 16);
    seen = seen | (seen << 32);
  end

  assign first = ~mask & ~(seen << 1);

  always @(*) begin : comb_candidate
    integer i;
    candidate = {BASE{1'b0}};
    base = {BASE{1'b0}};
    for (i = 0; i < WORDS; i = i + 1) begin
      candidate = {BASE{1'b0}};
      if (first[i]) begin
        candidate = line_i[i*BASE +: BASE];
      end
      base = base | candidate;
    end
  end

  assign base_o = base;
  assign mask_o = mask;

endmodule

`default_nettype wire
