// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_vft
//
// Counts how often 32-bit values occur, for the codes of statistical compression.
//
// LATTE-CC, section IV.C.2. INDEX are the bits of an entry's index, A those of its set, SLICES the
// slices of a value whose XOR is the set; TAG, ENTRY, SET and K are those of a set's entries.
//
// Parameters: entries = 1024
// In this file: INDEX = 10, A = 8, SLICES = 4, TAG = 24, ENTRY = 36, SET = 144, K = 3
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control
//
// The value-frequency table (VFT) of SC: counts how often 32-bit values occur in the lines that it
// is trained with.
//
// Source: LATTE-CC, section IV.C.2: 1024 entries with 12-bit counters, filled during one
// experimental phase, then read.
//
//    train_value_i -> XOR of slices -+-> set memory -> [hit: count, halve if full] -> set memory
//                                    |                 [miss: replace the smallest] -> lost_o
//    read_index_i  ------------------/              -> [pick way] -> read_value_o, read_count_o
//
// Choices where the paper is silent:
// - The table is 4-way set-associative; the set of a value is the XOR of its slices (`set_of`). Of
//   the value only the rest, the tag, is kept.
// - A word whose value has an entry increments its count. If the count is full (4095), all four
//   counts of the set are halved first, rounded down; an entry whose count becomes zero is gone.
// - A word whose value has none replaces the entry with the smallest count of its set, the lowest
//   way of several; an entry that does not exist has count zero. The new entry counts 1.
// - `lost_o` adds up the counts of replaced entries, up to 16,383. So as long as no set was halved,
//   all counts and `lost_o` together are the number of words: `lost_o` is the weight of the escape
//   symbol. An experimental phase of 256 accesses has 8,192 words.
// - One word per cycle. Reading an entry goes before a word, which then waits. Words are counted in
//   the order in which they are taken, and a read sees all that were taken before it.
// - A clear takes effect at once: words in flight are forgotten too, and no word is taken in its
//   cycle.
//
// PARAMETERS
// - entries, default 1024, allowed 64, 1024: values that are counted
//
// PORTS AND TIMING
// All outputs come from registers but `train_ready_o`, which is low while `read_i` or `clear_i` is
// high. An index is a set (high bits) and a way (low two bits).
//
//   clk_i          __/--\__/--\__/--\__/--\__/--\__
//   train_valid_i  __/-----------\_________________
//   train_value_i  ==< A  >< B  >==================   one word per cycle, of one set or of several
//   read_i         ______________/-----\___________
//   train_ready_o  --------------\_____/-----------
//   read_valid_o   __________________________/-----   the entry with A and B counted
//   read_count_o   ==========================< n >=   keeps its value until the next read
//   lost_o         ==========================< m >=   two cycles after the word
//
// STORAGE
// The paper counts 5.5 KB, 1024 entries of 32 + 12 bits. The memory here has 36 bits per entry,
// because the set gives eight bits of the value: 36,864 bits, 8,192 less. Besides it stand a valid
// bit per set, which reset and clear act on (256; an entry in a valid set exists if its count is
// not zero), the operation in the second stage (37), the set that was read and the set that was
// written last, for a word of the same set that comes right behind (144 each), the lost count (14)
// and the reply (45).
//
// SC, statistical compression: cache lines as Huffman codes of their 32-bit words, built from how
// often values occur.
//
// Source: LATTE-CC, section IV.C.2, after SC2 (Arelakis and Stenström, ISCA 2014).
//
//    words ->  value-frequency  --counts-->  code builder  --code stream-->  compressor    lines -> payloads
//              table (VFT)                                 \------------->  decompressor  payloads -> lines
//
// What all parts share:
// - **Entries.** Tables are set-associative with `WAYS` ways. The set of a value is the XOR of its
//   slices (`set_of`): with 1024 entries, of its four bytes. An entry's index is its set followed
//   by its way (the low two bits). The rest of the value is the tag (`tag_of`); set and tag give
//   the value back (`value_of`).
// - **Symbols.** Every entry whose count is not zero, and the escape symbol, which stands before a
//   word that has no code. There is always a code for the escape.
// - **Canonical order.** Symbols go by falling weight; equal weights by rising index, the escape
//   after all entries of its weight. Code lengths never fall in this order. The first code is all
//   zeros; each next one is the code before it plus one, extended by zeros to its own length. A
//   code book is defined by the order and the lengths alone.
// - **Code stream.** The builder gives the codes in canonical order, one per handshake, the first
//   and the last marked. A code is right-aligned in its field. The first code clears the tables of
//   a codec.
// - **Payload.** Words are coded in the order of the line, word 0 first; the first bit of the
//   stream is bit 0 of the payload. A code's most significant bit comes first; after the escape's
//   code come the 32 bits of the word, least significant first. A line whose codes need more bits
//   than the line has is kept as it is.
//
// `huffman` is the golden arithmetic: lengths, codes, encoding and decoding in plain Rust.

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

  // entry: the first bit of each field
  localparam ENTRY_COUNT = 0;
  localparam ENTRY_TAG = 12;
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
  wire valid_bit_o;
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

  selvedge_bit_array #(.A (8)) valid (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .clear_i   (clear_i),
    .set_i     (training_q),
    .address_i (set_q),
    .bit_o     (valid_bit_o)
  );

  sc_vft_set_update update (
    .valid_i (valid_bit_o),
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

  assign upper = entry[ENTRY_TAG +: 24];

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
      if (valid_bit_o & (|entry[ENTRY_COUNT +: 12])) begin
        read_count_q <= entry[ENTRY_COUNT +: 12];
        read_value_q <= value;
      end
    end
  end

endmodule

`default_nettype wire
