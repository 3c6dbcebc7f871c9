// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_vft
//
// Counts how often 32-bit values occur, for the codes of statistical compression.
//
// LATTE-CC, section IV.C.2. INDEX is the width of an entry's index, and A the width of a set index.
// A value has SLICES slices, and their XOR is the set. TAG is the width of a tag, ENTRY of an
// entry, and SET of a set, which is kept in K words.
//
// Parameters: entries = 1024
// In this file: INDEX = 10, A = 8, SLICES = 4, TAG = 24, ENTRY = 36, SET = 144, K = 3
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// The value-frequency table (VFT) of SC: counts how often 32-bit values occur in the words of
// accessed lines.
//
// Source: LATTE-CC, section IV.C.2: 1024 entries with 12-bit counters. An experimental phase fills
// them, then they are read.
//
//    train_value_i -> XOR of slices -+-> set memory -> [hit: count, halve if full] -> set memory
//                                    |                 [miss: replace the smallest] -> lost_o
//                     \---------------> [number of words = sets?] -----------> enough_o
//    read_index_i  ------------------/              -> [pick way] -> read_value_o, read_count_o
//
// Choices where the paper is silent:
// - The table is 4-way set-associative. The set of a value is the XOR of its slices (`set_of`). An
//   entry stores only the tag, the rest of the value.
// - A word whose value has an entry increments its count. If the count has its maximum (4095), all
//   four counts of the set are first halved and rounded down. An entry whose count becomes zero no
//   longer exists.
// - A word whose value has no entry replaces the entry with the smallest count in its set. Among
//   several, it replaces the one in the lowest way. An entry that does not exist has count zero.
//   The new entry has count 1.
// - `lost_o` is the sum of the counts of replaced entries, up to 16,383. Until a set is halved, the
//   sum of all counts and `lost_o` is the number of words. Therefore `lost_o` is the weight of the
//   escape symbol. An experimental phase of 256 accesses has 8,192 words.
// - `enough_o` is high once the number of words since the last clear reaches the number of sets,
//   256 by default. Codes are built only then; otherwise the current codes stay in use. An empty
//   table would give a book that codes nothing, and few words would give random codes. The bound
//   cannot be higher: the shortest experimental phase, 256 accesses in 256 cycles, has time for 256
//   words.
// - The table takes one word per cycle. A read of an entry has priority over a word, which then
//   waits. Words are counted in the order in which they are taken. A read sees all words that were
//   taken before it.
// - A clear takes effect at once: it also drops words in flight, and no word is taken in its cycle.
//
// PARAMETERS
// - entries, default 1024, allowed 64, 1024: entries, each for one value
//
// PORTS AND TIMING
// All outputs come from registers, except `train_ready_o`, which is low while `read_i` or `clear_i`
// is high. An index consists of a set (high bits) and a way (low two bits).
//
//   clk_i          __/--\__/--\__/--\__/--\__/--\__
//   train_valid_i  __/-----------\_________________
//   train_value_i  ==< A  >< B  >==================   one word per cycle, of the same set or of different ones
//   read_i         ______________/-----\___________
//   train_ready_o  --------------\_____/-----------
//   read_valid_o   __________________________/-----   the entry with A and B counted
//   read_count_o   ==========================< n >=   keeps its value until the next read
//   lost_o         ==========================< m >=   two cycles after the word
//   enough_o       __________________________/-----   if B makes the number of words equal to the number of sets
//
// STORAGE
// The paper states 5.5 KB: 1024 entries of 32 + 12 bits. The memory here has 36 bits per entry,
// because the set determines eight bits of the value: 36,864 bits, 8,192 less. The other registers
// are:
// - a valid bit per set, which reset and clear act on (256); an entry in a valid set exists if its
//   count is not zero,
// - the operation in the second stage (37),
// - the set that was read and the set that was written last, for a word of the same set in the next
//   cycle (144 each),
// - the lost count (14), the number of words and the `enough_o` flag (9), and the reply (45).
//
// SC, statistical compression: cache lines as Huffman codes of their 32-bit words, built from the
// frequencies of values.
//
// Source: LATTE-CC, section IV.C.2, after SC2 (Arelakis and Stenström, ISCA 2014).
//
//    words ->  value-frequency  --counts-->  code builder  --code stream-->  compressor    lines -> payloads
//              table (VFT)                                 \------------->  decompressor  payloads -> lines
//
// Definitions for all parts:
// - **Entries.** Tables are set-associative with `WAYS` ways. The set of a value is the XOR of its
//   slices (`set_of`); with 1024 entries, the slices are its four bytes. The index of an entry is
//   its set followed by its way (the low two bits). The rest of the value is the tag (`tag_of`).
//   Set and tag determine the value (`value_of`).
// - **Symbols.** Every entry with a non-zero count is a symbol, and so is the escape. The escape
//   precedes a word that has no code. It always has a code itself.
// - **Canonical order.** Symbols are sorted by falling weight. Symbols of equal weight are sorted
//   by rising index, and the escape follows the entries of its weight. Code lengths never decrease
//   in this order. The first code is all zeros. Each next code is the previous code plus one,
//   extended by zeros to its own length. The order and the lengths alone define a code book.
// - **Code stream.** The builder sends the codes in canonical order, one per handshake. The first
//   and the last code are marked. A code is right-aligned in its field. The first code clears the
//   tables of a codec.
// - **Payload.** Words are coded in the order of the line, word 0 first. The first bit of the
//   stream is bit 0 of the payload. The most significant bit of a code comes first. After the code
//   of the escape come the 32 bits of the word, least significant bit first. A line is stored
//   uncompressed if its codes need more bits than the line has.
//
// `huffman` is the reference arithmetic in plain Rust: lengths, codes, encoding and decoding.

`default_nettype none

module sc_vft (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: nothing is counted
  input  wire        rst_ni,
  // a word is offered for counting
  input  wire        train_valid_i,
  // the word to count
  input  wire [31:0] train_value_i,
  // reads an entry; has priority over a word
  input  wire        read_i,
  // index of the entry to read
  input  wire  [9:0] read_index_i,
  // clears the table and drops words in flight
  input  wire        clear_i,
  // the word is taken in this cycle
  output wire        train_ready_o,
  // the reply to the read of two cycles ago is given
  output wire        read_valid_o,
  // value of the entry; zero if the entry does not exist
  output wire [31:0] read_value_o,
  // count of the entry; zero if the entry does not exist
  output wire [11:0] read_count_o,
  // sum of the counts of all replaced entries; saturates
  output wire [13:0] lost_o,
  // the number of words since the last clear has reached the number of sets: enough for new codes
  output wire        enough_o
);

  // entry: the first bit of each field
  localparam ENTRY_COUNT = 0;
  localparam ENTRY_TAG = 12;
  localparam A = 8;
  localparam ENTRY = 36;
  reg [7:0] next_set;
  wire [143:0] content;
  reg [35:0] entry;
  // value of the entry that is read: its tag, and the lowest slice, computed from the set
  wire [31:0] value;
  wire [23:0] upper;
  reg [7:0] lowest;
  wire [14:0] sum;
  wire [143:0] memory_read_data;
  wire valid_bit;
  // a word is in the second stage
  reg training_q;
  // a read is in the second stage
  reg reading_q;
  reg [7:0] set_q;
  reg [23:0] tag_q;
  reg [1:0] way_q;
  // the set was written while the memory was read; its new content is in `written`
  reg forward_q;
  reg [143:0] written_q;
  wire [143:0] update_set;
  wire [11:0] update_lost;
  reg [13:0] lost_q;
  // words since the last clear, up to the number of sets
  reg [7:0] words_q;
  reg enough_q;
  reg read_valid_q;
  reg [31:0] read_value_q;
  reg [11:0] read_count_q;

  selvedge_sync_mem #(.A (8), .BITS (144)) memory (
    .clk_i           (clk_i),
    .write_i         (training_q),
    .write_address_i (set_q),
    .write_data_i    (update_set),
    .read_address_i  (next_set),
    .read_data_o     (memory_read_data)
  );

  selvedge_bit_array #(.A (8)) valid (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .clear_i   (clear_i),
    .set_i     (training_q),
    .address_i (set_q),
    .bit_o     (valid_bit)
  );

  sc_vft_set_update update (
    .valid_i (valid_bit),
    .set_i   (content),
    .tag_i   (tag_q),
    .set_o   (update_set),
    .lost_o  (update_lost)
  );

  // first stage: read the set of one operation, and detect a write to the same set
  assign train_ready_o = ~read_i & ~clear_i;

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

  // second stage: update the set for a word
  assign content = forward_q ? written_q : memory_read_data;
  assign sum = {1'b0, lost_q} + {3'd0, update_lost};

  // second stage: select the way for a read
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

  assign value = {upper, lowest};

  assign read_valid_o = read_valid_q;
  assign read_value_o = read_value_q;
  assign read_count_o = read_count_q;
  assign lost_o = lost_q;
  assign enough_o = enough_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      training_q <= 1'b0;
      reading_q <= 1'b0;
      forward_q <= 1'b0;
      read_valid_q <= 1'b0;
    end else begin
      training_q <= train_valid_i & ~read_i & ~clear_i;
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
      written_q <= update_set;
    end
  end

  // count the words since the last clear, up to the number of sets
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      words_q <= 8'd0;
      enough_q <= 1'b0;
    end else if (clear_i) begin
      words_q <= 8'd0;
      enough_q <= 1'b0;
    end else if (training_q & ~enough_q) begin
      words_q <= words_q + 8'd1;
      enough_q <= &words_q;
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
      if (valid_bit & (|entry[ENTRY_COUNT +: 12])) begin
        read_count_q <= entry[ENTRY_COUNT +: 12];
        read_value_q <= value;
      end
    end
  end

endmodule

`default_nettype wire
