// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_split
//
// Takes the data apart into strings of a few words each, LEVELS levels of the tree down.
//
// Parameters: LINE = 1024, LW = 16, WORDS = 32, LEVELS = 2, GROUPS = 32, GROUP = 1, PRE = 96, PREW = 2
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_split (
  // 1: data of words; 0: the line as it was
  input  wire          encoding_i,
  // the data from bit 0 up, or the line
  input  wire [1023:0] string_i,
  // a prefix for each group
  input  wire   [95:0] prefixes_i,
  // strings of equal width, each of which begins with its first word's data, or the line
  output reg  [1023:0] strings_o
);

  wire [191:0] lengths_length_o;
  wire [1023:0] split_strings_o;

  fpc_decompressor_fpc_lengths lengths (
    .prefixes_i (prefixes_i),
    .length_o   (lengths_length_o)
  );

  selvedge_bit_splitter_32_32_6_1024_16_2 split (
    .string_i  (string_i),
    .length_i  (lengths_length_o),
    .strings_o (split_strings_o)
  );

  always @(*) begin
    strings_o = string_i;
    if (encoding_i) begin
      strings_o = split_strings_o;
    end
  end

endmodule

`default_nettype wire
