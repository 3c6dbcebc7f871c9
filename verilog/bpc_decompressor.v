// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor
//
// Rebuilds cache lines from the codes of their bit planes: one line at a time, four codes per
// cycle.
//
// LATTE-CC, table I. P is the bits of a plane, CHUNK those of four codes, DATA those of the 32
// planes that words need. Codes that run beyond the last plane or the end of the payload give a
// line of zeros and error_o.
//
// Parameters: line_bytes = 128
// In this file: P = 31, CHUNK = 128, DATA = 992
// Source: LATTE-CC, table I
// Written by selvedge 0.1.0 with reset control
//
// BPC, bit-plane compression: a compressor and a decompressor of cache lines.
//
// Source: LATTE-CC, table I and section VI (11 cycles to decompress), after Kim et al., ISCA 2016,
// whose algorithm it is.
//
// The line is seen as 32-bit words. The first is the base; each other one is kept as its difference
// from the one before, an unsigned subtraction with 33 bits. Plane `j` is bit `j` of every
// difference (DBP), and what is coded is its exclusive-or with the plane above it (DBX), from the
// highest plane down; above plane 32 stands zero. Smooth data has short differences, whose upper
// planes are copies of the sign and so vanish under the exclusive-or.
//
// - 000, 001, 010, 011, 1, bits at 128 bytes 3, 7, 11, 19, 33: base word: zero, sign-extended from
//   4, 8 or 16 bits, or as it is
// - 001, bits at 128 bytes 3: one plane with DBX zero
// - 01 + number less 2, bits at 128 bytes 7: 2 to 33 such planes
// - 00000, bits at 128 bytes 5: DBX all ones
// - 00001, bits at 128 bytes 5: DBP zero, DBX not
// - 00010 + lower place, bits at 128 bytes 10: DBX with two neighbouring ones only
// - 00011 + place, bits at 128 bytes 10: DBX with a single one
// - 1 + DBX, bits at 128 bytes 32: any other plane
//
// The kinds are tried in this order. The payload is these codes without gaps from bit 0 up, the
// first bit of each code lowest and each field with its lowest bit first.
//
// What the sources leave open: a line of 64 or 32 bytes has planes of 15 or 7 bits and places of 4
// or 3; a line whose codes save less than a byte is given as it is, which `compressed_o` shows;
// payload sizes are whole bytes.
//
// SCHEMATIC
//   compressor    line_i > differences > [planes, four less each cycle] > DBX, four codes > [codes] > last block > [payload]
//                        > code of the base word -----------------------------------------------------^
//   decompressor  payload_i > base word
//                           > four codes > [codes] > four planes > [planes] > sums of differences > [line]
//                             [payload, a block less when it is read] -^                            ^ the same register
//
// The decompressor takes codes apart one cycle before it makes planes of them: the first four in
// the cycle in which the payload comes. Both blocks have one register for what they work on and
// what they show.
//
// PARAMETERS
// - line_bytes, default 128, allowed 32, 64, 128: bytes of a line
//
// PORTS AND TIMING
// Both blocks are valid/ready streams on both sides with one line at a time: `ready_o` is high when
// no line is at work and the result is free or taken in this cycle, so it depends on `ready_i`; no
// other output depends on an input. `valid_o` never drops before `ready_i`. Results come from
// registers, which mean nothing while `valid_o` is low.
//
//             0     1     2    ..    10    11    12
//   clk_i     /--\__/--\__/--\__ .. /--\__/--\__/--\__
//   valid_i   /-----\___________ .. _________________
//   ready_o   ------\___________ .. ______/-----------    with ready_i high
//   valid_o   __________________ .. ______/-----\_____
//
// The compressor takes 11 cycles for every line: one for the planes, nine for the codes of 33
// planes at four a cycle, and one in which the last code finds its place; those of the others do so
// while the next ones are made. The decompressor takes one for the base word, one for every four
// codes, and one for the line: 3 to 11, and 2 when the line is not compressed. At four codes a
// cycle its longest way is the paper's 11 cycles. A new line can enter in the cycle in which the
// result is taken.
//
// ERRORS
// A run beyond plane 0 and codes beyond the payload's end give a line of zeros with `error_o`.
// Places outside a plane name no bit. Bits behind the last code are ignored.
//
// STORAGE
// See `HwBlock::facts`. LATTE-CC states none for BPC.

`default_nettype none

module bpc_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; drops the payload at work
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // the payload is codes, not the line itself
  input  wire          compressed_i,
  // the payload from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the codes make no line
  output wire          error_o,
  // the line
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  localparam [7:0] BLOCK_BITS = 8'd128;
  localparam [8:0] WHOLE_BLOCK = 9'd128;
  localparam [10:0] LINE_BITS = 11'h400;
  localparam [31:0] ONES_ABOVE_4 = 32'hfffffff0;
  localparam [31:0] ONES_ABOVE_8 = 32'hffffff00;
  localparam [31:0] ONES_ABOVE_16 = 32'hffff0000;
  wire ready;
  reg [255:0] window;
  reg [8:0] next_place;
  reg [31:0] first;
  reg [5:0] first_length;
  // sign-extension of the field of a short base
  wire sign_4;
  wire sign_8;
  wire sign_16;
  wire [127:0] split_window_i;
  wire [127:0] split_codes_o;
  wire [7:0] split_length_o;
  wire [7:0] decode_length_o;
  wire [5:0] decode_next_o;
  wire decode_done_o;
  wire [30:0] decode_above_o;
  wire [991:0] decode_planes_o;
  wire decode_error_o;
  wire [1023:0] rebuild_line_o;
  // a payload is at work
  reg busy_q;
  reg coded_q;
  // all planes have been read
  reg decoded_q;
  // what is left of the payload in whole blocks; then the line
  reg [1023:0] line_q;
  // the next bit of the lowest block
  reg [6:0] place_q;
  // four codes
  reg [127:0] codes_q;
  // bits that have been read
  reg [10:0] length_q;
  reg [31:0] base_q;
  // planes that have been read
  reg [5:0] next_plane_q;
  reg [30:0] above_q;
  reg [991:0] planes_q;
  reg failed_q;
  reg valid_q;
  reg error_q;

  bpc_decompressor_bpc_split split (
    .window_i (split_window_i),
    .codes_o  (split_codes_o),
    .length_o (split_length_o)
  );

  bpc_decompressor_bpc_decode decode (
    .codes_i  (codes_q),
    .next_i   (next_plane_q),
    .above_i  (above_q),
    .planes_i (planes_q),
    .length_o (decode_length_o),
    .next_o   (decode_next_o),
    .done_o   (decode_done_o),
    .above_o  (decode_above_o),
    .planes_o (decode_planes_o),
    .error_o  (decode_error_o)
  );

  bpc_decompressor_bpc_rebuild rebuild (
    .base_i   (base_q),
    .planes_i (planes_q),
    .line_o   (rebuild_line_o)
  );

  // the first word: its field with the sign in all higher bits, by the shortest code that ends here
  assign sign_4 = payload_i[6];
  assign sign_8 = payload_i[10];
  assign sign_16 = payload_i[18];

  always @(*) begin
    first = 32'd0;
    first_length = 6'd3;
    if (payload_i[0]) begin
      first = payload_i[32:1];
      first_length = 6'd33;
    end else if (payload_i[1] & payload_i[2]) begin
      if (sign_16) begin
        first = ONES_ABOVE_16;
      end
      first[15:0] = payload_i[18:3];
      first_length = 6'd19;
    end else if (payload_i[1]) begin
      if (sign_8) begin
        first = ONES_ABOVE_8;
      end
      first[7:0] = payload_i[10:3];
      first_length = 6'd11;
    end else if (payload_i[2]) begin
      if (sign_4) begin
        first = ONES_ABOVE_4;
      end
      first[3:0] = payload_i[6:3];
      first_length = 6'd7;
    end
  end

  assign ready = !busy_q & (!valid_q | ready_i);

  // four codes are taken apart each cycle, the first when the payload comes
  always @(*) begin
    if (ready) begin
      window = payload_i[255:0] >> first_length;
      next_place = {3'd0, first_length};
    end else begin
      window = line_q[255:0] >> place_q;
      next_place = {2'd0, place_q};
    end
    next_place = next_place + {1'b0, split_length_o};
  end

  assign split_window_i = window[127:0];
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
    end else if (!(busy_q & !decoded_q)) begin
      if (busy_q) begin
        // the result
        busy_q <= 1'b0;
        valid_q <= 1'b1;
      end
    end
  end

  always @(posedge clk_i) begin
    if (ready) begin
      if (valid_i) begin
        coded_q <= compressed_i;
        decoded_q <= !compressed_i;
        base_q <= first;
        above_q <= 31'd0;
        failed_q <= 1'b0;
        next_plane_q <= 6'd0;
        length_q <= {5'd0, first_length};
        codes_q <= split_codes_o;
        place_q <= next_place[6:0];
        line_q <= payload_i;
        if (compressed_i & (next_place >= WHOLE_BLOCK)) begin
          line_q <= payload_i >> BLOCK_BITS;
        end
      end
    end else if (busy_q & !decoded_q) begin
      codes_q <= split_codes_o;
      place_q <= next_place[6:0];
      if (next_place >= WHOLE_BLOCK) begin
        line_q <= line_q >> BLOCK_BITS;
      end
      length_q <= length_q + {3'd0, decode_length_o};
      next_plane_q <= decode_next_o;
      decoded_q <= decode_done_o;
      above_q <= decode_above_o;
      planes_q <= decode_planes_o;
      failed_q <= decode_error_o;
    end else if (busy_q) begin
      // the result
      error_q <= 1'b0;
      if (coded_q) begin
        line_q <= rebuild_line_o;
        if (failed_q | (length_q > LINE_BITS)) begin
          line_q <= 1024'd0;
          error_q <= 1'b1;
        end
      end
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, window[255:128]};

endmodule

`default_nettype wire
