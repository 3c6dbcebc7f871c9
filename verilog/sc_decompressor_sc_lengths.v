// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor_sc_lengths
//
// Finds for each of 32 bits the length of the code that would begin there.
//
// All 32 positions are compared at once, one bit of the code after the other: each comparison is on
// vectors of 32 bits.
//
// Part of: sc_decompressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_decompressor_sc_lengths (
  // the 32 bits, and 16 bits of the next block
  input  wire  [47:0] bits_i,
  // end of the codes of each length, left-aligned
  input  wire [271:0] ends_i,
  // code of the escape symbol, first bit lowest
  input  wire  [15:0] escape_code_i,
  // mask of the bits of that code
  input  wire  [15:0] escape_mask_i,
  // the escape symbol has a code
  input  wire         escape_known_i,
  // length of the code at each bit, less one: one vector per bit of the length
  output reg  [127:0] lengths_o,
  // bits at which the code of a value would begin
  output wire  [31:0] values_o,
  // bits at which the code of the escape would begin
  output wire  [31:0] escapes_o
);

  localparam [31:0] ONES = {32{1'b1}};
  reg [31:0] is_escape;
  reg [31:0] shorter;

  always @(*) begin : comb_is_escape
    integer b;
    integer l;
    integer p;
    reg [31:0] head_bit;
    reg [31:0] below;
    reg [31:0] here;
    reg [3:0] index;
    is_escape = 32'd0;
    if (escape_known_i) begin
      is_escape = ONES;
    end
    for (b = 0; b < 16; b = b + 1) begin
      head_bit = bits_i[b +: 32];
      if (!escape_code_i[b]) begin
        head_bit = ~head_bit;
      end
      if (escape_mask_i[b]) begin
        is_escape = is_escape & head_bit;
      end
    end
    // the ends do not decrease with the length: select the first length whose end is above the bits
    shorter = 32'd0;
    for (p = 0; p < 4; p = p + 1) begin
      lengths_o[p*32 +: 32] = 32'd0;
    end
    for (l = 0; l < 16; l = l + 1) begin
      // compare from the lowest bit to the highest
      below = 32'd0;
      for (b = 0; b < 16; b = b + 1) begin
        head_bit = ~bits_i[15-b +: 32];
        if (ends_i[l*17+b]) begin
          below = below | head_bit;
        end else begin
          below = below & head_bit;
        end
      end
      if (ends_i[l*17+16]) begin
        below = ONES;
      end
      here = below & ~shorter;
      shorter = below;
      index = l[3:0];
      for (p = 0; p < 4; p = p + 1) begin
        if (index[p]) begin
          lengths_o[p*32 +: 32] = lengths_o[p*32 +: 32] | here;
        end
      end
    end
  end

  assign escapes_o = is_escape;
  assign values_o = shorter & ~is_escape;

endmodule

`default_nettype wire
