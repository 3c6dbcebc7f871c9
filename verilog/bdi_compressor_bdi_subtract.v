// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_compressor_bdi_subtract
//
// Subtracts the chosen base or zero from each word. A line that stays uncompressed passes
// unchanged.
//
// A delta has at most half the bits of its word, so that only these bits are computed: in 8 bytes,
// 32 bits of one word, 16 of each of two, or 8 of each of four. The other bits are copied from the
// line.
//
// Part of: bdi_compressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_compressor_bdi_subtract (
  // the line
  input  wire [1023:0] line_i,
  // tag of the encoding: 2 to 5 for words of 8 bytes, 6 to 8 for 4 bytes, 9 and 10 for 2 bytes
  input  wire    [3:0] tag_i,
  // base of the encoding
  input  wire   [63:0] base_i,
  // mask of the encoding
  input  wire   [63:0] mask_i,
  // the deltas, each in the low bits of its word
  output wire [1023:0] deltas_o
);

  localparam [3:0] UNCOMPRESSED = 4'd0;
  localparam [3:0] B8D4 = 4'd5;
  localparam [3:0] B4D2 = 4'd8;
  wire b8;
  wire b2;
  // a 4-byte base, or two copies of a 2-byte base
  reg [31:0] pair;
  reg [1023:0] deltas;

  assign b8 = tag_i <= B8D4;
  assign b2 = tag_i > B4D2;

  always @(*) begin
    pair = base_i[31:0];
    // 2-byte words: the bit between two words stops the borrow; it belongs to no delta
    if (b2) begin
      pair[31:16] = base_i[15:0];
      pair[15] = 1'b0;
    end
  end

  always @(*) begin : comb_deltas
    integer w;
    // mask bits of the words that start at each 2-byte boundary
    reg [3:0] from_zero;
    reg [31:0] low_word;
    reg [31:0] low_base;
    reg [15:0] half_word;
    reg [15:0] half_base;
    reg [7:0] last_word;
    reg [7:0] last_base;
    deltas = line_i;
    for (w = 0; w < 16; w = w + 1) begin
      from_zero = mask_i[w*4 +: 4];
      if (b8) begin
        from_zero[0] = mask_i[w];
        from_zero[1] = mask_i[w];
      end else if (!b2) begin
        from_zero[0] = mask_i[w*2];
        from_zero[1] = mask_i[w*2];
        from_zero[2] = mask_i[w*2+1];
      end
      low_word = line_i[w*64 +: 32];
      if (b2) begin
        low_word[15] = 1'b1;
      end
      low_base = 32'd0;
      half_base = 16'd0;
      last_base = 8'd0;
      if (!from_zero[0]) begin
        low_base[15:0] = pair[15:0];
      end
      if (!from_zero[1]) begin
        low_base[31:16] = pair[31:16];
      end
      if (!from_zero[2]) begin
        half_base = base_i[15:0];
      end
      if (!from_zero[3]) begin
        last_base = base_i[7:0];
      end
      half_word = line_i[w*64+32 +: 16];
      last_word = line_i[w*64+48 +: 8];
      deltas[w*64 +: 32] = low_word - low_base;
      deltas[w*64+32 +: 16] = half_word - half_base;
      deltas[w*64+48 +: 8] = last_word - last_base;
    end
  end

  assign deltas_o = (tag_i == UNCOMPRESSED) ? line_i : deltas;

  // unused bits
  wire unused = &{1'b0, base_i[63:32]};

endmodule

`default_nettype wire
