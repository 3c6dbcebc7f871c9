// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_expand
//
// Takes the data of a few words apart and rebuilds each word by its prefix.
//
// Parameters: LINE = 1024, LW = 16, WORDS = 32, LEVELS = 2, GROUPS = 32, GROUP = 1, PRE = 96, PREW = 2
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_expand (
  // 1: data of words; 0: the line as it was
  input  wire          encoding_i,
  // strings of equal width, each of which begins with its first word's data, or the line
  input  wire [1023:0] strings_i,
  // a prefix for each group
  input  wire   [95:0] prefixes_i,
  // the head is wrong: the line is zero
  input  wire          error_i,
  // the line
  output reg  [1023:0] line_o
);

  localparam GROUP = 1;
  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] SIGN16 = 3'd3;
  localparam [2:0] UPPER16 = 3'd4;
  localparam [2:0] TWO_BYTES = 3'd5;
  localparam [2:0] REPEATED = 3'd6;
  // ones above a sign-extended field
  localparam [31:0] ABOVE4 = 32'hfffffff0;
  localparam [31:0] ABOVE8 = 32'hffffff00;
  localparam [31:0] ABOVE16 = 32'hffff0000;
  localparam [7:0] ONES = 8'd255;
  reg [2:0] pattern;
  reg [31:0] kept;
  reg [31:0] word;
  reg [1023:0] line;
  wire [191:0] lengths_length_o;
  wire [1023:0] data_field_o;

  fpc_decompressor_fpc_lengths lengths (
    .prefixes_i (prefixes_i),
    .length_o   (lengths_length_o)
  );

  selvedge_bit_unpacker_32_32_6_1024_16_2 data (
    .string_i (strings_i),
    .length_i (lengths_length_o),
    .field_o  (data_field_o)
  );

  always @(*) begin : comb_pattern
    integer g;
    pattern = 3'd0;
    kept = 32'd0;
    word = 32'd0;
    line = 1024'd0;
    for (g = 0; g < 32; g = g + 1) begin
      pattern = prefixes_i[g*3 +: 3];
      // what is kept of a word is zero from its length on
      kept = data_field_o[g*GROUP*32 +: 32];
      word = kept;
      if ((pattern == SIGN4) & kept[3]) begin
        word = kept | ABOVE4;
      end else if ((pattern == SIGN8) & kept[7]) begin
        word = kept | ABOVE8;
      end else if ((pattern == SIGN16) & kept[15]) begin
        word = kept | ABOVE16;
      end else if (pattern == UPPER16) begin
        word = kept << 16;
      end else if (pattern == TWO_BYTES) begin
        word = 32'd0;
        word[23:16] = kept[15:8];
        word[7:0] = kept[7:0];
        if (kept[15]) begin
          word[31:24] = ONES;
        end
        if (kept[7]) begin
          word[15:8] = ONES;
        end
      end else if (pattern == REPEATED) begin
        word[15:8] = kept[7:0];
        word[31:16] = word[15:0];
      end
      line[g*GROUP*32 +: 32] = word;
    end
  end

  always @(*) begin
    line_o = line;
    if (error_i) begin
      line_o = 1024'd0;
    end else if (!encoding_i) begin
      line_o = strings_i;
    end
  end

endmodule

`default_nettype wire
