// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_compressor_bpc_merge
//
// Appends four codes without gaps to the bits that a block of the payload has so far.
//
// F is the number of bits of the longest code, and CHUNK is four times that. BLOCK is the number of
// bits of a block, and BOTH of two blocks.
//
// Parameters: F = 32, CHUNK = 128, BLOCK = 128, BOTH = 256
// Part of: bpc_compressor
// Source: LATTE-CC, table I
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_compressor_bpc_merge (
  // the codes, F bits each, zero beyond their lengths
  input  wire [127:0] codes_i,
  // number of bits of each code, 6 bits each
  input  wire  [23:0] lengths_i,
  // bits that the block has so far
  input  wire [127:0] tail_i,
  // number of these bits
  input  wire   [6:0] filled_i,
  // this block and the next one
  output wire [255:0] merged_o,
  // number of bits of the four codes
  output wire   [7:0] length_o
);

  wire [31:0] code;
  wire [7:0] low_length;
  wire [7:0] high_length;
  reg [127:0] low;
  reg [127:0] high;
  reg [127:0] second;
  wire [255:0] four;
  wire [31:0] code_2;
  wire [31:0] code_3;
  wire [31:0] code_4;
  reg [127:0] second_2;

  // merge pairs, then both pairs: each sum of lengths depends on one other sum only
  assign low_length = {2'd0, lengths_i[5:0]} + {2'd0, lengths_i[11:6]};
  assign high_length = {2'd0, lengths_i[17:12]} + {2'd0, lengths_i[23:18]};
  assign code = codes_i[31:0];
  assign code_2 = codes_i[63:32];

  always @(*) begin
    second = 128'd0;
    second[31:0] = code_2;
  end

  assign code_3 = codes_i[95:64];
  assign code_4 = codes_i[127:96];

  always @(*) begin
    second_2 = 128'd0;
    second_2[31:0] = code_4;
  end

  always @(*) begin
    high = 128'd0;
    high[31:0] = code_3;
    high = high | (second_2 << lengths_i[17:12]);
  end

  always @(*) begin
    low = 128'd0;
    low[31:0] = code;
    low = low | (second << lengths_i[5:0]);
    low = low | (high << low_length);
  end

  assign four = {128'd0, low};
  assign merged_o = {128'd0, tail_i} | (four << filled_i);
  assign length_o = low_length + high_length;

endmodule

`default_nettype wire
