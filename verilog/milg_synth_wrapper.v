// SPDX-License-Identifier: MIT OR Apache-2.0
// milg_synth_wrapper
//
// milg between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module milg_synth_wrapper (
  input  wire       clk_i,
  input  wire       rst_ni,
  input  wire [1:0] issued_i,
  input  wire [1:0] completed_i,
  input  wire       request_i,
  input  wire       rsfail_i,
  output reg        may_issue_o,
  output reg  [6:0] inflight_o,
  output reg  [6:0] limit_o,
  output reg        update_o
);

  reg [1:0] issued_i_q;
  reg [1:0] completed_i_q;
  reg request_i_q;
  reg rsfail_i_q;
  wire may_issue_o_d;
  wire [6:0] inflight_o_d;
  wire [6:0] limit_o_d;
  wire update_o_d;

  always @(posedge clk_i) begin
    issued_i_q <= issued_i;
    completed_i_q <= completed_i;
    request_i_q <= request_i;
    rsfail_i_q <= rsfail_i;
    may_issue_o <= may_issue_o_d;
    inflight_o <= inflight_o_d;
    limit_o <= limit_o_d;
    update_o <= update_o_d;
  end

  milg dut (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .issued_i    (issued_i_q),
    .completed_i (completed_i_q),
    .request_i   (request_i_q),
    .rsfail_i    (rsfail_i_q),
    .may_issue_o (may_issue_o_d),
    .inflight_o  (inflight_o_d),
    .limit_o     (limit_o_d),
    .update_o    (update_o_d)
  );

endmodule

`default_nettype wire
