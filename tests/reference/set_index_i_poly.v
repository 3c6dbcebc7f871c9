// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of set_index_i_poly with 32 sets, written by hand: the residue modulo x^5 + x^2 + 1.

`default_nettype none

module set_index_i_poly (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        valid_i,
  input  wire [31:0] line_i,
  output reg         valid_o,
  output reg   [4:0] index_o
);

  // Fold the upper 16 bits into the lower ones, then those from 8 on, then those from 5 on: x^16 = x^4 + x^3 + x + 1 and
  // x^8 = x^3 + x^2 + 1.
  wire [15:0] up = line_i[31:16];
  wire [19:0] a = line_i[15:0] ^ up ^ {up, 1'd0} ^ {up, 3'd0} ^ {up, 4'd0};
  wire [11:0] upper = a[19:8];
  wire [14:0] b = a[7:0] ^ upper ^ {upper, 2'd0} ^ {upper, 3'd0};
  wire [6:0] last = b[14:8];
  wire [9:0] c = b[7:0] ^ last ^ {last, 2'd0} ^ {last, 3'd0};
  wire [4:0] high = c[9:5];
  wire [6:0] d = c[4:0] ^ high ^ {high, 2'd0};

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_o <= 0;
    else valid_o <= valid_i;

  always @(posedge clk_i)
    if (valid_i) index_o <= d[4:0] ^ {d[6:5], 2'd0} ^ d[6:5];

endmodule

`default_nettype wire
