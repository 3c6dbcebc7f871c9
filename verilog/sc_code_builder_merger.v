// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_merger
//
// Makes the lists of package-merge: each merges the symbols with the packages, two items each, of the list
// before.
//
// One item per cycle, lightest first; a symbol goes before a package of its weight, the escape before an
// entry of its weight. A list ends with item 2 n - 2 of n symbols, or when it has no more. INDEX are the bits
// of an index, COUNT one more, WEIGHT those of the heaviest package.
//
// Parameters: INDEX = 10, COUNT = 11, WEIGHT = 27
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_code_builder_merger (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // make all lists; one entry at least
  input  wire        start_i,
  // number of entries, which is one less than symbols
  input  wire [10:0] size_i,
  // weight of the escape symbol
  input  wire [13:0] escape_weight_i,
  // place of the entry that is wanted in the next cycle; entries lie in falling order
  output wire  [9:0] rank_o,
  // count of the entry that was wanted in the last cycle
  input  wire [11:0] count_i,
  // an item is listed
  output wire        item_valid_o,
  // it is a symbol
  output wire        symbol_o,
  // number of the list, from 0
  output wire  [3:0] list_o,
  // number of the item in its list, from 0
  output wire [10:0] item_o,
  // the item is the last one of its list
  output wire        last_o,
  // the last list ends with this cycle
  output wire        done_o
);

  localparam [3:0] LAST_LIST = 4'd15;
  wire active;
  wire any_entry;
  wire take_escape;
  reg [26:0] symbol_weight;
  wire any_package;
  wire take_symbol;
  reg [26:0] weight;
  reg [10:0] entries_next;
  wire [10:0] taken_next;
  wire [10:0] written_next;
  reg [10:0] last_item;
  wire last;
  wire packages_write_i;
  wire [10:0] packages_write_address_i;
  wire [26:0] packages_write_data_i;
  wire [10:0] packages_read_address_i;
  wire [26:0] packages_read_data_o;
  reg busy_q;
  // the first entry and the first package of a list are being read
  reg priming_q;
  reg [3:0] list_q;
  reg [10:0] item_q;
  // entries that this list still has to take
  reg [10:0] entries_left_q;
  reg escape_left_q;
  // the half of the memory that is read
  reg bank_q;
  // packages of the list before, and those of them that were taken
  reg [10:0] packages_made_q;
  reg [10:0] packages_taken_q;
  // packages of this list so far
  reg [10:0] packages_written_q;
  // weight of the last item, which the next one may be packaged with
  reg [26:0] last_weight_q;

  selvedge_sync_mem #(.A (11), .BITS (27)) packages (
    .clk_i           (clk_i),
    .write_i         (packages_write_i),
    .write_address_i (packages_write_address_i),
    .write_data_i    (packages_write_data_i),
    .read_address_i  (packages_read_address_i),
    .read_data_o     (packages_read_data_o)
  );

  // the lightest symbol that is left: the escape or an entry
  assign active = busy_q & !priming_q;
  assign any_entry = |entries_left_q;
  assign take_escape = escape_left_q & (!any_entry | (escape_weight_i <= {2'd0, count_i}));

  always @(*) begin
    if (take_escape) begin
      symbol_weight = {13'd0, escape_weight_i};
    end else begin
      symbol_weight = {15'd0, count_i};
    end
  end

  // the lighter one of that symbol and of the lightest package that is left
  assign any_package = packages_taken_q != packages_made_q;
  assign take_symbol = (any_entry | escape_left_q) & (!any_package | (symbol_weight <= packages_read_data_o));

  always @(*) begin
    if (take_symbol) begin
      weight = symbol_weight;
    end else begin
      weight = packages_read_data_o;
    end
  end

  always @(*) begin
    entries_next = entries_left_q;
    if (active & take_symbol & !take_escape) begin
      entries_next = entries_left_q - 11'd1;
    end
  end

  assign taken_next = packages_taken_q + {10'd0, active & !take_symbol};
  assign rank_o = entries_next[9:0] - 10'd1;
  assign packages_read_address_i = {bank_q, taken_next[9:0]};
  // every second item makes a package with the item before
  assign written_next = packages_written_q + {10'd0, active & item_q[0]};
  assign packages_write_i = active & item_q[0];
  assign packages_write_address_i = {!bank_q, packages_written_q[9:0]};
  assign packages_write_data_i = last_weight_q + weight;

  // n symbols and their packages, but no more than 2 n - 2 items; a full set of packages is n - 1
  always @(*) begin
    last_item = size_i + packages_made_q;
    if (packages_made_q == size_i) begin
      last_item = last_item - 11'd1;
    end
  end

  assign last = item_q == last_item;
  assign item_valid_o = active;
  assign symbol_o = take_symbol;
  assign list_o = list_q;
  assign item_o = item_q;
  assign last_o = last;
  assign done_o = active & last & (list_q == LAST_LIST);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      priming_q <= 1'b0;
      item_q <= 11'd0;
      entries_left_q <= 11'd0;
      escape_left_q <= 1'b0;
      packages_taken_q <= 11'd0;
      packages_written_q <= 11'd0;
      last_weight_q <= 27'd0;
    end else begin
      priming_q <= 1'b0;
      if (active) begin
        item_q <= item_q + 11'd1;
        last_weight_q <= weight;
        entries_left_q <= entries_next;
        escape_left_q <= escape_left_q & !(take_symbol & take_escape);
        packages_taken_q <= taken_next;
        packages_written_q <= written_next;
      end
      if (start_i | (active & last)) begin
        busy_q <= start_i | (list_q != LAST_LIST);
        priming_q <= 1'b1;
        item_q <= 11'd0;
        entries_left_q <= size_i;
        escape_left_q <= 1'b1;
        packages_taken_q <= 11'd0;
        packages_written_q <= 11'd0;
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      list_q <= 4'd0;
      bank_q <= 1'b0;
      packages_made_q <= 11'd0;
    end else begin
      if (active & last) begin
        bank_q <= !bank_q;
        list_q <= list_q + 4'd1;
        packages_made_q <= written_next;
      end
      if (start_i) begin
        list_q <= 4'd0;
        packages_made_q <= 11'd0;
      end
    end
  end

endmodule

`default_nettype wire
