// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor
//
// Rebuilds cache lines from the Huffman codes of their words, up to K codes per cycle.
//
// LATTE-CC, section IV.C.2.
//
// Parameters: symbols_per_cycle = 4
// In this file: K = 4
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// SC's decompressor: rebuilds a cache line from the Huffman codes of its words.
//
// Source: LATTE-CC, section IV.C.2 (3 KB of look-up table, 14 cycles per line). The family's page
// defines entries, codes and payloads.
//
//    payload_i -> [ payload ] -> next block -> length at each of 32 bits -> [ lengths of two blocks ] -+
//                                                                                                      v
//              begin -> code -> code -> code -> code -> next begin      one cycle: a mark moves by the lengths
//                        v       v       v       v
//              [ codes ] -> ranks, raw word -> [ places ] -> 8 banks of values -> [ read ] -> [ line ] -> line_o
//                                                  ^ words that wait for a bank
//
// The decompressor takes a payload in blocks of 32 bits. For each bit of a block it finds the
// length of the code that would begin there. It compares the next 16 bits with the ends of the
// codes of each length, for all bits at once. So the chain from code to code needs no comparison.
// The position of the next code is a mark among the 64 bits of two blocks. A code moves the mark by
// the length that is known at its bit. Up to `symbols_per_cycle` codes are passed per cycle. An
// escape is the last code of its cycle. When the mark leaves the first block, the next block is
// taken.
//
// In the next cycle, one addition computes the rank of each code from its last 11 bits (the codes
// are canonical). Then the values are read. In the cycle after that they go into the line, which is
// also the output register.
//
// Choices where the paper is silent:
// - Ends, bases and ranks follow from the order of the code stream alone. The index of an entry is
//   not needed and has no port. The value of the n-th code is at address n. The escape has an
//   address, but no value. Only a full table has a rank beyond the last address; its value is at
//   the address of the escape.
// - The values are stored once, in eight banks that the lowest address bits select. Successive
//   codes of the canonical order are in different banks, so that the eight most frequent values
//   never conflict. Equal words share a read. A word whose bank gives another row waits for the
//   next cycle, and so do the groups behind it.
// - A payload may be wrong. If the next bits are no code, or if the 32 words need more bits than
//   `bits_i`, the line is zero and `error_o` is high. Bits after the last word are ignored. Every
//   cycle takes a word, ends the payload, or consumes a block. No payload takes more than 90
//   cycles.
// - A code stream waits until the lines in flight have left, and payloads wait until the stream has
//   ended. The first code of a stream removes all previous codes. Without codes, as after a reset,
//   every compressed payload is an error.
//
// PARAMETERS
// - symbols_per_cycle, default 4, allowed 1, 2, 4: maximum number of codes found per cycle
//
// PORTS AND TIMING
// Payloads, lines and codes are valid/ready streams. All outputs come from registers. While
// `valid_o` is low, `line_o` shows the part of the line that is rebuilt so far.
//
//   4 codes     0     1     2         8     9     10    11    12    13
//   clk_i     /--\__/--\__/--\__ ... /--\__/--\__/--\__/--\__/--\__/--\__
//   valid_i   /------------------ ... ------------\_______________________    A has no escape
//   payload_i < A  >< B               ...         >========================
//   ready_o   ------\____________ ... ______/-----\_______________________
//   codes           <w0-3><w4-7>  ... <28-31>     <w0-3>
//   places                <w0-3>  ...       <28-31>     <w0-3>
//   reads                         ...             <28-31>     <w0-3>
//   to line                       ...                   <28-31>     <w0-3>
//   valid_o   ___________________ ... ________________________/-----\_____
//   line_o    ====================< incomplete                >< A  >=====
//
// A compressed line takes one cycle for each group of its words, four more cycles, and one for each
// time that a group waits for a bank. A group ends with an escape, when it is full, or when the
// codes leave the two blocks. Codes of 8 bits consume one block per cycle; of longer codes, fewer
// are found in a cycle. At the default, 32 words with short codes make 8 groups and take 12 cycles.
// A line of 10 groups takes the paper's 14 cycles. An uncompressed line takes 2 cycles.
//
// Cycles per compressed line, measured over 813 lines of 20 code books that the stimulus draws.
// They have more escapes than a cache with well-chosen codes would see (a test checks these
// numbers):
//
// - 1, minimum 36, mean 36.6: 46
// - 2, minimum 20, mean 24.2: 40
// - 4, minimum 12, mean 19.3: 38
//
// STORAGE
// The paper states 3 KB, 24,576 bits, for the look-up table: 24 bits for each of 1,024 entries.
// That is enough for the part of a value that its set does not determine. But a rank does not
// determine the set of its value, so an entry here has all 32 bits: 32,768 bits in total. The rest
// consists of the payload and the line (1,024 each), the lengths and bits of two blocks (448), the
// ends (152), bases (176) and ranks, and the content of the stages.
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

module sc_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low: no codes are loaded, nothing is in flight
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // the payload consists of codes; if low, it is the line itself
  input  wire          compressed_i,
  // number of bits of the payload; bits beyond them are no code
  input  wire   [10:0] bits_i,
  // the payload, first bit lowest
  input  wire [1023:0] payload_i,
  // the consumer takes the line in this cycle
  input  wire          ready_i,
  // a code is offered
  input  wire          load_valid_i,
  // the code is the first one of a stream: it removes all previous codes
  input  wire          load_first_i,
  // the code is the last one of a stream: payloads may be decompressed
  input  wire          load_last_i,
  // the code is that of the escape symbol
  input  wire          load_escape_i,
  // value that has the code
  input  wire   [31:0] load_value_i,
  // the code, right-aligned; its most significant bit comes first in the payload
  input  wire   [15:0] load_code_i,
  // length of the code in bits
  input  wire    [4:0] load_length_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the payload is not a sequence of codes, or it ends early; the line is zero
  output wire          error_o,
  // the line: word 0 in bits 31 to 0; incomplete while valid_o is low
  output wire [1023:0] line_o,
  // the code is taken in this cycle
  output wire          load_ready_o
);

  localparam [1:0] PHASE_RUN = 2'd0;
  localparam [1:0] PHASE_DRAIN = 2'd1;
  localparam [1:0] PHASE_LOAD = 2'd2;
  localparam [10:0] LINE_BITS = 11'h400;
  localparam [4:0] CODE_BITS = 5'd16;
  localparam [79:0] FIRST_START = 80'h100000000;
  localparam [15:0] ALL_CODE_BITS = {16{1'b1}};
  // mask of the bits that an end of each length can have
  localparam [271:0] END_MASKS = {{17{1'b1}}, 17'h1fffe, 17'h1fffc, 17'h1fff8, 17'h1fff0, 17'h1ffe0,
      17'h1ffc0, 17'h1ff80, 17'h1ff00, 17'h1fe00, 17'h1fc00, 17'h1f800, 17'h1f000, 17'h1e000,
      17'h1c000, 17'h18000};
  wire ready;
  wire load_ready;
  wire take_code;
  reg [271:0] first_ends;
  wire [16:0] code_end;
  reg [271:0] next_ends;
  reg [175:0] next_bases;
  reg [10:0] code_rank;
  wire [9:0] value_place;
  reg [15:0] reversed;
  wire take;
  wire free;
  wire issue;
  wire placed_done;
  wire found_goes;
  wire step;
  wire group;
  reg [5:0] next_left;
  wire last;
  reg [10:0] code_end_at;
  wire [3:0] still;
  reg [7:0] values_write;
  wire [255:0] values_read_data;
  wire [47:0] lengths_bits;
  wire [127:0] lengths_lengths;
  wire [31:0] lengths_values;
  wire [31:0] lengths_escapes;
  wire [3:0] chase_taken;
  wire [6:0] chase_begin;
  wire [27:0] chase_ends;
  wire chase_escaped;
  wire [79:0] chase_start;
  wire chase_advance;
  wire chase_invalid;
  wire [39:0] find_places_places;
  wire [6:0] find_places_end;
  wire [31:0] find_places_word;
  wire [55:0] schedule_rows;
  wire [3:0] schedule_served;
  reg [127:0] put_words;
  wire [1023:0] put_line;
  reg [1:0] phase_q;
  // end of the codes of each length, left-aligned
  reg [271:0] ends_q;
  // rank of a code minus the code, for each length
  reg [175:0] bases_q;
  reg escape_known_q;
  // code of the escape symbol, first bit lowest
  reg [15:0] escape_code_q;
  // mask of the bits of that code
  reg [15:0] escape_mask_q;
  // reset to zero, because a shift by an unknown length gives unknown bits
  reg [4:0] escape_length_q;
  reg [9:0] escape_place_q;
  // rank of the next code
  reg [10:0] rank_q;
  // blocks of 32 bits after the two blocks with known code lengths
  reg [1023:0] payload_q;
  reg [10:0] bits_q;
  // the payload is the uncompressed line
  reg plain_q;
  reg busy_q;
  // the two blocks with known code lengths
  reg [63:0] blocks_q;
  // length of the code at each bit of the blocks, less one: one vector per bit of the length
  reg [255:0] block_lengths_q;
  reg [63:0] block_values_q;
  reg [63:0] block_escapes_q;
  // one-hot position at which the next code begins
  reg [79:0] start_q;
  // number of blocks that are consumed
  reg [5:0] used_q;
  // number of words that are left to decode
  reg [5:0] left_q;
  // codes that were found
  reg found_q;
  reg [111:0] found_bits_q;
  reg [6:0] found_begin_q;
  reg [27:0] found_ends_q;
  reg [3:0] found_taken_q;
  reg found_escaped_q;
  reg found_last_q;
  reg found_invalid_q;
  reg [5:0] found_used_q;
  reg [4:0] found_at_q;
  reg [10:0] found_size_q;
  // words with known addresses
  reg placed_q;
  reg [39:0] places_q;
  reg [3:0] pending_q;
  reg [3:0] raw_q;
  reg [31:0] placed_word_q;
  reg [4:0] placed_at_q;
  reg placed_last_q;
  reg placed_error_q;
  // words that the memory gives
  reg read_q;
  reg [3:0] served_q;
  reg [11:0] banks_q;
  reg [3:0] read_raw_q;
  reg [31:0] read_word_q;
  reg [4:0] read_at_q;
  reg read_last_q;
  reg read_error_q;
  reg [1023:0] line_q;
  reg valid_q;
  reg error_q;

  genvar g;
  generate
    for (g = 0; g < 8; g = g + 1) begin : gen_values
      selvedge_sync_mem #(.A (7), .BITS (32)) values (
        .clk_i           (clk_i),
        .write_i         (values_write[g]),
        .write_address_i (value_place[9:3]),
        .write_data_i    (load_value_i),
        .read_address_i  (schedule_rows[g*7 +: 7]),
        .read_data_o     (values_read_data[g*32 +: 32])
      );
    end
  endgenerate

  sc_decompressor_sc_lengths lengths (
    .bits_i         (lengths_bits),
    .ends_i         (ends_q),
    .escape_code_i  (escape_code_q),
    .escape_mask_i  (escape_mask_q),
    .escape_known_i (escape_known_q),
    .lengths_o      (lengths_lengths),
    .values_o       (lengths_values),
    .escapes_o      (lengths_escapes)
  );

  sc_decompressor_sc_chase chase (
    .lengths_i       (block_lengths_q),
    .values_i        (block_values_q),
    .escapes_i       (block_escapes_q),
    .escape_length_i (escape_length_q),
    .start_i         (start_q),
    .left_i          (left_q),
    .taken_o         (chase_taken),
    .begin_o         (chase_begin),
    .ends_o          (chase_ends),
    .escaped_o       (chase_escaped),
    .start_o         (chase_start),
    .advance_o       (chase_advance),
    .invalid_o       (chase_invalid)
  );

  sc_decompressor_sc_places find_places (
    .bits_i         (found_bits_q),
    .begin_i        (found_begin_q),
    .ends_i         (found_ends_q),
    .taken_i        (found_taken_q),
    .bases_i        (bases_q),
    .escape_place_i (escape_place_q),
    .places_o       (find_places_places),
    .end_o          (find_places_end),
    .word_o         (find_places_word)
  );

  sc_decompressor_sc_schedule schedule (
    .places_i  (places_q),
    .pending_i (pending_q),
    .raw_i     (raw_q),
    .rows_o    (schedule_rows),
    .served_o  (schedule_served)
  );

  sc_decompressor_sc_put put (
    .line_i   (line_q),
    .words_i  (put_words),
    .served_i (served_q),
    .at_i     (read_at_q),
    .line_o   (put_line)
  );

  // accept codes when no payload is in flight
  assign ready = (phase_q == PHASE_RUN) & ~busy_q;
  assign load_ready = phase_q == PHASE_LOAD;
  assign take_code = load_valid_i & load_ready;

  // codes arrive in canonical order: each one updates the end of its length and of all longer
  // lengths
  always @(*) begin
    first_ends = ends_q;
    code_rank = rank_q;
    if (load_first_i) begin
      first_ends = 272'd0;
      code_rank = 11'd0;
    end
  end

  assign code_end = ({1'b0, load_code_i} + 17'd1) << (CODE_BITS - load_length_i);

  always @(*) begin : comb_next_ends
    integer l;
    next_ends = first_ends;
    next_bases = bases_q;
    for (l = 0; l < 16; l = l + 1) begin
      if (load_length_i <= (l[4:0] + 5'd1)) begin
        next_ends[l*17 +: 17] = code_end & END_MASKS[l*17 +: 17];
      end
      if (load_length_i == (l[4:0] + 5'd1)) begin
        next_bases[l*11 +: 11] = code_rank - load_code_i[10:0];
      end
    end
  end

  assign value_place = code_rank[10] ? escape_place_q : code_rank[9:0];

  always @(*) begin : comb_reversed
    integer i;
    for (i = 0; i < 16; i = i + 1) begin
      reversed[i] = load_code_i[15-i];
    end
  end

  // a stage advances when the next one is free or advances; words are read when the line is free
  assign free = ~valid_q | ready_i;
  assign issue = placed_q & free & ~(read_q & read_last_q);
  assign still = pending_q & ~schedule_served;
  assign placed_done = issue & ~(|still);
  assign found_goes = found_q & (~placed_q | placed_done);
  assign step = busy_q & ~plain_q & (~found_q | found_goes);
  assign take = valid_i & ready;
  // code lengths at every bit of the next block
  assign lengths_bits = ready ? payload_i[47:0] : payload_q[47:0];

  always @(*) begin : comb_next_left
    integer i;
    next_left = left_q;
    for (i = 0; i < 4; i = i + 1) begin
      if (chase_taken[i]) begin
        next_left = left_q - (i[5:0] + 6'd1);
      end
    end
  end

  assign last = ~(|next_left) | chase_invalid;

  assign group = chase_taken[0] | chase_invalid;

  always @(*) begin
    code_end_at = {found_used_q, 5'd0} + {4'd0, find_places_end};
    if (found_escaped_q) begin
      code_end_at = code_end_at + 11'd32;
    end
  end

  always @(*) begin : comb_values_write
    integer bank;
    for (bank = 0; bank < 8; bank = bank + 1) begin
      values_write[bank] = take_code & ~load_escape_i & (value_place[2:0] == bank[2:0]);
    end
  end

  // insert the words into the line
  always @(*) begin : comb_put_words
    integer bank;
    integer i;
    reg [31:0] word;
    for (i = 0; i < 4; i = i + 1) begin
      word = 32'd0;
      for (bank = 0; bank < 8; bank = bank + 1) begin
        if (banks_q[i*3 +: 3] == bank[2:0]) begin
          word = values_read_data[bank*32 +: 32];
        end
      end
      if (read_raw_q[i]) begin
        word = read_word_q;
      end
      put_words[i*32 +: 32] = word;
    end
  end

  assign ready_o = ready;
  assign load_ready_o = load_ready;
  assign valid_o = valid_q;
  assign error_o = error_q;
  assign line_o = line_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      found_q <= 1'b0;
      read_q <= 1'b0;
    end else begin
      found_q <= (step & group) | (found_q & ~found_goes);
      read_q <= issue;
    end
  end

  always @(posedge clk_i) begin
    served_q <= schedule_served;
    read_raw_q <= raw_q;
    read_word_q <= placed_word_q;
    read_at_q <= placed_at_q;
    read_last_q <= placed_last_q & ~(|still);
    read_error_q <= placed_error_q;
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= PHASE_RUN;
    end else begin
      case (phase_q)
        PHASE_RUN: begin
          if (load_valid_i) begin
            phase_q <= PHASE_DRAIN;
          end
        end
        PHASE_DRAIN: begin
          if (!(busy_q | found_q | placed_q | read_q | valid_q)) begin
            phase_q <= PHASE_LOAD;
          end
        end
        default: begin
          if (take_code & load_last_i) begin
            phase_q <= PHASE_RUN;
          end
        end
      endcase
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ends_q <= 272'd0;
      escape_known_q <= 1'b0;
      escape_length_q <= 5'd0;
      escape_place_q <= 10'd0;
      rank_q <= 11'd0;
    end else if (take_code) begin
      ends_q <= next_ends;
      rank_q <= code_rank + 11'd1;
      if (load_first_i) begin
        escape_known_q <= 1'b0;
        escape_place_q <= 10'd0;
      end
      if (load_escape_i) begin
        escape_known_q <= 1'b1;
        escape_place_q <= code_rank[9:0];
        escape_length_q <= load_length_i;
      end
    end
  end

  always @(posedge clk_i) begin
    if (take_code) begin
      bases_q <= next_bases;
      if (load_escape_i) begin
        escape_code_q <= reversed >> (CODE_BITS - load_length_i);
        escape_mask_q <= ALL_CODE_BITS >> (CODE_BITS - load_length_i);
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      if (step) begin
        busy_q <= ~last;
      end
      if (valid_q & ready_i) begin
        valid_q <= 1'b0;
      end
      if (read_q) begin
        if (read_last_q) begin
          valid_q <= 1'b1;
        end
      end
      if (busy_q & plain_q & free & ~(found_q | placed_q | read_q)) begin
        valid_q <= 1'b1;
        busy_q <= 1'b0;
      end
      if (take) begin
        busy_q <= 1'b1;
      end
    end
  end

  always @(posedge clk_i) begin : update_payload_q
    integer p;
    if (step) begin
      start_q <= chase_start;
      left_q <= next_left;
      found_bits_q <= {payload_q[47:0], blocks_q};
      found_begin_q <= chase_begin;
      found_ends_q <= chase_ends;
      found_taken_q <= chase_taken;
      found_escaped_q <= chase_escaped;
      found_last_q <= last;
      found_invalid_q <= chase_invalid;
      found_used_q <= used_q;
      found_at_q <= ~(left_q[4:0] - 5'd1);
      found_size_q <= bits_q;
    end
    if (take | (step & chase_advance)) begin
      for (p = 0; p < 4; p = p + 1) begin
        block_lengths_q[p*64 +: 64] <= {lengths_lengths[p*32 +: 32], block_lengths_q[p*64+32 +:
            32]};
      end
      block_values_q <= {lengths_values, block_values_q[63:32]};
      block_escapes_q <= {lengths_escapes, block_escapes_q[63:32]};
      blocks_q <= {lengths_bits[31:0], blocks_q[63:32]};
      payload_q <= payload_q >> 32;
      used_q <= used_q + 6'd1;
    end
    if (read_q) begin
      line_q <= put_line;
      if (read_last_q) begin
        error_q <= read_error_q;
        if (read_error_q) begin
          line_q <= 1024'd0;
        end
      end
    end
    if (busy_q & plain_q & free & ~(found_q | placed_q | read_q)) begin
      // remove the first block from the payload
      line_q <= {payload_q[991:0], blocks_q[63:32]};
      error_q <= 1'b0;
    end
    if (take) begin
      payload_q <= payload_i >> 32;
      plain_q <= ~compressed_i;
      start_q <= FIRST_START;
      used_q <= 6'd0;
      left_q <= 6'd32;
      // a payload is not longer than the line
      bits_q <= bits_i;
      if (bits_i > LINE_BITS) begin
        bits_q <= LINE_BITS;
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      placed_q <= 1'b0;
    end else begin
      if (placed_done) begin
        placed_q <= 1'b0;
      end
      if (found_goes) begin
        placed_q <= 1'b1;
      end
    end
  end

  always @(posedge clk_i) begin
    if (issue) begin
      pending_q <= still;
    end
    if (found_goes) begin
      places_q <= find_places_places;
      pending_q <= found_taken_q;
      // the last code can be an escape
      raw_q <= 4'd0;
      if (found_escaped_q) begin
        raw_q <= found_taken_q & ~(found_taken_q >> 1);
      end
      placed_word_q <= find_places_word;
      placed_at_q <= found_at_q;
      placed_last_q <= found_last_q;
      // positions count the empty block before the payload
      placed_error_q <= found_invalid_q | (code_end_at > (found_size_q + 11'd32));
    end
  end

  always @(posedge clk_i) begin : update_banks_q
    integer i;
    for (i = 0; i < 4; i = i + 1) begin
      banks_q[i*3 +: 3] <= places_q[i*10 +: 3];
    end
  end

endmodule

`default_nettype wire
