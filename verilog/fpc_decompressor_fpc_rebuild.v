// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_rebuild
//
// Rebuilds the words of each segment from its data.
//
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_rebuild (
  // strings of 128 bits, each beginning with the data of its segment
  input  wire [1023:0] strings_i,
  // a prefix for each segment
  input  wire   [23:0] prefixes_i,
  // the line
  output reg  [1023:0] line_o
);

  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] SIGN16 = 3'd3;
  localparam [2:0] UPPER16 = 3'd4;
  localparam [2:0] TWO_BYTES = 3'd5;
  localparam [2:0] REPEATED = 3'd6;
  localparam [2:0] RAW = 3'd7;
  localparam [3:0] ONES4 = 4'd15;
  localparam [7:0] ONES8 = 8'd255;

  always @(*) begin : comb_line_o
    integer g;
    integer w;
    reg [2:0] pattern;
    reg [3:0] four;
    reg [7:0] kept_byte;
    reg [15:0] half;
    // bits 4 to 7, 8 to 15, 16 to 23 and 24 to 31 are ones
    reg above4;
    reg above8;
    reg above16;
    reg above24;
    reg [31:0] word;
    line_o = 1024'd0;
    for (g = 0; g < 8; g = g + 1) begin
      pattern = prefixes_i[g*3 +: 3];
      for (w = 0; w < 4; w = w + 1) begin
        // data of the word with 4, 8 and 16 bits
        four = strings_i[g*128+w*4 +: 4];
        kept_byte = strings_i[g*128+w*8 +: 8];
        half = strings_i[g*128+w*16 +: 16];
        // ranges of bits that sign extension sets
        above4 = (pattern == SIGN4) & four[3];
        above16 = above4 | ((pattern == SIGN8) & kept_byte[7]);
        above8 = above16 | ((pattern == TWO_BYTES) & half[7]);
        above16 = above16 | ((pattern == SIGN16) & half[15]);
        above24 = above16 | ((pattern == TWO_BYTES) & half[15]);
        word = 32'd0;
        if (above4) begin
          word[7:4] = ONES4;
        end
        if (above8) begin
          word[15:8] = ONES8;
        end
        if (above16) begin
          word[23:16] = ONES8;
        end
        if (above24) begin
          word[31:24] = ONES8;
        end
        // data bits of the word
        if (pattern == SIGN4) begin
          word = word | {28'd0, four};
        end
        if ((pattern == SIGN8) | (pattern == REPEATED)) begin
          word = word | {24'd0, kept_byte};
        end
        if (pattern == REPEATED) begin
          word = word | {16'd0, kept_byte, 8'd0};
          word = word | {8'd0, kept_byte, 16'd0};
          word = word | {kept_byte, 24'd0};
        end
        if (pattern == SIGN16) begin
          word = word | {16'd0, half};
        end
        if (pattern == UPPER16) begin
          word = word | {half, 16'd0};
        end
        if (pattern == TWO_BYTES) begin
          word = word | {24'd0, half[7:0]};
          word = word | {8'd0, half[15:8], 16'd0};
        end
        if (pattern == RAW) begin
          word = word | strings_i[g*128+w*32 +: 32];
        end
        line_o[g*128+w*32 +: 32] = word;
      end
    end
  end

endmodule

`default_nettype wire
