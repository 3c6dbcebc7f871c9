// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_segment_lengths
//
// Finds the number of data bits of each segment.
//
// Parameters: GROUPS = 8, PRE = 24, PREW = 1
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_segment_lengths (
  // a prefix for each segment
  input  wire [23:0] prefixes_i,
  // data bits of each segment
  output reg  [63:0] length_o
);

  localparam [2:0] ZEROS = 3'd0;
  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] REPEATED = 3'd6;
  localparam [2:0] RAW = 3'd7;
  reg [2:0] prefix;
  reg [7:0] length;

  always @(*) begin : comb_length_o
    integer g;
    for (g = 0; g < 8; g = g + 1) begin
      prefix = prefixes_i[g*3 +: 3];
      length = 8'd64;
      if (prefix == ZEROS) begin
        length = 8'd0;
      end else if (prefix == SIGN4) begin
        length = 8'd16;
      end else if ((prefix == SIGN8) | (prefix == REPEATED)) begin
        length = 8'd32;
      end else if (prefix == RAW) begin
        length = 8'd128;
      end
      length_o[g*8 +: 8] = length;
    end
  end

endmodule

`default_nettype wire
