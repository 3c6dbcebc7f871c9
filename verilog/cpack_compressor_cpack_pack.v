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
  reg [127:0] code_word_i;
  reg [19:0] code_kind_i;
  reg [63:0] code_places_i;
  wire [135:0] code_code_o;
  wire [19:0] code_half_o;

  genvar g;
  generate
    for (g = 0; g < 4; g = g + 1) begin : gen_code
      cpack_compressor_cpack_code code (
        .word_i   (code_word_i[g*32 +: 32]),
        .kind_i   (code_kind_i[g*5 +: 5]),
        .places_i (code_places_i[g*16 +: 16]),
        .code_o   (code_code_o[g*34 +: 34]),
        .half_o   (code_half_o[g*5 +: 5])
      );
    end
  endgenerate

  always @(*) begin : comb_code_word_i
    integer k;
    for (k = 0; k < 4; k = k + 1) begin
      code_word_i[k*32 +: 32] = words_i[k*32 +: 32];
    end
  end

  always @(*) begin : comb_code_kind_i
    integer k;
    for (k = 0; k < 4; k = k + 1) begin
      code_kind_i[k*5 +: 5] = kinds_i[k*5 +: 5];
    end
  end

  always @(*) begin : comb_code_places_i
    integer k;
    for (k = 0; k < 4; k = k + 1) begin
      code_places_i[k*16 +: 16] = places_i[k*16 +: 16];
    end
  end

  always @(*) begin
    low = 264'd0;
    low[33:0] = code_code_o[1*34 +: 34];
    low = low << ({1'b0, code_half_o[0*5 +: 5]} << 1);
    low[33:0] = low[33:0] | code_code_o[0*34 +: 34];
  end

  always @(*) begin
    high = 264'd0;
    high[33:0] = code_code_o[3*34 +: 34];
    high = high << ({1'b0, code_half_o[2*5 +: 5]} << 1);
    high[33:0] = high[33:0] | code_code_o[2*34 +: 34];
  end

  assign low_half = {3'd0, code_half_o[0*5 +: 5]} + {3'd0, code_half_o[1*5 +: 5]};
  assign string_o = (low << ({1'b0, used_i} << 1)) | (high << (({2'd0, used_i} + low_half) << 1));
  assign half_o = low_half[6:0] + {2'd0, code_half_o[2*5 +: 5]} + {2'd0, code_half_o[3*5 +: 5]};

endmodule

`default_nettype wire
