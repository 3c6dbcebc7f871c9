// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime_fold_32
//
// A fold: a smaller number with the same residue modulo a prime. It is the sum of all chunks, each
// times the residue of its position.
//
// COUNT chunks of CHUNK bits cover the IN bits of the value; PADDED is CHUNK times COUNT.
//
// Parameters: IN = 32, CHUNK = 4, COUNT = 8, PADDED = 32, OUT = 10
// Part of: set_index_a_prime
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_a_prime_fold_32 (
  // value to fold
  input  wire [31:0] value_i,
  // smaller number with the same residue
  output wire  [9:0] sum_o
);

  localparam CHUNK = 4;
  // initial value of the sum, which compensates for the inverted chunks
  localparam [9:0] START = 10'd26;
  // all ones for an inverted chunk, whose residue is negative
  localparam [31:0] INVERTED = {4'd0, 4'd0, 4'd15, 4'd0, 4'd15, 4'd15, 4'd0, 4'd0};
  // magnitude of the residue of each chunk's position
  localparam [79:0] FACTOR = {10'd12, 10'd10, 10'd4, 10'd9, 10'd11, 10'd3, 10'd16, 10'd1};
  reg [3:0] chunk;
  reg [9:0] sum;

  always @(*) begin : comb_sum
    integer i;
    sum = START;
    for (i = 0; i < 8; i = i + 1) begin
      chunk = value_i[i*CHUNK +: 4] ^ INVERTED[i*4 +: 4];
      sum = sum + ({6'd0, chunk} * FACTOR[i*10 +: 10]);
    end
  end

  assign sum_o = sum;

endmodule

`default_nettype wire
