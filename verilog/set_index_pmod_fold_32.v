// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_pmod_fold_32
//
// A fold: a smaller number with the same residue modulo a prime. It is the sum of all chunks, each
// times the residue of its position.
//
// COUNT chunks of CHUNK bits cover the IN bits of the value; PADDED is CHUNK times COUNT.
//
// Parameters: IN = 32, CHUNK = 5, COUNT = 7, PADDED = 35
// Part of: set_index_pmod
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_pmod_fold_32 (
  // value to fold
  input  wire [31:0] value_i,
  // smaller number with the same residue
  output wire  [7:0] sum_o
);

  localparam CHUNK = 5;
  // initial value of the sum: in the last fold, it compensates for all inverted chunks
  localparam [7:0] START = 8'd0;
  // all ones for an inverted chunk, whose residue is negative
  localparam [34:0] INVERTED = 35'd0;
  // magnitude of the residue of each chunk's position
  localparam [55:0] FACTOR = {7{8'd1}};
  wire [34:0] padded;
  reg [7:0] sum;

  assign padded = {3'd0, value_i};

  always @(*) begin : comb_sum
    integer i;
    reg [4:0] chunk;
    sum = START;
    for (i = 0; i < 7; i = i + 1) begin
      chunk = padded[i*CHUNK +: 5] ^ INVERTED[i*5 +: 5];
      sum = sum + ({3'd0, chunk} * FACTOR[i*8 +: 8]);
    end
  end

  assign sum_o = sum;

endmodule

`default_nettype wire
