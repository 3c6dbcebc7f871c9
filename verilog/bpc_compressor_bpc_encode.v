// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_compressor_bpc_encode
//
// Encodes four planes.
//
// P is the number of bits of a plane, PLACE of a position in it, F of the longest code (P + 1).
// FIVE is five times P, and CHUNK is four times F. The code of a run of zero planes is given with
// the last plane of the run.
//
// Parameters: P = 31, PLACE = 5, F = 32, FIVE = 155, CHUNK = 128
// Part of: bpc_compressor
// Source: LATTE-CC, table I
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_compressor_bpc_encode (
  // the four planes before the exclusive-or, and the next one
  input  wire [154:0] planes_i,
  // the plane above them
  input  wire  [30:0] above_i,
  // only the first one of the planes belongs to the line
  input  wire         last_i,
  // number of zero planes just before these
  input  wire   [5:0] run_i,
  // the codes, F bits each
  output reg  [127:0] codes_o,
  // number of bits of each code, 6 bits each; 0 if a plane has no code
  output reg   [23:0] lengths_o,
  // number of zero planes at the end that have no code yet
  output wire   [5:0] run_o
);

  localparam F = 32;
  localparam P = 31;
  localparam [5:0] WITH_PLACE = 6'd10;
  localparam [5:0] RAW = 6'd32;
  // one bit per plane: the plane is zero after the exclusive-or
  reg [4:0] zero;
  reg [5:0] run;

  // planes beyond the line do not count as zero, so that a run ends there
  always @(*) begin : comb_zero
    integer i;
    integer k;
    reg [30:0] above;
    reg [30:0] dbp;
    reg [30:0] plane;
    // ones whose upper neighbour is a one
    reg [30:0] pairs;
    // ones without a neighbouring one
    reg [30:0] alone;
    reg [30:0] marked;
    // bits that are set in the position of at least one marked bit
    reg [4:0] place;
    // bits that are clear in the position of at least one marked bit
    reg [4:0] not_place;
    reg one_marked;
    // number of successive zero planes among the four, up to this one
    reg [5:0] here;
    // all planes so far are zero
    reg all_zero;
    reg [31:0] code;
    reg [5:0] length;
    above = above_i;
    zero = 5'd0;
    for (k = 0; k < 5; k = k + 1) begin
      dbp = planes_i[k*P +: 31];
      if (k == 0) begin
        zero[k] = dbp == above;
      end else begin
        zero[k] = (dbp == above) & ~last_i;
      end
      above = dbp;
    end
    above = above_i;
    here = 6'd0;
    all_zero = 1'b1;
    for (k = 0; k < 4; k = k + 1) begin
      dbp = planes_i[k*P +: 31];
      plane = dbp ^ above;
      above = dbp;
      // the position is used if exactly one bit is marked: a single one, or the lower of two
      // neighbours
      pairs = plane & (plane >> 1);
      alone = plane & ~(pairs | (pairs << 1));
      marked = plane;
      if (|pairs) begin
        marked = pairs;
      end
      // two marked positions differ in a bit: set in one, clear in the other
      place = 5'd0;
      not_place = 5'd0;
      for (i = 0; i < 31; i = i + 1) begin
        if (marked[i]) begin
          place = place | i[4:0];
          not_place = not_place | ~i[4:0];
        end
      end
      one_marked = ~(|(place & not_place));
      // a run from the previous planes continues while all planes so far are zero
      run = 6'd0;
      if (zero[k]) begin
        here = here + 6'd1;
        run = here;
        if (all_zero) begin
          run = here + run_i;
        end
      end else begin
        here = 6'd0;
        all_zero = 1'b0;
      end
      code = 32'd0;
      length = 6'd0;
      if (zero[k]) begin
        if (!zero[k+1]) begin
          if (run == 6'd1) begin
            code = 32'd4;
            length = 6'd3;
          end else begin
            code = {24'd0, run - 6'd2, 2'd2};
            length = 6'd7;
          end
        end
      end else if (&plane) begin
        length = 6'd5;
      end else if (!(|dbp)) begin
        code = 32'd16;
        length = 6'd5;
      end else if (one_marked & ~(|pairs)) begin
        code = {22'd0, place, 5'd24};
        length = WITH_PLACE;
      end else if (one_marked & ~(|alone)) begin
        code = {22'd0, place, 5'd8};
        length = WITH_PLACE;
      end else begin
        code = {plane, 1'b1};
        length = RAW;
      end
      if ((k > 0) & last_i) begin
        code = 32'd0;
        length = 6'd0;
      end
      codes_o[k*F +: 32] = code;
      lengths_o[k*6 +: 6] = length;
    end
  end

  assign run_o = zero[4] ? run : 6'd0;

endmodule

`default_nettype wire
