// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_bmod
//
// Maps a line to a set by the low bits of its address.
//
// Dai, section 3.4.1, BMOD. K is the width of an index.
//
// In this file: K = $clog2(SETS)
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// BMOD, baseline modulo mapping: the low bits of the line address.
//
// Source: Dai, section 3.4.1: Index = x = A mod 2^k, the usual mapping and the baseline for the
// others.
//
//   line_i[k-1:0] --> register --> index_o
//
// Lines at a distance of a multiple of 2^k share a set.
//
// - sets, default 32, allowed 16, 32, 64, 128: cache sets or memory partitions: 2^k
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

module set_index_bmod #(
  // cache sets or memory partitions; verified with 16, 32, 64, 128
  parameter integer SETS = 32
) (
  // clock
  input  wire                    clk_i,
  // asynchronous reset, active low
  input  wire                    rst_ni,
  // a line is valid
  input  wire                    valid_i,
  // address of the line
  input  wire             [31:0] line_i,
  // a line was valid in the last cycle
  output wire                    valid_o,
  // set of the last line
  output wire [$clog2(SETS)-1:0] index_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (SETS != 16 && SETS != 32 && SETS != 64 && SETS != 128) begin : gen_wrong_sets
      set_index_bmod_SETS_must_be_16_32_64_or_128 wrong_sets ();
    end
  endgenerate

  localparam K = $clog2(SETS);
  reg valid_q;
  reg [K-1:0] index_q;

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
      index_q <= line_i[K-1:0];
    end
  end

  // unused bits
  wire unused = &{1'b0, line_i[31:K]};

endmodule

`default_nettype wire
