// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_signs
//
// Compares the upper bits of words with a sign: finds the words whose upper bits are all copies of
// it.
//
// UP is the number of bits that are compared, the highest ones of each STRIDE bits.
//
// Used with: UP = 32, STRIDE = 64; UP = 48, STRIDE = 64; UP = 16, STRIDE = 32
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_signs #(
  parameter integer UP = 32,
  parameter integer STRIDE = 64
) (
  // the line
  input  wire          [1023:0] line_i,
  // the sign
  input  wire                   sign_i,
  // one bit per word: its upper bits all equal the sign
  output reg  [1024/STRIDE-1:0] same_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (UP != 16 && UP != 32 && UP != 48) begin : gen_wrong_up
      bdi_compressor_bdi_signs_UP_must_be_16_32_or_48 wrong_up ();
    end
    if (STRIDE != 32 && STRIDE != 64) begin : gen_wrong_stride
      bdi_compressor_bdi_signs_STRIDE_must_be_32_or_64 wrong_stride ();
    end
    if (!((UP == 16 && STRIDE == 32) || (UP == 32 && STRIDE == 64) || (UP == 48 && STRIDE == 64)))
        begin : gen_wrong_up_and_stride
      bdi_compressor_bdi_signs_UP_and_STRIDE_must_go_together wrong_up_and_stride ();
    end
  endgenerate

  localparam WORDS = 1024 / STRIDE;

  always @(*) begin : comb_same_o
    integer i;
    reg [UP-1:0] upper;
    for (i = 0; i < WORDS; i = i + 1) begin
      upper = line_i[i*STRIDE+STRIDE-UP +: UP];
      same_o[i] = ((&upper) & sign_i) | (~(|upper) & ~sign_i);
    end
  end

endmodule

`default_nettype wire
