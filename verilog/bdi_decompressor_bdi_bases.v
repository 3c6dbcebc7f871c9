// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_decompressor_bdi_bases
//
// Gives the base for every word of the line, or zero if the word's delta is from zero.
//
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_decompressor_bdi_bases (
  // the base, in the low bits
  input  wire   [63:0] base_i,
  // one bit per word: it is a delta from zero
  input  wire   [63:0] mask_i,
  // words have 8 bytes
  input  wire          b8_i,
  // words have 4 bytes; if both are low, they have 2
  input  wire          b4_i,
  // base or zero for each word
  output reg  [1023:0] bases_o
);

  reg [63:0] pattern;

  // repeat the base to fill 8 bytes
  always @(*) begin
    pattern = base_i;
    if (b4_i) begin
      pattern[63:32] = base_i[31:0];
    end else if (!b8_i) begin
      pattern[31:16] = base_i[15:0];
      pattern[47:32] = base_i[15:0];
      pattern[63:48] = base_i[15:0];
    end
  end

  always @(*) begin : comb_bases_o
    integer h;
    integer q;
    integer w;
    reg from_zero;
    reg [15:0] part;
    bases_o = 1024'd0;
    for (w = 0; w < 16; w = w + 1) begin
      for (h = 0; h < 2; h = h + 1) begin
        for (q = 0; q < 2; q = q + 1) begin
          from_zero = mask_i[w*4+h*2+q];
          if (b8_i) begin
            from_zero = mask_i[w];
          end else if (b4_i) begin
            from_zero = mask_i[w*2+h];
          end
          part = 16'd0;
          if (!from_zero) begin
            part = pattern[h*32+q*16 +: 16];
          end
          bases_o[w*64+h*32+q*16 +: 16] = part;
        end
      end
    end
  end

endmodule

`default_nettype wire
