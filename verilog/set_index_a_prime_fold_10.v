// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime_fold_10
//
// A fold: a smaller number with the same residue modulo a prime. It is the sum of all chunks, each
// times the residue of its position.
//
// COUNT chunks of CHUNK bits cover the IN bits of the value; PADDED is CHUNK times COUNT.
//
// Parameters: IN = 10, CHUNK = 2, COUNT = 5, PADDED = 10, OUT = 8
// Part of: set_index_a_prime
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_a_prime_fold_10 (
  // value to fold
  input  wire [9:0] value_i,
  // smaller number with the same residue
  output wire [7:0] sum_o
);

  localparam CHUNK = 2;
  // initial value of the sum, which compensates for the inverted chunks
  localparam [7:0] START = 8'd35;
  // all ones for an inverted chunk, whose residue is negative
  localparam [9:0] INVERTED = {2'd3, 2'd3, 2'd0, 2'd0, 2'd0};
  // magnitude of the residue of each chunk's position
  localparam [39:0] FACTOR = {8'd3, 8'd10, 8'd16, 8'd4, 8'd1};
  reg [1:0] chunk;
  reg [7:0] sum;

  always @(*) begin : comb_sum
    integer i;
    sum = START;
    for (i = 0; i < 5; i = i + 1) begin
      chunk = value_i[i*CHUNK +: 2] ^ INVERTED[i*2 +: 2];
      sum = sum + ({6'd0, chunk} * FACTOR[i*8 +: 8]);
    end
  end

  assign sum_o = sum;

endmodule

`default_nettype wire
