// SPDX-License-Identifier: MIT OR Apache-2.0
// bpg_most_hits
//
// The L with the most adjusted hits; among equals, the largest L. A tree of comparisons finds it.
//
// ADJUSTED is the width of adjusted hits.
//
// Parameters: ADJUSTED = 14
// Part of: bpg
// Source: Dai, section 2.6
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpg_most_hits (
  // adjusted hits for L = 1 to 8
  input  wire [111:0] adjusted_i,
  // the L with the most adjusted hits
  output wire   [3:0] l_o
);

  // L of that maximum
  reg [63:0] l;

  always @(*) begin : comb_l
    integer i;
    // maximum adjusted hits below each node of the tree; 1 is the root, the children of n are 2n
    // and 2n + 1
    reg [223:0] most;
    most[13:0] = 14'd0;
    l[3:0] = 4'd0;
    for (i = 0; i < 8; i = i + 1) begin
      most[(i+8)*14 +: 14] = adjusted_i[i*14 +: 14];
      l[(i+8)*4 +: 4] = i[3:0] + 4'd1;
    end
    for (i = 0; i < 7; i = i + 1) begin
      if (most[(15-i*2)*14 +: 14] >= most[(14-i*2)*14 +: 14]) begin
        most[(7-i)*14 +: 14] = most[(15-i*2)*14 +: 14];
        l[(7-i)*4 +: 4] = l[(15-i*2)*4 +: 4];
      end else begin
        most[(7-i)*14 +: 14] = most[(14-i*2)*14 +: 14];
        l[(7-i)*4 +: 4] = l[(14-i*2)*4 +: 4];
      end
    end
  end

  assign l_o = l[7:4];

endmodule

`default_nettype wire
