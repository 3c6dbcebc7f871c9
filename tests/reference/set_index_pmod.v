// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of set_index_pmod with 32 sets, written by hand: the residue modulo 31.

`default_nettype none

module set_index_pmod (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        valid_i,
  input  wire [31:0] line_i,
  output reg         valid_o,
  output reg   [4:0] index_o
);

  // 32 is 1 modulo 31, so a carry comes in again at the bottom.
  function [4:0] add(input [4:0] a, input [4:0] b);
    reg [5:0] sum;
    begin
      sum = a + b;
      add = sum[4:0] + sum[5];
    end
  endfunction

  wire [4:0] sum = add(add(add(line_i[4:0], line_i[9:5]), add(line_i[14:10], line_i[19:15])),
                       add(add(line_i[24:20], line_i[29:25]), {3'd0, line_i[31:30]}));

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_o <= 0;
    else valid_o <= valid_i;

  always @(posedge clk_i)
    if (valid_i) index_o <= &sum ? 5'd0 : sum;

endmodule

`default_nettype wire
