// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of set_index_bmod with 32 sets, written by hand: the low bits of the line address.

`default_nettype none

module set_index_bmod (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        valid_i,
  input  wire [31:0] line_i,
  output reg         valid_o,
  output reg   [4:0] index_o
);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_o <= 0;
    else valid_o <= valid_i;

  always @(posedge clk_i)
    if (valid_i) index_o <= line_i[4:0];

endmodule

`default_nettype wire
