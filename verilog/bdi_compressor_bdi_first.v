// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_first
//
// Finds the base and the mask of one encoding.
//
// BASE is the number of bits of a word, DELTA of a delta, and LOW of the part of the base that is
// selected here. A word is a delta of DELTA bits from zero if its SIGN = BASE - DELTA + 1 upper
// bits are all equal. These are the bits from the delta's sign up. If SEARCH is 1, the base is the
// first word that is not a delta from zero. If SEARCH is 0, it is the line's first word.
//
// Parameters: SEARCH = 1
// Used with: BASE = 64, DELTA = 8; BASE = 64, DELTA = 16; BASE = 64, DELTA = 32; BASE = 32, DELTA =
// 8; BASE = 32, DELTA = 16; BASE = 16, DELTA = 8
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_first #(
  parameter integer BASE = 64,
  parameter integer DELTA = 8
) (
  // the line
  input  wire        [1023:0] line_i,
  // low bits of the base; zero if no word needs a base
  output reg    [2*DELTA-1:0] base_o,
  // one bit per word: it is a delta from zero
  output wire [1024/BASE-1:0] mask_o,
  // one bit per word: the word is the base
  output wire [1024/BASE-1:0] first_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (BASE != 16 && BASE != 32 && BASE != 64) begin : gen_wrong_base
      bdi_compressor_bdi_first_BASE_must_be_16_32_or_64 wrong_base ();
    end
    if (DELTA != 8 && DELTA != 16 && DELTA != 32) begin : gen_wrong_delta
      bdi_compressor_bdi_first_DELTA_must_be_8_16_or_32 wrong_delta ();
    end
    if (!((BASE == 16 && DELTA == 8) || (BASE == 32 && DELTA == 8) || (BASE == 32 && DELTA == 16) ||
        (BASE == 64 && DELTA == 8) || (BASE == 64 && DELTA == 16) || (BASE == 64 && DELTA == 32)))
        begin : gen_wrong_base_and_delta
      bdi_compressor_bdi_first_BASE_and_DELTA_must_go_together wrong_base_and_delta ();
    end
  endgenerate

  localparam SIGN = BASE - DELTA + 1;
  localparam LOW = 2 * DELTA;
  localparam WORDS = 1024 / BASE;
  reg [WORDS-1:0] mask;
  // marks the first word that is not a delta from zero, and all words after it
  reg [WORDS-1:0] seen;
  // marks that first word
  wire [WORDS-1:0] first;

  always @(*) begin : comb_mask
    integer i;
    reg [SIGN-1:0] sign;
    for (i = 0; i < WORDS; i = i + 1) begin
      sign = line_i[i*BASE+DELTA-1 +: SIGN];
      mask[i] = (&sign) | ~(|sign);
    end
  end

  // find the first zero of the mask in log2 steps: a chain over 64 words is too slow
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

  always @(*) begin : comb_base_o
    integer i;
    reg [LOW-1:0] candidate;
    base_o = {LOW{1'b0}};
    for (i = 0; i < WORDS; i = i + 1) begin
      candidate = {LOW{1'b0}};
      if (first[i]) begin
        candidate = line_i[i*BASE +: LOW];
      end
      base_o = base_o | candidate;
    end
  end

  assign mask_o = mask;
  assign first_o = first;

endmodule

`default_nettype wire
