// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor_bpc_split
//
// Takes four codes apart, whatever they mean.
//
// PLACE is the bits of a place in a plane, F those of the longest code; CHUNK is four times F and
// REACH five times. A code can begin in few places only, as there are five lengths. What bit a code
// begins at is one bit of so many, which is a gate or two from one code to the next.
//
// Parameters: PLACE = 5, F = 32, CHUNK = 128, CW = 2, REACH = 160, RW = 3
// Part of: bpc_decompressor
// Source: LATTE-CC, table I
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bpc_decompressor_bpc_split (
  // the next bits of the payload
  input  wire [127:0] window_i,
  // four codes, F bits from the first bit of each
  output wire [127:0] codes_o,
  // bits of the four codes
  output wire   [7:0] length_o
);

  localparam F = 32;
  localparam [2:0] ONE = 3'd1;
  localparam [2:0] TWO = 3'd2;
  localparam [2:0] THREE = 3'd3;
  localparam [2:0] FIVE = 3'd5;
  localparam [2:0] SEVEN = 3'd7;
  localparam [5:0] WITH_PLACE = 6'd10;
  localparam [5:0] RAW = 6'd32;
  wire [159:0] window;
  // for each bit, if a code begins there: it is a run
  wire [159:0] is_run;
  // it is one zero plane
  wire [159:0] is_zero;
  // it has a place
  reg [159:0] has_place;
  // it is a prefix of five bits
  reg [159:0] is_short;
  // the bit at which a code begins
  reg [159:0] start;
  reg [31:0] code;
  reg [127:0] codes;
  reg [7:0] length;

  assign window = {32'd0, window_i};
  assign is_run = ~window & (window >> ONE);
  assign is_zero = ~window & ~(window >> ONE) & (window >> TWO);

  always @(*) begin
    is_short = ~window & ~(window >> ONE) & ~(window >> TWO);
    has_place = is_short & (window >> THREE);
    is_short = is_short & ~(window >> THREE);
  end

  always @(*) begin : comb_start
    integer i;
    integer k;
    start = 160'd0;
    start[0] = 1'b1;
    codes = 128'd0;
    code = 32'd0;
    for (k = 0; k < 4; k = k + 1) begin
      code = 32'd0;
      for (i = 0; i < 97; i = i + 1) begin
        if (start[i]) begin
          code = code | window[i +: 32];
        end
      end
      codes[k*F +: 32] = code;
      start = ((start & is_zero) << THREE) | ((start & is_short) << FIVE) | ((start & is_run) <<
          SEVEN) | ((start & has_place) << WITH_PLACE) | ((start & window) << RAW);
    end
  end

  always @(*) begin : comb_length
    integer i;
    length = 8'd0;
    for (i = 0; i < 129; i = i + 1) begin
      if (start[i]) begin
        length = length | i[7:0];
      end
    end
  end

  assign codes_o = codes;
  assign length_o = length;

endmodule

`default_nettype wire
