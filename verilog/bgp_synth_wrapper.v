// SPDX-License-Identifier: MIT OR Apache-2.0
// bgp_synth_wrapper
//
// bgp between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bgp_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        query_i,
  input  wire        evict_i,
  input  wire [31:0] address_i,
  input  wire  [3:0] used_i,
  output reg         valid_o,
  output reg         coarse_o,
  output reg         default_coarse_o,
  output reg         flip_o,
  output reg         active_o
);

  reg query_i_q;
  reg evict_i_q;
  reg [31:0] address_i_q;
  reg [3:0] used_i_q;
  wire valid_o_d;
  wire coarse_o_d;
  wire default_coarse_o_d;
  wire flip_o_d;
  wire active_o_d;

  always @(posedge clk_i) begin
    query_i_q <= query_i;
    evict_i_q <= evict_i;
    address_i_q <= address_i;
    used_i_q <= used_i;
    valid_o <= valid_o_d;
    coarse_o <= coarse_o_d;
    default_coarse_o <= default_coarse_o_d;
    flip_o <= flip_o_d;
    active_o <= active_o_d;
  end

  bgp dut (
    .clk_i            (clk_i),
    .rst_ni           (rst_ni),
    .query_i          (query_i_q),
    .evict_i          (evict_i_q),
    .address_i        (address_i_q),
    .used_i           (used_i_q),
    .valid_o          (valid_o_d),
    .coarse_o         (coarse_o_d),
    .default_coarse_o (default_coarse_o_d),
    .flip_o           (flip_o_d),
    .active_o         (active_o_d)
  );

endmodule

`default_nettype wire
