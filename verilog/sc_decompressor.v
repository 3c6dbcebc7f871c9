// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor
//
// Rebuilds cache lines from the Huffman codes of their words, up to K codes per cycle.
//
// LATTE-CC, section IV.C.2. WINDOW is the bits of K codes and a word, BOTH those of a line and K words.
//
// Parameters: symbols_per_cycle = 4
// In this file: K = 4, WINDOW = 96, BOTH = 1152
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control
//
// SC's decompressor: a cache line from the Huffman codes of its words.
//
// Source: LATTE-CC, section IV.C.2 (3 KB of look-up table, 14 cycles per line). What entries, codes and
// payloads are: the family's page.
//
//    payload_i -> [ payload ] -> window -> code -> code -> code -> code        addresses       values
//                      ^ position           |length |length |length |length -> [       ] -> 4 x table -> [ line ] -> line_o
//                                           \_ raw word behind an escape ____> [       ] ----------------^
//
//    a code:  first 16 bits of the rest -> 16 x (below the end of this length's codes?) -> length, code
//             code + base of its length -> rank -> (less one behind the escape's rank) -> address
//
// The codes are canonical, so that a code's length follows from the first among 16 left-aligned ends that is
// above the next 16 bits of the payload; the code then leads to its rank by one addition, and the rank to the
// value. Up to `symbols_per_cycle` codes are found in a cycle, each behind the one before it. An escape ends
// the cycle's codes: one place in a cycle takes a raw word, the one behind the last code. In the next cycle
// the values move into the line, which is the output register too.
//
// Choices where the paper is silent:
// - Ends, bases and ranks come from the order of the code stream alone: the index of an entry is not needed,
//   and there is no port for it. The value of the n-th code that is not the escape's lies at address n.
// - Each code of a cycle has a copy of the values; all copies are written alike.
// - A payload may be wrong. If the next bits are no code, or if the 32 words need more bits than `bits_i`,
//   the line is zero and `error_o` is high. Bits behind the last word's are ignored. Every cycle takes a word
//   or ends the payload, so that none takes more than 34 cycles.
// - A code stream waits until the lines in flight have left, and payloads wait until it has ended. The first
//   code of a stream forgets the others. Without codes, as after reset, every compressed payload is an error.
//
// PARAMETERS
// - symbols_per_cycle, default 4, allowed 1, 2, 4: the most codes that are decoded in a cycle; copies of the
//   values
//
// PORTS AND TIMING
// Payloads and lines are valid/ready streams, and so are the codes. All outputs come from registers. `line_o`
// shows how far the line has come while `valid_o` is low.
//
//   4 codes     0     1     2         8     9     10    11
//   clk_i     /--\__/--\__/--\__ ... /--\__/--\__/--\__/--\__
//   valid_i   /------------------ ... ------------\___________    A has no escape
//   payload_i < A  >< B               ...         >============
//   ready_o   ------\____________ ... ______/-----\___________
//   decode          <w0-3><w4-7>  ... <28-31>     <w0-3>
//   values                <w0-3>  ...       <28-31>     <w0-3>
//   valid_o   ___________________ ... ____________/-----\_____
//   line_o    ==============< incomplete          >< A  >=====
//
// A compressed line takes as many cycles as its words make groups, and two: a group ends with an escape or is
// full. At the default, 32 words with codes are 8 groups and take 10 cycles. A line of 12 groups takes the
// paper's 14, such as one that begins with 5 escapes; 31 escapes, the most that a payload holds, take 34. A
// line that was kept as it is takes 2.
//
// Cycles per compressed line, measured over 813 lines of 20 code books as the stimulus draws them, which has
// more escapes than a cache with well-chosen codes would see (a test keeps these numbers):
//
// - 1, least 34, mean 34.0: 34
// - 2, least 18, mean 20.7: 33
// - 4, least 10, mean 14.3: 33
//
// STORAGE
// The paper counts 3 KB, 24,576 bits, for the look-up table: 24 bits for each of 1,024 entries. That is
// enough for the part of a value that its set does not give, but the set of a value is not known from its
// rank; so an entry here has all 32 bits, and one copy 32,768. Four codes per cycle take four copies,
// 131,072. The ends (272), bases (176) and ranks, payload and line (1,024 each) and control make the rest of
// the 133,713.
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

module sc_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low: no codes are loaded, nothing is in flight
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // it is a row of codes, not the line itself
  input  wire          compressed_i,
  // its bits: what lies behind them is no code
  input  wire   [10:0] bits_i,
  // the payload, first bit lowest
  input  wire [1023:0] payload_i,
  // the consumer takes the line in this cycle
  input  wire          ready_i,
  // a code is offered
  input  wire          load_valid_i,
  // it is the first one: forget the others
  input  wire          load_first_i,
  // it is the last one: payloads may be decompressed
  input  wire          load_last_i,
  // it is the escape symbol's
  input  wire          load_escape_i,
  // the value that it stands for
  input  wire   [31:0] load_value_i,
  // the code, right-aligned, its most significant bit first in the payload
  input  wire   [15:0] load_code_i,
  // its length in bits
  input  wire    [4:0] load_length_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the payload was no row of codes, or ended early; the line is zero
  output wire          error_o,
  // the line: word 0 in bits 31 to 0; still incomplete while valid_o is low
  output wire [1023:0] line_o,
  // the code is taken in this cycle
  output wire          load_ready_o
);

  localparam [1:0] PHASE_DRAIN = 2'd1;
  localparam [1:0] PHASE_LOAD = 2'd2;
  localparam [1:0] PHASE_RUN = 2'd0;
  localparam [10:0] LINE_BITS = 11'h400;
  localparam [4:0] CODE_BITS = 5'd16;
  localparam [10:0] NO_RANK = {11{1'b1}};
  wire ready;
  wire load_ready;
  wire take_code;
  reg [271:0] first_ends;
  wire [16:0] code_end;
  reg [271:0] next_ends;
  reg [175:0] next_bases;
  reg [10:0] code_rank;
  reg [9:0] code_place;
  wire free;
  wire write;
  wire step;
  wire fault;
  wire [5:0] next_left;
  wire values_write_i;
  wire [127:0] values_read_data_o;
  wire [39:0] decode_places_o;
  wire [2:0] decode_taken_o;
  wire decode_escaped_o;
  wire [31:0] decode_word_o;
  wire [10:0] decode_position_o;
  wire decode_invalid_o;
  wire [1023:0] assemble_line_o;
  reg [1:0] phase_q;
  // where the codes of each length end, left-aligned
  reg [271:0] ends_q;
  // rank of a code less the code, per length
  reg [175:0] bases_q;
  // all ones: there is no escape
  reg [10:0] escape_rank_q;
  // rank of the next code
  reg [10:0] rank_q;
  // where the next value goes
  reg [9:0] value_place_q;
  reg [1023:0] payload_q;
  reg [10:0] bits_q;
  // the payload is the line itself
  reg plain_q;
  reg busy_q;
  // bits of the payload that were decoded
  reg [10:0] position_q;
  // words that are still to be decoded
  reg [5:0] left_q;
  // codes that were taken wait for their values
  reg waiting_q;
  reg waiting_last_q;
  // the codes are none, or end behind the payload
  reg waiting_error_q;
  reg [39:0] places_q;
  reg [2:0] taken_q;
  reg escaped_q;
  reg [31:0] word_q;
  reg [1023:0] line_q;
  reg valid_q;
  reg error_q;

  selvedge_replicated_mem #(.A (10), .P (4), .BITS (32)) values (
    .clk_i           (clk_i),
    .write_i         (values_write_i),
    .write_address_i (code_place),
    .write_data_i    (load_value_i),
    .read_address_i  (places_q),
    .read_data_o     (values_read_data_o)
  );

  sc_decompressor_sc_decode_group decode (
    .payload_i     (payload_q),
    .position_i    (position_q),
    .left_i        (left_q),
    .ends_i        (ends_q),
    .bases_i       (bases_q),
    .escape_rank_i (escape_rank_q),
    .places_o      (decode_places_o),
    .taken_o       (decode_taken_o),
    .escaped_o     (decode_escaped_o),
    .word_o        (decode_word_o),
    .position_o    (decode_position_o),
    .invalid_o     (decode_invalid_o)
  );

  sc_decompressor_sc_assemble assemble (
    .line_i    (line_q),
    .values_i  (values_read_data_o),
    .taken_i   (taken_q),
    .escaped_i (escaped_q),
    .word_i    (word_q),
    .line_o    (assemble_line_o)
  );

  // codes wait for the payloads in flight
  assign ready = (phase_q == PHASE_RUN) & !busy_q;
  assign load_ready = phase_q == PHASE_LOAD;
  assign take_code = load_valid_i & load_ready;

  // codes come in canonical order: each one's end is that of its length, and of all longer ones so far
  always @(*) begin
    first_ends = ends_q;
    code_rank = rank_q;
    code_place = value_place_q;
    if (load_first_i) begin
      first_ends = 272'd0;
      code_rank = 11'd0;
      code_place = 10'd0;
    end
  end

  assign code_end = ({1'b0, load_code_i} + 17'd1) << (CODE_BITS - load_length_i);

  always @(*) begin : comb_next_ends
    integer l;
    next_ends = first_ends;
    next_bases = bases_q;
    for (l = 0; l < 16; l = l + 1) begin
      if (load_length_i <= (l[4:0] + 5'd1)) begin
        next_ends[l*17 +: 17] = code_end;
      end
      if (load_length_i == (l[4:0] + 5'd1)) begin
        next_bases[l*11 +: 11] = code_rank - load_code_i[10:0];
      end
    end
  end

  assign values_write_i = take_code & !load_escape_i;
  // values move to the line when it is free, and codes are taken when their place is
  assign free = !valid_q | ready_i;
  assign write = waiting_q & free;
  assign step = busy_q & !plain_q & (!waiting_q | write);

  assign fault = decode_invalid_o | (decode_position_o > bits_q);
  assign next_left = left_q - {3'd0, decode_taken_o};
  assign ready_o = ready;
  assign load_ready_o = load_ready;
  assign valid_o = valid_q;
  assign error_o = error_q;
  assign line_o = line_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= 1'b0;
    end else begin
      waiting_q <= step | (waiting_q & !write);
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= 2'd0;
    end else begin
      case (phase_q)
        PHASE_RUN: begin
          if (load_valid_i) begin
            phase_q <= PHASE_DRAIN;
          end
        end
        PHASE_DRAIN: begin
          if (!(busy_q | waiting_q | valid_q)) begin
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
      bases_q <= 176'd0;
      escape_rank_q <= {11{1'b1}};
      rank_q <= 11'd0;
      value_place_q <= 10'd0;
    end else if (take_code) begin
      ends_q <= next_ends;
      bases_q <= next_bases;
      rank_q <= code_rank + 11'd1;
      if (load_first_i) begin
        escape_rank_q <= NO_RANK;
      end
      if (load_escape_i) begin
        escape_rank_q <= code_rank;
        value_place_q <= code_place;
      end else begin
        value_place_q <= code_place + 10'd1;
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      plain_q <= 1'b0;
      busy_q <= 1'b0;
      left_q <= 6'd0;
      waiting_last_q <= 1'b0;
      waiting_error_q <= 1'b0;
      valid_q <= 1'b0;
    end else begin
      if (step) begin
        left_q <= next_left;
        busy_q <= (|next_left) & !fault;
        waiting_last_q <= !(|next_left) | fault;
        waiting_error_q <= fault;
      end
      if (valid_q & ready_i) begin
        valid_q <= 1'b0;
      end
      if (write) begin
        valid_q <= waiting_last_q;
      end
      if (busy_q & plain_q & !waiting_q & free) begin
        valid_q <= 1'b1;
        busy_q <= 1'b0;
      end
      if (valid_i & ready) begin
        plain_q <= !compressed_i;
        busy_q <= 1'b1;
        left_q <= 6'd32;
        // a payload has no more bits than the line
      end
    end
  end

  always @(posedge clk_i) begin
    if (step) begin
      position_q <= decode_position_o;
      places_q <= decode_places_o;
      taken_q <= decode_taken_o;
      escaped_q <= decode_escaped_o;
      word_q <= decode_word_o;
    end
    if (write) begin
      line_q <= assemble_line_o;
      error_q <= waiting_error_q;
      if (waiting_error_q) begin
        line_q <= 1024'd0;
      end
    end
    if (busy_q & plain_q & !waiting_q & free) begin
      line_q <= payload_q;
      error_q <= 1'b0;
    end
    if (valid_i & ready) begin
      payload_q <= payload_i;
      position_q <= 11'd0;
      // a payload has no more bits than the line
      bits_q <= bits_i;
      if (bits_i > LINE_BITS) begin
        bits_q <= LINE_BITS;
      end
    end
  end

endmodule

`default_nettype wire
