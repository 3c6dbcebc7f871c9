// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime_fold_10
//
// A smaller number of the same residue modulo a prime: the sum of CHUNK bits each times the residue
// of their place.
//
// COUNT chunks cover the IN bits of the value; PADDED is CHUNK times COUNT.
//
// Parameters: IN = 10, CHUNK = 2, COUNT = 5, PADDED = 10, OUT = 8
// Part of: set_index_a_prime
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module set_index_a_prime_fold_10 (
  // the value
  input  wire [9:0] value_i,
  // a number of the same residue
  output wire [7:0] sum_o
);

  localparam CHUNK = 2;
  // what the sum starts with, for the chunks that enter inverted
  localparam [7:0] START = 8'd35;
  // all ones for a chunk that enters inverted: its residue is negative
  localparam [9:0] INVERTED = {2'd3, 2'd3, 2'd0, 2'd0, 2'd0};
  // magnitude of the residue of each chunk's place
  localparam [39:0] FACTOR = {8'd3, 8'd10, 8'd16, 8'd4, 8'd1};
  wire [9:0] padded;
  reg [1:0] chunk;
  reg [7:0] sum;

  assign padded = value_i;

  always @(*) begin : comb_sum
    integer i;
    sum = START;
    chunk = 2'd0;
    for (i = 0; i < 5; i = i + 1) begin
      chunk = padded[i*CHUNK +: 2] ^ INVERTED[i*2 +: 2];
      sum = sum + ({6'd0, chunk} * FACTOR[i*8 +: 8]);
    end
  end

  assign sum_o = sum;

endmodule

`default_nettype wire
