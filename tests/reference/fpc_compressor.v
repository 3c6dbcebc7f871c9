// Reference for the area of fpc_compressor, written by hand. A line is 64 lanes of 16 bits. The data of a segment have 0, 1, 2, 4
// or 8 lanes, and move down behind those of the segment before: first by 1, 2 and 4 lanes, then by 8, 16 and 32. All segments
// move at once through one row of lanes, because a segment never passes the one before it.

`default_nettype none

// Moves the data of each segment down by 2 to the power of B lanes if bit B of its distance is set. The data have moved by the
// lower bits of the distance, so that lane j may hold data of one of the segments above it.
module move_down #(
  parameter B = 0
) (
  input  wire [1023:0] lanes_i,
  input  wire   [47:0] distance_i,
  output wire [1023:0] lanes_o
);

  localparam STEP = 1 << B;
  wire [63:0] down;
  wire [1023:0] upper = lanes_i >> 16*STEP;
  reg [1023:0] lanes;
  genvar j, k;
  generate
    for (j = 0; j < 64; j = j + 1) begin : lane
      wire [7:0] moves;
      assign moves[0] = 1'b0;
      for (k = 1; k < 8; k = k + 1) begin : segment
        if (8*k <= j)
          assign moves[k] = distance_i[6*k+B];
        else if (8*k < j + STEP & B == 5)
          // The last bit is never set for one segment and clear for the next.
          assign moves[k] = (distance_i[6*k +: B] >= 8*k - j & distance_i[6*k+B]) | moves[k-1];
        else if (8*k < j + STEP)
          assign moves[k] = distance_i[6*k +: B] >= 8*k - j ? distance_i[6*k+B] : moves[k-1];
        else
          assign moves[k] = moves[k-1];
      end
      assign down[j] = moves[7];
    end
  endgenerate

  integer i;
  always @* begin
    lanes = lanes_i;
    for (i = 0; i < 64; i = i + 1)
      if (i + STEP < 64 ? down[(i+STEP)&63] : distance_i[42+B])
        lanes[16*i +: 16] = upper[16*i +: 16];
  end
  assign lanes_o = lanes;

endmodule

module fpc_compressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire [1023:0] line_i,
  output wire          ready_o,
  output wire          valid_o,
  output wire          encoding_o,
  output wire   [10:0] size_o,
  output wire [1023:0] payload_o,
  input  wire          ready_i
);

  // Two stages. A stage takes an item if it is empty or if its own item leaves.
  reg [1:0] full;
  wire [1:0] takes;
  assign takes[1] = ready_i | !full[1];
  assign takes[0] = takes[1] | !full[0];
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)
      full <= 2'd0;
    else
      full <= (takes & {full[0], valid_i}) | (~takes & full);

  // What holds for a word: bits 31 to 23, 23 to 15, 15 to 7 and 7 to 3 are equal, bits 3 to 0 are zero, all bytes are equal.
  function [5:0] traits(input [31:0] w);
    traits = {
      w[31:8] == w[23:0],
      ~|w[3:0],
      &w[7:3] | ~|w[7:3],
      &w[15:7] | ~|w[15:7],
      &w[23:15] | ~|w[23:15],
      &w[31:23] | ~|w[31:23]
    };
  endfunction

  function [2:0] pattern(input [5:0] t);
    casez (t)
      6'b?11111: pattern = 3'd0;
      6'b??1111: pattern = 3'd1;
      6'b???111: pattern = 3'd2;
      6'b1?????: pattern = 3'd6;
      6'b????11: pattern = 3'd3;
      6'b?111??: pattern = 3'd4;
      6'b???1?1: pattern = 3'd5;
      default: pattern = 3'd7;
    endcase
  endfunction

  // Stage 0: the prefix of each segment, and the data of its words without gaps.
  reg [23:0] prefixes;
  reg [1023:0] data;
  reg [127:0] s;
  reg [2:0] prefix;
  reg [63:0] halves;
  integer g, w;
  always @* begin
    data = 1024'd0;
    for (g = 0; g < 8; g = g + 1) begin
      s = line_i[128*g +: 128];
      prefix = pattern(traits(s[31:0]) & traits(s[63:32]) & traits(s[95:64]) & traits(s[127:96]));
      prefixes[3*g +: 3] = prefix;
      for (w = 0; w < 4; w = w + 1)
        halves[16*w +: 16] = (s[32*w +: 16] & {16{prefix == 3'd3}}) | (s[32*w+16 +: 16] & {16{prefix == 3'd4}})
            | ({s[32*w+16 +: 8], s[32*w +: 8]} & {16{prefix == 3'd5}});
      data[128*g +: 64] = halves
          | (s[63:0] & {64{prefix == 3'd7}})
          | ({s[103:96], s[71:64], s[39:32], s[7:0]} & {64{prefix == 3'd2 | prefix == 3'd6}})
          | ({s[99:96], s[67:64], s[35:32], s[3:0]} & {64{prefix == 3'd1}});
      data[128*g+64 +: 64] = s[127:64] & {64{prefix == 3'd7}};
    end
  end

  // Lanes that the data of a segment leave free.
  function [3:0] free(input [2:0] p);
    case (p)
      3'd0: free = 4'd8;
      3'd1: free = 4'd7;
      3'd2, 3'd6: free = 4'd6;
      3'd3, 3'd4, 3'd5: free = 4'd4;
      default: free = 4'd0;
    endcase
  endfunction

  reg [23:0] heads;
  reg [1023:0] lanes;
  reg [4:0] free01, free23, free45;
  always @(posedge clk_i)
    if (takes[0]) begin
      heads <= prefixes;
      lanes <= data;
      free01 <= free(prefixes[2:0]) + free(prefixes[5:3]);
      free23 <= free(prefixes[8:6]) + free(prefixes[11:9]);
      free45 <= free(prefixes[14:12]) + free(prefixes[17:15]);
    end

  // Stage 1: the moves, and the head before the data.
  wire [5:0] free03 = free01 + free23;
  wire [5:0] free05 = free03 + free45;
  wire [5:0] free06 = free05 + {2'd0, free(heads[20:18])};
  wire [6:0] free07 = {1'b0, free06} + {3'd0, free(heads[23:21])};
  wire [47:0] distance = {free06, free05, free03 + {2'd0, free(heads[14:12])}, free03,
      {1'b0, free01} + {2'd0, free(heads[8:6])}, 1'b0, free01, 2'd0, free(heads[2:0]), 6'd0};
  wire [1023:0] by1, by2, by4, by8, by16, by32;
  move_down #(0) move1 (lanes, distance, by1);
  move_down #(1) move2 (by1, distance, by2);
  move_down #(2) move4 (by2, distance, by4);
  move_down #(3) move8 (by4, distance, by8);
  move_down #(4) move16 (by8, distance, by16);
  move_down #(5) move32 (by16, distance, by32);
  wire is_short = !(&heads);

  reg encoding;
  reg [10:0] size;
  reg [1023:0] payload;
  always @(posedge clk_i)
    if (takes[1] & full[0]) begin
      encoding <= is_short;
      size <= is_short ? {7'd64 - free07, 4'd0} + 11'd24 : 11'd1024;
      payload <= is_short ? {by32[999:0], heads} : by32;
    end

  assign ready_o = takes[0];
  assign valid_o = full[1];
  assign encoding_o = encoding;
  assign size_o = size;
  assign payload_o = payload;

endmodule

`default_nettype wire
