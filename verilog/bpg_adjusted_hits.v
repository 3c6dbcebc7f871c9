// SPDX-License-Identifier: MIT OR Apache-2.0
// bpg_adjusted_hits
//
// Weighs the hits that the first L warps would have in the L1D against the reservation failures that they
// would cause.
//
// Dai, section 2.6. TAG is the width of a tag, LINE that of a set's tags. Which L it is comes in through
// ports, which are tied to constants.
//
// Parameters: TAG = 32, LINE = 128, WORDS = 2
// Part of: bpg
// Source: Dai, section 2.6
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bpg_adjusted_hits (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: all tags are invalid
  input  wire        rst_ni,
  // the last warp that uses the L1D: L - 1
  input  wire  [5:0] last_warp_i,
  // (L/8)^3 in units of 1/512: L cubed
  input  wire  [9:0] cube_i,
  // an access to a sampled set
  input  wire        access_i,
  // the warp that makes it
  input  wire  [5:0] warp_i,
  // which of the sampled sets
  input  wire  [1:0] set_i,
  // tag of the line
  input  wire [31:0] tag_i,
  // reservation failures
  input  wire [11:0] rsfails_i,
  // the interval ends: take adjusted hits, halve hits
  input  wire        interval_ends_i,
  // hits have been counted
  output wire        any_hit_o,
  // adjusted hits of the interval that ended last, with an offset of 2048
  output wire [13:0] adjusted_o
);

  localparam [13:0] OFFSET = 14'h800;
  wire watched;
  reg [1:0] set;
  // not the same signal as above: reading and writing the state stay apart, without a path through the LRU
  // access
  reg [1:0] slot;
  reg [9:0] faded;
  wire [21:0] product;
  wire [10:0] half;
  wire [127:0] tags_read_data_o;
  reg [3:0] lru_valid_i;
  reg [7:0] lru_ages_i;
  wire lru_hit_o;
  wire [127:0] lru_tags_o;
  wire [3:0] lru_valid_o;
  wire [7:0] lru_ages_o;
  reg [15:0] valid_d;
  // which tags are valid, 4 of each set
  reg [15:0] valid_q;
  reg [31:0] ages_d;
  // age of each way, 4 of each set
  reg [31:0] ages_q;
  reg [9:0] hits_q;
  reg [13:0] adjusted_q;

  selvedge_mem #(.A (2), .BITS (128)) tags (
    .clk_i           (clk_i),
    .write_i         (watched),
    .write_address_i (set_i),
    .write_data_i    (lru_tags_o),
    .read_address_i  (set_i),
    .read_data_o     (tags_read_data_o)
  );

  bpg_lru_access lru (
    .tag_i   (tag_i),
    .tags_i  (tags_read_data_o),
    .valid_i (lru_valid_i),
    .ages_i  (lru_ages_i),
    .hit_o   (lru_hit_o),
    .tags_o  (lru_tags_o),
    .valid_o (lru_valid_o),
    .ages_o  (lru_ages_o)
  );

  always @(*) begin : comb_valid_d
    integer i;
    valid_d = valid_q;
    ages_d = ages_q;
    for (i = 0; i < 4; i = i + 1) begin
      slot = i[1:0];
      if (watched & (set_i == slot)) begin
        valid_d = valid_q;
        valid_d[i*4 +: 4] = lru_valid_o;
        ages_d = ages_q;
        ages_d[i*8 +: 8] = lru_ages_o;
      end
    end
  end

  // an access of a watched warp goes through the shadow tags
  assign watched = access_i & (warp_i <= last_warp_i);

  always @(*) begin : comb_lru_valid_i
    integer i;
    lru_valid_i = 4'd0;
    lru_ages_i = 8'd0;
    for (i = 0; i < 4; i = i + 1) begin
      set = i[1:0];
      if (set_i == set) begin
        lru_valid_i = valid_q[i*4 +: 4];
        lru_ages_i = ages_q[i*8 +: 8];
      end
    end
  end

  // hits are counted up to the counter's end, and halved first at the end of an interval
  always @(*) begin
    faded = hits_q;
    if (interval_ends_i) begin
      faded = hits_q >> 1;
    end
  end

  // hits times 8, as 4 of 32 sets are sampled, less half of failures times L^3 / 512
  assign product = {10'd0, rsfails_i} * {12'd0, cube_i};
  assign half = product[20:10];
  assign adjusted_o = adjusted_q;
  assign any_hit_o = |hits_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 16'd0;
      ages_q <= 32'he4e4e4e4;
    end else begin
      valid_q <= valid_d;
      ages_q <= ages_d;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      adjusted_q <= 14'd0;
    end else if (interval_ends_i) begin
      adjusted_q <= (OFFSET + ({4'd0, hits_q} << 3)) - {3'd0, half};
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hits_q <= 10'd0;
    end else begin
      hits_q <= faded;
      if (watched & lru_hit_o & !(&faded)) begin
        hits_q <= faded + 10'd1;
      end
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, product[9:0], product[21]};

endmodule

`default_nettype wire
