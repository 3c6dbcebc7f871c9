// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_compressor
//
// Compresses cache lines to the Huffman codes of their words, K words per cycle.
//
// LATTE-CC, section IV.C.2. A line whose codes are longer than the line stays uncompressed. GROUP
// is the maximum number of bits of K words, 48 each, and SUM the width of that number. GROUPS is
// the number of groups in a line.
//
// Parameters: symbols_per_cycle = 8
// In this file: K = 8, GROUPS = 4, GROUP = 384, SUM = 9
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// SC's compressor: encodes a cache line as the Huffman codes of its words.
//
// Source: LATTE-CC, section IV.C.2 (7 KB of table, 6 cycles per line). The family's page defines
// entries, codes and payloads.
//
//                          words that wait for a bank                               fields of a group            payload register
//                             v              |                                        v                         v
//    line_i -> [ line ] -> group of 8 -> [ 8 banks ] -> 8 x { code, or escape and word } -> [ ... ] -> join -> shift -> [ ... ] -> payload_o
//                                            ^ write                                                  bits so far ----^
//    load_*_i -> reverse code, write one way of a set
//
//    loading:  run --a code is offered--> drain --nothing in flight--> clear (32 cycles) --> load --last code--> run
//                                                                        ^---- a first code in the middle ---|
//
// The compressor looks up the line in groups of `symbols_per_cycle` words. In a cycle, each bank
// looks up one word of the group: the first one that maps to it and is not looked up yet. Equal
// words share the lookup; others wait for the next cycle. A word without a table entry is encoded
// as the code of the escape and the word itself, at most 48 bits. When all words of a group are
// encoded, their bits are joined and appended to the payload register, which is also the output
// register. A line stays uncompressed if its codes need more than 1,024 bits, or if a word has no
// code and the escape has none. All lines stay uncompressed until codes have been loaded.
//
// Choices where the paper is silent:
// - The paper counts the table once, but 32 words in six cycles need more lookups than one table
//   has ports. The table is therefore cut into eight banks of 32 rows. The bank of a set is the XOR
//   of the three-bit slices of its index, which spreads values at a constant stride. A row is a
//   set. Its four ways are four memories with one read address, because a code is written into one
//   way. All memories are read synchronously.
// - The memories cannot be cleared at once, and codes come rarely (once in 2,560 accesses of the
//   cache). Before codes are taken, one row of all banks is cleared per cycle.
// - A code stream waits until the lines in flight have left, and lines wait until the stream has
//   ended. Outside a stream, the next code begins one, marked as first or not. A code marked as
//   first in the middle of a stream begins a new one.
//
// PARAMETERS
// - symbols_per_cycle, default 8, allowed 4, 8: words per group
//
// PORTS AND TIMING
// Lines, payloads and codes are valid/ready streams. `load_ready_o` depends on `load_first_i` in
// the same cycle; no other output depends on an input. While `valid_o` is low, `payload_o` and
// `bits_o` show the part that is packed so far.
//
//   8 words     0     1     2     3     4     5     6     7
//   clk_i     /--\__/--\__/--\__/--\__/--\__/--\__/--\__/--\__
//   valid_i   /-----------------------------------\___________    no word waits for a bank
//   line_i    < A  >< B                         >============
//   ready_o   ------\_______________________/-----\___________
//   lookup    <w0-7><8-15><16- ><24- >      <w0-7><8-15> ...
//   codes           <w0-7><8-15><16- ><24- >      <w0-7> ...
//   packing               <w0-7><8-15><16- ><24- >      <w0-7>
//   valid_o   ____________________________________/-----\_____
//   payload_o =========================<incomplete>< A  >=====
//
// A line takes 32 / `symbols_per_cycle` + 2 cycles: 6 at the default, as in the paper. Each time
// that words of a group wait for a bank takes one more cycle. The maximum is 34 cycles. The next
// line is taken one cycle before the payload shows. If a payload is not taken, the first group of
// the next line is looked up, and then that line waits.
//
// Cycles per line, measured over the lines that the built-in workloads read at their smallest size:
// minimum 6 (one line in six), median 11, mean 10.2, maximum 20. Nine of ten lines take at most 13
// cycles, and 99 of 100 at most 15. The lines of the slowest workload take 12.4 cycles on average.
// The eight words of a group are mostly all different.
//
// STORAGE
// The paper states 7 KB, 57,344 bits: 1,024 entries of 56 bits. The table here has 46,080 bits. An
// entry needs 24 bits of the value, because the set determines the rest, 16 bits of code, and 5
// bits of length; length 0 means no entry. The line and the payload (1,024 each), the codes of a
// group (432) and the control complete the total of 48,848.
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
  // the code is the first one of a stream: it clears the table
  input  wire          load_first_i,
  // the code is the last one of a stream: lines may be compressed
  input  wire          load_last_i,
  // table entry that has the code: set and way
  input  wire    [9:0] load_index_i,
  // the code is that of the escape symbol
  input  wire          load_escape_i,
  // value that has the code
  input  wire   [31:0] load_value_i,
  // the code, right-aligned; its most significant bit comes first in the payload
  input  wire   [15:0] load_code_i,
  // length of the code in bits
  input  wire    [4:0] load_length_i,
  // the line is taken in this cycle
  output wire          ready_o,
  // a payload is offered
  output wire          valid_o,
  // the payload consists of codes; if low, it is the line itself
  output wire          compressed_o,
  // number of bits of the payload
  output wire   [10:0] bits_o,
  // the payload, first bit lowest; incomplete while valid_o is low
  output wire [1023:0] payload_o,
  // the code is taken in this cycle
  output wire          load_ready_o
);

  // entry: the first bit of each field
  localparam ENTRY_CODE = 24;
  localparam ENTRY_LENGTH = 40;
  localparam K = 8;
  localparam [1:0] PHASE_RUN = 2'd0;
  localparam [1:0] PHASE_DRAIN = 2'd1;
  localparam [1:0] PHASE_CLEAR = 2'd2;
  localparam [1:0] PHASE_LOAD = 2'd3;
  localparam [10:0] LINE_BITS = 11'h400;
  localparam [2:0] LAST_GROUP = 3'd3;
  localparam [7:0] ALL_WORDS = 8'd255;
  localparam [3:0] ALL_WAYS = 4'd15;
  localparam [4:0] CODE_BITS = 5'd16;
  wire take_code;
  reg [15:0] reversed;
  wire [15:0] code;
  reg [44:0] entry;
  wire [2:0] load_bank;
  reg [4:0] row;
  reg [3:0] ways;
  wire pack;
  wire next_packing;
  wire next_valid;
  wire look;
  wire [7:0] still;
  wire done;
  wire last;
  wire take_line;
  reg coded;
  wire next_uncoded;
  wire fits;
  wire ready;
  wire load_ready;
  reg [255:0] lookup_words;
  wire [7:0] lookup_served;
  wire [23:0] lookup_banks;
  wire [39:0] lookup_rows;
  wire [191:0] lookup_tags;
  reg [31:0] banks_write;
  wire [167:0] banks_code;
  reg [255:0] encode_word;
  reg [1343:0] encode_codes;
  wire [383:0] encode_field;
  wire [47:0] encode_length;
  wire [383:0] pack_group_string;
  wire [8:0] pack_group_length;
  wire [1023:0] append_payload;
  wire [10:0] append_bits;
  reg [1:0] phase_q;
  // next row to clear
  reg [4:0] clear_row_q;
  // the table is clear
  reg fresh_q;
  // all codes are loaded
  reg loaded_q;
  // code of the escape symbol, first bit lowest
  reg [15:0] escape_code_q;
  reg [4:0] escape_length_q;
  reg [1023:0] line_q;
  reg looking_q;
  // group of words to look up
  reg [2:0] group_q;
  // words of the group that are not looked up yet
  reg [7:0] pending_q;
  // the banks' replies are valid in this cycle
  reg reading_q;
  // words that these replies belong to
  reg [7:0] read_served_q;
  reg [23:0] read_banks_q;
  // group of these words
  reg [2:0] read_group_q;
  // these words complete their group
  reg read_done_q;
  // the fields contain a complete group to pack
  reg packing_q;
  reg packing_first_q;
  reg packing_last_q;
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

  sc_compressor_sc_lookup lookup (
    .words_i   (lookup_words),
    .pending_i (pending_q),
    .served_o  (lookup_served),
    .banks_o   (lookup_banks),
    .rows_o    (lookup_rows),
    .tags_o    (lookup_tags)
  );

  genvar g_2;
  generate
    for (g_2 = 0; g_2 < 8; g_2 = g_2 + 1) begin : gen_banks
      sc_compressor_sc_bank banks (
        .clk_i       (clk_i),
        .rst_ni      (rst_ni),
        .row_i       (lookup_rows[g_2*5 +: 5]),
        .tag_i       (lookup_tags[g_2*24 +: 24]),
        .write_i     (banks_write[g_2*4 +: 4]),
        .write_row_i (row),
        .entry_i     (entry),
        .code_o      (banks_code[g_2*21 +: 21])
      );
    end
  endgenerate

  genvar g_3;
  generate
    for (g_3 = 0; g_3 < 8; g_3 = g_3 + 1) begin : gen_encode
      sc_compressor_sc_encode_word encode (
        .word_i          (encode_word[g_3*32 +: 32]),
        .bank_i          (read_banks_q[g_3*3 +: 3]),
        .codes_i         (encode_codes[g_3*168 +: 168]),
        .escape_code_i   (escape_code_q),
        .escape_length_i (escape_length_q),
        .field_o         (encode_field[g_3*48 +: 48]),
        .length_o        (encode_length[g_3*6 +: 6])
      );
    end
  endgenerate

  selvedge_bit_packer_8_48_6_384_6_9 pack_group (
    .field_i  (fields_q),
    .length_i (lengths_q),
    .string_o (pack_group_string),
    .length_o (pack_group_length)
  );

  sc_compressor_sc_append append (
    .group_i      (pack_group_string),
    .group_bits_i (pack_group_length),
    .first_i      (packing_first_q),
    .payload_i    (payload_q),
    .bits_i       (bits_q),
    .payload_o    (append_payload),
    .bits_o       (append_bits)
  );

  // accept codes when no line is in flight and the table is clear
  assign ready = (phase_q == PHASE_RUN) & ~looking_q & ~reading_q;

  always @(*) begin : comb_fields_d
    integer g;
    integer i;
    reg [31:0] word;
    fields_d = fields_q;
    lengths_d = lengths_q;
    // look up the words of a group; the first group is looked up when the line is accepted
    for (i = 0; i < 8; i = i + 1) begin
      word = 32'd0;
      for (g = 0; g < 4; g = g + 1) begin
        if (group_q == g[2:0]) begin
          word = word | line_q[(g*K+i)*32 +: 32];
        end
      end
      if (ready) begin
        word = line_i[i*32 +: 32];
      end
      lookup_words[i*32 +: 32] = word;
    end
    for (i = 0; i < 8; i = i + 1) begin
      word = 32'd0;
      for (g = 0; g < 4; g = g + 1) begin
        if (read_group_q == g[2:0]) begin
          word = word | line_q[(g*K+i)*32 +: 32];
        end
      end
      encode_word[i*32 +: 32] = word;
      if (reading_q & read_served_q[i]) begin
        fields_d[i*48 +: 48] = encode_field[i*48 +: 48];
        lengths_d[i*6 +: 6] = encode_length[i*6 +: 6];
      end
    end
  end

  assign load_ready = (phase_q == PHASE_LOAD) & (fresh_q | ~load_first_i);
  assign take_code = load_valid_i & load_ready;

  // reverse each code: its first bit is bit 0
  always @(*) begin : comb_reversed
    integer i;
    for (i = 0; i < 16; i = i + 1) begin
      reversed[i] = load_code_i[15-i];
    end
  end

  assign code = reversed >> (CODE_BITS - load_length_i);

  always @(*) begin
    entry = {21'd0, load_value_i[31:8]};
    entry[ENTRY_CODE +: 16] = code;
    entry[ENTRY_LENGTH +: 5] = load_length_i;
    row = load_index_i[9:5];
    if (phase_q == PHASE_CLEAR) begin
      row = clear_row_q;
      entry = 45'd0;
    end
  end

  // write an entry into the bank, row and way of its set
  assign load_bank = load_index_i[4:2] ^ load_index_i[7:5] ^ {1'b0, load_index_i[9:8]};

  always @(*) begin
    ways = 4'd0;
    if (take_code & ~load_escape_i) begin
      ways[load_index_i[1:0]] = 1'b1;
    end
  end

  always @(*) begin : comb_banks_write
    integer bank;
    for (bank = 0; bank < 8; bank = bank + 1) begin
      banks_write[bank*4 +: 4] = 4'd0;
      if (load_bank == bank[2:0]) begin
        banks_write[bank*4 +: 4] = ways;
      end
      if (phase_q == PHASE_CLEAR) begin
        banks_write[bank*4 +: 4] = ALL_WAYS;
      end
    end
  end

  // pack a group when the payload register is free; look up words if their fields will be free
  assign pack = packing_q & (~valid_q | ready_i);
  assign next_packing = (reading_q & read_done_q) | (packing_q & ~pack);
  assign next_valid = (valid_q & ~ready_i) | (pack & packing_last_q);
  assign take_line = valid_i & ready;

  assign look = (looking_q | take_line) & ~(next_packing & next_valid);

  assign still = pending_q & ~lookup_served;
  assign done = ~(|still);
  assign last = done & (group_q == LAST_GROUP);

  always @(*) begin : comb_encode_codes
    integer bank;
    integer i;
    for (i = 0; i < 8; i = i + 1) begin
      for (bank = 0; bank < 8; bank = bank + 1) begin
        encode_codes[(i*8+bank)*21 +: 21] = banks_code[bank*21 +: 21];
      end
    end
  end

  // pack the codes; output the line itself if they are too long
  always @(*) begin : comb_coded
    integer i;
    coded = 1'b1;
    for (i = 0; i < 8; i = i + 1) begin
      coded = coded & (|lengths_q[i*6 +: 6]);
    end
  end

  assign next_uncoded = (uncoded_q & ~packing_first_q) | ~coded;
  assign fits = loaded_q & ~next_uncoded & (append_bits <= LINE_BITS);

  assign ready_o = ready;
  assign load_ready_o = load_ready;
  assign valid_o = valid_q;
  assign compressed_o = compressed_q;
  assign bits_o = bits_q;
  assign payload_o = payload_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      reading_q <= 1'b0;
      packing_q <= 1'b0;
    end else begin
      reading_q <= look;
      packing_q <= next_packing;
    end
  end

  always @(posedge clk_i) begin
    read_served_q <= lookup_served;
    read_group_q <= group_q;
    read_done_q <= done;
    fields_q <= fields_d;
    lengths_q <= lengths_d;
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      packing_first_q <= 1'b0;
      packing_last_q <= 1'b0;
    end else if (reading_q & read_done_q) begin
      packing_first_q <= ~(|read_group_q);
      packing_last_q <= read_group_q == LAST_GROUP;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= PHASE_RUN;
      clear_row_q <= 5'd0;
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
          if (!(looking_q | reading_q | packing_q | valid_q)) begin
            phase_q <= PHASE_CLEAR;
          end
        end
        PHASE_CLEAR: begin
          loaded_q <= 1'b0;
          fresh_q <= 1'b1;
          escape_length_q <= 5'd0;
          clear_row_q <= clear_row_q + 5'd1;
          if (&clear_row_q) begin
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

  always @(posedge clk_i) begin
    if (take_line) begin
      line_q <= line_i;
    end
  end

  always @(posedge clk_i) begin
    read_banks_q <= lookup_banks;
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      looking_q <= 1'b0;
      group_q <= 3'd0;
      pending_q <= 8'd255;
    end else if (look) begin
      pending_q <= still;
      if (done) begin
        pending_q <= ALL_WORDS;
        group_q <= group_q + 3'd1;
      end
      if (last) begin
        group_q <= 3'd0;
      end
      looking_q <= ~last;
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
      payload_q <= append_payload;
      bits_q <= append_bits;
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

  // unused bits
  wire unused = &{1'b0, load_value_i[7:0]};

endmodule

`default_nettype wire
