// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime_prime_modulo
//
// The residue of a line address modulo a prime, without a clock: two folds, then conditional
// subtractions.
//
// CHUNK1, COUNT1, PADDED1 and SUM1 belong to the first fold; CHUNK2, COUNT2, PADDED2 and SUM2 to
// the second. STEPS conditional subtractions, the first of 2^(STEPS-1) times the prime, leave a
// value below the prime, which has BITS bits.
//
// Parameters: CHUNK1 = 4, COUNT1 = 8, PADDED1 = 32, SUM1 = 10, CHUNK2 = 2, COUNT2 = 5, PADDED2 =
// 10, SUM2 = 8, STEPS = 2, BITS = 6
// Part of: set_index_a_prime
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_a_prime_prime_modulo (
  // the line address
  input  wire [31:0] line_i,
  // residue of the address
  output wire  [5:0] residue_o
);

  // multiples of the prime, largest first
  localparam [15:0] MULTIPLE = {8'd37, 8'd74};
  reg [7:0] rest;
  wire [9:0] fold1_sum;
  wire [7:0] fold2_sum;

  set_index_a_prime_fold_32 fold1 (
    .value_i (line_i),
    .sum_o   (fold1_sum)
  );

  set_index_a_prime_fold_10 fold2 (
    .value_i (fold1_sum),
    .sum_o   (fold2_sum)
  );

  always @(*) begin : comb_rest
    integer i;
    rest = fold2_sum;
    for (i = 0; i < 2; i = i + 1) begin
      if (rest >= MULTIPLE[i*8 +: 8]) begin
        rest = rest - MULTIPLE[i*8 +: 8];
      end
    end
  end

  assign residue_o = rest[5:0];

endmodule

`default_nettype wire
