// SPDX-License-Identifier: MIT OR Apache-2.0
// milg_small_divider
//
// Divides two unsigned numbers without a clock: shifts, compares and subtracts once per bit.
//
// REM is one bit more than DIV: it holds the remainder before the subtraction. A divisor of zero
// gives all ones.
//
// Part of: milg
// Source: Dai, section 4.3.3.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module milg_small_divider #(
  // Width of the in-flight counter, of its maximum and of the limit; verified with 6, 7, 8
  parameter integer INFLIGHT_BITS = 7,
  // Width of the saturating reservation-failure counter; verified with 12, 14
  parameter integer RSFAIL_BITS = 12,
  // Width of the request counter, and the shift: a new limit comes every 2^request_bits requests;
  // verified with 8, 10
  parameter integer REQUEST_BITS = 10
) (
  // dividend
  input  wire            [INFLIGHT_BITS-1:0] number_i,
  // divisor
  input  wire [RSFAIL_BITS-REQUEST_BITS-1:0] divisor_i,
  // the quotient, rounded down
  output reg             [INFLIGHT_BITS-1:0] quotient_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (INFLIGHT_BITS < 6 || INFLIGHT_BITS > 8) begin : gen_wrong_inflight_bits
      milg_small_divider_INFLIGHT_BITS_must_be_6_to_8 wrong_inflight_bits ();
    end
    if (RSFAIL_BITS != 12 && RSFAIL_BITS != 14) begin : gen_wrong_rsfail_bits
      milg_small_divider_RSFAIL_BITS_must_be_12_or_14 wrong_rsfail_bits ();
    end
    if (REQUEST_BITS != 8 && REQUEST_BITS != 10) begin : gen_wrong_request_bits
      milg_small_divider_REQUEST_BITS_must_be_8_or_10 wrong_request_bits ();
    end
  endgenerate

  localparam DIV = RSFAIL_BITS - REQUEST_BITS;
  localparam REM = DIV + 1;

  always @(*) begin : comb_quotient_o
    integer turn;
    reg [INFLIGHT_BITS-1:0] rest;
    reg [DIV:0] remainder;
    rest = number_i;
    remainder = {REM{1'b0}};
    quotient_o = {INFLIGHT_BITS{1'b0}};
    for (turn = 0; turn < INFLIGHT_BITS; turn = turn + 1) begin
      // long division: shift in the next bit, subtract the divisor if it fits
      remainder = (remainder << 1) + {{DIV{1'b0}}, rest[INFLIGHT_BITS-1]};
      rest = rest << 1;
      quotient_o = quotient_o << 1;
      if (remainder >= {1'b0, divisor_i}) begin
        remainder = remainder - {1'b0, divisor_i};
        quotient_o = quotient_o + {{(INFLIGHT_BITS-1){1'b0}}, 1'b1};
      end
    end
  end

endmodule

`default_nettype wire
