// SPDX-License-Identifier: MIT OR Apache-2.0
// bpc_compressor_synth_wrapper
//
// bpc_compressor between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpc_compressor_synth_wrapper (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire [1023:0] line_i,
  output reg           ready_o,
  output reg           valid_o,
  output reg           compressed_o,
  output reg     [7:0] size_o,
  output reg  [1023:0] payload_o,
  input  wire          ready_i
);

  reg valid_i_q;
  reg [1023:0] line_i_q;
  wire ready_o_d;
  wire valid_o_d;
  wire compressed_o_d;
  wire [7:0] size_o_d;
  wire [1023:0] payload_o_d;
  reg ready_i_q;

  always @(posedge clk_i) begin
    valid_i_q <= valid_i;
    line_i_q <= line_i;
    ready_o <= ready_o_d;
    valid_o <= valid_o_d;
    compressed_o <= compressed_o_d;
    size_o <= size_o_d;
    payload_o <= payload_o_d;
    ready_i_q <= ready_i;
  end

  bpc_compressor dut (
    .clk_i        (clk_i),
    .rst_ni       (rst_ni),
    .valid_i      (valid_i_q),
    .line_i       (line_i_q),
    .ready_o      (ready_o_d),
    .valid_o      (valid_o_d),
    .compressed_o (compressed_o_d),
    .size_o       (size_o_d),
    .payload_o    (payload_o_d),
    .ready_i      (ready_i_q)
  );

endmodule

`default_nettype wire
