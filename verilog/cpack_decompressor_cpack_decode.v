// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_decompressor_cpack_decode
//
// Decodes four words, each with the string and the dictionary that the one before leaves.
//
// Parameters: D = 512, DW = 8
// Part of: cpack_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module cpack_decompressor_cpack_decode (
  // 0: the string is words as they were; 1: codes; else all words are zero
  input  wire   [1:0] encoding_i,
  // the string
  input  wire [135:0] string_i,
  // the dictionary before these words
  input  wire [511:0] dictionary_i,
  // words in it
  input  wire   [4:0] count_i,
  // the place of the next one
  input  wire   [3:0] next_i,
  // the words, the first in the low bits
  output wire [127:0] words_o,
  // bits that they took
  output wire   [7:0] length_o,
  // no such code, or no such place in the dictionary
  output wire         error_o,
  // the dictionary after these words
  output wire [511:0] dictionary_o,
  // words in it
  output wire   [4:0] count_o,
  // the place of the next one
  output wire   [3:0] next_o
);

  reg [127:0] words;
  wire [31:0] first_word_o;
  wire [5:0] first_length_o;
  wire first_error_o;
  wire [135:0] first_string_o;
  wire [511:0] first_dictionary_o;
  wire [4:0] first_count_o;
  wire [3:0] first_next_o;
  wire [31:0] second_word_o;
  wire [5:0] second_length_o;
  wire second_error_o;
  wire [135:0] second_string_o;
  wire [511:0] second_dictionary_o;
  wire [4:0] second_count_o;
  wire [3:0] second_next_o;
  wire [31:0] third_word_o;
  wire [5:0] third_length_o;
  wire third_error_o;
  wire [135:0] third_string_o;
  wire [511:0] third_dictionary_o;
  wire [4:0] third_count_o;
  wire [3:0] third_next_o;
  wire [31:0] fourth_word_o;
  wire [5:0] fourth_length_o;
  wire fourth_error_o;
  wire [135:0] fourth_string_o;

  cpack_decompressor_cpack_decode_word first (
    .encoding_i   (encoding_i),
    .string_i     (string_i),
    .dictionary_i (dictionary_i),
    .count_i      (count_i),
    .next_i       (next_i),
    .word_o       (first_word_o),
    .length_o     (first_length_o),
    .error_o      (first_error_o),
    .string_o     (first_string_o),
    .dictionary_o (first_dictionary_o),
    .count_o      (first_count_o),
    .next_o       (first_next_o)
  );

  cpack_decompressor_cpack_decode_word second (
    .encoding_i   (encoding_i),
    .string_i     (first_string_o),
    .dictionary_i (first_dictionary_o),
    .count_i      (first_count_o),
    .next_i       (first_next_o),
    .word_o       (second_word_o),
    .length_o     (second_length_o),
    .error_o      (second_error_o),
    .string_o     (second_string_o),
    .dictionary_o (second_dictionary_o),
    .count_o      (second_count_o),
    .next_o       (second_next_o)
  );

  cpack_decompressor_cpack_decode_word third (
    .encoding_i   (encoding_i),
    .string_i     (second_string_o),
    .dictionary_i (second_dictionary_o),
    .count_i      (second_count_o),
    .next_i       (second_next_o),
    .word_o       (third_word_o),
    .length_o     (third_length_o),
    .error_o      (third_error_o),
    .string_o     (third_string_o),
    .dictionary_o (third_dictionary_o),
    .count_o      (third_count_o),
    .next_o       (third_next_o)
  );

  cpack_decompressor_cpack_decode_word fourth (
    .encoding_i   (encoding_i),
    .string_i     (third_string_o),
    .dictionary_i (third_dictionary_o),
    .count_i      (third_count_o),
    .next_i       (third_next_o),
    .word_o       (fourth_word_o),
    .length_o     (fourth_length_o),
    .error_o      (fourth_error_o),
    .string_o     (fourth_string_o),
    .dictionary_o (dictionary_o),
    .count_o      (count_o),
    .next_o       (next_o)
  );

  always @(*) begin
    words = 128'd0;
    words[31:0] = first_word_o;
    words[63:32] = second_word_o;
    words[95:64] = third_word_o;
    words[127:96] = fourth_word_o;
  end

  assign words_o = words;
  assign length_o = {2'd0, first_length_o} + {2'd0, second_length_o} + {2'd0, third_length_o} + {2'd0,
      fourth_length_o};
  assign error_o = first_error_o | second_error_o | third_error_o | fourth_error_o;

  // bits that nothing here looks at
  wire unused = &{1'b0, fourth_string_o};

endmodule

`default_nettype wire
