// SPDX-License-Identifier: MIT OR Apache-2.0
// aws_synth_wrapper
//
// aws between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module aws_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        write_i,
  input  wire  [8:0] write_address_i,
  input  wire [63:0] write_data_i,
  input  wire        fetch_i,
  input  wire  [4:0] sr_i,
  input  wire  [6:0] inst_i,
  output reg         valid_o,
  output reg  [63:0] instruction_o
);

  reg write_i_q;
  reg [8:0] write_address_i_q;
  reg [63:0] write_data_i_q;
  reg fetch_i_q;
  reg [4:0] sr_i_q;
  reg [6:0] inst_i_q;
  wire valid_o_d;
  wire [63:0] instruction_o_d;

  always @(posedge clk_i) begin
    write_i_q <= write_i;
    write_address_i_q <= write_address_i;
    write_data_i_q <= write_data_i;
    fetch_i_q <= fetch_i;
    sr_i_q <= sr_i;
    inst_i_q <= inst_i;
    valid_o <= valid_o_d;
    instruction_o <= instruction_o_d;
  end

  aws dut (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .write_i         (write_i_q),
    .write_address_i (write_address_i_q),
    .write_data_i    (write_data_i_q),
    .fetch_i         (fetch_i_q),
    .sr_i            (sr_i_q),
    .inst_i          (inst_i_q),
    .valid_o         (valid_o_d),
    .instruction_o   (instruction_o_d)
  );

endmodule

`default_nettype wire
