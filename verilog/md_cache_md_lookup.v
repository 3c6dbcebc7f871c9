// SPDX-License-Identifier: MIT OR Apache-2.0
// md_cache_md_lookup
//
// Searches a set of four ways for a tag. A miss gets an empty way, or else the least recently used
// way.
//
// TAG is the width of a tag, TAGS the width of all four tags. The order of the ways has a bit per
// pair of ways, which is set if the way with the lower number was used later. After each way was
// used once, the initial order does not matter.
//
// Parameters: TAG = 19, TAGS = 76
// Part of: md_cache
// Source: CABA, section 5.3.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module md_cache_md_lookup (
  // tags of the ways, way 0 in the low bits
  input  wire [75:0] tags_i,
  // state of the set: valid bits, dirty bits, order
  input  wire [13:0] state_i,
  // tag to search for
  input  wire [18:0] tag_i,
  // the access makes its block dirty
  input  wire        update_i,
  // the tag is in the set
  output wire        hit_o,
  // way that holds the tag, or that the new block takes
  output wire  [1:0] way_o,
  // that way held another block, which is dirty
  output wire        evicts_dirty_o,
  // tag of the dirty block
  output reg  [18:0] victim_tag_o,
  // tags after the access
  output reg  [75:0] tags_o,
  // state after the access
  output wire [13:0] state_o
);

  localparam TAG = 19;
  wire [5:0] order;
  wire [3:0] valid;
  wire [3:0] dirty;
  reg [3:0] found;
  // the least recently used way, one-hot
  wire [3:0] oldest;
  wire hit;
  // way of the access, one-hot
  reg [3:0] chosen;
  reg [5:0] next_order;
  reg [3:0] next_dirty;

  assign order = state_i[5:0];
  assign dirty = state_i[9:6];
  assign valid = state_i[13:10];

  always @(*) begin : comb_found
    integer i;
    for (i = 0; i < 4; i = i + 1) begin
      found[i] = valid[i] & (tags_i[i*TAG +: 19] == tag_i);
    end
  end

  assign hit = |found;
  // pairs of ways in the order: 0-1, 0-2, 0-3, 1-2, 1-3, 2-3
  assign oldest = {order[2] & order[4] & order[5], order[1] & order[3] & ~order[5], order[0] &
      ~order[3] & ~order[4], ~order[0] & ~order[1] & ~order[2]};

  // the matching way, else the first empty way, else the least recently used one
  always @(*) begin
    chosen = oldest;
    if (hit) begin
      chosen = found;
    end else if (!(&valid)) begin
      chosen = ~valid & (valid + 4'd1);
    end
  end

  assign way_o = {chosen[2] | chosen[3], chosen[1] | chosen[3]};

  always @(*) begin : comb_victim_tag_o
    integer i;
    victim_tag_o = 19'd0;
    tags_o = tags_i;
    for (i = 0; i < 4; i = i + 1) begin
      if (chosen[i]) begin
        victim_tag_o = tags_i[i*TAG +: 19];
        tags_o[i*TAG +: 19] = tag_i;
      end
    end
  end

  // mark the chosen way as the most recently used one
  always @(*) begin
    next_order = order;
    if (chosen[0]) begin
      next_order = order | 6'd7;
    end
    if (chosen[1]) begin
      next_order = (order & 6'd62) | 6'd24;
    end
    if (chosen[2]) begin
      next_order = (order & 6'd53) | 6'd32;
    end
    if (chosen[3]) begin
      next_order = order & 6'd11;
    end
  end

  // a filled block is clean unless it is updated
  always @(*) begin
    next_dirty = dirty;
    if (update_i) begin
      next_dirty = dirty | chosen;
    end else if (!hit) begin
      next_dirty = dirty & ~chosen;
    end
  end

  assign hit_o = hit;
  assign evicts_dirty_o = ~hit & (|(chosen & valid & dirty));
  assign state_o = {valid | chosen, next_dirty, next_order};

endmodule

`default_nettype wire
