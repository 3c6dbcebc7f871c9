// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_pack_one
//
// Packs a line under one encoding: the base, the mask in whole bytes, then the deltas in the order
// of the words.
//
// BASE is the number of bits of a word, DELTA of a delta, and HEAD of base and mask together.
//
// Used with: BASE = 64, DELTA = 8; BASE = 64, DELTA = 16; BASE = 64, DELTA = 32; BASE = 32, DELTA =
// 8; BASE = 32, DELTA = 16; BASE = 16, DELTA = 8
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_pack_one #(
  parameter integer BASE = 64,
  parameter integer DELTA = 8
) (
  // the deltas, each in the low bits of its word
  input  wire        [1023:0] deltas_i,
  // the base
  input  wire      [BASE-1:0] base_i,
  // one bit per word: it is a delta from zero
  input  wire [1024/BASE-1:0] mask_i,
  // the payload; zero beyond the last delta
  output reg         [1023:0] payload_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (BASE != 16 && BASE != 32 && BASE != 64) begin : gen_wrong_base
      bdi_compressor_bdi_pack_one_BASE_must_be_16_32_or_64 wrong_base ();
    end
    if (DELTA != 8 && DELTA != 16 && DELTA != 32) begin : gen_wrong_delta
      bdi_compressor_bdi_pack_one_DELTA_must_be_8_16_or_32 wrong_delta ();
    end
    if (!((BASE == 16 && DELTA == 8) || (BASE == 32 && DELTA == 8) || (BASE == 32 && DELTA == 16) ||
        (BASE == 64 && DELTA == 8) || (BASE == 64 && DELTA == 16) || (BASE == 64 && DELTA == 32)))
        begin : gen_wrong_base_and_delta
      bdi_compressor_bdi_pack_one_BASE_and_DELTA_must_go_together wrong_base_and_delta ();
    end
  endgenerate

  localparam WORDS = 1024 / BASE;
  localparam HEAD = BASE + WORDS;

  always @(*) begin : comb_payload_o
    integer i;
    reg [DELTA-1:0] delta;
    payload_o = 1024'd0;
    payload_o[BASE-1:0] = base_i;
    payload_o[HEAD-1:BASE] = mask_i;
    for (i = 0; i < WORDS; i = i + 1) begin
      delta = deltas_i[i*BASE +: DELTA];
      payload_o[HEAD+i*DELTA +: DELTA] = delta;
    end
  end

endmodule

`default_nettype wire
