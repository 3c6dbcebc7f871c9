// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor_cpack_encode
//
// Encodes four words, each with the dictionary that the one before leaves, and packs their codes.
//
// Parameters: D = 512, DW = 8
// Part of: cpack_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module cpack_compressor_cpack_encode (
  // the words, the first in the low bits
  input  wire [127:0] words_i,
  // the dictionary before these words
  input  wire [511:0] dictionary_i,
  // words in it
  input  wire   [4:0] count_i,
  // the place of the next one
  input  wire   [3:0] next_i,
  // the four codes, the first in the low bits
  output wire [135:0] string_o,
  // bits of the codes
  output wire   [7:0] length_o,
  // the dictionary after these words
  output wire [511:0] dictionary_o,
  // words in it
  output wire   [4:0] count_o,
  // the place of the next one
  output wire   [3:0] next_o
);

  wire [31:0] first_word_i;
  wire [33:0] first_code_o;
  wire [5:0] first_length_o;
  wire [511:0] first_dictionary_o;
  wire [4:0] first_count_o;
  wire [3:0] first_next_o;
  wire [31:0] second_word_i;
  wire [33:0] second_code_o;
  wire [5:0] second_length_o;
  wire [511:0] second_dictionary_o;
  wire [4:0] second_count_o;
  wire [3:0] second_next_o;
  wire [31:0] third_word_i;
  wire [33:0] third_code_o;
  wire [5:0] third_length_o;
  wire [511:0] third_dictionary_o;
  wire [4:0] third_count_o;
  wire [3:0] third_next_o;
  wire [31:0] fourth_word_i;
  wire [33:0] fourth_code_o;
  wire [5:0] fourth_length_o;
  reg [135:0] pack_field_i;
  reg [23:0] pack_length_i;

  cpack_compressor_cpack_encode_word first (
    .word_i       (first_word_i),
    .dictionary_i (dictionary_i),
    .count_i      (count_i),
    .next_i       (next_i),
    .code_o       (first_code_o),
    .length_o     (first_length_o),
    .dictionary_o (first_dictionary_o),
    .count_o      (first_count_o),
    .next_o       (first_next_o)
  );

  cpack_compressor_cpack_encode_word second (
    .word_i       (second_word_i),
    .dictionary_i (first_dictionary_o),
    .count_i      (first_count_o),
    .next_i       (first_next_o),
    .code_o       (second_code_o),
    .length_o     (second_length_o),
    .dictionary_o (second_dictionary_o),
    .count_o      (second_count_o),
    .next_o       (second_next_o)
  );

  cpack_compressor_cpack_encode_word third (
    .word_i       (third_word_i),
    .dictionary_i (second_dictionary_o),
    .count_i      (second_count_o),
    .next_i       (second_next_o),
    .code_o       (third_code_o),
    .length_o     (third_length_o),
    .dictionary_o (third_dictionary_o),
    .count_o      (third_count_o),
    .next_o       (third_next_o)
  );

  cpack_compressor_cpack_encode_word fourth (
    .word_i       (fourth_word_i),
    .dictionary_i (third_dictionary_o),
    .count_i      (third_count_o),
    .next_i       (third_next_o),
    .code_o       (fourth_code_o),
    .length_o     (fourth_length_o),
    .dictionary_o (dictionary_o),
    .count_o      (count_o),
    .next_o       (next_o)
  );

  selvedge_bit_packer_4_34_6_136_3_8 pack (
    .field_i  (pack_field_i),
    .length_i (pack_length_i),
    .string_o (string_o),
    .length_o (length_o)
  );

  assign first_word_i = words_i[31:0];
  assign second_word_i = words_i[63:32];
  assign third_word_i = words_i[95:64];
  assign fourth_word_i = words_i[127:96];

  always @(*) begin
    pack_field_i[33:0] = first_code_o;
    pack_field_i[67:34] = second_code_o;
    pack_field_i[101:68] = third_code_o;
    pack_field_i[135:102] = fourth_code_o;
  end

  always @(*) begin
    pack_length_i[5:0] = first_length_o;
    pack_length_i[11:6] = second_length_o;
    pack_length_i[17:12] = third_length_o;
    pack_length_i[23:18] = fourth_length_o;
  end

endmodule

`default_nettype wire
