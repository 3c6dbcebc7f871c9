// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_pmod_fold_8
//
// A fold: a smaller number with the same residue modulo a prime. It is the sum of all chunks, each
// times the residue of its position.
//
// COUNT chunks of CHUNK bits cover the IN bits of the value; PADDED is CHUNK times COUNT.
//
// Parameters: IN = 8, CHUNK = 5, COUNT = 2, PADDED = 10
// Part of: set_index_pmod
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_pmod_fold_8 (
  // value to fold
  input  wire [7:0] value_i,
  // smaller number with the same residue
  output wire [5:0] sum_o
);

  localparam CHUNK = 5;
  // initial value of the sum: in the last fold, it compensates for all inverted chunks
  localparam [5:0] START = 6'd0;
  // all ones for an inverted chunk, whose residue is negative
  localparam [9:0] INVERTED = 10'd0;
  // magnitude of the residue of each chunk's position
  localparam [11:0] FACTOR = {2{6'd1}};
  wire [9:0] padded;
  reg [5:0] sum;

  assign padded = {2'd0, value_i};

  always @(*) begin : comb_sum
    integer i;
    reg [4:0] chunk;
    sum = START;
    for (i = 0; i < 2; i = i + 1) begin
      chunk = padded[i*CHUNK +: 5] ^ INVERTED[i*5 +: 5];
      sum = sum + ({1'b0, chunk} * FACTOR[i*6 +: 6]);
    end
  end

  assign sum_o = sum;

endmodule

`default_nettype wire
