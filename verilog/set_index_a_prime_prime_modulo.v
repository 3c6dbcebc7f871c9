// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime_prime_modulo
//
// The residue of a line address modulo a prime, without a clock: two or three folds, then
// conditional subtractions.
//
// CHUNK, COUNT, PADDED and SUM with 0, 1 and 2 belong to the first, second and last fold. If SUM0
// is 32, the first fold is absent. STEPS conditional subtractions, the first of 2^(STEPS-1) times
// the prime, leave a value below the prime, which has BITS bits.
//
// Parameters: SUM0 = 19, STEPS = 3, BITS = 6
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
  localparam [26:0] MULTIPLE = {9'd37, 9'd74, 9'd148};
  wire [18:0] folded;
  reg [8:0] rest;
  wire [12:0] fold1_sum;
  wire [8:0] fold2_sum;

  set_index_a_prime_fold_32 fold0 (
    .value_i (line_i),
    .sum_o   (folded)
  );

  set_index_a_prime_fold_19 fold1 (
    .value_i (folded),
    .sum_o   (fold1_sum)
  );

  set_index_a_prime_fold_13 fold2 (
    .value_i (fold1_sum),
    .sum_o   (fold2_sum)
  );

  always @(*) begin : comb_rest
    integer i;
    rest = fold2_sum;
    for (i = 0; i < 3; i = i + 1) begin
      if (rest >= MULTIPLE[i*9 +: 9]) begin
        rest = rest - MULTIPLE[i*9 +: 9];
      end
    end
  end

  assign residue_o = rest[5:0];

endmodule

`default_nettype wire
