// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of aws with 512 instructions of 64 bits, written by hand.

`default_nettype none

module aws (
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

  // A subroutine begins at a multiple of 16.
  reg [63:0] store [0:511];
  wire [8:0] address = {sr_i, 4'd0} + inst_i;

  always @(posedge clk_i) begin
    instruction_o <= store[address];
    if (write_i) store[write_address_i] <= write_data_i;
  end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_o <= 0;
    else valid_o <= fetch_i;

endmodule

`default_nettype wire
