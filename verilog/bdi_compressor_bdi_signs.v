// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_signs
//
// Compares the upper bits of words with a sign: one bit for each says whether it has only copies of
// it there.
//
// UP is the bits that are compared, the highest ones of each STRIDE bits.
//
// Parameters: LINE = 1024, LW = 16
// Used with: UP = 32, STRIDE = 64; UP = 48, STRIDE = 64; UP = 16, STRIDE = 32
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bdi_compressor_bdi_signs #(
  parameter integer UP = 32,
  parameter integer STRIDE = 64
) (
  // the line
  input  wire          [1023:0] line_i,
  // the sign
  input  wire                   sign_i,
  // one bit per word: its upper bits are all the sign
  output wire [1024/STRIDE-1:0] same_o
);

  localparam WORDS = 1024 / STRIDE;
  reg [UP-1:0] upper;
  reg [WORDS-1:0] same;

  always @(*) begin : comb_upper
    integer i;
    upper = {UP{1'b0}};
    same = {WORDS{1'b0}};
    for (i = 0; i < WORDS; i = i + 1) begin
      upper = line_i[i*STRIDE+STRIDE-UP +: UP];
      same[i] = ((&upper) & sign_i) | (!(|upper) & !sign_i);
    end
  end

  assign same_o = same;

endmodule

`default_nettype wire
