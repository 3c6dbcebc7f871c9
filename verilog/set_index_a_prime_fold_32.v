// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime_fold_32
//
// A fold: a smaller number with the same residue modulo a prime. It is the sum of all chunks, each
// times the residue of its position.
//
// COUNT chunks of CHUNK bits cover the IN bits of the value; PADDED is CHUNK times COUNT.
//
// Parameters: IN = 32, CHUNK = 18, COUNT = 2, PADDED = 36
// Part of: set_index_a_prime
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_a_prime_fold_32 (
  // value to fold
  input  wire [31:0] value_i,
  // smaller number with the same residue
  output wire [18:0] sum_o
);

  localparam CHUNK = 18;
  // initial value of the sum: in the last fold, it compensates for all inverted chunks
  localparam [18:0] START = 19'd0;
  // all ones for an inverted chunk, whose residue is negative
  localparam [35:0] INVERTED = {18'h3fff, 18'd0};
  // magnitude of the residue of each chunk's position
  localparam [37:0] FACTOR = {2{19'd1}};
  wire [35:0] padded;
  reg [18:0] sum;

  assign padded = {4'd0, value_i};

  always @(*) begin : comb_sum
    integer i;
    reg [17:0] chunk;
    sum = START;
    for (i = 0; i < 2; i = i + 1) begin
      chunk = padded[i*CHUNK +: 18] ^ INVERTED[i*18 +: 18];
      sum = sum + ({1'b0, chunk} * FACTOR[i*19 +: 19]);
    end
  end

  assign sum_o = sum;

endmodule

`default_nettype wire
