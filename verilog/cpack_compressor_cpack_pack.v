// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor_cpack_pack
//
// Writes the codes of four words after the used bits of a block of 128.
//
// The second pair of words is packed in parallel with the shift of the first pair.
//
// Part of: cpack_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module cpack_compressor_cpack_pack (
  // the words, the first in the low bits
  input  wire [127:0] words_i,
  // kinds of the words, five bits each
  input  wire  [19:0] kinds_i,
  // positions that match the words, 16 bits each
  input  wire  [63:0] places_i,
  // half of the used bits
  input  wire   [5:0] used_i,
  // the codes after the used bits; zero below and above
  output wire [263:0] string_o,
  // half of the bits of the codes
  output wire   [6:0] half_o
);

  reg [263:0] low;
  reg [263:0] high;
  wire [7:0] low_half;
  reg [127:0] code_word;
  reg [19:0] code_kind;
  reg [63:0] code_places;
  wire [135:0] code_code;
  wire [19:0] code_half;

  genvar g;
  generate
    for (g = 0; g < 4; g = g + 1) begin : gen_code
      cpack_compressor_cpack_code code (
        .word_i   (code_word[g*32 +: 32]),
        .kind_i   (code_kind[g*5 +: 5]),
        .places_i (code_places[g*16 +: 16]),
        .code_o   (code_code[g*34 +: 34]),
        .half_o   (code_half[g*5 +: 5])
      );
    end
  endgenerate

  always @(*) begin : comb_code_word
    integer k;
    for (k = 0; k < 4; k = k + 1) begin
      code_word[k*32 +: 32] = words_i[k*32 +: 32];
    end
  end

  always @(*) begin : comb_code_kind
    integer k;
    for (k = 0; k < 4; k = k + 1) begin
      code_kind[k*5 +: 5] = kinds_i[k*5 +: 5];
    end
  end

  always @(*) begin : comb_code_places
    integer k;
    for (k = 0; k < 4; k = k + 1) begin
      code_places[k*16 +: 16] = places_i[k*16 +: 16];
    end
  end

  always @(*) begin
    low = 264'd0;
    low[33:0] = code_code[67:34];
    low = low << {code_half[4:0], 1'b0};
    low[33:0] = low[33:0] | code_code[33:0];
  end

  always @(*) begin
    high = 264'd0;
    high[33:0] = code_code[135:102];
    high = high << {code_half[14:10], 1'b0};
    high[33:0] = high[33:0] | code_code[101:68];
  end

  assign low_half = {3'd0, code_half[4:0]} + {3'd0, code_half[9:5]};
  assign string_o = (low << {used_i, 1'b0}) | (high << (({2'd0, used_i} + low_half) << 1));
  assign half_o = low_half[6:0] + {2'd0, code_half[14:10]} + {2'd0, code_half[19:15]};

endmodule

`default_nettype wire
