// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_pmod_prime_modulo
//
// The residue of a line address modulo a prime, without a clock: two or three folds, then
// conditional subtractions.
//
// CHUNK, COUNT, PADDED and SUM with 0, 1 and 2 belong to the first, second and last fold. If SUM0
// is 32, the first fold is absent. STEPS conditional subtractions, the first of 2^(STEPS-1) times
// the prime, leave a value below the prime, which has BITS bits.
//
// Parameters: SUM0 = 32, STEPS = 1, BITS = 5
// Part of: set_index_pmod
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_pmod_prime_modulo (
  // the line address
  input  wire [31:0] line_i,
  // residue of the address
  output wire  [4:0] residue_o
);

  // multiples of the prime, largest first
  localparam [5:0] MULTIPLE = 6'd31;
  reg [5:0] rest;
  wire [7:0] fold1_sum;
  wire [5:0] fold2_sum;

  set_index_pmod_fold_32 fold1 (
    .value_i (line_i),
    .sum_o   (fold1_sum)
  );

  set_index_pmod_fold_8 fold2 (
    .value_i (fold1_sum),
    .sum_o   (fold2_sum)
  );

  always @(*) begin
    rest = fold2_sum;
    if (rest >= MULTIPLE) begin
      rest = rest - MULTIPLE;
    end
  end

  assign residue_o = rest[4:0];

endmodule

`default_nettype wire
