// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_compressor
//
// Compresses cache lines by bit planes: one line at a time, four planes per cycle.
//
// LATTE-CC, table I. P is the number of bits of a plane, ALL of all 33 planes, CHUNK of four codes.
// A line whose codes do not save a byte stays uncompressed.
//
// Parameters: line_bytes = 128
// In this file: P = 31, ALL = 1023, CHUNK = 128
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

module bpc_compressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; drops the line at work
  input  wire          rst_ni,
  // a line is offered
  input  wire          valid_i,
  // the line: byte 0 in bits 7 to 0
  input  wire [1023:0] line_i,
  // the line is taken in this cycle
  output wire          ready_o,
  // a payload is offered
  output wire          valid_o,
  // the payload consists of codes; if low, it is the line itself
  output wire          compressed_o,
  // size of the payload in bytes
  output wire    [7:0] size_o,
  // the payload from bit 0 up; zero beyond the size
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  localparam BLOCK = 128;
  localparam BLOCKLOG = 7;
  localparam [6:0] FOUR_PLANES = 7'd124;
  localparam [7:0] BLOCK_BITS = 8'd128;
  localparam [7:0] LINE_BYTES = 8'd128;
  // maximum number of bits of codes that save a byte
  localparam [10:0] MOST = 11'h3f8;
  wire ready;
  // index of the block in which the payload ends
  wire [10:0] last_block;
  wire [10:0] next_length;
  wire [10:0] last_length;
  // the result is ready
  wire ends;
  // the coded payload is not smaller than the line
  wire raw;
  reg [1023:0] filled;
  wire [1022:0] planes_of_line_planes;
  wire [32:0] base_code;
  wire [5:0] base_length;
  wire encode_last;
  wire [127:0] encode_codes;
  wire [23:0] encode_lengths;
  wire [5:0] encode_run;
  wire [255:0] merge_merged;
  wire [7:0] merge_length;
  reg [3:0] cycle_d;
  // cycles since the line was taken; 0 while no line is in progress
  reg [3:0] cycle_q;
  reg [1023:0] line_d;
  reg [1023:0] line_q;
  reg [1022:0] planes_d;
  // planes that are not coded yet, the next one lowest, and the plane above them
  reg [1022:0] planes_q;
  reg [30:0] above_d;
  reg [30:0] above_q;
  reg [5:0] run_d;
  reg [5:0] run_q;
  // four codes, and their lengths
  reg [127:0] codes_q;
  reg [23:0] lengths_q;
  reg [10:0] length_d;
  // number of bits of the codes in the payload
  reg [10:0] length_q;
  reg [127:0] tail_d;
  // block of the payload in which these bits end
  reg [127:0] tail_q;
  reg valid_d;
  reg valid_q;
  reg compressed_d;
  reg compressed_q;
  reg [7:0] size_d;
  reg [7:0] size_q;
  reg [1023:0] payload_q;
  reg [10:0] size_full;
  reg [255:0] merge_merged_shifted;

  bpc_compressor_bpc_planes planes_of_line (
    .line_i   (line_i),
    .planes_o (planes_of_line_planes)
  );

  bpc_compressor_bpc_base base (
    .base_i   (line_i[31:0]),
    .code_o   (base_code),
    .length_o (base_length)
  );

  bpc_compressor_bpc_encode encode (
    .planes_i  (planes_q[154:0]),
    .above_i   (above_q),
    .last_i    (encode_last),
    .run_i     (run_q),
    .codes_o   (encode_codes),
    .lengths_o (encode_lengths),
    .run_o     (encode_run)
  );

  bpc_compressor_bpc_merge merge (
    .codes_i   (codes_q),
    .lengths_i (lengths_q),
    .tail_i    (tail_q),
    .filled_i  (length_q[6:0]),
    .merged_o  (merge_merged),
    .length_o  (merge_length)
  );

  assign encode_last = cycle_q == 4'd9;

  assign last_block = length_q >> BLOCKLOG;
  assign next_length = length_q + {3'd0, merge_length};
  // the last group contains one plane only
  assign last_length = length_q + {5'd0, lengths_q[5:0]};
  assign ends = cycle_q == 4'd10;
  assign raw = ends & (last_length > MOST);

  // keep the blocks before the last one; only the last code can continue in the next block
  always @(*) begin : comb_filled
    integer j;
    integer piece;
    filled = 1024'd0;
    for (j = 0; j < 8; j = j + 1) begin
      for (piece = 0; piece < 2; piece = piece + 1) begin
        if (raw) begin
          filled[j*BLOCK+piece*64 +: 64] = line_q[j*BLOCK+piece*64 +: 64];
        end else if (~(|cycle_q) | (last_block > j[10:0])) begin
          filled[j*BLOCK+piece*64 +: 64] = payload_q[j*BLOCK+piece*64 +: 64];
        end else if (last_block == j[10:0]) begin
          filled[j*BLOCK+piece*64 +: 64] = merge_merged[piece*64 +: 64];
        end
      end
      if (ends & ~raw & ((last_block + 11'd1) == j[10:0])) begin
        filled[j*BLOCK +: 32] = merge_merged[159:128];
      end
    end
  end

  assign ready = ~(|cycle_q) & (~valid_q | ready_i);

  always @(*) begin
    cycle_d = cycle_q;
    line_d = line_q;
    length_d = length_q;
    tail_d = tail_q;
    valid_d = valid_q;
    compressed_d = compressed_q;
    size_d = size_q;
    planes_d = planes_q >> FOUR_PLANES;
    above_d = planes_q[123:93];
    run_d = encode_run;
    size_full = 11'd0;
    merge_merged_shifted = 256'd0;
    if (ready) begin
      valid_d = 1'b0;
      if (valid_i) begin
        // accept a line: register its planes and the code of its first word
        cycle_d = 4'd1;
        line_d = line_i;
        planes_d = planes_of_line_planes;
        above_d = 31'd0;
        run_d = 6'd0;
        tail_d = {95'd0, base_code};
        length_d = {5'd0, base_length};
      end
    end else if (cycle_q == 4'd1) begin
      // the first codes are registered
      cycle_d = 4'd2;
    end else if (ends) begin
      // the result
      cycle_d = 4'd0;
      valid_d = 1'b1;
      compressed_d = ~raw;
      size_full = last_length + 11'd7;
      size_d = size_full[10:3];
      if (raw) begin
        size_d = LINE_BYTES;
      end
    end else if (|cycle_q) begin
      cycle_d = cycle_q + 4'd1;
      length_d = next_length;
      tail_d = merge_merged[127:0];
      if ((next_length >> BLOCKLOG) != last_block) begin
        merge_merged_shifted = merge_merged >> BLOCK_BITS;
        tail_d = merge_merged_shifted[127:0];
      end
    end
  end

  assign ready_o = ready;
  assign valid_o = valid_q;
  assign compressed_o = compressed_q;
  assign size_o = size_q;
  assign payload_o = payload_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycle_q <= 4'd0;
      valid_q <= 1'b0;
    end else begin
      cycle_q <= cycle_d;
      valid_q <= valid_d;
    end
  end

  always @(posedge clk_i) begin
    codes_q <= encode_codes;
    lengths_q <= encode_lengths;
    payload_q <= filled;
    line_q <= line_d;
    planes_q <= planes_d;
    above_q <= above_d;
    run_q <= run_d;
    length_q <= length_d;
    tail_q <= tail_d;
    compressed_q <= compressed_d;
    size_q <= size_d;
  end

  // unused bits
  wire unused = &{1'b0, size_full[2:0], merge_merged_shifted[255:128]};

endmodule

`default_nettype wire
