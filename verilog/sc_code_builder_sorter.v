// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_sorter
//
// Sorts entries by rising count. Entries of equal count keep the order in which they were put in.
//
// The entries form a linked list, so that a pass moves no entry. A pass walks along the chain and
// appends each entry to one of sixteen buckets. Then it joins the buckets, one per cycle. The link
// of an entry is written only after the pass has followed it. The first pass takes place while
// entries are put in. INDEX is the width of an index in bits, COUNT is one more.
//
// Parameters: INDEX = 10, COUNT = 11
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_code_builder_sorter (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // removes all entries
  input  wire        clear_i,
  // puts an entry in
  input  wire        put_i,
  // count of that entry
  input  wire [11:0] count_i,
  // index of that entry
  input  wire  [9:0] index_i,
  // starts the sort; at least one entry must be there
  input  wire        sort_i,
  // points the link of the shown entry to the entry that was turned before, and shows the next
  // entry
  input  wire        turn_i,
  // shows the entry that was turned last
  input  wire        rewind_i,
  // shows the next entry
  input  wire        next_i,
  // number of entries
  output wire [10:0] size_o,
  // the sort is done; from the next cycle on, the first entry is shown
  output wire        done_o,
  // count of the shown entry
  output wire [11:0] count_o,
  // index of the current entry
  output wire  [9:0] index_o
);

  wire put;
  reg [9:0] index;
  reg [3:0] digit;
  wire [3:0] slot;
  wire is_filled;
  reg [9:0] address;
  wire [11:0] counts_read_data;
  reg links_write;
  reg [9:0] links_write_address;
  reg [9:0] links_write_data;
  wire [9:0] links_read_data;
  wire heads_write;
  wire [9:0] heads_read_data;
  wire [9:0] tails_read_data;
  reg [15:0] filled_d;
  // buckets that have entries
  reg [15:0] filled_q;
  reg [10:0] size_d;
  reg [10:0] size_q;
  reg [1:0] pass_d;
  // number of passes that are done
  reg [1:0] pass_q;
  reg joining_d;
  reg joining_q;
  reg [3:0] bucket_d;
  reg [3:0] bucket_q;
  reg started_d;
  // the new chain has an entry
  reg started_q;
  reg joined_d;
  // the new chain is complete, and its first entry is read
  reg joined_q;
  // the current entry moves into its bucket
  reg moving_q;
  // entries that this pass has not moved yet
  reg [10:0] left_q;
  reg [9:0] head_d;
  reg [9:0] head_q;
  reg [9:0] last_d;
  // last entry of the chain, or the last entry whose link was reversed
  reg [9:0] last_q;
  // index of the current entry
  reg [9:0] here_q;

  selvedge_sync_mem #(.A (10), .BITS (12)) counts (
    .clk_i           (clk_i),
    .write_i         (put_i),
    .write_address_i (index_i),
    .write_data_i    (count_i),
    .read_address_i  (address),
    .read_data_o     (counts_read_data)
  );

  selvedge_sync_mem #(.A (10), .BITS (10)) links (
    .clk_i           (clk_i),
    .write_i         (links_write),
    .write_address_i (links_write_address),
    .write_data_i    (links_write_data),
    .read_address_i  (address),
    .read_data_o     (links_read_data)
  );

  selvedge_mem #(.A (4), .BITS (10)) heads (
    .clk_i           (clk_i),
    .write_i         (heads_write),
    .write_address_i (digit),
    .write_data_i    (index),
    .read_address_i  (slot),
    .read_data_o     (heads_read_data)
  );

  selvedge_mem #(.A (4), .BITS (10)) tails (
    .clk_i           (clk_i),
    .write_i         (put),
    .write_address_i (digit),
    .write_data_i    (index),
    .read_address_i  (slot),
    .read_data_o     (tails_read_data)
  );

  // append an entry to its bucket
  assign put = put_i | moving_q;

  always @(*) begin
    if (moving_q) begin
      index = here_q;
      digit = counts_read_data[7:4];
      if (pass_q[1]) begin
        digit = counts_read_data[11:8];
      end
    end else begin
      index = index_i;
      digit = count_i[3:0];
    end
  end

  assign slot = joining_q ? bucket_q : digit;
  assign is_filled = filled_q[slot];

  always @(*) begin
    filled_d = filled_q;
    pass_d = pass_q;
    joining_d = joining_q;
    bucket_d = bucket_q;
    started_d = started_q;
    head_d = head_q;
    last_d = last_q;
    size_d = size_q + {10'd0, put_i};
    if (put) begin
      filled_d = filled_q;
      filled_d[slot] = 1'b1;
    end
    // write a link: append to a bucket, join two chains, or reverse the chain
    links_write = (put & is_filled) | turn_i;
    links_write_address = tails_read_data;
    links_write_data = index;
    if (joining_q) begin
      links_write = is_filled & started_q;
      links_write_address = last_q;
      links_write_data = heads_read_data;
    end
    if (turn_i) begin
      links_write_address = here_q;
      links_write_data = last_q;
      last_d = here_q;
    end
    // a pass ends when the buckets are joined, lowest digit first
    joined_d = 1'b0;
    if (joining_q) begin
      bucket_d = bucket_q + 4'd1;
      if (is_filled) begin
        started_d = 1'b1;
        last_d = tails_read_data;
        if (!started_q) begin
          head_d = heads_read_data;
        end
      end
      if (&bucket_q) begin
        joining_d = 1'b0;
        joined_d = 1'b1;
        filled_d = 16'd0;
        pass_d = pass_q + 2'd1;
      end
    end
    if (sort_i | (moving_q & ~(|left_q))) begin
      joining_d = 1'b1;
      bucket_d = 4'd0;
      started_d = 1'b0;
    end
    if (clear_i) begin
      filled_d = 16'd0;
      size_d = 11'd0;
      pass_d = 2'd0;
    end
  end

  assign heads_write = put & ~is_filled;
  assign done_o = joined_q & (&pass_q);

  // current entry of the next cycle
  always @(*) begin
    address = here_q;
    if (moving_q | turn_i | next_i) begin
      address = links_read_data;
    end
    if (joined_q) begin
      address = head_q;
    end
    if (rewind_i) begin
      address = last_q;
    end
  end

  assign size_o = size_q;
  assign count_o = counts_read_data;
  assign index_o = here_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      joining_q <= 1'b0;
      joined_q <= 1'b0;
    end else begin
      joining_q <= joining_d;
      joined_q <= joined_d;
    end
  end

  always @(posedge clk_i) begin
    here_q <= address;
    filled_q <= filled_d;
    size_q <= size_d;
    pass_q <= pass_d;
    bucket_q <= bucket_d;
    started_q <= started_d;
    head_q <= head_d;
    last_q <= last_d;
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      moving_q <= 1'b0;
    end else begin
      if (joined_q) begin
        moving_q <= ~(&pass_q);
      end
      if (moving_q & ~(|left_q)) begin
        moving_q <= 1'b0;
      end
    end
  end

  always @(posedge clk_i) begin
    if (joined_q) begin
      left_q <= size_q - 11'd1;
    end
    if (moving_q) begin
      left_q <= left_q - 11'd1;
    end
  end

endmodule

`default_nettype wire
