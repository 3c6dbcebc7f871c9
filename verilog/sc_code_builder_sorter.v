// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_sorter
//
// Sorts entries by falling count, entries of equal count by rising index.
//
// A pass moves all items from one half of the memory to the other: those whose bit is set fill it from the
// front, the others from the back. Both read in the order in which they were written keep the order of the
// pass before. The first pass is the writing of the entries. INDEX are the bits of an index, COUNT those that
// hold INDEX and one more, ITEM those of a count and an index.
//
// Parameters: INDEX = 10, COUNT = 11, ITEM = 22
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_code_builder_sorter (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // forget all items
  input  wire        clear_i,
  // put an item in
  input  wire        put_i,
  // its count
  input  wire [11:0] count_i,
  // its index
  input  wire  [9:0] index_i,
  // sort what was put in: one item at least
  input  wire        sort_i,
  // the place in the order that is read, once sorted
  input  wire  [9:0] rank_i,
  // number of items
  output wire [10:0] size_o,
  // the last pass ends with this cycle
  output reg         done_o,
  // count of the item at the place of the last cycle
  output wire [11:0] count_o,
  // index of that item
  output wire  [9:0] index_o
);

  reg [9:0] read_place;
  wire [9:0] read_front;
  reg [10:0] read_address;
  reg [21:0] item;
  wire [11:0] count;
  wire write;
  // the item's bit is set
  wire digit;
  reg [10:0] write_address;
  wire [10:0] front_sum;
  wire [10:0] back_sum;
  wire pass_ends;
  wire [10:0] memory_write_address_i;
  wire [10:0] memory_read_address_i;
  wire [21:0] memory_read_data_o;
  reg [10:0] size_q;
  reg sorting_d;
  reg sorting_q;
  // the bit of the counts that this pass looks at
  reg [3:0] pass_q;
  // the half of the memory that is read
  reg bank_q;
  // items at the front of that half
  reg [10:0] front_q;
  // items written to the front and to the back of the other half
  reg [10:0] next_front_q;
  reg [10:0] next_back_q;
  // place of the item that is read
  reg [10:0] place_q;
  // the item that was read is written
  reg moving_q;

  selvedge_sync_mem #(.A (11), .BITS (22)) memory (
    .clk_i           (clk_i),
    .write_i         (write),
    .write_address_i (memory_write_address_i),
    .write_data_i    (item),
    .read_address_i  (memory_read_address_i),
    .read_data_o     (memory_read_data_o)
  );

  always @(*) begin
    sorting_d = sorting_q;
    done_o = 1'b0;
    if (sort_i) begin
      sorting_d = 1'b1;
    end else if (pass_ends & (pass_q == 4'd11)) begin
      sorting_d = 1'b0;
      done_o = 1'b1;
    end
  end

  // read: places up to `front` lie in order from the front on, the others from the back on
  always @(*) begin
    if (sorting_q) begin
      read_place = place_q[9:0];
    end else begin
      read_place = rank_i;
    end
  end

  assign read_front = front_q[9:0];

  always @(*) begin
    read_address = {1'b0, read_place};
    if ({1'b0, read_place} >= front_q) begin
      read_address = {1'b0, read_front + ~read_place};
    end
  end

  assign memory_read_address_i = {bank_q, read_address[9:0]};

  // write: an entry that is put in, or the item that was read
  always @(*) begin
    item = memory_read_data_o;
    if (put_i) begin
      item = {12'd0, index_i};
      item[21:10] = count_i;
    end
  end

  assign count = item[21:10];
  assign digit = (pass_q <= 4'd11) ? count[pass_q] : 1'b0;
  assign write = put_i | moving_q;

  always @(*) begin
    write_address = next_front_q;
    if (!digit) begin
      write_address = ~next_back_q;
    end
  end

  assign memory_write_address_i = {!bank_q, write_address[9:0]};
  assign front_sum = next_front_q + {10'd0, write & digit};
  assign back_sum = next_back_q + {10'd0, write & !digit};
  // a pass ends as its last item is written: what was written is read next
  assign pass_ends = sorting_q & (place_q == size_q);
  assign size_o = size_q;
  assign count_o = memory_read_data_o[21:10];
  assign index_o = memory_read_data_o[9:0];

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      moving_q <= 1'b0;
      sorting_q <= 1'b0;
    end else begin
      moving_q <= sorting_q & (place_q != size_q);
      sorting_q <= sorting_d;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      size_q <= 11'd0;
      pass_q <= 4'd0;
      bank_q <= 1'b0;
      front_q <= 11'd0;
      next_front_q <= 11'd0;
      next_back_q <= 11'd0;
      place_q <= 11'd0;
    end else begin
      if (sorting_q) begin
        place_q <= place_q + 11'd1;
      end
      next_front_q <= front_sum;
      next_back_q <= back_sum;
      size_q <= size_q + {10'd0, put_i};
      if (sort_i | pass_ends) begin
        bank_q <= !bank_q;
        front_q <= front_sum;
        next_front_q <= 11'd0;
        next_back_q <= 11'd0;
        place_q <= 11'd0;
        pass_q <= pass_q + 4'd1;
      end
      if (clear_i) begin
        size_q <= 11'd0;
        next_front_q <= 11'd0;
        next_back_q <= 11'd0;
        pass_q <= 4'd0;
      end
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, read_address[10], write_address[10]};

endmodule

`default_nettype wire
