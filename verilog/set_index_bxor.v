// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_bxor
//
// Maps a line to a set by the XOR of the low bits of its address with those above.
//
// Dai, section 3.4.1, BXOR. K is the width of an index.
//
// In this file: K = $clog2(SETS)
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.1.0 with reset control
//
// BXOR, bitwise XOR mapping: the low bits of the line address, XORed with as many bits above them.
//
// Source: Dai, section 3.4.1: Index = t xor x. The mapping of commercial GPUs by the source's
// account, and its choice for both cache levels and for the partitions.
//
//   line_i[k-1:0]  --\
//                    XOR --> register --> index_o
//   line_i[2k-1:k] --/
//
// The source's t is the next k bits above x, not the whole tag: lines that are a multiple of 2^2k
// apart share a set.
//
// - sets, default 32, allowed 16, 32, 64, 128: cache sets or memory partitions: 2^k
//
// The family shares ports, timing and storage.
//
// Set index functions: which set of a cache, or which memory partition, a line belongs to.
//
// Source: Dai, section 3.4.1 (cache sets) and 3.7 (memory partitions).
//
// Lines that a warp touches with a large power-of-two stride share their low address bits, and with
// them their set under the usual modulo mapping. Each of the other functions brings in the bits
// above, at a different price:
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
// k bits above, T all the bits above. The last column speaks of the 2^k lines from a multiple of
// 2^k on. For 32 sets Yosys makes two-input gates of them, beside the six flip-flops: none, 5, 163,
// 400, 41 and 69, in at most 0, 1, 30, 48, 9 and 5 levels.
//
// Each function exists three times over: as plain arithmetic (`IndexFunction`, which a simulated
// cache calls), as a golden model with a register behind it, and as RTL.
//
// PORTS AND TIMING
// All six blocks have the same ports, take a line in every cycle and give its set one cycle later.
// The index holds until the next one; the valid flag goes along.
//
//   clk_i    __/--\__/--\__/--\__/--\__
//   valid_i  __/-----------\___________
//   line_i   ==< A  >< B   >===========
//   valid_o  ________/-----------\_____
//   index_o  ========< f(A)>< f(B)     >
//
// STORAGE
// The register with k bits and the valid flag: 6 bits for 32 sets. The source claims no storage: as
// part of an address path the functions need none.

`default_nettype none

module set_index_bxor #(
  // cache sets or memory partitions; verified with 16, 32, 64, 128
  parameter integer SETS = 32
) (
  // clock
  input  wire                    clk_i,
  // asynchronous reset, active low
  input  wire                    rst_ni,
  // a line is there
  input  wire                    valid_i,
  // its address
  input  wire             [31:0] line_i,
  // a line was there in the last cycle
  output wire                    valid_o,
  // the set of the last line
  output wire [$clog2(SETS)-1:0] index_o
);

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
      index_q <= line_i[K-1:0] ^ line_i[K+$clog2(SETS)-1:K];
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, line_i[31:K+$clog2(SETS)]};

endmodule

`default_nettype wire
