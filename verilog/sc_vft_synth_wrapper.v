// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_vft_synth_wrapper
//
// sc_vft between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_vft_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        train_valid_i,
  input  wire [31:0] train_value_i,
  input  wire        read_i,
  input  wire  [9:0] read_index_i,
  input  wire        clear_i,
  output reg         train_ready_o,
  output reg         read_valid_o,
  output reg  [31:0] read_value_o,
  output reg  [11:0] read_count_o,
  output reg  [13:0] lost_o,
  output reg         enough_o
);

  reg train_valid_i_q;
  reg [31:0] train_value_i_q;
  reg read_i_q;
  reg [9:0] read_index_i_q;
  reg clear_i_q;
  wire train_ready_o_d;
  wire read_valid_o_d;
  wire [31:0] read_value_o_d;
  wire [11:0] read_count_o_d;
  wire [13:0] lost_o_d;
  wire enough_o_d;

  always @(posedge clk_i) begin
    train_valid_i_q <= train_valid_i;
    train_value_i_q <= train_value_i;
    read_i_q <= read_i;
    read_index_i_q <= read_index_i;
    clear_i_q <= clear_i;
    train_ready_o <= train_ready_o_d;
    read_valid_o <= read_valid_o_d;
    read_value_o <= read_value_o_d;
    read_count_o <= read_count_o_d;
    lost_o <= lost_o_d;
    enough_o <= enough_o_d;
  end

  sc_vft dut (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .train_valid_i (train_valid_i_q),
    .train_value_i (train_value_i_q),
    .read_i        (read_i_q),
    .read_index_i  (read_index_i_q),
    .clear_i       (clear_i_q),
    .train_ready_o (train_ready_o_d),
    .read_valid_o  (read_valid_o_d),
    .read_value_o  (read_value_o_d),
    .read_count_o  (read_count_o_d),
    .lost_o        (lost_o_d),
    .enough_o      (enough_o_d)
  );

endmodule

`default_nettype wire
