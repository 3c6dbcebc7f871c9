// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor_bpc_split
//
// Splits four codes by their lengths. It does not decode them.
//
// PLACE is the number of bits of a position in a plane, F of the longest code. CHUNK is four times
// F. BLOCK is the number of bits of a block of the payload, BOTH of two blocks, and PLACES of a
// position in two blocks. The bits that remain after a code begin with the next code, so that its
// first bits show its kind at once.
//
// Parameters: PLACE = 5, F = 32, CHUNK = 128, BLOCK = 128, BOTH = 256, PLACES = 8
// Part of: bpc_decompressor
// Source: LATTE-CC, table I
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_decompressor_bpc_split (
  // the next bits of the payload
  input  wire [255:0] window_i,
  // position at which they begin
  input  wire   [7:0] place_i,
  // four codes, F bits from the first bit of each
  output reg  [127:0] codes_o,
  // bits after the four codes
  output wire [127:0] rest_o,
  // position at which these bits begin
  output reg    [7:0] place_o
);

  localparam F = 32;
  // lengths of a raw plane, a run, a single zero plane, a code with a position, and a code of five
  // bits
  localparam [7:0] RAW = 8'd32;
  localparam [7:0] RUN = 8'd7;
  localparam [7:0] ZERO = 8'd3;
  localparam [7:0] PLACED = 8'd10;
  localparam [7:0] SHORT_STEP = 8'd5;
  // bits that remain after a code, and the position at which they begin
  reg [255:0] window;

  always @(*) begin : comb_window
    integer k;
    reg [31:0] code;
    window = window_i;
    place_o = place_i;
    for (k = 0; k < 4; k = k + 1) begin
      code = window[31:0];
      codes_o[k*F +: 32] = code;
      // shift for each length, then select: an addition after the selection would lengthen the path
      if (code[0]) begin
        window = window >> RAW;
        place_o = place_o + RAW;
      end else if (code[1]) begin
        window = window >> RUN;
        place_o = place_o + RUN;
      end else if (code[2]) begin
        window = window >> ZERO;
        place_o = place_o + ZERO;
      end else if (code[3]) begin
        window = window >> PLACED;
        place_o = place_o + PLACED;
      end else begin
        window = window >> SHORT_STEP;
        place_o = place_o + SHORT_STEP;
      end
    end
  end

  assign rest_o = window[127:0];

endmodule

`default_nettype wire
