// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of set_index_a_prime with 32 sets, written by hand: the residue modulo 37, of which the low five
// bits are the index.

`default_nettype none

module set_index_a_prime (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        valid_i,
  input  wire [31:0] line_i,
  output reg         valid_o,
  output reg   [4:0] index_o
);

  // Modulo 37, 2^18 is -1, 2^16 is 9, 2^8 is -3 and 2^5 is -5. An inverted field of n bits is 2^n - 1 less the field.
  wire [13:0] top = ~line_i[31:18];
  wire [18:0] a = line_i[17:0] + top;
  wire [7:0] middle = ~a[15:8];
  wire [10:0] b = a[7:0] + {middle, 1'b0} + middle + {a[18:16], a[18:16]};

  // The line is b + 20. Each 2^8 of b is -3; each 2^5 of c is -5, and 2^8 is -3 again.
  reg [4:0] fold;
  always @*
    case (b[10:8])
      3'd0: fold = 20;
      3'd1: fold = 17;
      3'd2: fold = 14;
      3'd3: fold = 11;
      default: fold = 8;
    endcase
  wire [8:0] c = b[7:0] + fold;
  wire [5:0] high = 6'd37 - (c[8] ? 6'd3 : {c[7:5], 2'b00} + c[7:5]);
  wire [6:0] d = high + c[4:0];
  wire [6:0] residue = d < 37 ? d : d - 37;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_o <= 0;
    else valid_o <= valid_i;

  always @(posedge clk_i)
    if (valid_i) index_o <= residue[4:0];

endmodule

`default_nettype wire
