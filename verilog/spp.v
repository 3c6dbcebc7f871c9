// SPDX-License-Identifier: MIT OR Apache-2.0
// spp
//
// Predicts with a pattern history table which sectors of a missed block will be used.
//
// LAMAR, section 3.3.1. A is the width of the table's index, WIDE is 4 A, COUNT is A + 1. SECTORS
// is the number of sectors of a block, WORD is SECTORS + 1.
//
// Parameters: entries = 256, unknown_coarse = true
// In this file: A = 8, WIDE = 32, COUNT = 9, WORD = SECTORS + 1
// Source: LAMAR, section 3.3.1
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// SPP, spatial-pattern predictor: predicts the used sectors of a missed block from the sectors that
// were used last time.
//
// Source: LAMAR, section 3.3.1, which compares its bi-modal predictor with this one. LAMAR takes it
// from Kumar and Wilkerson (ISCA 1998) and from Chen, Yang, Falsafi and Moshovos (HPCA 2004).
//
// Every cache block has a used bit per sector. When a block is evicted, its used bits are committed
// to a pattern history table. A miss queries the table with its block address. It fetches the
// sectors of the pattern in the table and the requested sectors.
//
//    evict_address_i -> [fold] -> write --> pattern history table --> read <- [fold] <- query_address_i
//    used_i -----------------------------> patterns, known bits -------+
//                   reset: [sweep] -------> clears an entry per cycle  v
//                                          unknown: all or none -> [choose] -> OR requested_i -> sectors_o
//
// Choices where the paper is silent:
// - Key. LAMAR's misses query the table with their block, so that the key is the block address. The
//   earlier predictors combine the address of the instruction with an offset. To use that key, pass
//   the combination as the address, both at the miss and at the eviction. The cache must then store
//   the combination with the used bits.
// - The table is direct-mapped and has no tags, as in Chen et al. (256 entries there): blocks with
//   the same index share a pattern. The index is the XOR of all slices of the address, each as wide
//   as the index, so that interleaved partitions use all entries.
// - An entry without a pattern predicts all sectors, as in the conventional memory system. With
//   `unknown_coarse` off, it predicts only the requested sectors.
// - A commit takes effect before the query of the same cycle: if both use the same entry, the reply
//   is the committed pattern.
// - A block without used sectors commits an empty pattern, which is a valid pattern.
// - The known bits are in the memory, next to the patterns. A reset therefore does not clear them
//   at once: for `entries` cycles, a sweep clears one entry per cycle. During the sweep, every
//   query gets the reply of an entry without a pattern, and commits are dropped. Evictions during
//   the sweep are rare, because a cache fills before it evicts. The power-up contents of the memory
//   are never visible.
// - LAMAR simulates this predictor with "unrealistically large histories (1M-entries)". This block
//   does not support that size, which is impractical in hardware.
//
// PARAMETERS
// - entries, default 256, allowed 256, 1024: entries of the pattern history table
// - sectors, default 4, allowed 4, 8: sectors of a cache block
// - unknown_coarse, default true, allowed true, false: an entry without a pattern predicts all
//   sectors
//
// PORTS AND TIMING
// One query and one commit per cycle. During the first `entries` cycles after reset, commits are
// dropped. All outputs come from registers.
//
//   clk_i            __/--\__/--\__/--\__/--\__
//   query_i          __/-----------\___________
//   query_address_i  ==< A  >< B   >===========
//   requested_i      ==<0001><0100 >===========
//   evict_i          ________/-----\___________
//   evict_address_i  ========< B   >===========
//   used_i           ========<0011 >===========
//   valid_o          ________/-----------\_____
//   sectors_o        ========<1111><0111 >=====     A is unknown; B's pattern is committed in the cycle of its query
//   known_o          ______________/-----\_____
//
// STORAGE
// 1,295 bits by default: 256 patterns of 4 bits with a known bit each in one memory. Registers hold
// the sweep's counter (9), the reply (4) and its two flags (2). LAMAR states no size in bits; its
// 1M entries would be 4 Mbit of patterns. The used bits belong to the cache.

`default_nettype none

module spp #(
  // Sectors of a cache block; verified with 4, 8
  parameter integer SECTORS = 4
) (
  // clock
  input  wire               clk_i,
  // asynchronous reset, active low: the sweep starts, after which no entry has a pattern
  input  wire               rst_ni,
  // a miss queries the sectors to fetch
  input  wire               query_i,
  // block address of the miss
  input  wire        [31:0] query_address_i,
  // sectors that the miss needs
  input  wire [SECTORS-1:0] requested_i,
  // a block is evicted and its pattern is committed
  input  wire               evict_i,
  // block address of the evicted block
  input  wire        [31:0] evict_address_i,
  // used sectors of the evicted block
  input  wire [SECTORS-1:0] used_i,
  // the reply to the last cycle's query is valid
  output wire               valid_o,
  // the reply: sectors to fetch, including the requested ones
  output wire [SECTORS-1:0] sectors_o,
  // the reply comes from a committed pattern
  output wire               known_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (SECTORS != 4 && SECTORS != 8) begin : gen_wrong_sectors
      spp_SECTORS_must_be_4_or_8 wrong_sectors ();
    end
  endgenerate

  localparam WORD = SECTORS + 1;
  // prediction of an entry without a pattern
  localparam [SECTORS-1:0] UNKNOWN_PATTERN = {SECTORS{1'b1}};
  wire swept;
  wire commit;
  wire [SECTORS:0] committed;
  reg [SECTORS-1:0] pattern;
  reg found;
  wire [7:0] query_index_index;
  wire [7:0] evict_index_index;
  reg patterns_write;
  reg [7:0] patterns_write_address;
  reg [SECTORS:0] patterns_write_data;
  wire [SECTORS:0] patterns_read_data;
  // entry that the sweep clears next; the top bit marks the end of the sweep
  reg [8:0] sweep_q;
  reg valid_q;
  reg [SECTORS-1:0] sectors_q;
  reg known_q;

  spp_folded_index query_index (
    .address_i (query_address_i),
    .index_o   (query_index_index)
  );

  spp_folded_index evict_index (
    .address_i (evict_address_i),
    .index_o   (evict_index_index)
  );

  selvedge_mem #(.A (8), .BITS (WORD)) patterns (
    .clk_i           (clk_i),
    .write_i         (patterns_write),
    .write_address_i (patterns_write_address),
    .write_data_i    (patterns_write_data),
    .read_address_i  (query_index_index),
    .read_data_o     (patterns_read_data)
  );

  // after reset the sweep clears an entry per cycle; until its end no pattern is read or committed
  assign swept = sweep_q[8];

  assign commit = evict_i & swept;
  assign committed = {1'b0, used_i};

  always @(*) begin
    patterns_write = 1'b1;
    patterns_write_address = sweep_q[7:0];
    patterns_write_data = {WORD{1'b0}};
    if (swept) begin
      patterns_write = evict_i;
      patterns_write_address = evict_index_index;
      patterns_write_data = {1'b1, committed[SECTORS-1:0]};
    end
  end

  always @(*) begin
    found = swept & patterns_read_data[SECTORS];
    pattern = UNKNOWN_PATTERN;
    if (found) begin
      pattern = patterns_read_data[SECTORS-1:0];
    end
    if (commit & (evict_index_index == query_index_index)) begin
      found = 1'b1;
      pattern = used_i;
    end
  end

  assign valid_o = valid_q;
  assign sectors_o = sectors_q;
  assign known_o = known_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      sweep_q <= 9'd0;
      valid_q <= 1'b0;
    end else begin
      sweep_q <= sweep_q + {8'd0, ~swept};
      valid_q <= query_i;
    end
  end

  always @(posedge clk_i) begin
    if (query_i) begin
      sectors_q <= pattern | requested_i;
      known_q <= found;
    end
  end

  // unused bits
  wire unused = &{1'b0, committed[SECTORS]};

endmodule

`default_nettype wire
