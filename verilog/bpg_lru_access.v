// SPDX-License-Identifier: MIT OR Apache-2.0
// bpg_lru_access
//
// One access to a set of tags under LRU replacement: is the tag there, and what is the set afterwards?
//
// TAG is the width of a tag, LINE that of a set's tags. The way that is touched is the one that has the tag,
// or else the oldest; it becomes the youngest, and those that were younger age.
//
// Parameters: TAG = 32, LINE = 128, WORDS = 2
// Part of: bpg
// Source: Dai, section 2.6
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bpg_lru_access (
  // the tag that is looked up
  input  wire  [31:0] tag_i,
  // the set's tags
  input  wire [127:0] tags_i,
  // which of them are valid
  input  wire   [3:0] valid_i,
  // the age of each way, 0 to 3, all different
  input  wire   [7:0] ages_i,
  // the tag is there
  output wire         hit_o,
  // the set's tags afterwards
  output wire [127:0] tags_o,
  // which of them are valid afterwards
  output wire   [3:0] valid_o,
  // the ages afterwards
  output wire   [7:0] ages_o
);

  localparam TAG = 32;
  reg hit;
  reg [31:0] way_tag;
  reg [1:0] age;
  // age of the way that is touched
  reg [1:0] touched;
  reg [127:0] tags;
  reg [3:0] valid;
  reg [7:0] ages;

  always @(*) begin : comb_hit
    integer way;
    hit = 1'b0;
    touched = 2'd3;
    for (way = 0; way < 4; way = way + 1) begin
      way_tag = tags_i[way*TAG +: 32];
      if (valid_i[way] & (way_tag == tag_i)) begin
        hit = 1'b1;
        touched = ages_i[way*2 +: 2];
      end
    end
  end

  always @(*) begin : comb_tags
    integer way;
    tags = tags_i;
    valid = valid_i;
    ages = ages_i;
    for (way = 0; way < 4; way = way + 1) begin
      age = ages_i[way*2 +: 2];
      if (age == touched) begin
        tags[way*TAG +: 32] = tag_i;
        valid[way] = 1'b1;
        age = 2'd0;
      end else if (age < touched) begin
        age = age + 2'd1;
      end
      ages[way*2 +: 2] = age;
    end
  end

  assign hit_o = hit;
  assign tags_o = tags;
  assign valid_o = valid;
  assign ages_o = ages;

endmodule

`default_nettype wire
