// SPDX-License-Identifier: MIT OR Apache-2.0
// latte_controller_dedicated_sets
//
// Finds the mode that a set is dedicated to, as a residue: 0, 1 and 2 are modes, any other number
// is no mode.
//
// SET is the width of a set number. Its upper two bits are the quarter; its other REST bits count
// the sets of the quarter.
//
// Part of: latte_controller
// Source: LATTE-CC, section III
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module latte_controller_dedicated_sets #(
  // Sets of the cache; four per mode are dedicated while learning; verified with 32, 64, 128, 256
  parameter integer SETS = 32
) (
  // set number
  input  wire [$clog2(SETS)-1:0] set_i,
  // the set is dedicated
  output wire                    dedicated_o,
  // mode that the set is dedicated to
  output wire              [1:0] mode_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (SETS != 32 && SETS != 64 && SETS != 128 && SETS != 256) begin : gen_wrong_sets
      latte_controller_dedicated_sets_SETS_must_be_32_64_128_or_256 wrong_sets ();
    end
  endgenerate

  localparam SET = $clog2(SETS);
  localparam REST = SET - 2;
  wire [REST-1:0] rest;
  wire [1:0] quarter;
  wire [REST-1:0] residue;

  // one dedicated set per mode in each quarter, at a different offset in each: 3 x rest - quarter
  assign rest = set_i[REST-1:0];
  assign quarter = set_i[SET-1:REST];
  assign residue = (rest + (rest << 1)) - {{(REST-2){1'b0}}, quarter};
  assign dedicated_o = residue < {{(REST-2){1'b0}}, 2'd3};
  assign mode_o = residue[1:0];

endmodule

`default_nettype wire
