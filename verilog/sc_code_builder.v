// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder
//
// Builds canonical Huffman codes of limited length from a value-frequency table.
//
// LATTE-CC, section IV.C.2. INDEX is the width of an entry's index in bits, COUNT of the number of
// entries, QUEUE of an index among half the entries, WEIGHT of the heaviest node's weight.
//
// Parameters: entries = 1024
// In this file: INDEX = 10, COUNT = 11, QUEUE = 9, WEIGHT = 23
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// The code builder of SC: hardware that builds canonical Huffman codes of limited length from a
// value-frequency table.
//
// Source: LATTE-CC, section IV.C.2. The paper builds codes from the table, but states neither the
// method nor the time.
//
//    table --read--> sorter ------> merger ---------> lengths ------------> emitter --code stream-->
//                    by count,      Huffman's tree    symbols per depth,    canonical codes,
//                    radix of four  by two queues,    codes that are too    values read again
//                    bits per pass  an item a cycle   long repaired
//
// - **Sorter.** Keeps the entries in a linked list, the chain. A pass walks along the chain and
//   appends each entry to one of sixteen buckets. Then the buckets are joined to a new chain. The
//   first pass takes place while the table is read.
// - **Merger.** Joins the two lightest items (symbols or nodes) to a node, until one item is left.
//   Nodes wait in a queue. The merger also reverses the chain, so that the heaviest entry comes
//   first.
// - **Lengths.** Stores for each node the number of symbols among its two items. From the root on,
//   nodes are ordered by depth. The stored numbers give the symbols and the nodes at each next
//   depth. From these follow the positions in the order at which codes become longer than 1, 2, 3
//   ... bits. If symbols lie too deep, these positions are moved.
// - **Emitter.** Walks along the chain, extends the code where the length increases, and reads the
//   value of every entry again.
//
// Choices where the paper is silent:
// - The weight of the escape symbol is the value of `escape_weight_i` at the start: the table's
//   `lost_o`. The escape always gets a code, even with weight zero. With an empty table it gets the
//   only code, of length 1.
// - Entries with count zero do not exist and get no code.
// - The total length of the codes is minimal if no code exceeds the limit. Otherwise
//   `limited_lengths` describes the repair, which adds little to the total.
// - The table is read from its last entry to its first. It replies to reads in order, after any
//   number of cycles. It must not change until the last code is taken: an entry that changes
//   earlier gets the code of its old count.
//
// PARAMETERS
// - entries, default 1024, allowed 64, 1024: entries of the table
// - max_code_bits, default 16, allowed 12, 16: maximum length of a code in bits
//
// PORTS AND TIMING
// Every output depends on registers alone, not on an input of the same cycle. `E` is the number of
// entries.
//
//   clk_i          __/--\__/--\__/--\__/--\__ ... __/--\__/--\__/--\__/--\__/--\__/--\__/--\__/--\__
//   start_i        __/-----\_________________ ... _________________________________________________
//   busy_o         ________/----------------- ... -------------------------------------------\______
//   read_o         ________/----------------- ... __/-----\_________________________________________
//   read_index_o   ========<E-1 ><E-2 ><E-3 > ... ==< i  >==========================================
//   read_valid_i   ____________________/----- ... ______________/-----\_____________________________
//   code_valid_o   __________________________ ... ____________________/-----------------\___________
//   code_ready_i   __________________________ ... ________________________________/-----\___________
//
// CYCLES
// The first code can be chosen `1 + E + d` + `code_cycles` cycles after the start. The table has
// `E` entries, `N` of them exist, and it replies `d` cycles after a read. `L` is the maximum length
// of a code in bits, and `D` the depth of Huffman's tree.
//
// `code_cycles` is 2 if no entry exists. Otherwise it is the sum of:
// - 53 + 2 N for the sort and the first cycle of the merge,
// - 2 N for the items of the merge,
// - 2 for the lengths and 1 for the emission,
// - N + L - 1 - D for the depths of the tree if `D` is less than `L`; otherwise one per node whose
//   items have a depth of at most L - 1, and one per step of the repair.
//
// After that, a code takes 2 + `d` cycles, the escape takes 1, and each bit by which codes get
// longer takes 1, if the consumer takes each code at once. For 1024 entries with equal counts and
// this family's table (`d` = 2), a build takes these cycles from the start to the last code:
//
// - 0, 16 bits 1,030: 1,030
// - 16, 16 bits 1,242: 1,238
// - 256, 16 bits 3,402: 3,398
// - 1024, 16 bits 10,314: 10,310
//
// STORAGE
// The paper states no storage for this step. The default needs 37,250 bits:
// - counts (12,288) and links (10,240) of entries,
// - first and last entries of buckets (320),
// - weights of waiting nodes (11,776): one for every two entries,
// - two bits per node (2,048),
// - a position per length (176),
// - registers (402).
//
// That is less than the table itself needs. One builder can serve all tables whose codes are due
// one after the other.
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

module sc_code_builder #(
  // Maximum length of a code in bits; verified with 12, 16
  parameter integer MAX_CODE_BITS = 16
) (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: a build in progress is forgotten
  input  wire        rst_ni,
  // starts a build; ignored while busy
  input  wire        start_i,
  // weight of the escape symbol, sampled at the start
  input  wire [13:0] escape_weight_i,
  // the table replies to the oldest read
  input  wire        read_valid_i,
  // value of the entry that was read
  input  wire [31:0] read_value_i,
  // count of the entry that was read
  input  wire [11:0] read_count_i,
  // the consumer takes the code in this cycle
  input  wire        code_ready_i,
  // a build is in progress
  output wire        busy_o,
  // reads an entry of the table
  output reg         read_o,
  // index of the entry to read
  output reg   [9:0] read_index_o,
  // a code is offered
  output wire        code_valid_o,
  // the code is the first one of the stream
  output wire        code_first_o,
  // the code is the last one of the stream
  output wire        code_last_o,
  // index of the entry that has the code; zero for the escape
  output wire  [9:0] code_index_o,
  // the code is that of the escape symbol
  output wire        code_escape_o,
  // value that has the code; zero for the escape
  output wire [31:0] code_value_o,
  // the code, right-aligned
  output wire [15:0] code_code_o,
  // length of the code in bits
  output wire  [4:0] code_length_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (MAX_CODE_BITS != 12 && MAX_CODE_BITS != 16) begin : gen_wrong_max_code_bits
      sc_code_builder_MAX_CODE_BITS_must_be_12_or_16 wrong_max_code_bits ();
    end
  endgenerate

  localparam [2:0] STAGE_IDLE = 3'd0;
  localparam [2:0] STAGE_DRAIN = 3'd1;
  localparam [2:0] STAGE_SORT = 3'd2;
  localparam [2:0] STAGE_MERGE = 3'd3;
  localparam [2:0] STAGE_MEASURE = 3'd4;
  localparam [2:0] STAGE_EMIT = 3'd5;
  reg drained;
  wire empty;
  reg [2:0] stage_d;
  reg [2:0] stage_q;
  reg entering_d;
  // the first cycle of the stage
  reg entering_q;
  reg [13:0] escape_weight_d;
  reg [13:0] escape_weight_q;
  reg [10:0] asked_d;
  // number of entries that were requested
  reg [10:0] asked_q;
  reg [9:0] given_d;
  // number of entries that the table gave
  reg [9:0] given_q;
  reg sorter_clear;
  reg sorter_put;
  wire [9:0] sorter_index_in;
  reg sorter_sort;
  wire sorter_rewind;
  wire [10:0] sorter_size;
  wire sorter_done;
  wire [11:0] sorter_count;
  wire [9:0] sorter_index_out;
  wire merger_start;
  wire merger_take_entry;
  wire merger_node_valid;
  wire [9:0] merger_node;
  wire [1:0] merger_symbols;
  wire merger_done;
  wire lengths_start;
  wire lengths_done;
  wire [10:0] lengths_longer_from;
  wire emitter_start;
  wire emitter_next;
  wire [3:0] emitter_length;
  wire emitter_read;
  wire emitter_done;

  sc_code_builder_sorter sorter (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .clear_i  (sorter_clear),
    .put_i    (sorter_put),
    .count_i  (read_count_i),
    .index_i  (sorter_index_in),
    .sort_i   (sorter_sort),
    .turn_i   (merger_take_entry),
    .rewind_i (sorter_rewind),
    .next_i   (emitter_next),
    .size_o   (sorter_size),
    .done_o   (sorter_done),
    .count_o  (sorter_count),
    .index_o  (sorter_index_out)
  );

  sc_code_builder_merger merger (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .start_i         (merger_start),
    .size_i          (sorter_size),
    .escape_weight_i (escape_weight_q),
    .count_i         (sorter_count),
    .take_entry_o    (merger_take_entry),
    .node_valid_o    (merger_node_valid),
    .node_o          (merger_node),
    .symbols_o       (merger_symbols),
    .done_o          (merger_done)
  );

  sc_code_builder_lengths #(.MAX_CODE_BITS (MAX_CODE_BITS)) lengths (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .node_valid_i  (merger_node_valid),
    .node_i        (merger_node),
    .symbols_i     (merger_symbols),
    .start_i       (lengths_start),
    .size_i        (sorter_size),
    .done_o        (lengths_done),
    .length_i      (emitter_length),
    .longer_from_o (lengths_longer_from)
  );

  sc_code_builder_emitter #(.MAX_CODE_BITS (MAX_CODE_BITS)) emitter (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .start_i         (emitter_start),
    .size_i          (sorter_size),
    .escape_weight_i (escape_weight_q),
    .next_o          (emitter_next),
    .count_i         (sorter_count),
    .index_i         (sorter_index_out),
    .length_o        (emitter_length),
    .longer_from_i   (lengths_longer_from),
    .read_o          (emitter_read),
    .read_valid_i    (read_valid_i),
    .read_value_i    (read_value_i),
    .code_valid_o    (code_valid_o),
    .code_ready_i    (code_ready_i),
    .code_first_o    (code_first_o),
    .code_last_o     (code_last_o),
    .code_index_o    (code_index_o),
    .code_escape_o   (code_escape_o),
    .code_value_o    (code_value_o),
    .code_code_o     (code_code_o),
    .code_length_o   (code_length_o),
    .done_o          (emitter_done)
  );

  assign sorter_index_in = ~given_q;
  // the stages run in sequence; an empty table needs the emission only
  assign empty = ~(|sorter_size);

  always @(*) begin
    stage_d = stage_q;
    escape_weight_d = escape_weight_q;
    asked_d = asked_q;
    given_d = given_q;
    // sort the existing entries only
    drained = 1'b0;
    sorter_put = 1'b0;
    if (stage_q == STAGE_DRAIN) begin
      sorter_put = read_valid_i & (|read_count_i);
      drained = read_valid_i & (&given_q);
      if (read_valid_i) begin
        given_d = given_q + 10'd1;
      end
    end
    entering_d = 1'b0;
    sorter_clear = 1'b0;
    sorter_sort = 1'b0;
    case (stage_q)
      STAGE_IDLE: begin
        if (start_i) begin
          sorter_clear = 1'b1;
          escape_weight_d = escape_weight_i;
          asked_d = 11'd0;
          given_d = 10'd0;
          stage_d = STAGE_DRAIN;
        end
      end
      STAGE_DRAIN: begin
        if (drained) begin
          stage_d = STAGE_SORT;
          entering_d = 1'b1;
        end
      end
      STAGE_SORT: begin
        sorter_sort = entering_q & ~empty;
        if (entering_q & empty) begin
          stage_d = STAGE_EMIT;
          entering_d = 1'b1;
        end else if (sorter_done) begin
          stage_d = STAGE_MERGE;
          entering_d = 1'b1;
        end
      end
      STAGE_MERGE: begin
        if (merger_done) begin
          stage_d = STAGE_MEASURE;
          entering_d = 1'b1;
        end
      end
      STAGE_MEASURE: begin
        if (lengths_done) begin
          stage_d = STAGE_EMIT;
          entering_d = 1'b1;
        end
      end
      default: begin
        if (emitter_done) begin
          stage_d = STAGE_IDLE;
        end
      end
    endcase
    // read the table from its last entry to its first, then again for the values that the emitter
    // requests
    read_o = emitter_read;
    read_index_o = 10'd0;
    if (emitter_read) begin
      read_index_o = sorter_index_out;
    end
    if (stage_q == STAGE_DRAIN) begin
      read_o = ~asked_q[10];
      if (!asked_q[10]) begin
        read_index_o = ~asked_q[9:0];
        asked_d = asked_q + 11'd1;
      end
    end
  end

  assign busy_o = stage_q != STAGE_IDLE;
  assign merger_start = entering_q & (stage_q == STAGE_MERGE);
  assign lengths_start = entering_q & (stage_q == STAGE_MEASURE);
  assign emitter_start = entering_q & (stage_q == STAGE_EMIT);
  assign sorter_rewind = entering_q & (stage_q == STAGE_EMIT);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q <= STAGE_IDLE;
      entering_q <= 1'b0;
    end else begin
      stage_q <= stage_d;
      entering_q <= entering_d;
    end
  end

  always @(posedge clk_i) begin
    escape_weight_q <= escape_weight_d;
    asked_q <= asked_d;
    given_q <= given_d;
  end

endmodule

`default_nettype wire
