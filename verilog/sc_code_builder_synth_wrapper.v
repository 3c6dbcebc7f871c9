// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_synth_wrapper
//
// sc_code_builder between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_code_builder_synth_wrapper (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        start_i,
  input  wire [13:0] escape_weight_i,
  input  wire        read_valid_i,
  input  wire [31:0] read_value_i,
  input  wire [11:0] read_count_i,
  input  wire        code_ready_i,
  output reg         busy_o,
  output reg         read_o,
  output reg   [9:0] read_index_o,
  output reg         code_valid_o,
  output reg         code_first_o,
  output reg         code_last_o,
  output reg   [9:0] code_index_o,
  output reg         code_escape_o,
  output reg  [31:0] code_value_o,
  output reg  [15:0] code_code_o,
  output reg   [4:0] code_length_o
);

  reg start_i_q;
  reg [13:0] escape_weight_i_q;
  reg read_valid_i_q;
  reg [31:0] read_value_i_q;
  reg [11:0] read_count_i_q;
  reg code_ready_i_q;
  wire busy_o_d;
  wire read_o_d;
  wire [9:0] read_index_o_d;
  wire code_valid_o_d;
  wire code_first_o_d;
  wire code_last_o_d;
  wire [9:0] code_index_o_d;
  wire code_escape_o_d;
  wire [31:0] code_value_o_d;
  wire [15:0] code_code_o_d;
  wire [4:0] code_length_o_d;

  always @(posedge clk_i) begin
    start_i_q <= start_i;
    escape_weight_i_q <= escape_weight_i;
    read_valid_i_q <= read_valid_i;
    read_value_i_q <= read_value_i;
    read_count_i_q <= read_count_i;
    code_ready_i_q <= code_ready_i;
    busy_o <= busy_o_d;
    read_o <= read_o_d;
    read_index_o <= read_index_o_d;
    code_valid_o <= code_valid_o_d;
    code_first_o <= code_first_o_d;
    code_last_o <= code_last_o_d;
    code_index_o <= code_index_o_d;
    code_escape_o <= code_escape_o_d;
    code_value_o <= code_value_o_d;
    code_code_o <= code_code_o_d;
    code_length_o <= code_length_o_d;
  end

  sc_code_builder dut (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .start_i         (start_i_q),
    .escape_weight_i (escape_weight_i_q),
    .read_valid_i    (read_valid_i_q),
    .read_value_i    (read_value_i_q),
    .read_count_i    (read_count_i_q),
    .code_ready_i    (code_ready_i_q),
    .busy_o          (busy_o_d),
    .read_o          (read_o_d),
    .read_index_o    (read_index_o_d),
    .code_valid_o    (code_valid_o_d),
    .code_first_o    (code_first_o_d),
    .code_last_o     (code_last_o_d),
    .code_index_o    (code_index_o_d),
    .code_escape_o   (code_escape_o_d),
    .code_value_o    (code_value_o_d),
    .code_code_o     (code_code_o_d),
    .code_length_o   (code_length_o_d)
  );

endmodule

`default_nettype wire
