// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_merger
//
// Joins the two lightest items (symbols or nodes) to a node, until one item is left.
//
// The merger takes one item per cycle. It makes nodes in the order of their weight, so that nodes
// need no sorting. At equal weight, a symbol is taken before a node, which minimizes the longest
// code. The escape is taken before an entry of equal weight. INDEX is the width of an index in
// bits, and COUNT is one more. QUEUE is one less, because the number of waiting nodes is at most
// half the number of symbols. WEIGHT is the width of the heaviest node's weight.
//
// Parameters: INDEX = 10, COUNT = 11, QUEUE = 9, WEIGHT = 23
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_code_builder_merger (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // starts the merge; at least one entry must exist
  input  wire        start_i,
  // number of entries, one less than the number of symbols
  input  wire [10:0] size_i,
  // weight of the escape symbol
  input  wire [13:0] escape_weight_i,
  // count of the lightest entry that is left
  input  wire [11:0] count_i,
  // takes that entry
  output wire        take_entry_o,
  // a node is made
  output wire        node_valid_o,
  // number of the node
  output wire  [9:0] node_o,
  // number of symbols among the two items of the node
  output reg   [1:0] symbols_o,
  // the last node is made in this cycle
  output wire        done_o
);

  wire any_entry;
  wire take_escape;
  wire [22:0] symbol_weight;
  wire [22:0] node_weight;
  wire take_symbol;
  wire [22:0] item_weight;
  wire [22:0] sum;
  wire [10:0] taken_next;
  wire make;
  wire done;
  wire [22:0] nodes_read_data;
  reg busy_q;
  reg [10:0] entries_left_q;
  reg escape_left_q;
  // number of nodes made so far, and number of nodes taken so far
  reg [10:0] made_q;
  reg [10:0] taken_q;
  // the first item of the next node is taken
  reg half_q;
  // that item is a symbol
  reg half_symbol_q;
  // weight of that item, or weight of the last node
  reg [22:0] weight_q;
  // the only waiting node was written in the previous cycle: bypass the memory
  reg bypass_q;

  selvedge_sync_mem #(.A (9), .BITS (23)) nodes (
    .clk_i           (clk_i),
    .write_i         (make),
    .write_address_i (made_q[8:0]),
    .write_data_i    (sum),
    .read_address_i  (taken_next[8:0]),
    .read_data_o     (nodes_read_data)
  );

  // the lightest remaining symbol: the escape or an entry
  assign any_entry = |entries_left_q;
  assign take_escape = escape_left_q & (~any_entry | (escape_weight_i <= {2'd0, count_i}));
  assign symbol_weight = take_escape ? {9'd0, escape_weight_i} : {11'd0, count_i};
  // the lighter of that symbol and the oldest waiting node
  assign node_weight = bypass_q ? weight_q : nodes_read_data;
  assign take_symbol = (any_entry | escape_left_q) & ((taken_q == made_q) | (symbol_weight <=
      node_weight));
  assign item_weight = take_symbol ? symbol_weight : node_weight;
  assign take_entry_o = busy_q & take_symbol & ~take_escape;
  assign taken_next = taken_q + {10'd0, busy_q & ~take_symbol};
  // every second item forms a node with the previous item
  assign sum = weight_q + item_weight;
  assign make = busy_q & half_q;
  assign node_valid_o = make;
  assign node_o = made_q[9:0];

  always @(*) begin
    symbols_o = 2'd1;
    if (half_symbol_q == take_symbol) begin
      symbols_o = 2'd0;
      if (take_symbol) begin
        symbols_o = 2'd2;
      end
    end
  end

  assign done = make & ((made_q + 11'd1) == size_i);

  assign done_o = done;

  always @(posedge clk_i) begin
    bypass_q <= make & (taken_next == made_q);
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
    end else begin
      if (busy_q) begin
        busy_q <= ~done;
      end
      if (start_i) begin
        busy_q <= 1'b1;
      end
    end
  end

  always @(posedge clk_i) begin
    if (busy_q) begin
      half_q <= ~half_q;
      half_symbol_q <= take_symbol;
      weight_q <= item_weight;
      taken_q <= taken_next;
    end
    if (make) begin
      weight_q <= sum;
      made_q <= made_q + 11'd1;
    end
    if (busy_q & take_symbol) begin
      if (take_escape) begin
        escape_left_q <= 1'b0;
      end else begin
        entries_left_q <= entries_left_q - 11'd1;
      end
    end
    if (start_i) begin
      entries_left_q <= size_i;
      escape_left_q <= 1'b1;
      made_q <= 11'd0;
      taken_q <= 11'd0;
      half_q <= 1'b0;
    end
  end

endmodule

`default_nettype wire
