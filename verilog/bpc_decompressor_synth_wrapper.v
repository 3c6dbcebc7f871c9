// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_decompressor_synth_wrapper
//
// bpc_decompressor between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_decompressor_synth_wrapper (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire          compressed_i,
  input  wire [1023:0] payload_i,
  output reg           ready_o,
  output reg           valid_o,
  output reg           error_o,
  output reg  [1023:0] line_o,
  input  wire          ready_i
);

  reg valid_i_q;
  reg compressed_i_q;
  reg [1023:0] payload_i_q;
  wire ready_o_d;
  wire valid_o_d;
  wire error_o_d;
  wire [1023:0] line_o_d;
  reg ready_i_q;

  always @(posedge clk_i) begin
    valid_i_q <= valid_i;
    compressed_i_q <= compressed_i;
    payload_i_q <= payload_i;
    ready_o <= ready_o_d;
    valid_o <= valid_o_d;
    error_o <= error_o_d;
    line_o <= line_o_d;
    ready_i_q <= ready_i;
  end

  bpc_decompressor dut (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .valid_i      (valid_i_q),
    .compressed_i (compressed_i_q),
    .payload_i    (payload_i_q),
    .ready_o      (ready_o_d),
    .valid_o      (valid_o_d),
    .error_o      (error_o_d),
    .line_o       (line_o_d),
    .ready_i      (ready_i_q)
  );

endmodule

`default_nettype wire
