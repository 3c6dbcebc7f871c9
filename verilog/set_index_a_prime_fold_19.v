// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime_fold_19
//
// A fold: a smaller number with the same residue modulo a prime. It is the sum of all chunks, each
// times the residue of its position.
//
// COUNT chunks of CHUNK bits cover the IN bits of the value; PADDED is CHUNK times COUNT.
//
// Parameters: IN = 19, CHUNK = 10, COUNT = 2, PADDED = 20
// Part of: set_index_a_prime
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_a_prime_fold_19 (
  // value to fold
  input  wire [18:0] value_i,
  // smaller number with the same residue
  output wire [12:0] sum_o
);

  localparam CHUNK = 10;
  // initial value of the sum: in the last fold, it compensates for all inverted chunks
  localparam [12:0] START = 13'd0;
  // all ones for an inverted chunk, whose residue is negative
  localparam [19:0] INVERTED = {10'd511, 10'd0};
  // magnitude of the residue of each chunk's position
  localparam [25:0] FACTOR = {13'd12, 13'd1};
  wire [19:0] padded;
  reg [12:0] sum;

  assign padded = {1'b0, value_i};

  always @(*) begin : comb_sum
    integer i;
    reg [9:0] chunk;
    sum = START;
    for (i = 0; i < 2; i = i + 1) begin
      chunk = padded[i*CHUNK +: 10] ^ INVERTED[i*10 +: 10];
      sum = sum + ({3'd0, chunk} * FACTOR[i*13 +: 13]);
    end
  end

  assign sum_o = sum;

endmodule

`default_nettype wire
