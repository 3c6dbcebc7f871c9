// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_lengths
//
// Keeps a bit per item of every list, and finds from them where in the order each code length begins.
//
// Of the last list the first 2 n - 2 items are taken; of every list before, the items within the packages
// that are taken. A symbol's length is the number of lists in which it is taken. COUNT are the bits that hold
// the number of entries, ITEMS one more, WORD and ADDRESS those of a word's number within a list and in all
// of them.
//
// Parameters: COUNT = 11, ITEMS = 12, WORD = 6, ADDRESS = 10
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_code_builder_lengths (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // an item is listed
  input  wire        item_valid_i,
  // it is a symbol
  input  wire        symbol_i,
  // number of its list
  input  wire  [3:0] list_i,
  // number of the item
  input  wire [10:0] item_i,
  // it is the last one of its list
  input  wire        last_i,
  // count, now that all lists are there
  input  wire        start_i,
  // number of entries, which is one less than symbols
  input  wire [10:0] size_i,
  // the count ends with this cycle
  output wire        done_o,
  // a code length, modulo 16
  input  wire  [3:0] length_i,
  // place in the order from which on codes are longer than that
  output wire [10:0] longer_from_o
);

  localparam [3:0] LAST_LIST = 4'd15;
  reg [31:0] next_word;
  wire [9:0] write_address;
  wire [9:0] read_address;
  wire [10:0] words;
  reg [10:0] symbols_now;
  reg [11:0] packages;
  wire list_ends;
  wire items_write_i;
  wire [9:0] items_write_address_i;
  wire [9:0] items_read_address_i;
  wire [31:0] items_read_data_o;
  // bits of items that wait for their word to be full
  reg [31:0] word_q;
  wire [3:0] longer_from_write_address_i;
  wire [10:0] longer_from_write_data_i;
  reg busy_d;
  reg busy_q;
  reg [3:0] list_d;
  reg [3:0] list_q;
  reg [10:0] position_d;
  reg [10:0] position_q;
  reg [11:0] remaining_d;
  // items that are taken of this list and lie in words that were not counted yet
  reg [11:0] remaining_q;
  reg [11:0] taken_d;
  // items that are taken of this list
  reg [11:0] taken_q;
  reg [10:0] symbols_d;
  reg [10:0] symbols_q;
  wire [5:0] ones_ones_o;

  selvedge_sync_mem #(.A (10), .BITS (32)) items (
    .clk_i           (clk_i),
    .write_i         (items_write_i),
    .write_address_i (items_write_address_i),
    .write_data_i    (next_word),
    .read_address_i  (items_read_address_i),
    .read_data_o     (items_read_data_o)
  );

  selvedge_mem #(.A (4), .BITS (11)) longer_from (
    .clk_i           (clk_i),
    .write_i         (list_ends),
    .write_address_i (longer_from_write_address_i),
    .write_data_i    (longer_from_write_data_i),
    .read_address_i  (length_i),
    .read_data_o     (longer_from_o)
  );

  sc_code_builder_ones_below ones (
    .word_i      (items_read_data_o),
    .remaining_i (remaining_q),
    .ones_o      (ones_ones_o)
  );

  always @(*) begin
    busy_d = busy_q;
    list_d = list_q;
    position_d = position_q;
    remaining_d = remaining_q;
    taken_d = taken_q;
    symbols_now = symbols_q;
    if (|position_q) begin
      symbols_now = symbols_q + {5'd0, ones_ones_o};
      remaining_d = remaining_q - 12'd32;
      if (remaining_q < 12'd32) begin
        remaining_d = 12'd0;
      end
    end
    symbols_d = symbols_now;
    if (busy_q) begin
      position_d = position_q + 11'd1;
    end
    packages = taken_q - {1'b0, symbols_now};
    if (list_ends) begin
      busy_d = |list_q;
      list_d = list_q - 4'd1;
      position_d = 11'd0;
      symbols_d = 11'd0;
      taken_d = packages << 1;
      remaining_d = packages << 1;
    end
    if (start_i) begin
      busy_d = 1'b1;
      list_d = LAST_LIST;
      position_d = 11'd0;
      symbols_d = 11'd0;
      taken_d = {1'b0, size_i} << 1;
      remaining_d = {1'b0, size_i} << 1;
    end
  end

  // bits of items go into the memory a word at a time
  always @(*) begin
    next_word = word_q;
    next_word[item_i[4:0]] = symbol_i;
  end

  assign items_write_i = item_valid_i & (last_i | (&item_i[4:0]));
  assign write_address = {4'd0, item_i[10:5]};
  assign items_write_address_i = {list_i, write_address[5:0]};
  // the last list comes first; every list has as many words as hold 2 n - 2 items
  assign read_address = {4'd0, position_q[5:0]};
  assign items_read_address_i = {list_q, read_address[5:0]};
  // all taken items but the symbols are packages: twice as many items are taken of the list before
  assign words = (size_i + 11'd15) >> 4;
  assign list_ends = busy_q & (position_q == words);
  assign longer_from_write_address_i = LAST_LIST - list_q;
  assign longer_from_write_data_i = (size_i + 11'd1) - symbols_now;
  assign done_o = list_ends & !(|list_q);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      list_q <= 4'd0;
      position_q <= 11'd0;
      remaining_q <= 12'd0;
      taken_q <= 12'd0;
      symbols_q <= 11'd0;
    end else begin
      busy_q <= busy_d;
      list_q <= list_d;
      position_q <= position_d;
      remaining_q <= remaining_d;
      taken_q <= taken_d;
      symbols_q <= symbols_d;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      word_q <= 32'd0;
    end else if (item_valid_i) begin
      word_q <= next_word;
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, write_address[9:6], read_address[9:6]};

endmodule

`default_nettype wire
