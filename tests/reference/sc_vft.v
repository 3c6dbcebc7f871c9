// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of sc_vft with 1,024 entries, written by hand from the description of the block.

`default_nettype none

module sc_vft (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        train_valid_i,
  input  wire [31:0] train_value_i,
  input  wire        read_i,
  input  wire  [9:0] read_index_i,
  input  wire        clear_i,
  output wire        train_ready_o,
  output reg         read_valid_o,
  output reg  [31:0] read_value_o,
  output reg  [11:0] read_count_o,
  output reg  [13:0] lost_o,
  output reg         enough_o
);

  // ---------------------------------------------------------------- first cycle: read a set
  assign train_ready_o = !read_i && !clear_i;
  wire [7:0] fold = train_value_i[31:24] ^ train_value_i[23:16] ^ train_value_i[15:8] ^ train_value_i[7:0];
  wire [7:0] next_set = read_i ? read_index_i[9:2] : fold;

  reg training, reading, bypass;
  reg [7:0] set;
  reg [23:0] tag;
  reg [1:0] read_way;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {training, reading, bypass} <= 0;
    else begin
      training <= train_valid_i && train_ready_o;
      reading <= read_i;
      bypass <= training && next_set == set;
    end

  // Four ways: a tag above a count.
  reg [143:0] table_memory [0:255];
  reg [143:0] stored, last;
  wire [143:0] changed;
  always @(posedge clk_i) begin
    set <= next_set;
    tag <= train_value_i[31:8];
    read_way <= read_index_i[1:0];
    stored <= table_memory[next_set];
    if (training) begin
      table_memory[set] <= changed;
      last <= changed;
    end
  end

  reg [255:0] used;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) used <= 0;
    else if (clear_i) used <= 0;
    else if (training) used[set] <= 1;
  wire known = used[set];
  wire [143:0] ways = bypass ? last : stored;

  // ---------------------------------------------------------------- second cycle: count a word
  wire [11:0] c0 = known ? ways[11:0] : 12'd0;
  wire [11:0] c1 = known ? ways[47:36] : 12'd0;
  wire [11:0] c2 = known ? ways[83:72] : 12'd0;
  wire [11:0] c3 = known ? ways[119:108] : 12'd0;
  wire [3:0] hit = {c3 != 0 && ways[143:120] == tag, c2 != 0 && ways[107:84] == tag, c1 != 0 && ways[71:48] == tag,
                    c0 != 0 && ways[35:12] == tag};
  wire miss = hit == 0;
  wire full = (hit[0] && &c0) || (hit[1] && &c1) || (hit[2] && &c2) || (hit[3] && &c3);

  // The smallest count is replaced; the lowest way of several.
  wire low = c1 < c0;
  wire high = c3 < c2;
  wire [11:0] m0 = low ? c1 : c0;
  wire [11:0] m1 = high ? c3 : c2;
  wire upper = m1 < m0;
  wire [3:0] replace = {4{miss}} & {upper && high, upper && !high, !upper && low, !upper && !low};

  function [35:0] next(input [23:0] old_tag, input [11:0] count, input is_hit, input is_replaced, input [23:0] new_tag,
                       input halve);
    next = is_replaced ? {new_tag, 12'd1} : {old_tag, (halve ? count >> 1 : count) + {11'd0, is_hit}};
  endfunction

  assign changed = {next(ways[143:120], c3, hit[3], replace[3], tag, full), next(ways[107:84], c2, hit[2], replace[2], tag, full),
                    next(ways[71:48], c1, hit[1], replace[1], tag, full), next(ways[35:12], c0, hit[0], replace[0], tag, full)};

  wire [14:0] lost = lost_o + (miss ? (upper ? m1 : m0) : 12'd0);
  reg [7:0] words;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {lost_o, words, enough_o} <= 0;
    else if (clear_i) {lost_o, words, enough_o} <= 0;
    else if (training) begin
      lost_o <= lost[14] ? 14'h3fff : lost[13:0];
      if (!enough_o) {enough_o, words} <= words + 9'd1;
    end

  // ---------------------------------------------------------------- second cycle: reply to a read
  wire [35:0] entry = ways[read_way * 36 +: 36];
  wire exists = known && entry[11:0] != 0;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) read_valid_o <= 0;
    else read_valid_o <= reading;
  always @(posedge clk_i)
    if (reading) begin
      read_count_o <= exists ? entry[11:0] : 12'd0;
      read_value_o <= exists ? {entry[35:12], set ^ entry[35:28] ^ entry[27:20] ^ entry[19:12]} : 32'd0;
    end

endmodule

`default_nettype wire
