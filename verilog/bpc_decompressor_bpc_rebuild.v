// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor_bpc_rebuild
//
// The line of a base word and the bit planes of the differences.
//
// P is the bits of a plane, GROUPS a quarter of the words. Sums are taken in groups of four words
// first, then over the groups in a tree, then over all words: six additions lie behind each other
// for 32 words.
//
// Parameters: LINE = 1024, LW = 16, P = 31, GROUPS = 8, DATA = 992, DW = 16
// Part of: bpc_decompressor
// Source: LATTE-CC, table I
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bpc_decompressor_bpc_rebuild (
  // the first word
  input  wire   [31:0] base_i,
  // the planes, the highest first, without that of the signs
  input  wire  [991:0] planes_i,
  // the line
  output wire [1023:0] line_o
);

  localparam P = 31;
  reg [31:0] word;
  reg [31:0] pair;
  reg [1023:0] sums;
  // sums of all words up to those of each group
  reg [1023:0] groups;
  reg [31:0] offset;

  always @(*) begin : comb_word
    integer g;
    integer h;
    integer i;
    integer j;
    word = base_i;
    pair = 32'd0;
    sums = 1024'd0;
    sums[31:0] = base_i;
    // the differences
    for (i = 0; i < 31; i = i + 1) begin
      for (j = 0; j < 32; j = j + 1) begin
        word[j] = planes_i[(31-j)*P+i];
      end
      sums[i*32+32 +: 32] = word;
    end
    // their sums inside each group
    groups = 1024'd0;
    for (g = 0; g < 8; g = g + 1) begin
      pair = sums[g*128 +: 32] + sums[g*128+32 +: 32];
      sums[g*128+32 +: 32] = pair;
      word = sums[g*128+64 +: 32] + sums[g*128+96 +: 32];
      sums[g*128+96 +: 32] = pair + word;
      word = pair + sums[g*128+64 +: 32];
      sums[g*128+64 +: 32] = word;
      groups[g*32 +: 32] = sums[g*128+96 +: 32];
    end
    // sums over the groups: in each step twice as many have all that is below them
    for (h = 0; h < 4; h = h + 1) begin
      word = groups[h*64+32 +: 32] + groups[h*64 +: 32];
      groups[h*64+32 +: 32] = word;
    end
    for (h = 0; h < 2; h = h + 1) begin
      for (g = 2; g < 4; g = g + 1) begin
        word = groups[h*128+g*32 +: 32] + groups[h*128+32 +: 32];
        groups[h*128+g*32 +: 32] = word;
      end
    end
    for (g = 4; g < 8; g = g + 1) begin
      word = groups[g*32 +: 32] + groups[127:96];
      groups[g*32 +: 32] = word;
    end
    // the words
    offset = 32'd0;
    for (g = 0; g < 8; g = g + 1) begin
      for (j = 0; j < 4; j = j + 1) begin
        word = sums[g*128+j*32 +: 32] + offset;
        sums[g*128+j*32 +: 32] = word;
      end
      offset = groups[g*32 +: 32];
    end
  end

  assign line_o = sums;

endmodule

`default_nettype wire
