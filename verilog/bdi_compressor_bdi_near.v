// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_near
//
// Compares words with a base: finds the words that are deltas of half their bits from it.
//
// DELTA is the number of bits of a delta, WIDE of a word. STRIDE is the number of bits from one
// word of the line to the next. A word is a delta from the base if it is one of the 2^DELTA values
// from base - 2^(DELTA-1) on. Full subtractions would take twice the gates, and only their last bit
// would be used.
//
// Used with: DELTA = 32, STRIDE = 64; DELTA = 16, STRIDE = 64; DELTA = 8, STRIDE = 64; DELTA = 16,
// STRIDE = 32; DELTA = 8, STRIDE = 32; DELTA = 8, STRIDE = 16
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_near #(
  parameter integer DELTA = 32,
  parameter integer STRIDE = 64
) (
  // the line
  input  wire          [1023:0] line_i,
  // the base
  input  wire     [2*DELTA-1:0] base_i,
  // one bit per word: the word is a delta from the base
  output reg  [1024/STRIDE-1:0] near_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (DELTA != 8 && DELTA != 16 && DELTA != 32) begin : gen_wrong_delta
      bdi_compressor_bdi_near_DELTA_must_be_8_16_or_32 wrong_delta ();
    end
    if (STRIDE != 16 && STRIDE != 32 && STRIDE != 64) begin : gen_wrong_stride
      bdi_compressor_bdi_near_STRIDE_must_be_16_32_or_64 wrong_stride ();
    end
    if (!((DELTA == 8 && STRIDE == 16) || (DELTA == 8 && STRIDE == 32) || (DELTA == 8 && STRIDE ==
        64) || (DELTA == 16 && STRIDE == 32) || (DELTA == 16 && STRIDE == 64) || (DELTA == 32 &&
        STRIDE == 64))) begin : gen_wrong_delta_and_stride
      bdi_compressor_bdi_near_DELTA_and_STRIDE_must_go_together wrong_delta_and_stride ();
    end
  endgenerate

  localparam WIDE = 2 * DELTA;
  localparam WORDS = 1024 / STRIDE;
  wire high_half;
  reg [DELTA-1:0] lowest;
  wire [DELTA-1:0] above;
  // upper bits through which a carry or a borrow propagates
  wire [DELTA-1:0] passes;

  // low bits of the smallest word in range: the base's low bits minus half the range
  assign high_half = base_i[DELTA-1];

  always @(*) begin
    lowest = base_i[DELTA-1:0];
    lowest[DELTA-1] = ~high_half;
  end

  // the range extends into the block of 2^DELTA values above or below the base's block
  assign above = base_i[WIDE-1:DELTA];
  // a carry propagates through ones and a borrow through zeros; both invert each bit that they
  // reach
  assign passes = high_half ? above : ~above;

  always @(*) begin : comb_near_o
    integer i;
    reg [WIDE-1:0] word;
    // upper bits in which the word differs from the base
    reg [DELTA-1:0] differs;
    // upper bits in which a word in the range differs from the base
    reg [DELTA-1:0] changes;
    for (i = 0; i < WORDS; i = i + 1) begin
      word = line_i[i*STRIDE +: WIDE];
      differs = word[WIDE-1:DELTA] ^ above;
      // compare bit by bit, so that the path contains no carry chain
      changes = (differs & passes) << 1;
      changes[0] = (word[DELTA-1:0] < lowest) == high_half;
      near_o[i] = differs == changes;
    end
  end

endmodule

`default_nettype wire
