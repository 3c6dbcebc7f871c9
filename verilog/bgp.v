// SPDX-License-Identifier: MIT OR Apache-2.0
// bgp
//
// Predicts with an aging Bloom filter whether a miss should fetch all sectors or only the requested
// ones.
//
// LAMAR, section 3.4. SECTORS is the number of sectors of a block. A, ROW, ROWS and HALF are the
// parameters of the filter.
//
// Parameters: bitarray_bits = 2048, skew_percent = 70, skew_window = 1000
// In this file: A = 8, ROW = 4, ROWS = 16, HALF = $clog2(REFRESH_PERIOD) - 1
// Source: LAMAR, section 3.4
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// BGP, bi-modal granularity predictor: predicts whether a miss should fetch the whole block or only
// the requested sectors.
//
// Source: LAMAR, section 3.4 and table 1; cost in section 5.6.
//
// The predictor has a default: coarse (all sectors) or fine (requested sectors only). An evicted
// block has low locality if fewer than `fg_threshold` of its sectors were used. A block whose
// locality contradicts the default is inserted into a Bloom filter. A miss whose block is in the
// filter gets the opposite of the default; every other miss gets the default. If more than
// `skew_percent` of the last `skew_window` evictions were inserted, the default flips.
//
// The filter ages in two overlapping bitarrays. Insertions go to both arrays, except that the
// second array ignores the first half of a refresh period. An array is cleared after
// `refresh_period` insertions into it. The other array then replies. It holds half a period of
// history.
//
//    insertions since reset   0         256        512        768        1024
//    array 0                  |--- fills, replies ---X fills ---|- replies -X
//    array 1                  | idles     | fills   |- replies -X  fills    |
//                                                   X: cleared
//
//    address_i -> [6 hashes] -> 6 of 8 banks -+-> array 0 --\
//                                             +-> array 1 ---> active? -> all six bits set? -> XOR default -> coarse_o
//    used_i --> below threshold? -> contradicts default? -> insert -> count per window -> flip
//
// Choices where the paper is silent:
// - Hashes. The paper says "byte-sliced XOR" and cites the class H3: each bit of an index is the
//   XOR of some address bits, here of five (`TAPS`). Each hash reaches every bit of the array. The
//   six together distinguish any two addresses. The tests measure false positives for consecutive
//   addresses, strides, tiles, one memory partition and one parity. The rate is at most 0.01 above
//   that of six ideal hashes, which is 0.22 after 512 insertions.
// - Banks. An array is eight banks, so that each bank is a memory with one port. The six hashes of
//   an address go to six different banks. A seventh hash, the skew (`SKEW_TAPS`), chooses the
//   banks. A word of a bank's memory holds one row of each array. One flip-flop per row and array
//   records whether the row was written since the array was cleared. An array is therefore cleared
//   in one cycle.
// - One operation per cycle, a query or an eviction, because both use the one port of each bank. If
//   both are requested, the eviction wins and the query has no reply (`valid_o` stays low).
// - The default is coarse after reset, as in the conventional memory system.
// - The threshold is strict, as printed: with `fg_threshold` = 2, a block with one used sector has
//   low locality.
// - The last insertion of a refresh period is in the array that stays, not in the cleared one.
// - The last eviction of a window counts in that window. The default flips only if the share of
//   insertions exceeds the percentage.
// - A flip clears both arrays and restarts the filter as after reset, because its contents
//   contradicted the old default.
// - A block address has 32 bits; narrower addresses leave the upper bits zero.
//
// PARAMETERS
// - bitarray_bits, default 2048, allowed 2048, 4096: bits of each of the two arrays
// - refresh_period, default 512, allowed 512, 1024: insertions into an array until it is cleared
// - sectors, default 4, allowed 4, 8: sectors of a cache block
// - fg_threshold, default 2, allowed 2 to 4: a block with fewer used sectors has low locality
// - skew_percent, default 70, allowed 70, 90: more insertions than this percentage of a window flip
//   the default
// - skew_window, default 1000, allowed 500, 1000: evictions after which the skew is evaluated
//
// PORTS AND TIMING
// All outputs come from registers.
//
//   clk_i             __/--\__/--\__/--\__/--\__
//   query_i           __/-----\_________________
//   evict_i           ________/-----\___________   contradicts the default; for example the 1000th of a window
//   address_i         ==< A  >< B   >===========
//   valid_o           ________/-----\___________   the reply to A ...
//   coarse_o          ========< A   >===========   ... which is computed before the eviction of B
//   flip_o            ______________/-----\_____
//   default_coarse_o  --------------\___________
//
// STORAGE
// The paper counts 4 Kbit: the two arrays, 4,096 bits. This block holds 4,386 bits by default. In
// addition to the arrays in memory, it has these bits, which the paper's sum omits as control
// logic:
// - flags of the rows written since the last clear (256);
// - the position in the half period (8) and the flag that the second array fills (1);
// - the number of the active array (1);
// - the two counters of a window (10 each) and the default (1);
// - the reply with its two flags (3).

`default_nettype none

module bgp #(
  // Insertions into an array until it is cleared; verified with 512, 1024
  parameter integer REFRESH_PERIOD = 512,
  // Sectors of a cache block; verified with 4, 8
  parameter integer SECTORS = 4,
  // A block with fewer used sectors has low locality; verified with 2 to 4
  parameter integer FG_THRESHOLD = 2
) (
  // clock
  input  wire               clk_i,
  // asynchronous reset, active low: nothing is known, the default is coarse
  input  wire               rst_ni,
  // a miss queries the granularity of its fetch
  input  wire               query_i,
  // a block is evicted; wins over a query
  input  wire               evict_i,
  // block address of the miss or of the evicted block
  input  wire        [31:0] address_i,
  // mask of the evicted block's used sectors
  input  wire [SECTORS-1:0] used_i,
  // the reply to the last cycle's query is valid
  output wire               valid_o,
  // the reply: fetch all sectors
  output wire               coarse_o,
  // the default prediction is to fetch all sectors
  output wire               default_coarse_o,
  // the default flipped at the last clock edge
  output wire               flip_o,
  // number of the bitarray that replies
  output wire               active_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (REFRESH_PERIOD != 512 && REFRESH_PERIOD != 1024) begin : gen_wrong_refresh_period
      bgp_REFRESH_PERIOD_must_be_512_or_1024 wrong_refresh_period ();
    end
    if (SECTORS != 4 && SECTORS != 8) begin : gen_wrong_sectors
      bgp_SECTORS_must_be_4_or_8 wrong_sectors ();
    end
    if (FG_THRESHOLD < 2 || FG_THRESHOLD > 4) begin : gen_wrong_fg_threshold
      bgp_FG_THRESHOLD_must_be_2_to_4 wrong_fg_threshold ();
    end
  endgenerate

  localparam [9:0] LAST_OF_WINDOW = 10'd999;
  // maximum insertions in a window without a flip of the default
  localparam [9:0] SKEW_LIMIT = 10'd700;
  reg [3:0] used;
  wire query;
  wire insert;
  wire [9:0] next_insertions;
  wire window_ends;
  wire flip;
  wire filter_hit;
  reg valid_q;
  reg coarse_q;
  reg default_coarse_q;
  reg flipped_q;
  // evictions so far in this window
  reg [9:0] evictions_q;
  // blocks inserted so far in this window
  reg [9:0] insertions_q;

  bgp_dual_bloom #(.REFRESH_PERIOD (REFRESH_PERIOD)) filter (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .address_i (address_i),
    .query_i   (query),
    .insert_i  (insert),
    .clear_i   (flip),
    .hit_o     (filter_hit),
    .active_o  (active_o)
  );

  // insert an evicted block into the filter if its locality contradicts the default
  always @(*) begin : comb_used
    integer sector;
    used = 4'd0;
    for (sector = 0; sector < SECTORS; sector = sector + 1) begin
      used = used + {3'd0, used_i[sector]};
    end
  end

  assign insert = evict_i & ((used < FG_THRESHOLD[3:0]) == default_coarse_q);
  assign query = query_i & ~evict_i;

  // too many insertions in a window: flip the default and clear the filter
  assign next_insertions = insertions_q + {9'd0, insert};
  assign window_ends = evict_i & (evictions_q == LAST_OF_WINDOW);
  assign flip = window_ends & (next_insertions > SKEW_LIMIT);

  assign valid_o = valid_q;
  assign coarse_o = coarse_q;
  assign default_coarse_o = default_coarse_q;
  assign flip_o = flipped_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      default_coarse_q <= 1'b1;
      flipped_q <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      default_coarse_q <= default_coarse_q ^ flip;
      flipped_q <= flip;
      // a miss gets the default, or the opposite if the filter contains the block
      valid_q <= query;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      coarse_q <= 1'b0;
    end else if (query) begin
      coarse_q <= default_coarse_q ^ filter_hit;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      evictions_q <= 10'd0;
      insertions_q <= 10'd0;
    end else if (window_ends) begin
      evictions_q <= 10'd0;
      insertions_q <= 10'd0;
    end else begin
      evictions_q <= evictions_q + {9'd0, evict_i};
      insertions_q <= next_insertions;
    end
  end

endmodule

`default_nettype wire
