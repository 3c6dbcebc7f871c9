// SPDX-License-Identifier: MIT OR Apache-2.0
// spp_synth_wrapper
//
// spp between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module spp_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        query_i,
  input  wire [31:0] query_address_i,
  input  wire  [3:0] requested_i,
  input  wire        evict_i,
  input  wire [31:0] evict_address_i,
  input  wire  [3:0] used_i,
  output reg         valid_o,
  output reg   [3:0] sectors_o,
  output reg         known_o
);

  reg query_i_q;
  reg [31:0] query_address_i_q;
  reg [3:0] requested_i_q;
  reg evict_i_q;
  reg [31:0] evict_address_i_q;
  reg [3:0] used_i_q;
  wire valid_o_d;
  wire [3:0] sectors_o_d;
  wire known_o_d;

  always @(posedge clk_i) begin
    query_i_q <= query_i;
    query_address_i_q <= query_address_i;
    requested_i_q <= requested_i;
    evict_i_q <= evict_i;
    evict_address_i_q <= evict_address_i;
    used_i_q <= used_i;
    valid_o <= valid_o_d;
    sectors_o <= sectors_o_d;
    known_o <= known_o_d;
  end

  spp dut (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .query_i         (query_i_q),
    .query_address_i (query_address_i_q),
    .requested_i     (requested_i_q),
    .evict_i         (evict_i_q),
    .evict_address_i (evict_address_i_q),
    .used_i          (used_i_q),
    .valid_o         (valid_o_d),
    .sectors_o       (sectors_o_d),
    .known_o         (known_o_d)
  );

endmodule

`default_nettype wire
