// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_compressor
//
// Compresses cache lines to the Huffman codes of their words, K words per cycle.
//
// LATTE-CC, section IV.C.2. A line whose codes are longer than the line is given as it is. GROUP is the most
// bits of K words, 48 each, and SUM the bits of their number.
//
// Parameters: symbols_per_cycle = 8
// In this file: K = 8, GROUP = 384, SUM = 9
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control
//
// SC's compressor: a cache line becomes the Huffman codes of its words.
//
// Source: LATTE-CC, section IV.C.2 (7 KB of table, 6 cycles per line). What entries, codes and payloads are:
// the family's page.
//
//              line register, turns by a group                       fields of a group                   payload register
//    line_i -> [ w0 ... w7 | w8 ... ] -> 8 x { set -> table -> ways -> [ code or escape, word ]} -> join -> shift -> [ ... ] -> payload_o
//                                              ^ write                                              bits so far ----^
//    load_*_i -> reverse code, replace one way of the set
//
//    loading:  run --a code is offered--> drain --nothing in flight--> clear (256 cycles) --> load --last code--> run
//                                                                         ^---- a first code in the middle ---|
//
// The line is looked up in groups of `symbols_per_cycle` words. A word without a table entry is given as the
// escape's code and itself, at most 48 bits. The bits of a group are joined and put behind those of the
// groups before it, in the payload register, which is the output register too. A line whose codes need more
// than its own 1,024 bits, or with a word for which there is neither code nor escape, is given as it is; so
// is every line until codes have been loaded.
//
// Choices where the paper is silent:
// - The table is in memories, whose words are sets: the four ways side by side. They cannot be cleared at
//   once, and codes come seldom (once in 2,560 accesses of the cache): a set is cleared per cycle before the
//   codes are taken.
// - The paper counts the table once, but 32 words in six cycles are more lookups than one table has ports.
//   Each of the words of a group has a copy of the table; all copies are written alike. Banks instead of
//   copies would make the latency depend on how the words of a group fall on the sets.
// - A code stream waits until the lines in flight have left, and lines wait until it has ended. The first
//   code that is offered outside a stream begins one, marked or not; a first code in the middle of a stream
//   begins it anew.
//
// PARAMETERS
// - symbols_per_cycle, default 8, allowed 4, 8, 16: words that are looked up and packed in a cycle; copies of
//   the table
//
// PORTS AND TIMING
// Lines and payloads are valid/ready streams, and so are the codes. `load_ready_o` depends on `load_first_i`
// in the same cycle; no other output depends on an input. `payload_o` and `bits_o` show how far the packing
// has come while `valid_o` is low.
//
//   8 words     0     1     2     3     4     5     6     7
//   clk_i     /--\__/--\__/--\__/--\__/--\__/--\__/--\__/--\__
//   valid_i   /-----------------------------------\___________
//   line_i    < A  >< B                         >============
//   ready_o   ------\_______________________/-----\___________
//   lookup          <w0-7><8-15><16- ><24- >      <w0-7> ...
//   packing               <w0-7><8-15><16- ><24- >      <w0-7>
//   valid_o   ____________________________________/-----\_____
//   payload_o =========================<incomplete>< A  >=====
//
// A line takes 32 / `symbols_per_cycle` + 2 cycles, whatever its words are: 6 at the default, as in the
// paper, 10 with 4 words per cycle and 4 with 16. The next line is taken one cycle before the payload shows.
// If a payload is not taken, the next line waits for its place with its first group looked up.
//
// STORAGE
// The paper counts 7 KB, 57,344 bits: 1,024 entries of 56 bits. One copy of this table has 46,080: an entry
// needs 24 bits of the value, as the set gives the rest, 16 of code and 5 of length; length 0 stands for no
// entry. The eight copies that eight words per cycle take are 368,640 bits. The line and the payload (1,024
// each), a group's codes (432) and control make the rest of the 371,175.
//
// SC, statistical compression: cache lines as Huffman codes of their 32-bit words, built from how often
// values occur.
//
// Source: LATTE-CC, section IV.C.2, after SC2 (Arelakis and Stenström, ISCA 2014).
//
//    words ->  value-frequency  --counts-->  code builder  --code stream-->  compressor    lines -> payloads
//              table (VFT)                                 \------------->  decompressor  payloads -> lines
//
// What all parts share:
// - **Entries.** Tables are set-associative with `WAYS` ways. The set of a value is the XOR of its slices
//   (`set_of`): with 1024 entries, of its four bytes. An entry's index is its set followed by its way (the
//   low two bits). The rest of the value is the tag (`tag_of`); set and tag give the value back (`value_of`).
// - **Symbols.** Every entry whose count is not zero, and the escape symbol, which stands before a word that
//   has no code. There is always a code for the escape.
// - **Canonical order.** Symbols go by falling weight; equal weights by rising index, the escape after all
//   entries of its weight. Code lengths never fall in this order. The first code is all zeros; each next one
//   is the code before it plus one, extended by zeros to its own length. A code book is defined by the order
//   and the lengths alone.
// - **Code stream.** The builder gives the codes in canonical order, one per handshake, the first and the
//   last marked. A code is right-aligned in its field. The first code clears the tables of a codec.
// - **Payload.** Words are coded in the order of the line, word 0 first; the first bit of the stream is bit 0
//   of the payload. A code's most significant bit comes first; after the escape's code come the 32 bits of
//   the word, least significant first. A line whose codes need more bits than the line has is kept as it is.
//
// `huffman` is the golden arithmetic: lengths, codes, encoding and decoding in plain Rust.

`default_nettype none

module sc_compressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low: no codes are loaded, nothing is in flight
  input  wire          rst_ni,
  // a line is offered
  input  wire          valid_i,
  // the line: word 0 in bits 31 to 0
  input  wire [1023:0] line_i,
  // the consumer takes the payload in this cycle
  input  wire          ready_i,
  // a code is offered
  input  wire          load_valid_i,
  // it is the first one: clear the table
  input  wire          load_first_i,
  // it is the last one: lines may be compressed
  input  wire          load_last_i,
  // the table entry that it is for: set and way
  input  wire    [9:0] load_index_i,
  // it is the escape symbol's
  input  wire          load_escape_i,
  // the value that it stands for
  input  wire   [31:0] load_value_i,
  // the code, right-aligned, its most significant bit first in the payload
  input  wire   [15:0] load_code_i,
  // its length in bits
  input  wire    [4:0] load_length_i,
  // the line is taken in this cycle
  output wire          ready_o,
  // a payload is offered
  output wire          valid_o,
  // it is a row of codes, not the line itself
  output wire          compressed_o,
  // its bits
  output wire   [10:0] bits_o,
  // the payload, first bit lowest; still incomplete while valid_o is low
  output wire [1023:0] payload_o,
  // the code is taken in this cycle
  output wire          load_ready_o
);

  localparam [1:0] PHASE_CLEAR = 2'd2;
  localparam [1:0] PHASE_DRAIN = 2'd1;
  localparam [1:0] PHASE_LOAD = 2'd3;
  localparam [1:0] PHASE_RUN = 2'd0;
  localparam [10:0] LINE_BITS = 11'h400;
  localparam [2:0] LAST_GROUP = 3'd3;
  // bits of the words that are looked up in a cycle, and of the others
  localparam [10:0] TURN = 11'd256;
  localparam [10:0] TURN_BACK = 11'd768;
  localparam [4:0] CODE_BITS = 5'd16;
  wire take_code;
  reg [15:0] reversed;
  wire [15:0] code;
  reg [44:0] entry;
  reg [179:0] set;
  wire pack;
  wire look;
  wire take_line;
  reg [31:0] word;
  reg [7:0] word_set;
  reg coded;
  wire next_uncoded;
  wire fits;
  wire ready;
  wire load_ready;
  reg tables_write_i;
  reg [7:0] tables_write_address_i;
  reg [179:0] tables_write_data_i;
  reg [63:0] tables_read_address_i;
  wire [1439:0] tables_read_data_o;
  reg [255:0] encode_word_i;
  wire [383:0] encode_field_o;
  wire [47:0] encode_length_o;
  wire [383:0] pack_group_string_o;
  wire [8:0] pack_group_length_o;
  wire [1023:0] append_payload_o;
  wire [10:0] append_bits_o;
  reg [1:0] phase_q;
  // next set to clear
  reg [7:0] clear_set_q;
  // the table is clear
  reg fresh_q;
  // all codes are there
  reg loaded_q;
  // first bit lowest
  reg [15:0] escape_code_q;
  reg [4:0] escape_length_q;
  // the line, turned so that the next words to look up are the lowest
  reg [1023:0] line_q;
  reg looking_q;
  // groups of words that were looked up
  reg [2:0] groups_q;
  // fields and lengths are those of a group that is to be packed
  reg packing_q;
  reg packing_first_q;
  reg packing_last_q;
  // each of its words can be coded
  reg packing_coded_q;
  reg [383:0] fields_d;
  reg [383:0] fields_q;
  reg [47:0] lengths_d;
  reg [47:0] lengths_q;
  reg [1023:0] payload_q;
  reg [10:0] bits_q;
  // a word of the groups so far cannot be coded
  reg uncoded_q;
  reg valid_q;
  reg compressed_q;

  selvedge_replicated_mem #(.A (8), .P (8), .BITS (180)) tables (
    .clk_i           (clk_i),
    .write_i         (tables_write_i),
    .write_address_i (tables_write_address_i),
    .write_data_i    (tables_write_data_i),
    .read_address_i  (tables_read_address_i),
    .read_data_o     (tables_read_data_o)
  );

  genvar g;
  generate
    for (g = 0; g < 8; g = g + 1) begin : each_encode
      sc_compressor_sc_encode_word encode (
        .word_i          (encode_word_i[g*32 +: 32]),
        .set_i           (tables_read_data_o[g*180 +: 180]),
        .escape_code_i   (escape_code_q),
        .escape_length_i (escape_length_q),
        .field_o         (encode_field_o[g*48 +: 48]),
        .length_o        (encode_length_o[g*6 +: 6])
      );
    end
  endgenerate

  selvedge_bit_packer_8_48_6_384_6_9 pack_group (
    .field_i  (fields_q),
    .length_i (lengths_q),
    .string_o (pack_group_string_o),
    .length_o (pack_group_length_o)
  );

  sc_compressor_sc_append append (
    .group_i      (pack_group_string_o),
    .group_bits_i (pack_group_length_o),
    .first_i      (packing_first_q),
    .payload_i    (payload_q),
    .bits_i       (bits_q),
    .payload_o    (append_payload_o),
    .bits_o       (append_bits_o)
  );

  always @(*) begin : comb_fields_d
    integer i;
    fields_d = fields_q;
    lengths_d = lengths_q;
    coded = 1'b1;
    for (i = 0; i < 8; i = i + 1) begin
      coded = coded & (|encode_length_o[i*6 +: 6]);
      if (look) begin
        fields_d[i*48 +: 48] = encode_field_o[i*48 +: 48];
        lengths_d[i*6 +: 6] = encode_length_o[i*6 +: 6];
      end
    end
  end

  // codes wait for the lines in flight, then for a clear table
  assign ready = (phase_q == PHASE_RUN) & !looking_q;
  assign load_ready = (phase_q == PHASE_LOAD) & (fresh_q | !load_first_i);
  assign take_code = load_valid_i & load_ready;

  // the first bit of a code goes to the lowest place
  always @(*) begin : comb_reversed
    integer i;
    reversed = 16'd0;
    for (i = 0; i < 16; i = i + 1) begin
      reversed[i] = load_code_i[15-i];
    end
  end

  assign code = reversed >> (CODE_BITS - load_length_i);

  always @(*) begin
    entry = {21'd0, load_value_i[31:8]};
    entry[39:24] = code;
    entry[44:40] = load_length_i;
  end

  // an entry goes into the set that is there; the first lookup's port reads it
  always @(*) begin : comb_set
    integer way;
    set = tables_read_data_o[179:0];
    for (way = 0; way < 4; way = way + 1) begin
      if (load_index_i[1:0] == way[1:0]) begin
        set[way*45 +: 45] = entry;
      end
    end
  end

  always @(*) begin
    tables_write_i = take_code & !load_escape_i;
    tables_write_address_i = load_index_i[9:2];
    tables_write_data_i = set;
    if (phase_q == PHASE_CLEAR) begin
      tables_write_i = 1'b1;
      tables_write_address_i = clear_set_q;
      tables_write_data_i = 180'd0;
    end
  end

  // a group is packed when its payload's place is free, and looked up when its fields' place is
  assign pack = packing_q & (!valid_q | ready_i);
  assign look = looking_q & (!packing_q | pack);
  assign take_line = valid_i & ready;

  // look up the codes of a group of words
  always @(*) begin : comb_word
    integer i;
    word = 32'd0;
    word_set = 8'd0;
    for (i = 0; i < 8; i = i + 1) begin
      word = line_q[i*32 +: 32];
      word_set = word[7:0] ^ word[15:8] ^ word[23:16] ^ word[31:24];
      tables_read_address_i[i*8 +: 8] = word_set;
      encode_word_i[i*32 +: 32] = word;
    end
    if (phase_q == PHASE_LOAD) begin
      tables_read_address_i[7:0] = load_index_i[9:2];
    end
  end

  assign next_uncoded = (uncoded_q & !packing_first_q) | !packing_coded_q;
  assign fits = loaded_q & !next_uncoded & (append_bits_o <= LINE_BITS);
  assign ready_o = ready;
  assign load_ready_o = load_ready;
  assign valid_o = valid_q;
  assign compressed_o = compressed_q;
  assign bits_o = bits_q;
  assign payload_o = payload_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      packing_q <= 1'b0;
    end else begin
      packing_q <= look | (packing_q & !pack);
    end
  end

  always @(posedge clk_i) begin
    fields_q <= fields_d;
    lengths_q <= lengths_d;
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= 2'd0;
      clear_set_q <= 8'd0;
      fresh_q <= 1'b0;
      loaded_q <= 1'b0;
      escape_length_q <= 5'd0;
    end else begin
      case (phase_q)
        PHASE_RUN: begin
          if (load_valid_i) begin
            phase_q <= PHASE_DRAIN;
          end
        end
        PHASE_DRAIN: begin
          if (!(looking_q | packing_q | valid_q)) begin
            phase_q <= PHASE_CLEAR;
          end
        end
        PHASE_CLEAR: begin
          loaded_q <= 1'b0;
          fresh_q <= 1'b1;
          escape_length_q <= 5'd0;
          clear_set_q <= clear_set_q + 8'd1;
          if (&clear_set_q) begin
            phase_q <= PHASE_LOAD;
          end
        end
        default: begin
          if (take_code) begin
            fresh_q <= 1'b0;
            if (load_last_i) begin
              loaded_q <= 1'b1;
              phase_q <= PHASE_RUN;
            end
          end else if (load_valid_i) begin
            phase_q <= PHASE_CLEAR;
          end
        end
      endcase
      if (take_code & load_escape_i) begin
        escape_length_q <= load_length_i;
      end
    end
  end

  always @(posedge clk_i) begin
    if (take_code & load_escape_i) begin
      escape_code_q <= code;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      looking_q <= 1'b0;
      groups_q <= 3'd0;
      packing_first_q <= 1'b0;
      packing_last_q <= 1'b0;
      packing_coded_q <= 1'b0;
    end else begin
      if (look) begin
        packing_coded_q <= coded;
        packing_first_q <= !(|groups_q);
        packing_last_q <= groups_q == LAST_GROUP;
        groups_q <= groups_q + 3'd1;
        if (groups_q == LAST_GROUP) begin
          looking_q <= 1'b0;
        end
      end
      if (take_line) begin
        looking_q <= 1'b1;
        groups_q <= 3'd0;
      end
    end
  end

  always @(posedge clk_i) begin
    if (look) begin
      line_q <= (line_q >> TURN) | (line_q << TURN_BACK);
    end
    if (take_line) begin
      line_q <= line_i;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      if (valid_q & ready_i) begin
        valid_q <= 1'b0;
      end
      if (pack) begin
        if (packing_last_q) begin
          valid_q <= 1'b1;
        end
      end
    end
  end

  always @(posedge clk_i) begin
    if (pack) begin
      payload_q <= append_payload_o;
      bits_q <= append_bits_o;
      uncoded_q <= next_uncoded;
      if (packing_last_q) begin
        compressed_q <= fits;
        if (!fits) begin
          payload_q <= line_q;
          bits_q <= LINE_BITS;
        end
      end
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, load_value_i[7:0]};

endmodule

`default_nettype wire
