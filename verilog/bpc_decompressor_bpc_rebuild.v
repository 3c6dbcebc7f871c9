// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor_bpc_rebuild
//
// Makes half of the bits of every word of a line, from halves of the base word and of the
// differences. The lower halves come first, then the upper halves with the carries of the lower
// ones.
//
// P is the number of bits of a plane, and GROUPS a quarter of the number of words. HALF is half of
// the line's bits, and SIXTEEN the number of bits of 16 planes. Sums are first made in groups of
// four words, then over the groups in a tree of TREE additions, then for the first three words of
// each group. For 32 words, the longest path has six additions. Each addition has its own carry.
//
// Parameters: HALF = 512, P = 31, GROUPS = 8, SIXTEEN = 496, TREE = 12
// Part of: bpc_decompressor
// Source: LATTE-CC, table I
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_decompressor_bpc_rebuild (
  // half of the first word
  input  wire  [15:0] base_i,
  // planes of these bits, the highest one first
  input  wire [495:0] planes_i,
  // carries into these halves
  input  wire  [64:0] carries_i,
  // half of each word
  output reg  [511:0] half_o,
  // carries out of these halves
  output reg   [64:0] carries_o
);

  localparam GROUPS = 8;
  localparam P = 31;
  localparam TREE = 12;
  reg [17:0] sum;
  reg [17:0] sum_2;
  reg [17:0] sum_3;
  reg [17:0] sum_4;

  always @(*) begin : comb_carries_o
    integer g;
    integer h;
    integer i;
    integer j;
    // operands with an extra bit below for the carry-in, and one above for the carry-out
    reg [17:0] left;
    reg [17:0] right;
    reg [15:0] word;
    reg [15:0] pair;
    // for each group, the sum of all words up to its end
    reg [511:0] groups;
    reg [17:0] left_2;
    reg [17:0] right_2;
    reg [17:0] left_3;
    reg [17:0] right_3;
    reg [17:0] left_4;
    reg [17:0] right_4;
    carries_o = 65'd0;
    half_o = 512'd0;
    half_o[15:0] = base_i;
    // differences of neighbouring words
    for (i = 0; i < 31; i = i + 1) begin
      for (j = 0; j < 16; j = j + 1) begin
        word[j] = planes_i[(15-j)*P+i];
      end
      half_o[i*16+16 +: 16] = word;
    end
    // prefix sums within each group
    groups = 512'd0;
    for (g = 0; g < 8; g = g + 1) begin
      left = {1'b0, half_o[g*64 +: 16], 1'b1};
      right = 18'd0;
      right[0] = carries_i[g*4];
      right[16:1] = half_o[g*64+16 +: 16];
      sum = left + right;
      carries_o[g*4] = sum[17];
      pair = sum[16:1];
      half_o[g*64+16 +: 16] = pair;
      left_2 = {1'b0, half_o[g*64+32 +: 16], 1'b1};
      right_2 = 18'd0;
      right_2[0] = carries_i[g*4+1];
      right_2[16:1] = half_o[g*64+48 +: 16];
      sum_2 = left_2 + right_2;
      carries_o[g*4+1] = sum_2[17];
      word = sum_2[16:1];
      left_3 = {1'b0, pair, 1'b1};
      right_3 = 18'd0;
      right_3[0] = carries_i[g*4+2];
      right_3[16:1] = word;
      sum_3 = left_3 + right_3;
      carries_o[g*4+2] = sum_3[17];
      half_o[g*64+48 +: 16] = sum_3[16:1];
      groups[g*16 +: 16] = sum_3[16:1];
      left_4 = {1'b0, pair, 1'b1};
      right_4 = 18'd0;
      right_4[0] = carries_i[g*4+3];
      right_4[16:1] = half_o[g*64+32 +: 16];
      sum_4 = left_4 + right_4;
      carries_o[g*4+3] = sum_4[17];
      half_o[g*64+32 +: 16] = sum_4[16:1];
    end
    // prefix sums over the groups, in steps of 1, 2 and 4 groups
    for (h = 0; h < 4; h = h + 1) begin
      left = {1'b0, groups[h*32+16 +: 16], 1'b1};
      right = 18'd0;
      right[0] = carries_i[GROUPS*4+h*2];
      right[16:1] = groups[h*32 +: 16];
      sum = left + right;
      carries_o[GROUPS*4+h*2] = sum[17];
      groups[h*32+16 +: 16] = sum[16:1];
    end
    for (h = 0; h < 2; h = h + 1) begin
      for (g = 2; g < 4; g = g + 1) begin
        left = {1'b0, groups[h*64+g*16 +: 16], 1'b1};
        right = 18'd0;
        right[0] = carries_i[GROUPS*4+h*4+g*2-3];
        right[16:1] = groups[h*64+16 +: 16];
        sum = left + right;
        carries_o[GROUPS*4+h*4+g*2-3] = sum[17];
        groups[h*64+g*16 +: 16] = sum[16:1];
      end
    end
    for (g = 4; g < 8; g = g + 1) begin
      left = {1'b0, groups[g*16 +: 16], 1'b1};
      right = 18'd0;
      right[0] = carries_i[GROUPS*4+GROUPS+g-4];
      right[16:1] = groups[63:48];
      sum = left + right;
      carries_o[GROUPS*4+GROUPS+g-4] = sum[17];
      groups[g*16 +: 16] = sum[16:1];
    end
    // words of the line
    for (g = 1; g < 8; g = g + 1) begin
      for (j = 0; j < 3; j = j + 1) begin
        left = {1'b0, half_o[g*64+j*16 +: 16], 1'b1};
        right = 18'd0;
        right[0] = carries_i[GROUPS*4+TREE+g*3-3+j];
        right[16:1] = groups[g*16-16 +: 16];
        sum = left + right;
        carries_o[GROUPS*4+TREE+g*3-3+j] = sum[17];
        half_o[g*64+j*16 +: 16] = sum[16:1];
      end
      word = groups[g*16 +: 16];
      half_o[g*64+48 +: 16] = word;
    end
  end

  // unused bits
  wire unused = &{1'b0, sum[0], sum_2[0], sum_3[0], sum_4[0]};

endmodule

`default_nettype wire
