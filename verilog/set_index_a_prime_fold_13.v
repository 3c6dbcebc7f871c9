// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime_fold_13
//
// A fold: a smaller number with the same residue modulo a prime. It is the sum of all chunks, each
// times the residue of its position.
//
// COUNT chunks of CHUNK bits cover the IN bits of the value; PADDED is CHUNK times COUNT.
//
// Parameters: IN = 13, CHUNK = 5, COUNT = 3, PADDED = 15
// Part of: set_index_a_prime
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_a_prime_fold_13 (
  // value to fold
  input  wire [12:0] value_i,
  // smaller number with the same residue
  output wire  [8:0] sum_o
);

  localparam CHUNK = 5;
  // initial value of the sum: in the last fold, it compensates for all inverted chunks
  localparam [8:0] START = 9'd1;
  // all ones for an inverted chunk, whose residue is negative
  localparam [14:0] INVERTED = {5'd7, 5'd31, 5'd0};
  // magnitude of the residue of each chunk's position
  localparam [26:0] FACTOR = {9'd12, 9'd5, 9'd1};
  wire [14:0] padded;
  reg [8:0] sum;

  assign padded = {2'd0, value_i};

  always @(*) begin : comb_sum
    integer i;
    reg [4:0] chunk;
    sum = START;
    for (i = 0; i < 3; i = i + 1) begin
      chunk = padded[i*CHUNK +: 5] ^ INVERTED[i*5 +: 5];
      sum = sum + ({4'd0, chunk} * FACTOR[i*9 +: 9]);
    end
  end

  assign sum_o = sum;

endmodule

`default_nettype wire
