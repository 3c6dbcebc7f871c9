// SPDX-License-Identifier: MIT OR Apache-2.0
// bgp_dual_bloom
//
// A Bloom filter that ages: two bitarrays alternate between replying and being cleared.
//
// A is the width of an index into a bank, ROW the width of a row number, ROWS the number of rows,
// HALF the width of the counter of half a refresh period. An array is cleared after two half
// periods of insertions into it. The other array, which holds half a period, then replies.
//
// Parameters: A = 8, ROW = 4, ROWS = 16
// Part of: bgp
// Source: LAMAR, section 3.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bgp_dual_bloom #(
  // Insertions into an array until it is cleared; verified with 512, 1024
  parameter integer REFRESH_PERIOD = 512
) (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // address of the queried or inserted block
  input  wire [31:0] address_i,
  // query the filter for the address
  input  wire        query_i,
  // insert the address
  input  wire        insert_i,
  // clear the filter; wins over an insertion
  input  wire        clear_i,
  // a query hits: all bits of the address were set in the active array before this cycle's
  // insertion
  output wire        hit_o,
  // number of the active array
  output wire        active_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (REFRESH_PERIOD != 512 && REFRESH_PERIOD != 1024) begin : gen_wrong_refresh_period
      bgp_dual_bloom_REFRESH_PERIOD_must_be_512_or_1024 wrong_refresh_period ();
    end
  endgenerate

  localparam HALF = $clog2(REFRESH_PERIOD) - 1;
  wire half_ends;
  reg [1:0] set;
  reg [1:0] clear;
  reg [1:0] hit;
  wire [63:0] hashes_index;
  wire [7:0] hashes_unused;
  reg [15:0] banks_set;
  wire [15:0] banks_bit;
  // insertions in this half of a period
  reg [HALF-1:0] count_q;
  // the first half period since the last clear is over: both arrays fill
  reg both_fill_q;
  reg active_q;

  bgp_hashes hashes (
    .address_i (address_i),
    .index_o   (hashes_index),
    .unused_o  (hashes_unused)
  );

  genvar g;
  generate
    for (g = 0; g < 8; g = g + 1) begin : gen_banks
      bgp_filter_bank banks (
        .clk_i   (clk_i),
        .rst_ni  (rst_ni),
        .index_i (hashes_index[g*8 +: 8]),
        .set_i   (banks_set[g*2 +: 2]),
        .clear_i (clear),
        .bit_o   (banks_bit[g*2 +: 2])
      );
    end
  endgenerate

  // at the end of each half period except the first, clear the active array and swap the arrays
  assign half_ends = insert_i & (&count_q);

  always @(*) begin
    set = 2'd0;
    if (insert_i) begin
      set = 2'd1;
      if (both_fill_q) begin
        set = 2'd3;
      end
    end
  end

  always @(*) begin
    clear = 2'd0;
    if (half_ends & both_fill_q) begin
      clear = 2'd1;
      if (active_q) begin
        clear = 2'd2;
      end
    end
    if (clear_i) begin
      clear = 2'd3;
    end
  end

  always @(*) begin : comb_hit
    integer bank;
    reg [1:0] bits;
    hit = 2'd3;
    for (bank = 0; bank < 8; bank = bank + 1) begin
      banks_set[bank*2 +: 2] = 2'd0;
      if (!hashes_unused[bank]) begin
        banks_set[bank*2 +: 2] = set;
      end
      bits = banks_bit[bank*2 +: 2];
      if (hashes_unused[bank]) begin
        bits = 2'd3;
      end
      hit = hit & bits;
    end
  end

  assign hit_o = query_i & ((active_q & hit[1]) | (~active_q & hit[0]));
  assign active_o = active_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= {HALF{1'b0}};
      both_fill_q <= 1'b0;
      active_q <= 1'b0;
    end else if (clear_i) begin
      count_q <= {HALF{1'b0}};
      both_fill_q <= 1'b0;
      active_q <= 1'b0;
    end else begin
      count_q <= count_q + {{(HALF-1){1'b0}}, insert_i};
      if (half_ends) begin
        both_fill_q <= 1'b1;
        active_q <= both_fill_q & ~active_q;
      end
    end
  end

endmodule

`default_nettype wire
