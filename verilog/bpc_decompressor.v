// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor
//
// Rebuilds cache lines from the codes of their bit planes: one line at a time, four codes per
// cycle.
//
// LATTE-CC, table I. P is the number of bits of a plane, CHUNK of four codes, DATA of the 32 planes
// that words need, SIXTEEN of half of these planes, and HALF of half a line. A block holds four
// codes or the code of a base word. Codes that run beyond the last plane or beyond the payload give
// a line of zeros with error_o high.
//
// Parameters: line_bytes = 128
// In this file: P = 31, CHUNK = 128, DATA = 992, SIXTEEN = 496, HALF = 512
// Source: LATTE-CC, table I
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// BPC, bit-plane compression: a compressor and a decompressor of cache lines.
//
// Source: LATTE-CC, table I and section VI (11 cycles to decompress). The algorithm is from Kim et
// al., ISCA 2016.
//
// The line consists of 32-bit words. The first word is the base. Every other word is represented by
// its difference from the previous word, an unsigned subtraction with 33 bits. Plane `j` consists
// of bit `j` of every difference (DBP). The codes represent the exclusive-or of a plane with the
// plane above it (DBX), from the highest plane down. The plane above plane 32 is zero. Smooth data
// has small differences. Their upper planes are copies of the sign, so the exclusive-or makes them
// zero.
//
// - 000, 001, 010, 011, 1, bits at 128 bytes 3, 7, 11, 19, 33: base word: zero, sign-extended from
//   4, 8 or 16 bits, or all 32 bits
// - 001, bits at 128 bytes 3: one plane with DBX zero
// - 01 + number less 2, bits at 128 bytes 7: 2 to 33 such planes
// - 00000, bits at 128 bytes 5: DBX all ones
// - 00001, bits at 128 bytes 5: DBP zero, DBX not zero
// - 00010 + lower position, bits at 128 bytes 10: DBX with exactly two ones, which are neighbours
// - 00011 + position, bits at 128 bytes 10: DBX with a single one
// - 1 + DBX, bits at 128 bytes 32: any other plane
//
// Of these kinds, the compressor uses the first one that applies. The payload consists of the codes
// without gaps, from bit 0 up. The first bit of each code is its lowest bit, and each field begins
// with its lowest bit.
//
// Choices where the sources are silent:
// - A line of 64 or 32 bytes has planes of 15 or 7 bits, and positions of 4 or 3 bits.
// - A line whose codes save less than a byte stays uncompressed, and `compressed_o` is low.
// - Payload sizes are whole bytes.
//
// SCHEMATIC
//   compressor    line_i > differences > [planes, four less each cycle] > DBX, four codes > [codes] > last block > [payload]
//                        > code of the base word -----------------------------------------------------^
//   decompressor  payload_i > base word
//                           > four codes > [codes] > planes > [planes] > half of each sum of differences > [line]
//                               ^   > [next bits]  -> the last plane       ^-----> [carries] -----v
//                               \------+-- [payload, a block less when it is read: the register of the line]
//
// The decompressor splits codes one cycle before it makes planes from them. It splits the first
// four codes in the cycle in which it takes the payload. The bits after the four codes have a
// separate register, so that the next code always begins at bit 0 of that register. In the same
// cycle, the bits of the payload that come next are shifted to their position. If only the last
// plane is left after four codes, its code, at that bit 0, is read together with them. So 33 codes
// take eight cycles. The same adders make the words in two cycles: first the lower halves, then the
// upper halves with the carries. Additions of 32 bits in one cycle would be the longest path by
// far.
//
// In both blocks, the output register also holds intermediate results.
//
// PARAMETERS
// - line_bytes, default 128, allowed 32, 64, 128: bytes of a line
//
// PORTS AND TIMING
// Both blocks have a valid/ready stream on each side and work on one line at a time. `ready_o` is
// high when no line is in progress, and the result register is empty or its result is taken in this
// cycle. So `ready_o` depends on `ready_i`; no other output depends on an input. `valid_o` stays
// high until `ready_i`. Results come from registers, which are meaningless while `valid_o` is low.
//
//             0     1     2    ..    10    11    12
//   clk_i     /--\__/--\__/--\__ .. /--\__/--\__/--\__
//   valid_i   /-----\___________ .. _________________
//   ready_o   ------\___________ .. ______/-----------    with ready_i high
//   valid_o   __________________ .. ______/-----\_____
//
// The compressor takes 11 cycles for every line: one for the planes, nine to code 33 planes at four
// per cycle, and one to place the last code in the payload. Earlier codes are placed while the next
// ones are made. The decompressor takes one cycle for the base word, one for every four codes, and
// two for the line: 4 to 11 cycles. The last four codes may be five. An uncompressed line takes 2
// cycles. The maximum is the paper's 11 cycles. A new line can enter in the cycle in which the
// result is taken.
//
// ERRORS
// A run beyond plane 0, or codes beyond the end of the payload, give a line of zeros with `error_o`
// high. A position outside a plane selects no bit. Bits after the last code are ignored.
//
// STORAGE
// See `HwBlock::facts`. LATTE-CC states no storage for BPC.

`default_nettype none

module bpc_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; drops the payload at work
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // the payload consists of codes; if low, it is the line itself
  input  wire          compressed_i,
  // the payload from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the codes do not decode to a line; the line is zero
  output wire          error_o,
  // the line
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  localparam [8:0] BLOCK_BITS = 9'd128;
  localparam [8:0] TWO_BLOCKS = 9'd256;
  localparam [7:0] CHUNK_BITS = 8'd128;
  localparam [8:0] HALF_PLANES = 9'd496;
  localparam [10:0] LINE_BITS = 11'h400;
  localparam [31:0] ONES_ABOVE_4 = 32'hfffffff0;
  localparam [31:0] ONES_ABOVE_8 = 32'hffffff00;
  localparam [31:0] ONES_ABOVE_16 = 32'hffff0000;
  wire ready;
  // payload after the code of the base word (offered), payload that was kept, and payload after the
  // window (ahead)
  reg [1023:0] offered;
  reg [255:0] kept;
  wire [1023:0] ahead;
  // bits after the window
  wire [255:0] behind;
  wire [991:0] old_planes;
  wire [991:0] new_lower_planes;
  reg [1023:0] rebuilt;
  // the codes do not decode to a line
  wire wrong;
  reg [31:0] first;
  reg [5:0] first_length;
  // code of the base word, one-hot
  wire raw_base;
  wire half_base;
  wire byte_base;
  wire nibble_base;
  wire zero_base;
  // sign of the field of a short base
  wire sign_4;
  wire sign_8;
  wire sign_16;
  wire [255:0] split_window;
  reg [7:0] split_place_in;
  wire [127:0] split_codes;
  wire [127:0] split_rest;
  wire [7:0] split_place_out;
  wire [159:0] decode_codes;
  wire [991:0] decode_planes_in;
  wire [7:0] decode_length;
  wire [5:0] decode_next;
  wire decode_done;
  wire [30:0] decode_above;
  wire [991:0] decode_planes_out;
  wire decode_error;
  wire [511:0] rebuild_half;
  wire [64:0] rebuild_carries;
  // a payload is in progress
  reg busy_q;
  reg coded_q;
  // all planes have been read
  reg decoded_q;
  // rest of the payload in whole blocks; later the line
  reg [1023:0] line_q;
  // bits of the payload after the four codes
  reg [127:0] window_q;
  // position at which these bits begin: in the lowest block, or in the block after it
  reg [7:0] place_q;
  // four codes
  reg [127:0] codes_q;
  // number of bits that have been read
  reg [10:0] length_q;
  // first word; later its upper half
  reg [31:0] base_q;
  // number of planes that have been read
  reg [5:0] next_plane_q;
  reg [30:0] above_q;
  // planes of the upper halves of the words
  reg [495:0] upper_planes_q;
  // planes of the lower halves; later planes of the upper halves
  reg [495:0] lower_planes_q;
  // the lower halves of the line's words are complete
  reg halfway_q;
  // carries out of the lower halves
  reg [64:0] carries_q;
  reg failed_q;
  reg valid_q;
  reg error_q;

  bpc_decompressor_bpc_split split (
    .window_i (split_window),
    .place_i  (split_place_in),
    .codes_o  (split_codes),
    .rest_o   (split_rest),
    .place_o  (split_place_out)
  );

  bpc_decompressor_bpc_decode decode (
    .codes_i  (decode_codes),
    .next_i   (next_plane_q),
    .above_i  (above_q),
    .planes_i (decode_planes_in),
    .length_o (decode_length),
    .next_o   (decode_next),
    .done_o   (decode_done),
    .above_o  (decode_above),
    .planes_o (decode_planes_out),
    .error_o  (decode_error)
  );

  bpc_decompressor_bpc_rebuild rebuild (
    .base_i    (base_q[15:0]),
    .planes_i  (lower_planes_q),
    .carries_i (carries_q),
    .half_o    (rebuild_half),
    .carries_o (rebuild_carries)
  );

  // first word: sign-extended field of its code
  assign sign_4 = payload_i[6];
  assign sign_8 = payload_i[10];
  assign sign_16 = payload_i[18];
  assign raw_base = payload_i[0];
  assign half_base = ~payload_i[0] & payload_i[1] & payload_i[2];
  assign byte_base = ~payload_i[0] & payload_i[1] & ~payload_i[2];
  assign nibble_base = ~payload_i[0] & ~payload_i[1] & payload_i[2];
  assign zero_base = ~payload_i[0] & ~payload_i[1] & ~payload_i[2];

  always @(*) begin
    first = 32'd0;
    first_length = 6'd3;
    if (raw_base) begin
      first = payload_i[32:1];
      first_length = 6'd33;
    end else if (half_base) begin
      if (sign_16) begin
        first = ONES_ABOVE_16;
      end
      first[15:0] = payload_i[18:3];
      first_length = 6'd19;
    end else if (byte_base) begin
      if (sign_8) begin
        first = ONES_ABOVE_8;
      end
      first[7:0] = payload_i[10:3];
      first_length = 6'd11;
    end else if (nibble_base) begin
      if (sign_4) begin
        first = ONES_ABOVE_4;
      end
      first[3:0] = payload_i[6:3];
      first_length = 6'd7;
    end
  end

  assign ready = ~busy_q & (~valid_q | ready_i);
  // read the bits after the window from the payload while the window is split
  assign ahead = place_q[7] ? (line_q >> TWO_BLOCKS) : (line_q >> BLOCK_BITS);
  assign behind = ahead[255:0] >> place_q[6:0];

  // split four codes per cycle, the first four when the payload arrives: AND-OR selection
  always @(*) begin
    offered = 1024'd0;
    if (~busy_q & raw_base) begin
      offered = offered | (payload_i >> 33);
    end
    if (~busy_q & half_base) begin
      offered = offered | (payload_i >> 19);
    end
    if (~busy_q & byte_base) begin
      offered = offered | (payload_i >> 11);
    end
    if (~busy_q & nibble_base) begin
      offered = offered | (payload_i >> 7);
    end
    if (~busy_q & zero_base) begin
      offered = offered | (payload_i >> 3);
    end
  end

  always @(*) begin
    kept = 256'd0;
    split_place_in = {2'd0, first_length};
    if (busy_q) begin
      kept = {128'd0, window_q} | (behind << BLOCK_BITS);
      split_place_in = {1'b0, place_q[6:0]};
    end
  end

  assign split_window = kept | offered[255:0];
  // one cycle later, decode them to planes, with the next code if it is the last plane's
  assign decode_codes = {32'd0, codes_q} | ({32'd0, window_q} << CHUNK_BITS);
  assign old_planes = {496'd0, lower_planes_q};
  assign decode_planes_in = {496'd0, upper_planes_q} | (old_planes << HALF_PLANES);
  assign new_lower_planes = decode_planes_out >> HALF_PLANES;

  always @(*) begin : comb_rebuilt
    integer i;
    reg [15:0] half;
    rebuilt = line_q;
    for (i = 0; i < 32; i = i + 1) begin
      half = rebuild_half[i*16 +: 16];
      if (halfway_q) begin
        rebuilt[i*32+16 +: 16] = half;
      end else begin
        rebuilt[i*32 +: 16] = half;
      end
    end
  end

  assign wrong = failed_q | (length_q > LINE_BITS);

  assign ready_o = ready;
  assign valid_o = valid_q;
  assign error_o = error_q;
  assign line_o = line_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      valid_q <= 1'b0;
    end else if (ready) begin
      valid_q <= 1'b0;
      if (valid_i) begin
        busy_q <= 1'b1;
      end
    end else if (!(busy_q & ~decoded_q)) begin
      if (busy_q) begin
        if (halfway_q | ~coded_q) begin
          busy_q <= 1'b0;
          valid_q <= 1'b1;
        end
      end
    end
  end

  always @(posedge clk_i) begin
    if (ready) begin
      if (valid_i) begin
        coded_q <= compressed_i;
        decoded_q <= ~compressed_i;
        base_q <= first;
        above_q <= 31'd0;
        failed_q <= 1'b0;
        next_plane_q <= 6'd0;
        length_q <= {5'd0, first_length};
        codes_q <= split_codes;
        window_q <= split_rest;
        place_q <= split_place_out;
        halfway_q <= 1'b0;
        carries_q <= 65'd0;
      end
    end else if (busy_q & ~decoded_q) begin
      codes_q <= split_codes;
      window_q <= split_rest;
      place_q <= split_place_out;
      length_q <= length_q + {3'd0, decode_length};
      next_plane_q <= decode_next;
      decoded_q <= decode_done;
      above_q <= decode_above;
      upper_planes_q <= decode_planes_out[495:0];
      lower_planes_q <= new_lower_planes[495:0];
      failed_q <= decode_error;
    end else if (busy_q) begin
      // the result
      error_q <= 1'b0;
      if (coded_q) begin
        halfway_q <= 1'b1;
        carries_q <= rebuild_carries;
        lower_planes_q <= upper_planes_q;
        base_q <= base_q >> 16;
        error_q <= wrong;
      end
    end
  end

  // the words arrive late: select them last
  always @(posedge clk_i) begin
    if (busy_q & decoded_q & coded_q & ~wrong) begin
      line_q <= rebuilt;
    end else if (ready) begin
      if (valid_i) begin
        line_q <= payload_i;
      end
    end else if (busy_q & ~decoded_q) begin
      if (place_q[7]) begin
        line_q <= line_q >> BLOCK_BITS;
      end
    end else if (busy_q & coded_q) begin
      line_q <= 1024'd0;
    end
  end

  // unused bits
  wire unused = &{1'b0, ahead[1023:256], new_lower_planes[991:496]};

endmodule

`default_nettype wire
