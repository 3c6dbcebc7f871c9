// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_compressor_fpc_close
//
// Moves the data of each segment down by its distance, so that no lanes between the segments are
// free.
//
// A segment never passes the one before it, so all move through one row of lanes. Before a move, a
// lane belongs to the last segment that has come down to it by the shorter moves. Lines of fewer
// than G16 or G32 segments need no move by 16 or 32 lanes.
//
// Parameters: G16 = 8, G32 = 8, BITS = 6
// Part of: fpc_compressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_compressor_fpc_close (
  // the data of each segment from its first lane on
  input  wire [1023:0] lanes_i,
  // distance of each segment except the first
  input  wire   [41:0] distances_i,
  // the data of all segments from bit 0 up
  output reg  [1023:0] lanes_o
);

  localparam BITS = 6;
  // distances of all segments; behind the last one, its distance repeats
  reg [95:0] distances;
  wire [5:0] last;

  assign last = distances_i[41:36];

  always @(*) begin : comb_distances
    integer g;
    distances = 96'd0;
    distances[47:6] = distances_i;
    for (g = 8; g < 16; g = g + 1) begin
      distances[g*BITS +: 6] = last;
    end
  end

  always @(*) begin : comb_lanes_o
    integer a;
    integer g;
    integer r;
    reg [1023:0] upper;
    reg moves;
    reg [1023:0] upper_2;
    reg [1023:0] upper_3;
    reg [1023:0] upper_4;
    reg [1023:0] upper_5;
    reg [1023:0] upper_6;
    lanes_o = lanes_i;
    // by 1 lane: to the last lane of a segment, the first one of the next segment
    upper = lanes_o >> 16;
    for (g = 0; g < 8; g = g + 1) begin
      moves = distances[g*BITS];
      for (r = 0; r < 7; r = r + 1) begin
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = upper[g*128+r*16 +: 16];
        end
      end
      if (distances[(g+1)*BITS]) begin
        lanes_o[g*128+112 +: 16] = upper[g*128+112 +: 16];
      end
    end
    // by 2 lanes
    upper_2 = lanes_o >> 32;
    for (g = 0; g < 8; g = g + 1) begin
      moves = distances[g*BITS+1];
      for (r = 0; r < 5; r = r + 1) begin
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = upper_2[g*128+r*16 +: 16];
        end
      end
      if (distances[(g+1)*BITS]) begin
        moves = distances[(g+1)*BITS+1];
      end
      if (moves) begin
        lanes_o[g*128+80 +: 16] = upper_2[g*128+80 +: 16];
      end
      if (distances[(g+1)*BITS+1]) begin
        lanes_o[g*128+96 +: 32] = upper_2[g*128+96 +: 32];
      end
    end
    // by 4 lanes
    upper_3 = lanes_o >> 64;
    for (g = 0; g < 8; g = g + 1) begin
      for (r = 0; r < 4; r = r + 1) begin
        moves = distances[g*BITS+2];
        if ({1'b0, distances[(g+1)*BITS +: 2]} >= (3'd4 - r[2:0])) begin
          moves = distances[(g+1)*BITS+2];
        end
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = upper_3[g*128+r*16 +: 16];
        end
      end
      if (distances[(g+1)*BITS+2]) begin
        lanes_o[g*128+64 +: 64] = upper_3[g*128+64 +: 64];
      end
    end
    // by 8 lanes
    upper_4 = lanes_o >> 128;
    for (g = 0; g < 8; g = g + 1) begin
      for (r = 0; r < 8; r = r + 1) begin
        moves = distances[(g+1)*BITS+3];
        if ({1'b0, distances[(g+2)*BITS +: 3]} >= (4'd8 - r[3:0])) begin
          moves = distances[(g+2)*BITS+3];
        end
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = upper_4[g*128+r*16 +: 16];
        end
      end
    end
    // by 16 lanes
    upper_5 = lanes_o >> 256;
    for (g = 0; g < 8; g = g + 1) begin
      for (r = 0; r < 8; r = r + 1) begin
        moves = distances[(g+2)*BITS+4];
        for (a = 1; a < 3; a = a + 1) begin
          if ({1'b0, distances[(g+2+a)*BITS +: 4]} >= ((a[4:0] * 5'd8) - r[4:0])) begin
            moves = distances[(g+2+a)*BITS+4];
          end
        end
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = upper_5[g*128+r*16 +: 16];
        end
      end
    end
    // by 32 lanes
    upper_6 = lanes_o >> 512;
    for (g = 0; g < 8; g = g + 1) begin
      for (r = 0; r < 8; r = r + 1) begin
        moves = distances[(g+4)*BITS+5];
        for (a = 1; a < 5; a = a + 1) begin
          if ({1'b0, distances[(g+4+a)*BITS +: 5]} >= ((a[5:0] * 6'd8) - r[5:0])) begin
            moves = distances[(g+4+a)*BITS+5];
          end
        end
        if (moves) begin
          lanes_o[g*128+r*16 +: 16] = upper_6[g*128+r*16 +: 16];
        end
      end
    end
  end

endmodule

`default_nettype wire
