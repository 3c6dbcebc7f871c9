// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_compressor
//
// Compresses cache lines by bit planes: one line at a time, four planes per cycle.
//
// LATTE-CC, table I. P is the bits of a plane, ALL those of all 33 planes, CHUNK those of four codes. A line
// of which the codes do not save a byte is given as it is.
//
// Parameters: line_bytes = 128
// In this file: P = 31, ALL = 1023, CHUNK = 128
// Source: LATTE-CC, table I
// Written by selvedge 0.1.0 with reset control
//
// BPC, bit-plane compression: a compressor and a decompressor of cache lines.
//
// Source: LATTE-CC, table I and section VI (11 cycles to decompress), after Kim et al., ISCA 2016, whose
// algorithm it is.
//
// The line is seen as 32-bit words. The first is the base; each other one is kept as its difference from the
// one before, an unsigned subtraction with 33 bits. Plane `j` is bit `j` of every difference (DBP), and what
// is coded is its exclusive-or with the plane above it (DBX), from the highest plane down; above plane 32
// stands zero. Smooth data has short differences, whose upper planes are copies of the sign and so vanish
// under the exclusive-or.
//
// - 000, 001, 010, 011, 1, bits at 128 bytes 3, 7, 11, 19, 33: base word: zero, sign-extended from 4, 8 or 16
//   bits, or as it is
// - 001, bits at 128 bytes 3: one plane with DBX zero
// - 01 + number less 2, bits at 128 bytes 7: 2 to 33 such planes
// - 00000, bits at 128 bytes 5: DBX all ones
// - 00001, bits at 128 bytes 5: DBP zero, DBX not
// - 00010 + lower place, bits at 128 bytes 10: DBX with two neighbouring ones only
// - 00011 + place, bits at 128 bytes 10: DBX with a single one
// - 1 + DBX, bits at 128 bytes 32: any other plane
//
// The kinds are tried in this order. The payload is these codes without gaps from bit 0 up, the first bit of
// each code lowest and each field with its lowest bit first.
//
// What the sources leave open: a line of 64 or 32 bytes has planes of 15 or 7 bits and places of 4 or 3; a
// line whose codes save less than a byte is given as it is, which `compressed_o` shows; payload sizes are
// whole bytes.
//
// SCHEMATIC
//   compressor    line_i > differences, planes, DBX > [planes, four less each cycle] > four codes > [codes] > [payload]
//                        > code of the base word ------------------------------------------------^
//   decompressor  payload_i > base word > [codes, shifted as read] > four codes > [planes] > sums of differences > [line]
//
// PARAMETERS
// - line_bytes, default 128, allowed 32, 64, 128: bytes of a line
//
// PORTS AND TIMING
// Both blocks are valid/ready streams on both sides with one line at a time: `ready_o` is high when no line
// is at work and the result is free or taken in this cycle, so it depends on `ready_i`; no other output
// depends on an input. `valid_o` never drops before `ready_i`. Results come from registers and stay after
// they were taken.
//
//             0     1     2    ..    10    11    12
//   clk_i     /--\__/--\__/--\__ .. /--\__/--\__/--\__
//   valid_i   /-----\___________ .. _________________
//   ready_o   ------\___________ .. ______/-----------    with ready_i high
//   valid_o   __________________ .. ______/-----\_____
//
// The compressor takes 11 cycles for every line: one for the planes, nine for 33 planes at four a cycle, one
// for the result. The decompressor takes one for the base word, one for every four codes, and one for the
// line: 3 to 11, and 2 when the line is not compressed. At four codes a cycle its longest way is the paper's
// 11 cycles. A new line can enter in the cycle in which the result is taken.
//
// ERRORS
// A run beyond plane 0 and codes beyond the payload's end give a line of zeros with `error_o`. Places outside
// a plane name no bit. Bits behind the last code are ignored.
//
// STORAGE
// See `HwBlock::facts`. LATTE-CC states none for BPC.

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
  // the payload is codes, not the line itself
  output wire          compressed_o,
  // its size in bytes
  output wire    [7:0] size_o,
  // the payload from bit 0 up; zero beyond the size
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  localparam [6:0] FOUR_PLANES = 7'd124;
  localparam [7:0] LINE_BYTES = 8'd128;
  // the most bits of codes that save a byte
  localparam [10:0] MOST = 11'h3f8;
  wire ready;
  wire [10:0] bytes;
  wire [1022:0] planes_of_line_planes_o;
  wire [32:0] planes_of_line_zero_o;
  wire [32:0] planes_of_line_dbp_zero_o;
  wire [31:0] base_base_i;
  wire [32:0] base_code_o;
  wire [5:0] base_length_o;
  wire [123:0] encode_planes_i;
  wire [4:0] encode_zero_i;
  wire [3:0] encode_dbp_zero_i;
  wire [127:0] encode_codes_o;
  wire [7:0] encode_length_o;
  wire [5:0] encode_run_o;
  // a line is at work
  reg busy_q;
  reg [1023:0] line_q;
  // planes without a code, the next one lowest
  reg [1022:0] planes_q;
  reg [32:0] zero_q;
  reg [32:0] dbp_zero_q;
  reg [5:0] left_q;
  reg [5:0] run_q;
  // the codes so far
  reg [1023:0] codes_q;
  reg [10:0] length_q;
  reg valid_q;
  reg compressed_q;
  reg [7:0] size_q;
  reg [1023:0] payload_q;

  bpc_compressor_bpc_planes planes_of_line (
    .line_i     (line_i),
    .planes_o   (planes_of_line_planes_o),
    .zero_o     (planes_of_line_zero_o),
    .dbp_zero_o (planes_of_line_dbp_zero_o)
  );

  bpc_compressor_bpc_base base (
    .base_i   (base_base_i),
    .code_o   (base_code_o),
    .length_o (base_length_o)
  );

  bpc_compressor_bpc_encode encode (
    .planes_i   (encode_planes_i),
    .zero_i     (encode_zero_i),
    .dbp_zero_i (encode_dbp_zero_i),
    .left_i     (left_q),
    .run_i      (run_q),
    .codes_o    (encode_codes_o),
    .length_o   (encode_length_o),
    .run_o      (encode_run_o)
  );

  assign base_base_i = line_i[31:0];
  assign encode_planes_i = planes_q[123:0];
  assign encode_zero_i = zero_q[4:0];
  assign encode_dbp_zero_i = dbp_zero_q[3:0];
  assign ready = !busy_q & (!valid_q | ready_i);
  assign bytes = (length_q + 11'd7) >> 3;
  assign ready_o = ready;
  assign valid_o = valid_q;
  assign compressed_o = compressed_q;
  assign size_o = size_q;
  assign payload_o = payload_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      left_q <= 6'd0;
      valid_q <= 1'b0;
    end else if (ready) begin
      valid_q <= 1'b0;
      if (valid_i) begin
        // take a line: its planes, and the code of its first word
        busy_q <= 1'b1;
        left_q <= 6'd33;
      end
    end else if (busy_q & (|left_q)) begin
      // code four planes; beyond the last one a zero flag is low, so that a run ends there
      if (left_q > 6'd4) begin
        left_q <= left_q - 6'd4;
      end else begin
        left_q <= 6'd0;
      end
    end else if (busy_q) begin
      // the result
      busy_q <= 1'b0;
      valid_q <= 1'b1;
    end
  end

  always @(posedge clk_i) begin
    if (ready) begin
      if (valid_i) begin
        // take a line: its planes, and the code of its first word
        line_q <= line_i;
        planes_q <= planes_of_line_planes_o;
        zero_q <= planes_of_line_zero_o;
        dbp_zero_q <= planes_of_line_dbp_zero_o;
        run_q <= 6'd0;
        codes_q <= {991'd0, base_code_o};
        length_q <= {5'd0, base_length_o};
      end
    end else if (busy_q & (|left_q)) begin
      // code four planes; beyond the last one a zero flag is low, so that a run ends there
      planes_q <= planes_q >> FOUR_PLANES;
      zero_q <= zero_q >> 4;
      dbp_zero_q <= dbp_zero_q >> 4;
      run_q <= encode_run_o;
      codes_q <= codes_q | ({896'd0, encode_codes_o} << length_q);
      length_q <= length_q + {3'd0, encode_length_o};
    end else if (busy_q) begin
      // the result
      if (length_q <= MOST) begin
        compressed_q <= 1'b1;
        size_q <= bytes[7:0];
        payload_q <= codes_q;
      end else begin
        compressed_q <= 1'b0;
        size_q <= LINE_BYTES;
        payload_q <= line_q;
      end
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, bytes[10:8]};

endmodule

`default_nettype wire
