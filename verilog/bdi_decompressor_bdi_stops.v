// SPDX-License-Identifier: MIT OR Apache-2.0
// bdi_decompressor_bdi_stops
//
// Gives the highest bit of each word in 8 bytes, at which an adder's carry stops.
//
// Part of: bdi_decompressor
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bdi_decompressor_bdi_stops (
  // tag of the encoding: 2 to 5 for words of 8 bytes, 6 to 8 for 4 bytes, 9 and 10 for 2 bytes
  input  wire  [3:0] tag_i,
  // words have 8 bytes
  output wire        b8_o,
  // words have 4 bytes; if both are low, they have 2
  output wire        b4_o,
  // highest bit of each word
  output reg  [63:0] stops_o
);

  localparam [3:0] B8D4 = 4'd5;
  localparam [3:0] B4D2 = 4'd8;
  localparam [63:0] STOPS_B8 = 64'h8000000000000000;
  localparam [63:0] STOPS_B4 = 64'h8000000080000000;
  localparam [63:0] STOPS_B2 = 64'h8000800080008000;

  assign b8_o = tag_i <= B8D4;
  assign b4_o = (tag_i > B8D4) & (tag_i <= B4D2);

  always @(*) begin
    stops_o = STOPS_B2;
    if (tag_i <= B8D4) begin
      stops_o = STOPS_B8;
    end else if (tag_i <= B4D2) begin
      stops_o = STOPS_B4;
    end
  end

endmodule

`default_nettype wire
