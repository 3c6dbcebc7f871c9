// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_decompressor_bdi_spread_one
//
// Spreads the deltas of one encoding: sign-extends each delta to a whole word, at the position of
// that word in the line.
//
// BASE is the number of bits of a word, DELTA of a delta, and HEAD of base and mask together.
//
// Used with: BASE = 64, DELTA = 8; BASE = 64, DELTA = 16; BASE = 64, DELTA = 32; BASE = 32, DELTA =
// 8; BASE = 32, DELTA = 16; BASE = 16, DELTA = 8
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_decompressor_bdi_spread_one #(
  parameter integer BASE = 64,
  parameter integer DELTA = 8
) (
  // the payload
  input  wire [1023:0] payload_i,
  // the deltas
  output reg  [1023:0] deltas_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (BASE != 16 && BASE != 32 && BASE != 64) begin : gen_wrong_base
      bdi_decompressor_bdi_spread_one_BASE_must_be_16_32_or_64 wrong_base ();
    end
    if (DELTA != 8 && DELTA != 16 && DELTA != 32) begin : gen_wrong_delta
      bdi_decompressor_bdi_spread_one_DELTA_must_be_8_16_or_32 wrong_delta ();
    end
    if (!((BASE == 16 && DELTA == 8) || (BASE == 32 && DELTA == 8) || (BASE == 32 && DELTA == 16) ||
        (BASE == 64 && DELTA == 8) || (BASE == 64 && DELTA == 16) || (BASE == 64 && DELTA == 32)))
        begin : gen_wrong_base_and_delta
      bdi_decompressor_bdi_spread_one_BASE_and_DELTA_must_go_together wrong_base_and_delta ();
    end
  endgenerate

  localparam WORDS = 1024 / BASE;
  localparam HEAD = BASE + WORDS;

  always @(*) begin : comb_deltas_o
    integer i;
    reg [DELTA-1:0] delta;
    reg [BASE-1:0] word;
    for (i = 0; i < WORDS; i = i + 1) begin
      delta = payload_i[HEAD+i*DELTA +: DELTA];
      // sign-extend the delta
      word = {BASE{delta[DELTA-1]}};
      word[DELTA-1:0] = delta;
      deltas_o[i*BASE +: BASE] = word;
    end
  end

endmodule

`default_nettype wire
