// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_lengths
//
// How many bits of each word are kept, by the prefix of its group.
//
// Parameters: WORDS = 32, GROUPS = 32, GROUP = 1, PRE = 96, PREW = 2
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_lengths (
  // a prefix for each group
  input  wire  [95:0] prefixes_i,
  // bits of each word
  output reg  [191:0] length_o
);

  localparam GROUP = 1;
  localparam [2:0] ZEROS = 3'd0;
  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] REPEATED = 3'd6;
  localparam [2:0] RAW = 3'd7;
  reg [2:0] prefix;
  reg [5:0] length;

  always @(*) begin : comb_prefix
    integer g;
    prefix = 3'd0;
    length = 6'd0;
    for (g = 0; g < 32; g = g + 1) begin
      prefix = prefixes_i[g*3 +: 3];
      length = 6'd16;
      if (prefix == ZEROS) begin
        length = 6'd0;
      end else if (prefix == SIGN4) begin
        length = 6'd4;
      end else if ((prefix == SIGN8) | (prefix == REPEATED)) begin
        length = 6'd8;
      end else if (prefix == RAW) begin
        length = 6'd32;
      end
      length_o[g*GROUP*6 +: 6] = length;
    end
  end

endmodule

`default_nettype wire
