// SPDX-License-Identifier: MIT OR Apache-2.0
// milg_small_divider
//
// Divides an unsigned number by another one without a clock: shift, compare and subtract, once per
// bit.
//
// REM is one bit more than the divisor: the remainder before it is reduced. A divisor of zero gives
// all ones.
//
// Parameters: NUM = 7, DIV = 2, REM = 3
// Part of: milg
// Source: Dai, section 4.3.3.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module milg_small_divider (
  // the number that is divided
  input  wire [6:0] number_i,
  // what it is divided by
  input  wire [1:0] divisor_i,
  // the quotient, rounded down
  output wire [6:0] quotient_o
);

  reg [6:0] rest;
  reg [2:0] remainder;
  reg [6:0] quotient;

  always @(*) begin : comb_rest
    integer turn;
    rest = number_i;
    remainder = 3'd0;
    quotient = 7'd0;
    for (turn = 0; turn < 7; turn = turn + 1) begin
      // bring down the highest bit that is left, then see whether the divisor goes in
      remainder = (remainder << 1) + {2'd0, rest[6]};
      rest = rest << 1;
      quotient = quotient << 1;
      if (remainder >= {1'b0, divisor_i}) begin
        remainder = remainder - {1'b0, divisor_i};
        quotient = quotient + 7'd1;
      end
    end
  end

  assign quotient_o = quotient;

endmodule

`default_nettype wire
