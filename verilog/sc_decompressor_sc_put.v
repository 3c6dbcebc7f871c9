// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor_sc_put
//
// Puts up to K words into a line, one after the other.
//
// Parameters: K = 4
// Part of: sc_decompressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_decompressor_sc_put (
  // the line so far
  input  wire [1023:0] line_i,
  // words of the line
  input  wire  [127:0] words_i,
  // words that are valid
  input  wire    [3:0] served_i,
  // index in the line of the first word
  input  wire    [4:0] at_i,
  // the line with the words
  output reg  [1023:0] line_o
);

  localparam [4:0] COLUMN_MASK = 5'd3;

  always @(*) begin : comb_line_o
    integer column;
    integer i;
    integer w;
    reg [31:0] word;
    reg [4:0] place;
    reg [4:0] own;
    reg [4:0] to;
    reg there;
    line_o = line_i;
    // word k goes to column (at + k) mod K of the line's rows of K words
    for (column = 0; column < 4; column = column + 1) begin
      word = 32'd0;
      to = 5'd0;
      there = 1'b0;
      for (i = 0; i < 4; i = i + 1) begin
        place = at_i + i[4:0];
        if ((place & COLUMN_MASK) == column[4:0]) begin
          word = words_i[i*32 +: 32];
          to = place;
          there = served_i[i];
        end
      end
      for (w = 0; w < 32; w = w + 1) begin
        own = w[4:0];
        if ((own & COLUMN_MASK) == column[4:0]) begin
          if (there & (to == own)) begin
            line_o[w*32 +: 32] = word;
          end
        end
      end
    end
  end

endmodule

`default_nettype wire
