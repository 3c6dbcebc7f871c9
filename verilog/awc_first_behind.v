// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_first_behind
//
// Finds the first set bit after a position, or else the first set bit of all.
//
// The N bits are ROWS rows of 8. The first bit of each row is found in parallel with the choice of
// the row. The position is that of the bit that was taken last: the bit's row, and a mask of the
// columns after the bit.
//
// Parameters: N = 48, ROWS = 6
// Part of: awc
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_first_behind (
  // bits to search
  input  wire [47:0] bits_i,
  // row of the position, one-hot; 0 to search from the first bit on
  input  wire  [5:0] row_i,
  // columns after the position
  input  wire  [7:0] behind_i,
  // the found bit, one-hot; 0 if no bit is set
  output reg  [47:0] first_o,
  // number of the found bit; 0 if no bit is set
  output reg   [5:0] index_o,
  // at least one bit is set
  output reg         any_o,
  // the first bit of each row, one-hot in the row
  output reg  [47:0] candidates_o,
  // row of the found bit, one-hot
  output reg   [5:0] row_o,
  // columns after the found bit
  output wire  [7:0] behind_o
);

  reg [7:0] column;
  reg [7:0] column_reached;

  // candidate of each row: its first set bit; in the position's row, set bits after it come first
  always @(*) begin : comb_candidates_o
    integer c;
    integer r;
    reg [7:0] row;
    reg [7:0] masked;
    reg is_behind;
    reg later;
    // columns from the row's first bit on
    reg [7:0] reached;
    reg [7:0] candidate;
    reg [5:0] rows_behind;
    reg [5:0] rows;
    reg found;
    later = 1'b0;
    for (r = 0; r < 6; r = r + 1) begin
      row = bits_i[r*8 +: 8];
      masked = row & behind_i;
      is_behind = row_i[r] & (|masked);
      rows[r] = |row;
      rows_behind[r] = is_behind | (later & (|row));
      if (is_behind) begin
        row = masked;
      end
      reached = row | (row << 1);
      reached = reached | (reached << 2);
      reached = reached | (reached << 4);
      candidate = row & ~(reached << 1);
      candidates_o[r*8 +: 8] = candidate;
      later = later | row_i[r];
    end
    any_o = |rows;
    // the first row with a set bit after the position, else the first row with a set bit
    if (|rows_behind) begin
      rows = rows_behind;
    end
    found = 1'b0;
    for (r = 0; r < 6; r = r + 1) begin
      row_o[r] = rows[r] & ~found;
      found = found | rows[r];
    end
    // candidate and number of that row, and the columns after the candidate
    first_o = 48'd0;
    column = 8'd0;
    index_o = 6'd0;
    for (r = 0; r < 6; r = r + 1) begin
      if (row_o[r]) begin
        candidate = candidates_o[r*8 +: 8];
        first_o[r*8 +: 8] = candidate;
        column = column | candidate;
        index_o = index_o | (r[5:0] * 6'd8);
      end
    end
    for (c = 0; c < 8; c = c + 1) begin
      if (column[c]) begin
        index_o = index_o | c[5:0];
      end
    end
  end

  always @(*) begin
    column_reached = column | (column << 1);
    column_reached = column_reached | (column_reached << 2);
    column_reached = column_reached | (column_reached << 4);
  end

  assign behind_o = column_reached << 1;

endmodule

`default_nettype wire
