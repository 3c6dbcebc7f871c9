// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_near
//
// Moves the data of each segment up by 4, 2 and 1 lanes, as the lower bits of its distance say.
//
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_near (
  // the data of each segment, less than eight lanes below their place
  input  wire [1023:0] lanes_i,
  // distance modulo eight of each segment except the first
  input  wire   [20:0] distances_i,
  // strings of 128 bits, each beginning with the data of its segment
  output reg  [1023:0] strings_o
);

  // distances of all segments, and of one more that does not exist
  reg [26:0] distances;

  always @(*) begin
    distances = 27'd0;
    distances[23:3] = distances_i;
  end

  always @(*) begin : comb_strings_o
    integer g;
    integer r;
    reg [1023:0] lower;
    reg moves;
    reg [1023:0] lower_2;
    reg [1023:0] lower_3;
    strings_o = lanes_i;
    // by 4 lanes
    lower = strings_o << 64;
    for (g = 0; g < 8; g = g + 1) begin
      for (r = 0; r < 8; r = r + 1) begin
        moves = distances[g*3+2];
        if ({2'd0, distances[g*3+3 +: 2]} >= (4'd8 - r[3:0])) begin
          moves = distances[g*3+5];
        end
        if (moves) begin
          strings_o[g*128+r*16 +: 16] = lower[g*128+r*16 +: 16];
        end
      end
    end
    // by 2 lanes: in the last lane, the data of the next segment if they move one lane more
    lower_2 = strings_o << 32;
    for (g = 0; g < 8; g = g + 1) begin
      moves = distances[g*3+1];
      for (r = 0; r < 7; r = r + 1) begin
        if (moves) begin
          strings_o[g*128+r*16 +: 16] = lower_2[g*128+r*16 +: 16];
        end
      end
      if (distances[g*3+3]) begin
        moves = distances[g*3+4];
      end
      if (moves) begin
        strings_o[g*128+112 +: 16] = lower_2[g*128+112 +: 16];
      end
    end
    // by 1 lane
    lower_3 = strings_o << 16;
    for (g = 0; g < 8; g = g + 1) begin
      if (distances[g*3]) begin
        strings_o[g*128 +: 64] = lower_3[g*128 +: 64];
        strings_o[g*128+64 +: 64] = lower_3[g*128+64 +: 64];
      end
    end
  end

endmodule

`default_nettype wire
