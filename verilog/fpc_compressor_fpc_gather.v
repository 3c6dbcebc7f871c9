// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_compressor_fpc_gather
//
// Gathers the data of each segment: its four words' data without gaps, from the segment's first bit
// on.
//
// The data of a word are at one of four positions, so no shifter is needed.
//
// Part of: fpc_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_compressor_fpc_gather (
  // the line
  input  wire [1023:0] line_i,
  // a prefix for each segment
  input  wire   [23:0] prefixes_i,
  // the data of each segment in 128 bits, zero above the data
  output reg  [1023:0] strings_o
);

  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] SIGN16 = 3'd3;
  localparam [2:0] UPPER16 = 3'd4;
  localparam [2:0] TWO_BYTES = 3'd5;
  localparam [2:0] REPEATED = 3'd6;
  localparam [2:0] RAW = 3'd7;

  always @(*) begin : comb_strings_o
    integer g;
    integer w;
    reg [2:0] pattern;
    reg [31:0] word;
    reg [15:0] half;
    reg [15:0] fours;
    reg [31:0] bytes;
    reg [63:0] halves;
    reg [63:0] low;
    reg [63:0] high;
    strings_o = 1024'd0;
    for (g = 0; g < 8; g = g + 1) begin
      pattern = prefixes_i[g*3 +: 3];
      // data of the words with 4, 8 and 16 bits
      for (w = 0; w < 4; w = w + 1) begin
        word = line_i[g*128+w*32 +: 32];
        fours[w*4 +: 4] = word[3:0];
        bytes[w*8 +: 8] = word[7:0];
        half = 16'd0;
        if (pattern == SIGN16) begin
          half = word[15:0];
        end
        if (pattern == UPPER16) begin
          half = half | word[31:16];
        end
        if (pattern == TWO_BYTES) begin
          half = half | {8'd0, word[7:0]};
          half[15:8] = word[23:16];
        end
        halves[w*16 +: 16] = half;
      end
      // select one of them, or the uncompressed words
      low = halves;
      high = 64'd0;
      if (pattern == SIGN4) begin
        low = low | {48'd0, fours};
      end
      if ((pattern == SIGN8) | (pattern == REPEATED)) begin
        low = low | {32'd0, bytes};
      end
      if (pattern == RAW) begin
        low = low | line_i[g*128 +: 64];
        high = line_i[g*128+64 +: 64];
      end
      strings_o[g*128 +: 64] = low;
      strings_o[g*128+64 +: 64] = high;
    end
  end

endmodule

`default_nettype wire
