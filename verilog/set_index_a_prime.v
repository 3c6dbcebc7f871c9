// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_a_prime
//
// Maps a line to a set by its address modulo a prime above the number of sets, reduced to the index
// width.
//
// Dai, section 3.4.1, A_Prime. K is the width of an index; the other parameters are the widths of
// the modulo.
//
// Parameters: sets = 32, mersenne = false
// In this file: K = 5
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// A_Prime, prime modulo mapping that uses every set: the line address modulo a prime above the
// number of sets, then modulo the number of sets.
//
// Source: Dai, section 3.4.1: Index = (A mod p) mod 2^k, where p is the smallest prime above the
// number of sets.
//
//   line_i --> [fold] --> [fold] --> [subtract 2p?] --> [subtract p?] --> low k bits --> register --> index_o
//
// The index depends on every bit of the address. The residues from 2^k on map to the first p - 2^k
// sets, which are used twice as often as the others. The residue is computed as for PMOD.
//
// The source contradicts itself. By section 3.4.1, the prime for 16 sets would be 17. Section 3.7
// uses p = 31 for the 16 partitions, a Mersenne prime, whose folds are plain sums. Both are
// implemented: `mersenne` selects the smallest Mersenne prime above the number of sets. With 31, 15
// of the 16 partitions are used twice as often as the last one. For cache sets, the Mersenne primes
// are so large that they defeat the purpose. Modulo 2^m - 1, the stride 2^k is a rotation of m
// bits, and 2^k lines at that stride map to only 2^(2k - m) sets (8 of 16, 8 of 32, 32 of 64, 2 of
// 128).
//
// - 16, 32, 64, 128, prime 17, 37, 67, 131: 31, 127, 127, 8191
// - 256, 512, 1024 (function only), prime 257, 521, 1031: 8191
//
// - sets, default 32, allowed 16, 32, 64, 128: cache sets or memory partitions: 2^k
// - mersenne, default false, allowed true, false: the prime is the smallest Mersenne prime above
//   the number of sets
//
// The family shares ports, timing and storage.
//
// Set index functions: map a line to a set of a cache or to a memory partition.
//
// Source: Dai, section 3.4.1 (cache sets) and 3.7 (memory partitions).
//
// Lines that a warp accesses with a large power-of-two stride have the same low address bits. Under
// the usual modulo mapping, they therefore share a set. Each of the other functions includes higher
// bits, at a different cost:
//
// - set_index_bmod, index A mod 2^k, hardware wires: yes
// - set_index_bxor, index t xor x, hardware k gates: yes
// - set_index_pmod, index A mod p, p the largest prime below 2^k, hardware adders, subtractions:
//   no: 2^k - p sets stay empty
// - set_index_a_prime, index (A mod p) mod 2^k, p a prime above 2^k, hardware adders, subtractions:
//   no: some sets are used twice
// - set_index_d_prime, index (T p + x) mod 2^k, hardware a small multiplication: yes
// - set_index_i_poly, index A mod P(x) over the field of two elements, hardware XOR trees: yes
//
// A is the line address (the byte address without the offset in the line), x its low k bits, t the
// next k bits, T all the bits above x. The last column refers to 2^k consecutive lines that start
// at a multiple of 2^k. For 32 sets, Yosys synthesizes the functions to 0, 5, 159, 313, 40 and 69
// two-input gates, in the order of the table. Their levels are at most 0, 1, 30, 71, 9 and 5. Each
// block has six flip-flops in addition.
//
// Each function has three forms: plain arithmetic (`IndexFunction`, which a simulated cache calls),
// a golden model with an output register, and RTL.
//
// PORTS AND TIMING
// All six blocks have the same ports. They accept a line in every cycle and output its set one
// cycle later, with a valid flag. The index holds until the next line.
//
//   clk_i    __/--\__/--\__/--\__/--\__
//   valid_i  __/-----------\___________
//   line_i   ==< A  >< B   >===========
//   valid_o  ________/-----------\_____
//   index_o  ========< f(A)>< f(B)     >
//
// STORAGE
// The register with k bits and the valid flag: 6 bits for 32 sets. The source claims no storage,
// because the functions need none within an address path.

`default_nettype none

module set_index_a_prime (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // a line is valid
  input  wire        valid_i,
  // address of the line
  input  wire [31:0] line_i,
  // a line was valid in the last cycle
  output wire        valid_o,
  // set of the last line
  output wire  [4:0] index_o
);

  reg valid_q;
  reg [4:0] index_q;
  wire [5:0] modulo_residue;

  set_index_a_prime_prime_modulo modulo (
    .line_i    (line_i),
    .residue_o (modulo_residue)
  );

  assign valid_o = valid_q;
  assign index_o = index_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= valid_i;
    end
  end

  always @(posedge clk_i) begin
    if (valid_i) begin
      index_q <= modulo_residue[4:0];
    end
  end

  // unused bits
  wire unused = &{1'b0, modulo_residue[5]};

endmodule

`default_nettype wire
