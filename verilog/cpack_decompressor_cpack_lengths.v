// SPDX-License-Identifier: MIT OR Apache-2.0
// cpack_decompressor_cpack_lengths
//
// Finds the kinds and lengths of four consecutive codes. No other step goes from code to code.
//
// Part of: cpack_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module cpack_decompressor_cpack_lengths (
  // the codes from bit 0 up
  input  wire [135:0] string_i,
  // half of the bits before the codes
  input  wire   [5:0] start_i,
  // kind of each code, one-hot in seven bits: zzzz, xxxx, mmmm, mmxx, zzzx, mmmx, or invalid
  output reg   [27:0] kinds_o,
  // half of the bits up to the end of the codes
  output wire   [7:0] end_o
);

  localparam [4:0] HALF_ZZZZ = 5'd1;
  localparam [4:0] HALF_XXXX = 5'd17;
  localparam [4:0] HALF_MMMM = 5'd3;
  localparam [4:0] HALF_MMXX = 5'd12;
  localparam [4:0] HALF_ZZZX = 5'd6;
  localparam [4:0] HALF_MMMX = 5'd8;
  // half of the bits up to the current code; the last code's length passes only one adder
  reg [7:0] sum;

  always @(*) begin : comb_sum
    integer k;
    reg [135:0] rest;
    reg [135:0] behind;
    reg [6:0] kind;
    reg [4:0] half;
    rest = string_i;
    sum = {2'd0, start_i};
    for (k = 0; k < 4; k = k + 1) begin
      kind = 7'd0;
      half = 5'd0;
      behind = 136'd0;
      // AND-OR selection: shorter paths than a priority chain
      if (~rest[0] & ~rest[1]) begin
        kind = 7'd1;
        half = half | HALF_ZZZZ;
        behind = behind | (rest >> 2);
      end
      if (rest[0] & ~rest[1]) begin
        kind = kind | 7'd2;
        half = half | HALF_XXXX;
        behind = behind | (rest >> 34);
      end
      if (~rest[0] & rest[1]) begin
        kind = kind | 7'd4;
        half = half | HALF_MMMM;
        behind = behind | (rest >> 6);
      end
      if (rest[3:0] == 4'd3) begin
        kind = kind | 7'd8;
        half = half | HALF_MMXX;
        behind = behind | (rest >> 24);
      end
      if (rest[3:0] == 4'd7) begin
        kind = kind | 7'd16;
        half = half | HALF_ZZZX;
        behind = behind | (rest >> 12);
      end
      if (rest[3:0] == 4'd11) begin
        kind = kind | 7'd32;
      end
      if (rest[3:0] == 4'd15) begin
        kind = kind | 7'd64;
      end
      // without a code, the length is undefined
      if (rest[0] & rest[1] & rest[3]) begin
        half = half | HALF_MMMX;
        behind = behind | (rest >> 16);
      end
      kinds_o[k*7 +: 7] = kind;
      sum = sum + {3'd0, half};
      rest = behind;
    end
  end

  assign end_o = sum;

endmodule

`default_nettype wire
