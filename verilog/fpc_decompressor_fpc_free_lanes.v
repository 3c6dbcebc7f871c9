// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_free_lanes
//
// Counts the lanes of 16 bits that the data of the segments leave free, up to each segment.
//
// The data of a segment move by the lanes that all segments before it leave free. The count of all
// lanes wraps to 0.
//
// Parameters: BITS = 6
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_free_lanes (
  // a prefix for each segment
  input  wire [23:0] prefixes_i,
  // for each segment, the free lanes up to its end, BITS bits each
  output reg  [47:0] counts_o
);

  localparam BITS = 6;
  localparam [2:0] ZEROS = 3'd0;
  localparam [2:0] SIGN4 = 3'd1;
  localparam [2:0] SIGN8 = 3'd2;
  localparam [2:0] REPEATED = 3'd6;
  localparam [2:0] RAW = 3'd7;
  // lanes that each segment leaves free
  reg [47:0] lanes;

  always @(*) begin : comb_lanes
    integer g;
    reg [2:0] prefix;
    reg [5:0] free;
    for (g = 0; g < 8; g = g + 1) begin
      prefix = prefixes_i[g*3 +: 3];
      free = 6'd4;
      case (prefix)
        ZEROS: begin
          free = 6'd8;
        end
        SIGN4: begin
          free = 6'd7;
        end
        SIGN8, REPEATED: begin
          free = 6'd6;
        end
        RAW: begin
          free = 6'd0;
        end
        default: ;
      endcase
      lanes[g*BITS +: 6] = free;
    end
  end

  always @(*) begin : comb_counts_o
    integer p;
    reg [5:0] left;
    reg [5:0] right;
    // free lanes of all pairs of segments so far
    reg [5:0] sum;
    sum = 6'd0;
    counts_o = 48'd0;
    // add within all pairs in parallel, then accumulate from pair to pair
    for (p = 0; p < 4; p = p + 1) begin
      left = lanes[p*2*BITS +: 6];
      right = lanes[p*2*BITS+BITS +: 6];
      counts_o[p*2*BITS +: 6] = sum + left;
      sum = sum + (left + right);
      counts_o[p*2*BITS+BITS +: 6] = sum;
    end
  end

endmodule

`default_nettype wire
