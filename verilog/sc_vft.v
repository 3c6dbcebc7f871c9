// sc_vft
//
// Counts how often 32-bit values occur, for the codes of statistical compression.
//
// LATTE-CC, section IV.C.2. INDEX are the bits of an entry's index, A those of its set, SLICES the slices of
// a value whose XOR is the set; TAG, ENTRY, SET and K are those of a set's entries.
//
// Parameters: entries = 1024
// In this file: INDEX = 10, A = 8, SLICES = 4, TAG = 24, ENTRY = 36, SET = 144, K = 3
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_vft (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: nothing is counted
  input  wire        rst_ni,
  // a word is offered for counting
  input  wire        train_valid_i,
  // the word
  input  wire [31:0] train_value_i,
  // read an entry; goes before a word
  input  wire        read_i,
  // which entry
  input  wire  [9:0] read_index_i,
  // forget everything, words in flight included
  input  wire        clear_i,
  // the word is taken
  output wire        train_ready_o,
  // the entry asked for two cycles ago is given
  output wire        read_valid_o,
  // its value; zero if there is no entry
  output wire [31:0] read_value_o,
  // its count; zero if there is no entry
  output wire [11:0] read_count_o,
  // counts of all replaced entries together; saturates
  output wire [13:0] lost_o
);

  localparam A = 8;
  localparam ENTRY = 36;
  reg [7:0] next_set;
  reg [143:0] content;
  reg [35:0] entry;
  // the value of the entry that is read: its tag, and the lowest slice, which follows from the set
  reg [31:0] value;
  wire [23:0] upper;
  reg [7:0] lowest;
  wire [14:0] sum;
  wire [143:0] memory_read_data_o;
  wire [7:0] valid_address_i;
  wire [0:0] valid_bit_o;
  // a word is in the second stage
  reg training_q;
  // a read is in the second stage
  reg reading_q;
  reg [7:0] set_q;
  reg [23:0] tag_q;
  reg [1:0] way_q;
  // the set was written when the memory was read: its new content is in `written`
  reg forward_q;
  reg [143:0] written_q;
  wire update_valid_i;
  wire [143:0] update_set_o;
  wire [11:0] update_lost_o;
  reg [13:0] lost_q;
  reg read_valid_q;
  reg [31:0] read_value_q;
  reg [11:0] read_count_q;

  selvedge_sync_mem #(.A (8), .BITS (144)) memory (
    .clk_i           (clk_i),
    .write_i         (training_q),
    .write_address_i (set_q),
    .write_data_i    (update_set_o),
    .read_address_i  (next_set),
    .read_data_o     (memory_read_data_o)
  );

  selvedge_bit_array_1_8 valid (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .clear_i   (clear_i),
    .set_i     (training_q),
    .address_i (valid_address_i),
    .bit_o     (valid_bit_o)
  );

  sc_vft_set_update update (
    .valid_i (update_valid_i),
    .set_i   (content),
    .tag_i   (tag_q),
    .set_o   (update_set_o),
    .lost_o  (update_lost_o)
  );

  // first stage: one operation per cycle reads its set, and learns whether it is being written
  assign train_ready_o = !read_i & !clear_i;

  always @(*) begin : comb_next_set
    integer slice;
    if (read_i) begin
      next_set = read_index_i[9:2];
    end else begin
      next_set = 8'd0;
      for (slice = 0; slice < 4; slice = slice + 1) begin
        next_set = next_set ^ train_value_i[slice*A +: 8];
      end
    end
  end

  // second stage: a word changes its set
  always @(*) begin
    content = memory_read_data_o;
    if (forward_q) begin
      content = written_q;
    end
  end

  assign valid_address_i = set_q;
  assign update_valid_i = valid_bit_o;
  assign sum = {1'b0, lost_q} + {3'd0, update_lost_o};

  // second stage: a read picks its way
  always @(*) begin : comb_entry
    integer way;
    entry = content[35:0];
    for (way = 1; way < 4; way = way + 1) begin
      if (way_q == way[1:0]) begin
        entry = content[way*ENTRY +: 36];
      end
    end
  end

  assign upper = entry[35:12];

  always @(*) begin : comb_lowest
    integer slice;
    lowest = set_q;
    for (slice = 1; slice < 4; slice = slice + 1) begin
      lowest = lowest ^ upper[(slice-1)*A +: 8];
    end
  end

  always @(*) begin
    value = 32'd0;
    value[7:0] = lowest;
    value[31:8] = upper;
  end

  assign read_valid_o = read_valid_q;
  assign read_value_o = read_value_q;
  assign read_count_o = read_count_q;
  assign lost_o = lost_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      training_q <= 1'b0;
      reading_q <= 1'b0;
      forward_q <= 1'b0;
      read_valid_q <= 1'b0;
    end else begin
      training_q <= train_valid_i & !read_i & !clear_i;
      reading_q <= read_i;
      forward_q <= training_q & (next_set == set_q);
      read_valid_q <= reading_q;
    end
  end

  always @(posedge clk_i) begin
    set_q <= next_set;
    tag_q <= train_value_i[31:8];
    way_q <= read_index_i[1:0];
  end

  always @(posedge clk_i) begin
    if (training_q) begin
      written_q <= update_set_o;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lost_q <= 14'd0;
    end else if (clear_i) begin
      lost_q <= 14'd0;
    end else if (training_q) begin
      lost_q <= sum[13:0];
      if (sum[14]) begin
        lost_q <= {14{1'b1}};
      end
    end
  end

  always @(posedge clk_i) begin
    if (reading_q) begin
      read_count_q <= 12'd0;
      read_value_q <= 32'd0;
      if (valid_bit_o & (|entry[11:0])) begin
        read_count_q <= entry[11:0];
        read_value_q <= value;
      end
    end
  end

endmodule

`default_nettype wire
