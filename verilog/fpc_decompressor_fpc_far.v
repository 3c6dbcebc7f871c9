// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_far
//
// Moves the data of each segment up by 32, 16 and 8 lanes, as its distance says.
//
// A segment never passes the next one, so all move through one row of lanes. Before the shorter
// moves, a lane belongs to the last segment whose data begin there or below.
//
// Parameters: BITS = 6
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_far (
  // the data of all segments from bit 0 up
  input  wire [1023:0] lanes_i,
  // distance of each segment except the first
  input  wire   [41:0] distances_i,
  // the data of each segment, less than eight lanes below their place
  output reg  [1023:0] lanes_o
);

  localparam BITS = 6;
  // distances of all segments, and of four more that do not exist
  reg [71:0] distances;

  always @(*) begin
    distances = 72'd0;
    distances[47:6] = distances_i;
  end

  always @(*) begin : comb_lanes_o
    integer a;
    integer g;
    integer r;
    reg [1023:0] lower;
    reg moves;
    reg [1023:0] lower_2;
    reg [1023:0] lower_3;
    lanes_o = lanes_i;
    // by 32 lanes
    lower = lanes_o << 512;
    for (g = 4; g < 8; g = g + 1) begin
      for (r = 0; r < 8; r = r + 1) begin
        moves = distances[g*BITS+5];
        for (a = 1; a < 5; a = a + 1) begin
          if ({1'b0, distances[(g+a)*BITS +: 5]} >= ((a[5:0] * 6'd8) - r[5:0])) begin
            moves = distances[(g+a)*BITS+5];
          end
        end
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = lower[g*128+r*16 +: 16];
        end
      end
    end
    // by 16 lanes
    lower_2 = lanes_o << 256;
    for (g = 2; g < 8; g = g + 1) begin
      for (r = 0; r < 8; r = r + 1) begin
        moves = distances[g*BITS+4];
        for (a = 1; a < 3; a = a + 1) begin
          if ({1'b0, distances[(g+a)*BITS +: 4]} >= ((a[4:0] * 5'd8) - r[4:0])) begin
            moves = distances[(g+a)*BITS+4];
          end
        end
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = lower_2[g*128+r*16 +: 16];
        end
      end
    end
    // by 8 lanes
    lower_3 = lanes_o << 128;
    for (g = 1; g < 8; g = g + 1) begin
      for (r = 0; r < 8; r = r + 1) begin
        moves = distances[g*BITS+3];
        if ({1'b0, distances[(g+1)*BITS +: 3]} >= (4'd8 - r[3:0])) begin
          moves = distances[(g+1)*BITS+3];
        end
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = lower_3[g*128+r*16 +: 16];
        end
      end
    end
  end

endmodule

`default_nettype wire
