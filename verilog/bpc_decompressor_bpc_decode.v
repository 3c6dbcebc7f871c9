// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor_bpc_decode
//
// Makes planes from up to four codes. Codes after the last plane are ignored. If only the last
// plane is left after four codes, a fifth code is read.
//
// P is the number of bits of a plane, PLACE of a position in it, F of the longest code (P + 1).
// FIVE is five times F. DATA is the number of bits of the 32 planes that words need: all except the
// first, which holds the signs. The last plane is also copied to all planes after it. That is right
// for a run of zeros; otherwise later codes overwrite the copies.
//
// Parameters: P = 31, PLACE = 5, F = 32, FIVE = 160, DATA = 992
// Part of: bpc_decompressor
// Source: LATTE-CC, table I
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_decompressor_bpc_decode (
  // four codes and the code after them, F bits each
  input  wire [159:0] codes_i,
  // number of planes that have been read, 0 to 31
  input  wire   [5:0] next_i,
  // previous plane, before the exclusive-or
  input  wire  [30:0] above_i,
  // the planes before the exclusive-or
  input  wire [991:0] planes_i,
  // number of bits of all codes that are not ignored
  output reg    [7:0] length_o,
  // number of planes that have been read after these codes, unless all have been read
  output wire   [5:0] next_o,
  // all planes have been read
  output wire         done_o,
  // last plane after these codes, before the exclusive-or
  output reg   [30:0] above_o,
  // planes after these codes
  output reg  [991:0] planes_o,
  // a run goes beyond the last plane
  output reg          error_o
);

  localparam F = 32;
  localparam P = 31;
  localparam [7:0] WITH_PLACE = 8'd10;
  localparam [7:0] RAW = 8'd32;
  localparam [30:0] ALL_ONES = {31{1'b1}};
  reg [7:0] behind;

  always @(*) begin : comb_behind
    integer i;
    integer k;
    reg [31:0] code;
    reg [4:0] place;
    // bit at that position
    reg [30:0] mark;
    reg [30:0] plane;
    reg [7:0] count;
    reg [7:0] counted;
    reg [7:0] length;
    reg [30:0] old;
    // number of planes before this code, and after it
    reg [7:0] start;
    start = {2'd0, next_i};
    behind = 8'd0;
    counted = 8'd0;
    above_o = above_i;
    planes_o = 992'd0;
    old = 31'd0;
    for (i = 1; i < 33; i = i + 1) begin
      if (i[7:0] < start) begin
        old = planes_i[(i-1)*P +: 31];
        planes_o[(i-1)*P +: 31] = old;
      end
    end
    length_o = 8'd0;
    error_o = 1'b0;
    for (k = 0; k < 5; k = k + 1) begin
      code = codes_i[k*F +: 32];
      place = code[9:5];
      mark = 31'd0;
      for (i = 0; i < 31; i = i + 1) begin
        if (place == i[4:0]) begin
          mark[i] = 1'b1;
        end
      end
      plane = above_o;
      count = 8'd1;
      length = 8'd5;
      if (code[0]) begin
        plane = above_o ^ code[31:1];
        length = RAW;
      end else if (code[1]) begin
        count = {3'd0, code[6:2]} + 8'd2;
        length = 8'd7;
      end else if (code[2]) begin
        length = 8'd3;
      end else if (code[4] & code[3]) begin
        plane = above_o ^ mark;
        length = WITH_PLACE;
      end else if (code[4]) begin
        // zero before the exclusive-or
        plane = 31'd0;
      end else if (code[3]) begin
        plane = above_o ^ (mark | (mark << 1));
        length = WITH_PLACE;
      end else begin
        plane = above_o ^ ALL_ONES;
      end
      if (k < 4) begin
        above_o = plane;
        counted = counted + count;
        behind = {2'd0, next_i} + counted;
        for (i = 1; i < 33; i = i + 1) begin
          if ((start <= i[7:0]) & ((i[7:0] < behind) | (k == 3))) begin
            old = planes_o[(i-1)*P +: 31];
            planes_o[(i-1)*P +: 31] = old | above_o;
          end
        end
        if (start < 8'd33) begin
          length_o = length_o + length;
          if (behind > 8'd33) begin
            error_o = 1'b1;
          end
        end
        start = behind;
      end else if (start == 8'd32) begin
        planes_o[991:961] = plane;
        length_o = length_o + length;
        if (count > 8'd1) begin
          error_o = 1'b1;
        end
      end
    end
  end

  assign next_o = behind[5:0];
  assign done_o = behind >= 8'd32;

endmodule

`default_nettype wire
