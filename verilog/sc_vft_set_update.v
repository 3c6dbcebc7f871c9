// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_vft_set_update
//
// Computes the four entries of a set after a word is counted.
//
// An entry is a tag above a 12-bit count; it exists if the count is not zero. TAG is the width of a
// tag, ENTRY of an entry, and SET of a set. The simulation keeps a set in K words.
//
// Parameters: TAG = 24, ENTRY = 36, SET = 144, K = 3
// Part of: sc_vft
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_vft_set_update (
  // the set has entries; if low, all counts are taken as zero
  input  wire         valid_i,
  // the set, way 0 lowest
  input  wire [143:0] set_i,
  // tag of the word
  input  wire  [23:0] tag_i,
  // the set after the word is counted
  output reg  [143:0] set_o,
  // count of the replaced entry; zero if none is replaced
  output wire  [11:0] lost_o
);

  localparam ENTRY = 36;
  reg [95:0] tag;
  reg [47:0] count;
  reg [3:0] hit;
  reg any_hit;
  // the word's entry has the maximum count
  reg full;
  // smaller count of ways 0 and 1, and smaller count of ways 2 and 3
  reg [23:0] smaller;
  // the upper way of the pair has that count
  reg [1:0] upper_way;
  reg [11:0] smallest;
  reg [1:0] victim;

  always @(*) begin : comb_any_hit
    integer way;
    reg [35:0] entry;
    any_hit = 1'b0;
    full = 1'b0;
    for (way = 0; way < 4; way = way + 1) begin
      entry = set_i[way*ENTRY +: 36];
      tag[way*24 +: 24] = entry[35:12];
      count[way*12 +: 12] = 12'd0;
      if (valid_i) begin
        count[way*12 +: 12] = entry[11:0];
      end
      hit[way] = (|count[way*12 +: 12]) & (tag[way*24 +: 24] == tag_i);
      any_hit = any_hit | hit[way];
      full = full | (hit[way] & (&count[way*12 +: 12]));
    end
  end

  // entry to replace: smallest count, lowest way; compared in pairs
  always @(*) begin : comb_smaller
    integer pair;
    for (pair = 0; pair < 2; pair = pair + 1) begin
      smaller[pair*12 +: 12] = count[2*pair*12 +: 12];
      upper_way[pair] = count[(2*pair+1)*12 +: 12] < count[2*pair*12 +: 12];
      if (upper_way[pair]) begin
        smaller[pair*12 +: 12] = count[(2*pair+1)*12 +: 12];
      end
    end
  end

  always @(*) begin
    smallest = smaller[11:0];
    victim = 2'd0;
    victim[0] = upper_way[0];
    if (smaller[23:12] < smaller[11:0]) begin
      smallest = smaller[23:12];
      victim = 2'd2;
      victim[0] = upper_way[1];
    end
  end

  assign lost_o = any_hit ? 12'd0 : smallest;

  // if the entry is full, halve all counts of the set before counting
  always @(*) begin : comb_set_o
    integer way;
    reg [23:0] next_tag;
    reg [11:0] next_count;
    set_o = set_i;
    for (way = 0; way < 4; way = way + 1) begin
      next_tag = tag[way*24 +: 24];
      next_count = count[way*12 +: 12];
      if (full) begin
        next_count = count[way*12 +: 12] >> 1;
      end
      next_count = next_count + {11'd0, hit[way]};
      if (~any_hit & (victim == way[1:0])) begin
        next_tag = tag_i;
        next_count = 12'd1;
      end
      set_o[way*ENTRY +: 12] = next_count;
      set_o[way*ENTRY+12 +: 24] = next_tag;
    end
  end

endmodule

`default_nettype wire
