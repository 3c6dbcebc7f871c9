// SPDX-License-Identifier: MIT OR Apache-2.0
// decompression_queue_synth_wrapper
//
// decompression_queue between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module decompression_queue_synth_wrapper (
  input  wire       clk_i,
  input  wire       rst_ni,
  input  wire       valid_i,
  input  wire [7:0] id_i,
  input  wire [3:0] latency_i,
  input  wire       ready_i,
  output reg        ready_o,
  output reg        valid_o,
  output reg  [7:0] id_o,
  output reg        accepted_o,
  output reg  [3:0] position_o,
  output reg  [7:0] hit_latency_o,
  output reg  [7:0] exact_latency_o
);

  reg valid_i_q;
  reg [7:0] id_i_q;
  reg [3:0] latency_i_q;
  reg ready_i_q;
  wire ready_o_d;
  wire valid_o_d;
  wire [7:0] id_o_d;
  wire accepted_o_d;
  wire [3:0] position_o_d;
  wire [7:0] hit_latency_o_d;
  wire [7:0] exact_latency_o_d;

  always @(posedge clk_i) begin
    valid_i_q <= valid_i;
    id_i_q <= id_i;
    latency_i_q <= latency_i;
    ready_i_q <= ready_i;
    ready_o <= ready_o_d;
    valid_o <= valid_o_d;
    id_o <= id_o_d;
    accepted_o <= accepted_o_d;
    position_o <= position_o_d;
    hit_latency_o <= hit_latency_o_d;
    exact_latency_o <= exact_latency_o_d;
  end

  decompression_queue dut (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .valid_i         (valid_i_q),
    .id_i            (id_i_q),
    .latency_i       (latency_i_q),
    .ready_i         (ready_i_q),
    .ready_o         (ready_o_d),
    .valid_o         (valid_o_d),
    .id_o            (id_o_d),
    .accepted_o      (accepted_o_d),
    .position_o      (position_o_d),
    .hit_latency_o   (hit_latency_o_d),
    .exact_latency_o (exact_latency_o_d)
  );

endmodule

`default_nettype wire
