// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_compressor_bpc_encode
//
// Codes four planes and packs their codes, first plane lowest.
//
// P is the bits of a plane, PLACE those of a place in it, F those of the longest code (P + 1); FOUR and CHUNK
// are four times P and F. The code of a run of zero planes comes with its last plane.
//
// Parameters: P = 31, PLACE = 5, F = 32, FOUR = 124, FW = 2, CHUNK = 128, CW = 2
// Part of: bpc_compressor
// Source: LATTE-CC, table I
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bpc_compressor_bpc_encode (
  // the planes after the exclusive-or
  input  wire [123:0] planes_i,
  // one bit for each of these planes and the next one: it is zero
  input  wire   [4:0] zero_i,
  // one bit per plane: it is zero before the exclusive-or
  input  wire   [3:0] dbp_zero_i,
  // planes of the line that are left, these included
  input  wire   [5:0] left_i,
  // zero planes just before these
  input  wire   [5:0] run_i,
  // the codes
  output wire [127:0] codes_o,
  // bits of all codes
  output wire   [7:0] length_o,
  // zero planes at the end that have no code yet
  output wire   [5:0] run_o
);

  localparam P = 31;
  localparam [7:0] WITH_PLACE = 8'd10;
  localparam [7:0] RAW = 8'd32;
  reg [30:0] plane;
  // ones that have a one as their upper neighbour
  reg [30:0] pairs;
  reg [30:0] marked;
  reg [5:0] ones;
  reg [4:0] place;
  reg [31:0] code;
  reg [127:0] wide_code;
  reg [7:0] length;
  reg [5:0] run;
  reg [127:0] codes;
  reg [7:0] total;

  always @(*) begin : comb_plane
    integer i;
    integer k;
    plane = 31'd0;
    pairs = 31'd0;
    marked = 31'd0;
    ones = 6'd0;
    place = 5'd0;
    code = 32'd0;
    wide_code = 128'd0;
    length = 8'd0;
    run = run_i;
    codes = 128'd0;
    total = 8'd0;
    for (k = 0; k < 4; k = k + 1) begin
      plane = planes_i[k*P +: 31];
      pairs = plane & (plane >> 1);
      ones = 6'd0;
      place = 5'd0;
      // the place is used where one bit is marked: the single one, or the lower of two neighbours
      marked = plane;
      if (|pairs) begin
        marked = pairs;
      end
      for (i = 0; i < 31; i = i + 1) begin
        ones = ones + {5'd0, plane[i]};
        if (marked[i]) begin
          place = i[4:0];
        end
      end
      code = 32'd0;
      length = 8'd0;
      if (k[5:0] < left_i) begin
        if (zero_i[k]) begin
          run = run + 6'd1;
          if (!zero_i[k+1]) begin
            if (run == 6'd1) begin
              code = 32'd4;
              length = 8'd3;
            end else begin
              code = ({26'd0, run - 6'd2} << 2) | 32'd2;
              length = 8'd7;
            end
            run = 6'd0;
          end
        end else if (&plane) begin
          length = 8'd5;
        end else if (dbp_zero_i[k]) begin
          code = 32'd16;
          length = 8'd5;
        end else if ((ones == 6'd2) & (|pairs)) begin
          code = ({27'd0, place} << 5) | 32'd8;
          length = WITH_PLACE;
        end else if (ones == 6'd1) begin
          code = ({27'd0, place} << 5) | 32'd24;
          length = WITH_PLACE;
        end else begin
          code = ({1'b0, plane} << 1) | 32'd1;
          length = RAW;
        end
      end
      wide_code[31:0] = code;
      codes = codes | (wide_code << total);
      total = total + length;
    end
  end

  assign codes_o = codes;
  assign length_o = total;
  assign run_o = run;

endmodule

`default_nettype wire
