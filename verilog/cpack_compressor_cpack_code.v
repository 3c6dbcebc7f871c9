// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_compressor_cpack_code
//
// Writes the code of one word.
//
// Each letter of a code's name is a byte: z for zero, m for a match with a word of the dictionary,
// x for neither.
//
// Part of: cpack_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module cpack_compressor_cpack_code (
  // the word to encode
  input  wire [31:0] word_i,
  // kind of the word, one-hot: zero, single byte, equal in four, three or two bytes; 0 if none
  input  wire  [4:0] kind_i,
  // positions that match, one bit each; the lowest counts
  input  wire [15:0] places_i,
  // prefix, index and literal bytes from bit 0 up
  output wire [33:0] code_o,
  // half of the code's bits
  output reg   [4:0] half_o
);

  localparam [3:0] XXXX = 4'd1;
  localparam [3:0] MMMM = 4'd2;
  localparam [3:0] MMXX = 4'd3;
  localparam [3:0] ZZZX = 4'd7;
  localparam [3:0] MMMX = 4'd11;
  localparam [4:0] HALF_ZZZZ = 5'd1;
  localparam [4:0] HALF_XXXX = 5'd17;
  localparam [4:0] HALF_MMMM = 5'd3;
  localparam [4:0] HALF_MMXX = 5'd12;
  localparam [4:0] HALF_ZZZX = 5'd6;
  localparam [4:0] HALF_MMMX = 5'd8;
  reg [3:0] place;
  reg [33:0] coded;

  always @(*) begin : comb_place
    integer i;
    reg found;
    place = 4'd0;
    found = 1'b0;
    for (i = 0; i < 16; i = i + 1) begin
      if (places_i[i] & ~found) begin
        place = i[3:0];
        found = 1'b1;
      end
    end
  end

  always @(*) begin
    coded = 34'd0;
    if (kind_i[0]) begin
      half_o = HALF_ZZZZ;
    end else if (kind_i[1]) begin
      coded[3:0] = ZZZX;
      coded[11:4] = word_i[7:0];
      half_o = HALF_ZZZX;
    end else if (kind_i[2]) begin
      coded[3:0] = MMMM;
      coded[5:2] = place;
      half_o = HALF_MMMM;
    end else if (kind_i[3]) begin
      coded[3:0] = MMMX;
      coded[7:4] = place;
      coded[15:8] = word_i[7:0];
      half_o = HALF_MMMX;
    end else if (kind_i[4]) begin
      coded[3:0] = MMXX;
      coded[7:4] = place;
      coded[23:8] = word_i[15:0];
      half_o = HALF_MMXX;
    end else begin
      coded[3:0] = XXXX;
      coded[33:2] = word_i;
      half_o = HALF_XXXX;
    end
  end

  assign code_o = coded;

endmodule

`default_nettype wire
