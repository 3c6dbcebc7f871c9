// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_compressor_fpc_pack
//
// Packs the symbols to the head and what is kept of the words behind it; if that is not shorter than the
// line, the payload is the line.
//
// HEAD is the bits of the longest head, HSUM and SIZE those of the lengths of head and payload.
//
// Parameters: LINE = 1024, LW = 16, WORDS = 32, GROUPS = 32, GROUP = 1, SYM = 288, SYMW = 5, HEAD = 144,
// HEADW = 3, HSUM = 8, SIZE = 11
// Part of: fpc_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module fpc_compressor_fpc_pack (
  // the line
  input  wire [1023:0] line_i,
  // prefix, run and length for each group
  input  wire  [287:0] symbols_i,
  // 1: head and data; 0: the line as it was
  output reg           encoding_o,
  // the size of the payload in bits
  output reg    [10:0] size_o,
  // the payload; zero beyond its size
  output reg  [1023:0] payload_o
);

  localparam GROUP = 1;
  localparam [2:0] ZEROS = 3'd0;
  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] UPPER16 = 3'd4;
  localparam [2:0] TWO_BYTES = 3'd5;
  localparam [2:0] REPEATED = 3'd6;
  localparam [2:0] RAW = 3'd7;
  localparam [10:0] LINE_BITS = 11'h400;
  reg [2:0] prefix;
  reg [5:0] length;
  reg [31:0] word;
  reg [31:0] kept;
  wire [10:0] size;
  reg [191:0] head_field_i;
  reg [95:0] head_length_i;
  wire [143:0] head_string_o;
  wire [7:0] head_length_o;
  reg [1023:0] data_field_i;
  reg [191:0] data_length_i;
  wire [1023:0] data_string_o;
  wire [10:0] data_length_o;

  selvedge_bit_packer_32_6_3_144_3_8 head (
    .field_i  (head_field_i),
    .length_i (head_length_i),
    .string_o (head_string_o),
    .length_o (head_length_o)
  );

  selvedge_bit_packer_32_32_6_1024_16_11 data (
    .field_i  (data_field_i),
    .length_i (data_length_i),
    .string_o (data_string_o),
    .length_o (data_length_o)
  );

  always @(*) begin : comb_prefix
    integer g;
    prefix = 3'd0;
    length = 6'd0;
    word = 32'd0;
    kept = 32'd0;
    for (g = 0; g < 32; g = g + 1) begin
      prefix = symbols_i[g*9 +: 3];
      // bits that are kept of each word
      length = 6'd16;
      if (prefix == ZEROS) begin
        length = 6'd0;
      end else if (prefix == SIGN4) begin
        length = 6'd4;
      end else if ((prefix == SIGN8) | (prefix == REPEATED)) begin
        length = 6'd8;
      end else if (prefix == RAW) begin
        length = 6'd32;
      end
      word = line_i[g*GROUP*32 +: 32];
      kept = word;
      if (prefix == UPPER16) begin
        kept = word >> 16;
      end else if (prefix == TWO_BYTES) begin
        kept[15:8] = word[23:16];
      end
      data_field_i[g*GROUP*32 +: 32] = kept;
      data_length_i[g*GROUP*6 +: 6] = length;
    end
  end

  always @(*) begin : comb_head_field_i
    integer g;
    for (g = 0; g < 32; g = g + 1) begin
      head_field_i[g*6 +: 6] = symbols_i[g*9 +: 6];
    end
  end

  always @(*) begin : comb_head_length_i
    integer g;
    for (g = 0; g < 32; g = g + 1) begin
      head_length_i[g*3 +: 3] = symbols_i[g*9+6 +: 3];
    end
  end

  assign size = {3'd0, head_length_o} + data_length_o;

  always @(*) begin
    encoding_o = 1'b1;
    size_o = size;
    payload_o = (data_string_o << head_length_o) | {880'd0, head_string_o};
    if (size >= LINE_BITS) begin
      encoding_o = 1'b0;
      size_o = LINE_BITS;
      payload_o = line_i;
    end
  end

endmodule

`default_nettype wire
