// SPDX-License-Identifier: MIT OR Apache-2.0
// qbmi_synth_wrapper
//
// qbmi between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module qbmi_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        issue_i,
  input  wire        issue_kernel_i,
  input  wire        request_i,
  input  wire        request_kernel_i,
  output reg   [1:0] rank_o,
  output reg  [13:0] quotas_o,
  output reg         replenish_o,
  output reg         update_o
);

  reg issue_i_q;
  reg issue_kernel_i_q;
  reg request_i_q;
  reg request_kernel_i_q;
  wire [1:0] rank_o_d;
  wire [13:0] quotas_o_d;
  wire replenish_o_d;
  wire update_o_d;

  always @(posedge clk_i) begin
    issue_i_q <= issue_i;
    issue_kernel_i_q <= issue_kernel_i;
    request_i_q <= request_i;
    request_kernel_i_q <= request_kernel_i;
    rank_o <= rank_o_d;
    quotas_o <= quotas_o_d;
    replenish_o <= replenish_o_d;
    update_o <= update_o_d;
  end

  qbmi dut (
    .clk_i            (clk_i),
    .rst_ni           (rst_ni),
    .issue_i          (issue_i_q),
    .issue_kernel_i   (issue_kernel_i_q),
    .request_i        (request_i_q),
    .request_kernel_i (request_kernel_i_q),
    .rank_o           (rank_o_d),
    .quotas_o         (quotas_o_d),
    .replenish_o      (replenish_o_d),
    .update_o         (update_o_d)
  );

endmodule

`default_nettype wire
