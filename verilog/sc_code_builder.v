// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder
//
// Builds canonical Huffman codes of limited length from a value-frequency table.
//
// LATTE-CC, section IV.C.2. INDEX are the bits of an entry's index, COUNT those that hold the
// number of entries, QUEUE those that hold half of it, WEIGHT those of the heaviest node.
//
// Parameters: entries = 1024
// In this file: INDEX = 10, COUNT = 11, QUEUE = 9, WEIGHT = 23
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control
//
// The code builder of SC: turns a value-frequency table into canonical Huffman codes of limited
// length, in hardware.
//
// Source: LATTE-CC, section IV.C.2, which builds codes from the table and says neither how nor how
// long.
//
//    table --read--> sorter ------> merger ---------> lengths ------------> emitter --code stream-->
//                    by count,      Huffman's tree    symbols per depth,    canonical codes,
//                    radix of four  by two queues,    codes that are too    values read again
//                    bits per pass  an item a cycle   long repaired
//
// - **Sorter.** A chain of entries: a pass walks along it and hangs each entry into one of sixteen
//   buckets, which are then joined. Reading the table is the first pass.
// - **Merger.** Joins the two lightest items, symbols or nodes, to a node, until one is left. Nodes
//   wait in a queue. On the way the chain is turned round, so that the heaviest entry comes first.
// - **Lengths.** Keeps the number of symbols among the two items of each node. From the root on,
//   nodes lie by depth: the numbers say how many symbols and how many nodes are at the next depth,
//   and from which place in the order codes are longer than 1, 2, 3 ... bits. Where symbols lie too
//   deep, these places are moved.
// - **Emitter.** Walks along the chain, lets the code grow where codes get longer, and reads every
//   entry's value again.
//
// Choices where the paper is silent:
// - The escape symbol weighs what `escape_weight_i` says at the start: the table's `lost_o`. It
//   always gets a code, of weight zero too; with an empty table it is the only one, of length 1.
// - Entries whose count is zero do not exist and get no code.
// - Lengths have the least possible total if no code hits the limit; else the code is repaired by
//   the rule of `limited_lengths`, which costs little.
// - The table is read from its last entry to its first. It replies to reads in order, after any
//   number of cycles. It must hold still until the last code is taken: an entry that changes
//   meanwhile gets the code that its old count deserves.
//
// PARAMETERS
// - entries, default 1024, allowed 64, 1024: entries of the table
// - max_code_bits, default 16, allowed 12, 16: the longest code
//
// PORTS AND TIMING
// All outputs come from registers, but `read_index_o` from a register of a memory.
//
//   clk_i          __/--\__/--\__/--\__/--\__ ... __/--\__/--\__/--\__/--\__/--\__/--\__/--\__/--\__
//   start_i        __/-----\_________________ ... _________________________________________________
//   busy_o         ________/----------------- ... -------------------------------------------\______
//   read_o         ________/----------------- ... __/-----\_________________________________________
//   read_index_o   ========< 0  >< 1  >< 2  > ... ==< i  >==========================================
//   read_valid_i   ____________________/----- ... ______________/-----\_____________________________
//   code_valid_o   __________________________ ... ____________________/-----------------\___________
//   code_ready_i   __________________________ ... ________________________________/-----\___________
//
// CYCLES
// From the start to the cycle in which the first code can be chosen, with a table that replies `d`
// cycles after a read, `E` entries of which `N` exist, and `L` bits in the longest code that is
// allowed: `1 + E + d`, then `code_cycles`. With no entry that is 2 cycles; else 53 + 2 N for the
// sort and the first cycle of the merge, 2 N for its items, 2 for the lengths and 1 for the
// emission, and those of the lengths: if the longest code `D` is shorter than the limit, N + L - 1
// - D; else one per node whose items are not below the depth L - 1, and one per step of the repair.
//
// Then a code takes 2 + `d` cycles, the escape 1, and each bit by which codes get longer 1, if
// codes are taken at once. For 1024 entries and this family's table (`d` = 2), from the start until
// the last code is given, with equal counts:
//
// - 0, 16 bits 1,030: 1,030
// - 16, 16 bits 1,242: 1,238
// - 256, 16 bits 3,402: 3,398
// - 1024, 16 bits 10,314: 10,310
//
// STORAGE
// The paper states none for this step. By default it is 37,250 bits: counts (12,288) and links
// (10,240) of entries, the ends of buckets (320), the weights of nodes that wait, half as many as
// entries (11,776), two bits per node (2,048), a place per length (176), and registers (402). That
// is less than the table itself, and one builder can serve every table whose codes are due one
// after the other.
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

module sc_code_builder #(
  // Bits of the longest code; verified with 12, 16
  parameter integer MAX_CODE_BITS = 16
) (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: a build in progress is forgotten
  input  wire        rst_ni,
  // build codes; ignored while busy
  input  wire        start_i,
  // weight of the escape symbol, taken with the start
  input  wire [13:0] escape_weight_i,
  // the table gives the oldest entry that was asked for
  input  wire        read_valid_i,
  // its value
  input  wire [31:0] read_value_i,
  // its count
  input  wire [11:0] read_count_i,
  // the code is taken
  input  wire        code_ready_i,
  // codes are being built
  output wire        busy_o,
  // read an entry of the table
  output reg         read_o,
  // which entry
  output reg   [9:0] read_index_o,
  // a code is given
  output wire        code_valid_o,
  // it is the first one
  output wire        code_first_o,
  // it is the last one
  output wire        code_last_o,
  // the entry that it stands for
  output wire  [9:0] code_index_o,
  // it stands for the escape symbol
  output wire        code_escape_o,
  // the value that it stands for
  output wire [31:0] code_value_o,
  // the code, right-aligned
  output wire [15:0] code_code_o,
  // its length
  output wire  [4:0] code_length_o
);

  localparam [2:0] STAGE_DRAIN = 3'd1;
  localparam [2:0] STAGE_EMIT = 3'd5;
  localparam [2:0] STAGE_IDLE = 3'd0;
  localparam [2:0] STAGE_MEASURE = 3'd4;
  localparam [2:0] STAGE_MERGE = 3'd3;
  localparam [2:0] STAGE_SORT = 3'd2;
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
  // entries that were asked for
  reg [10:0] asked_q;
  reg [9:0] given_d;
  // entries that the table gave
  reg [9:0] given_q;
  reg sorter_clear_i;
  reg sorter_put_i;
  wire [9:0] sorter_index_i;
  reg sorter_sort_i;
  wire sorter_rewind_i;
  wire [10:0] sorter_size_o;
  wire sorter_done_o;
  wire [11:0] sorter_count_o;
  wire [9:0] sorter_index_o;
  wire merger_start_i;
  wire merger_take_entry_o;
  wire merger_node_valid_o;
  wire [9:0] merger_node_o;
  wire [1:0] merger_symbols_o;
  wire merger_done_o;
  wire lengths_start_i;
  wire lengths_done_o;
  wire [10:0] lengths_longer_from_o;
  wire emitter_start_i;
  wire emitter_next_o;
  wire [3:0] emitter_length_o;
  wire emitter_read_o;
  wire emitter_done_o;

  sc_code_builder_sorter sorter (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .clear_i  (sorter_clear_i),
    .put_i    (sorter_put_i),
    .count_i  (read_count_i),
    .index_i  (sorter_index_i),
    .sort_i   (sorter_sort_i),
    .turn_i   (merger_take_entry_o),
    .rewind_i (sorter_rewind_i),
    .next_i   (emitter_next_o),
    .size_o   (sorter_size_o),
    .done_o   (sorter_done_o),
    .count_o  (sorter_count_o),
    .index_o  (sorter_index_o)
  );

  sc_code_builder_merger merger (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .start_i         (merger_start_i),
    .size_i          (sorter_size_o),
    .escape_weight_i (escape_weight_q),
    .count_i         (sorter_count_o),
    .take_entry_o    (merger_take_entry_o),
    .node_valid_o    (merger_node_valid_o),
    .node_o          (merger_node_o),
    .symbols_o       (merger_symbols_o),
    .done_o          (merger_done_o)
  );

  sc_code_builder_lengths #(.MAX_CODE_BITS (MAX_CODE_BITS)) lengths (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .node_valid_i  (merger_node_valid_o),
    .node_i        (merger_node_o),
    .symbols_i     (merger_symbols_o),
    .start_i       (lengths_start_i),
    .size_i        (sorter_size_o),
    .done_o        (lengths_done_o),
    .length_i      (emitter_length_o),
    .longer_from_o (lengths_longer_from_o)
  );

  sc_code_builder_emitter #(.MAX_CODE_BITS (MAX_CODE_BITS)) emitter (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .start_i         (emitter_start_i),
    .size_i          (sorter_size_o),
    .escape_weight_i (escape_weight_q),
    .next_o          (emitter_next_o),
    .count_i         (sorter_count_o),
    .index_i         (sorter_index_o),
    .length_o        (emitter_length_o),
    .longer_from_i   (lengths_longer_from_o),
    .read_o          (emitter_read_o),
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
    .done_o          (emitter_done_o)
  );

  always @(*) begin
    stage_d = stage_q;
    escape_weight_d = escape_weight_q;
    asked_d = asked_q;
    given_d = given_q;
    // entries that exist are sorted
    drained = 1'b0;
    sorter_put_i = 1'b0;
    if (stage_q == STAGE_DRAIN) begin
      sorter_put_i = read_valid_i & (|read_count_i);
      drained = read_valid_i & (&given_q);
      if (read_valid_i) begin
        given_d = given_q + 10'd1;
      end
    end
    entering_d = 1'b0;
    sorter_clear_i = 1'b0;
    sorter_sort_i = 1'b0;
    case (stage_q)
      STAGE_IDLE: begin
        if (start_i) begin
          sorter_clear_i = 1'b1;
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
        sorter_sort_i = entering_q & !empty;
        if (entering_q & empty) begin
          stage_d = STAGE_EMIT;
          entering_d = 1'b1;
        end else if (sorter_done_o) begin
          stage_d = STAGE_MERGE;
          entering_d = 1'b1;
        end
      end
      STAGE_MERGE: begin
        if (merger_done_o) begin
          stage_d = STAGE_MEASURE;
          entering_d = 1'b1;
        end
      end
      STAGE_MEASURE: begin
        if (lengths_done_o) begin
          stage_d = STAGE_EMIT;
          entering_d = 1'b1;
        end
      end
      default: begin
        if (emitter_done_o) begin
          stage_d = STAGE_IDLE;
        end
      end
    endcase
    // the table is read from its last entry to its first, and again where the emitter wants a value
    read_o = emitter_read_o;
    read_index_o = 10'd0;
    if (emitter_read_o) begin
      read_index_o = sorter_index_o;
    end
    if (stage_q == STAGE_DRAIN) begin
      read_o = !asked_q[10];
      if (!asked_q[10]) begin
        read_index_o = ~asked_q[9:0];
        asked_d = asked_q + 11'd1;
      end
    end
  end

  assign sorter_index_i = ~given_q;
  // one stage after the other; an empty table needs only the emission
  assign empty = !(|sorter_size_o);
  assign busy_o = stage_q != STAGE_IDLE;
  assign merger_start_i = entering_q & (stage_q == STAGE_MERGE);
  assign lengths_start_i = entering_q & (stage_q == STAGE_MEASURE);
  assign emitter_start_i = entering_q & (stage_q == STAGE_EMIT);
  assign sorter_rewind_i = entering_q & (stage_q == STAGE_EMIT);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q <= 3'd0;
      entering_q <= 1'b0;
      escape_weight_q <= 14'd0;
      asked_q <= 11'd0;
      given_q <= 10'd0;
    end else begin
      stage_q <= stage_d;
      entering_q <= entering_d;
      escape_weight_q <= escape_weight_d;
      asked_q <= asked_d;
      given_q <= given_d;
    end
  end

endmodule

`default_nettype wire
