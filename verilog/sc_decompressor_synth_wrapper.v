// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor_synth_wrapper
//
// sc_decompressor between registers on all its data ports, for synthesis.
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_decompressor_synth_wrapper (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire          compressed_i,
  input  wire   [10:0] bits_i,
  input  wire [1023:0] payload_i,
  input  wire          ready_i,
  input  wire          load_valid_i,
  input  wire          load_first_i,
  input  wire          load_last_i,
  input  wire          load_escape_i,
  input  wire   [31:0] load_value_i,
  input  wire   [15:0] load_code_i,
  input  wire    [4:0] load_length_i,
  output reg           ready_o,
  output reg           valid_o,
  output reg           error_o,
  output reg  [1023:0] line_o,
  output reg           load_ready_o
);

  reg valid_i_q;
  reg compressed_i_q;
  reg [10:0] bits_i_q;
  reg [1023:0] payload_i_q;
  reg ready_i_q;
  reg load_valid_i_q;
  reg load_first_i_q;
  reg load_last_i_q;
  reg load_escape_i_q;
  reg [31:0] load_value_i_q;
  reg [15:0] load_code_i_q;
  reg [4:0] load_length_i_q;
  wire ready_o_d;
  wire valid_o_d;
  wire error_o_d;
  wire [1023:0] line_o_d;
  wire load_ready_o_d;

  always @(posedge clk_i) begin
    valid_i_q <= valid_i;
    compressed_i_q <= compressed_i;
    bits_i_q <= bits_i;
    payload_i_q <= payload_i;
    ready_i_q <= ready_i;
    load_valid_i_q <= load_valid_i;
    load_first_i_q <= load_first_i;
    load_last_i_q <= load_last_i;
    load_escape_i_q <= load_escape_i;
    load_value_i_q <= load_value_i;
    load_code_i_q <= load_code_i;
    load_length_i_q <= load_length_i;
    ready_o <= ready_o_d;
    valid_o <= valid_o_d;
    error_o <= error_o_d;
    line_o <= line_o_d;
    load_ready_o <= load_ready_o_d;
  end

  sc_decompressor dut (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .valid_i       (valid_i_q),
    .compressed_i  (compressed_i_q),
    .bits_i        (bits_i_q),
    .payload_i     (payload_i_q),
    .ready_i       (ready_i_q),
    .load_valid_i  (load_valid_i_q),
    .load_first_i  (load_first_i_q),
    .load_last_i   (load_last_i_q),
    .load_escape_i (load_escape_i_q),
    .load_value_i  (load_value_i_q),
    .load_code_i   (load_code_i_q),
    .load_length_i (load_length_i_q),
    .ready_o       (ready_o_d),
    .valid_o       (valid_o_d),
    .error_o       (error_o_d),
    .line_o        (line_o_d),
    .load_ready_o  (load_ready_o_d)
  );

endmodule

`default_nettype wire
