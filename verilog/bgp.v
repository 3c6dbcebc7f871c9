// bgp
//
// Predicts by a self-ageing Bloom filter whether a miss should fetch all sectors or those requested.
//
// LAMAR, section 3.4. SECTORS is the number of sectors of a block; A, WIDE and HALF are those of the filter.
//
// Parameters: bitarray_bits = 2048, refresh_period = 512, sectors = 4, fg_threshold = 2, skew_percent = 70,
// skew_window = 1000
// In this file: A = 11, WIDE = 22, HALF = 8, SECTORS = 4
// Source: LAMAR, section 3.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bgp (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: nothing is known, the default is coarse
  input  wire        rst_ni,
  // a miss asks for the granularity of its fetch
  input  wire        query_i,
  // a block is evicted; wins over a query
  input  wire        evict_i,
  // block address of the miss or of the evicted block
  input  wire [31:0] address_i,
  // sectors of the evicted block that were used
  input  wire  [3:0] used_i,
  // the reply to the query of the last cycle is there
  output wire        valid_o,
  // the reply: fetch all sectors
  output wire        coarse_o,
  // the default prediction is to fetch all sectors
  output wire        default_coarse_o,
  // the default flipped at the last clock edge
  output wire        flip_o,
  // number of the bitarray that replies
  output wire        active_o
);

  // a block with fewer used sectors has low locality
  localparam [3:0] FG_THRESHOLD = 4'd2;
  localparam [9:0] LAST_OF_WINDOW = 10'd999;
  // the most insertions in a window that do not flip the default
  localparam [9:0] SKEW_LIMIT = 10'd700;
  reg [3:0] used;
  wire insert;
  wire [9:0] next_insertions;
  wire window_ends;
  wire flip;
  wire filter_hit_o;
  reg valid_q;
  reg coarse_q;
  reg default_coarse_q;
  reg flipped_q;
  // evictions in this window
  reg [9:0] evictions_q;
  // how many of them were inserted
  reg [9:0] insertions_q;

  bgp_dual_bloom filter (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .address_i (address_i),
    .insert_i  (insert),
    .clear_i   (flip),
    .hit_o     (filter_hit_o),
    .active_o  (active_o)
  );

  // an evicted block goes into the filter if its locality contradicts the default
  always @(*) begin : comb_used
    integer sector;
    used = 4'd0;
    for (sector = 0; sector < 4; sector = sector + 1) begin
      used = used + {3'd0, used_i[sector]};
    end
  end

  assign insert = evict_i & ((used < FG_THRESHOLD) == default_coarse_q);
  // too many insertions in a window: the default flips, and the filter forgets
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
      // a miss gets the default, or its opposite if the filter has the block
      valid_q <= query_i & !evict_i;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      coarse_q <= 1'b0;
    end else if (query_i & !evict_i) begin
      coarse_q <= default_coarse_q ^ filter_hit_o;
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
