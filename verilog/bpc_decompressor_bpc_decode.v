// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor_bpc_decode
//
// Reads up to four codes of planes.
//
// P is the bits of a plane, PLACE those of a place in it, F those of the longest code (P + 1); CHUNK is four
// times F and DATA the bits of the 32 planes that words need: all but the first, which is that of the signs.
// A plane also goes to all planes behind it, which is right for a run of zeros and otherwise written over
// later.
//
// Parameters: P = 31, PLACE = 5, F = 32, CHUNK = 128, CW = 2, DATA = 992, DW = 16
// Part of: bpc_decompressor
// Source: LATTE-CC, table I
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bpc_decompressor_bpc_decode (
  // the next bits of the payload
  input  wire [127:0] codes_i,
  // planes that have been read, 0 to 33
  input  wire   [5:0] next_i,
  // the last plane, before the exclusive-or
  input  wire  [30:0] above_i,
  // the planes before the exclusive-or
  input  wire [991:0] planes_i,
  // bits of the codes that were read
  output wire   [7:0] length_o,
  // planes that have been read now
  output wire   [5:0] next_o,
  // the last plane now
  output wire  [30:0] above_o,
  // the planes now
  output wire [991:0] planes_o,
  // a run goes beyond the last plane
  output wire         error_o
);

  localparam P = 31;
  localparam [7:0] WITH_PLACE = 8'd10;
  localparam [7:0] RAW = 8'd32;
  localparam [30:0] ONE = 31'd1;
  localparam [30:0] TWO_ONES = 31'd3;
  localparam [30:0] ALL_ONES = {31{1'b1}};
  reg [127:0] codes;
  reg [31:0] code;
  reg [4:0] place;
  reg [30:0] plane;
  reg [6:0] count;
  reg [7:0] length;
  reg [7:0] total;
  reg [30:0] above;
  reg [991:0] planes;
  reg [6:0] next_plane;
  reg error;

  always @(*) begin : comb_codes
    integer i;
    integer turn;
    codes = codes_i;
    next_plane = {1'b0, next_i};
    above = above_i;
    planes = planes_i;
    total = 8'd0;
    error = 1'b0;
    code = 32'd0;
    place = 5'd0;
    plane = 31'd0;
    count = 7'd0;
    length = 8'd0;
    for (turn = 0; turn < 4; turn = turn + 1) begin
      if (next_plane < 7'd33) begin
        code = codes[31:0];
        place = code[9:5];
        plane = 31'd0;
        count = 7'd1;
        length = 8'd5;
        if (code[0]) begin
          plane = code[31:1];
          length = RAW;
        end else if (code[1]) begin
          count = {2'd0, code[6:2]} + 7'd2;
          length = 8'd7;
        end else if (code[2]) begin
          length = 8'd3;
        end else if (code[4] & code[3]) begin
          plane = ONE << place;
          length = WITH_PLACE;
        end else if (code[4]) begin
          // zero before the exclusive-or
          plane = above;
        end else if (code[3]) begin
          plane = TWO_ONES << place;
          length = WITH_PLACE;
        end else begin
          plane = ALL_ONES;
        end
        above = above ^ plane;
        for (i = 1; i < 33; i = i + 1) begin
          if (next_plane <= i[6:0]) begin
            planes[(i-1)*P +: 31] = above;
          end
        end
        next_plane = next_plane + count;
        if (next_plane > 7'd33) begin
          error = 1'b1;
          next_plane = 7'd33;
        end
        codes = codes >> length;
        total = total + length;
      end
    end
  end

  assign length_o = total;
  assign next_o = next_plane[5:0];
  assign above_o = above;
  assign planes_o = planes;
  assign error_o = error;

endmodule

`default_nettype wire
