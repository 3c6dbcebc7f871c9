// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_bmod_synth_wrapper
//
// set_index_bmod between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_bmod_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        valid_i,
  input  wire [31:0] line_i,
  output reg         valid_o,
  output reg   [4:0] index_o
);

  reg valid_i_q;
  reg [31:0] line_i_q;
  wire valid_o_d;
  wire [4:0] index_o_d;

  always @(posedge clk_i) begin
    valid_i_q <= valid_i;
    line_i_q <= line_i;
    valid_o <= valid_o_d;
    index_o <= index_o_d;
  end

  set_index_bmod dut (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i_q),
    .line_i  (line_i_q),
    .valid_o (valid_o_d),
    .index_o (index_o_d)
  );

endmodule

`default_nettype wire
