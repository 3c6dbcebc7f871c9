// Reference for the area of fpc_decompressor, written by hand. A line is 64 lanes of 16 bits. The data of a segment have 0, 1, 2,
// 4 or 8 lanes, and move up to the eight lanes of the segment: first by 32, 16 and 8 lanes, then by 4, 2 and 1. All segments
// move at once through one row of lanes, because a segment never passes the next one.

`default_nettype none

// Moves the data of each segment up by 2 to the power of B lanes if bit B of its distance is set. The data have yet to move by the
// lower bits of the distance, so that lane j may hold data of one of the segments above it.
module move #(
  parameter B = 0
) (
  input  wire [1023:0] lanes_i,
  input  wire   [47:0] distance_i,
  output wire [1023:0] lanes_o
);

  localparam STEP = 1 << B;
  wire [63:0] up;
  reg [1023:0] lanes;
  genvar j, k;
  generate
    for (j = 0; j < 64; j = j + 1) begin : lane
      wire [7:0] moves;
      assign moves[0] = 1'b0;
      for (k = 1; k < 8; k = k + 1) begin : segment
        if (8*k <= j)
          assign moves[k] = distance_i[6*k+B];
        else if (8*k < j + STEP)
          assign moves[k] = distance_i[6*k +: B] >= 8*k - j ? distance_i[6*k+B] : moves[k-1];
        else
          assign moves[k] = moves[k-1];
      end
      assign up[j] = moves[7];
    end
  endgenerate

  integer i;
  always @* begin
    lanes = lanes_i;
    for (i = STEP; i < 64; i = i + 1)
      if (up[i])
        lanes[16*i +: 16] = lanes_i[16*(i-STEP) +: 16];
  end
  assign lanes_o = lanes;

endmodule

module fpc_decompressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire          encoding_i,
  input  wire [1023:0] payload_i,
  output wire          ready_o,
  output wire          valid_o,
  output wire          error_o,
  output wire [1023:0] line_o,
  input  wire          ready_i
);

  // Five stages. A stage takes an item if it is empty or if its own item leaves.
  reg [4:0] full;
  wire [4:0] takes;
  assign takes[4] = ready_i | !full[4];
  assign takes[3] = takes[4] | !full[3];
  assign takes[2] = takes[3] | !full[2];
  assign takes[1] = takes[2] | !full[1];
  assign takes[0] = takes[1] | !full[0];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni)
      full <= 5'd0;
    else
      full <= (takes & {full[3:0], valid_i}) | (~takes & full);

  // Lanes that the data of a segment leave free.
  function [3:0] free(input [2:0] prefix);
    case (prefix)
      3'd0: free = 4'd8;
      3'd1: free = 4'd7;
      3'd2, 3'd6: free = 4'd6;
      3'd3, 3'd4, 3'd5: free = 4'd4;
      default: free = 4'd0;
    endcase
  endfunction

  // Stage 0: the payload as it comes.
  reg [1023:0] payload;
  reg encoding;
  always @(posedge clk_i)
    if (takes[0])
      {encoding, payload} <= {encoding_i, payload_i};

  // Stage 1: data and prefixes apart, and the distance of each segment. A line as it was consists of raw segments.
  wire [23:0] heads = payload[23:0] | {24{!encoding}};
  wire [5:0] free01 = free(heads[2:0]) + free(heads[5:3]);
  wire [5:0] free23 = free(heads[8:6]) + free(heads[11:9]);
  wire [5:0] free45 = free(heads[14:12]) + free(heads[17:15]);
  wire [5:0] free03 = free01 + free23;
  wire [5:0] free05 = free03 + free45;
  reg [1023:0] data;
  reg [23:0] prefixes1;
  reg [47:0] distance;
  always @(posedge clk_i)
    if (takes[1]) begin
      data <= encoding ? {24'd0, payload[1023:24]} : payload;
      prefixes1 <= heads;
      distance <= {free05 + {2'd0, free(heads[20:18])}, free05, free03 + {2'd0, free(heads[14:12])}, free03,
          free01 + {2'd0, free(heads[8:6])}, free01, {2'd0, free(heads[2:0])}, 6'd0};
    end

  // Stages 2 and 3: the moves.
  wire [1023:0] by32, by16, by8, by4, by2, by1;
  reg [1023:0] far, near;
  reg [23:0] prefixes2, prefixes3;
  reg [47:0] rest;
  move #(5) move32 (data, distance, by32);
  move #(4) move16 (by32, distance, by16);
  move #(3) move8 (by16, distance, by8);
  move #(2) move4 (far, rest, by4);
  move #(1) move2 (by4, rest, by2);
  move #(0) move1 (by2, rest, by1);
  always @(posedge clk_i) begin
    if (takes[2]) begin
      far <= by8;
      prefixes2 <= prefixes1;
      rest <= distance & {8{6'd7}};
    end
    if (takes[3]) begin
      near <= by1;
      prefixes3 <= prefixes2;
    end
  end

  // Stage 4: the words.
  function [31:0] word(input [2:0] prefix, input [3:0] four, input [7:0] eight, input [15:0] half, input [31:0] raw);
    case (prefix)
      3'd0: word = 32'd0;
      3'd1: word = {{28{four[3]}}, four};
      3'd2: word = {{24{eight[7]}}, eight};
      3'd3: word = {{16{half[15]}}, half};
      3'd4: word = {half, 16'd0};
      3'd5: word = {{8{half[15]}}, half[15:8], {8{half[7]}}, half[7:0]};
      3'd6: word = {4{eight}};
      default: word = raw;
    endcase
  endfunction

  reg [1023:0] line, line_q;
  integer g, w;
  always @*
    for (g = 0; g < 8; g = g + 1)
      for (w = 0; w < 4; w = w + 1)
        line[128*g+32*w +: 32] = word(prefixes3[3*g +: 3], near[128*g+4*w +: 4], near[128*g+8*w +: 8], near[128*g+16*w +: 16],
            near[128*g+32*w +: 32]);
  always @(posedge clk_i)
    if (takes[4] & full[3])
      line_q <= line;

  assign ready_o = takes[0];
  assign valid_o = full[4];
  assign error_o = 1'b0;
  assign line_o = line_q;

endmodule

`default_nettype wire
