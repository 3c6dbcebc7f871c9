// SPDX-License-Identifier: MIT OR Apache-2.0
// bpg_synth_wrapper
//
// bpg between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpg_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        access_i,
  input  wire [36:0] line_i,
  input  wire  [5:0] warp_i,
  input  wire        rsfail_i,
  output reg   [3:0] l_max_o,
  output reg   [7:0] bypass_o,
  output reg         update_o
);

  reg access_i_q;
  reg [36:0] line_i_q;
  reg [5:0] warp_i_q;
  reg rsfail_i_q;
  wire [3:0] l_max_o_d;
  wire [7:0] bypass_o_d;
  wire update_o_d;

  always @(posedge clk_i) begin
    access_i_q <= access_i;
    line_i_q <= line_i;
    warp_i_q <= warp_i;
    rsfail_i_q <= rsfail_i;
    l_max_o <= l_max_o_d;
    bypass_o <= bypass_o_d;
    update_o <= update_o_d;
  end

  bpg dut (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .access_i (access_i_q),
    .line_i   (line_i_q),
    .warp_i   (warp_i_q),
    .rsfail_i (rsfail_i_q),
    .l_max_o  (l_max_o_d),
    .bypass_o (bypass_o_d),
    .update_o (update_o_d)
  );

endmodule

`default_nettype wire
