// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_pairs
//
// Splits pairs of segments. The right segment is at one of five positions, depending on the left
// segment's prefix.
//
// Parameters: LINE = 1024, LW = 16, PAIRS = 4, PRE = 24, PREW = 1
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_pairs (
  // strings of 256 bits, each beginning with the data of its first segment
  input  wire [1023:0] strings_i,
  // a prefix for each segment
  input  wire   [23:0] prefixes_i,
  // strings of 128 bits, each beginning with the data of its segment
  output reg  [1023:0] strings_o
);

  localparam [2:0] ZEROS = 3'd0;
  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] SIGN16 = 3'd3;
  localparam [2:0] UPPER16 = 3'd4;
  localparam [2:0] TWO_BYTES = 3'd5;
  localparam [2:0] REPEATED = 3'd6;
  localparam [2:0] RAW = 3'd7;
  reg [2:0] left;
  reg [63:0] right;

  always @(*) begin : comb_strings_o
    integer h;
    integer p;
    strings_o = strings_i;
    for (p = 0; p < 4; p = p + 1) begin
      left = prefixes_i[p*6 +: 3];
      // the lower and the upper half of the right segment
      for (h = 0; h < 2; h = h + 1) begin
        right = 64'd0;
        if (left == ZEROS) begin
          right = strings_i[p*256+h*64 +: 64];
        end
        if (left == SIGN4) begin
          right = right | strings_i[p*256+h*64+16 +: 64];
        end
        if ((left == SIGN8) | (left == REPEATED)) begin
          right = right | strings_i[p*256+h*64+32 +: 64];
        end
        if ((left == SIGN16) | (left == UPPER16) | (left == TWO_BYTES)) begin
          right = right | strings_i[p*256+h*64+64 +: 64];
        end
        if (left == RAW) begin
          right = right | strings_i[p*256+h*64+128 +: 64];
        end
        strings_o[p*256+128+h*64 +: 64] = right;
      end
    end
  end

endmodule

`default_nettype wire
