// SPDX-License-Identifier: MIT OR Apache-2.0
// set_index_i_poly_polynomial_residue
//
// The residue of a line address modulo a polynomial over the field of two elements. Each set bit
// adds, without carry, the residue of its power of x.
//
// Part of: set_index_i_poly
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module set_index_i_poly_polynomial_residue (
  // the line address
  input  wire [31:0] line_i,
  // residue of the address
  output reg   [4:0] residue_o
);

  // x^i modulo the polynomial
  localparam [159:0] POWER = {5'd1, 5'd18, 5'd9, 5'd22, 5'd11, 5'd23, 5'd25, 5'd30, 5'd15, 5'd21,
      5'd24, 5'd12, 5'd6, 5'd3, 5'd19, 5'd27, 5'd31, 5'd29, 5'd28, 5'd14, 5'd7, 5'd17, 5'd26, 5'd13,
      5'd20, 5'd10, 5'd5, 5'd16, 5'd8, 5'd4, 5'd2, 5'd1};

  always @(*) begin : comb_residue_o
    integer i;
    residue_o = 5'd0;
    for (i = 0; i < 32; i = i + 1) begin
      if (line_i[i]) begin
        residue_o = residue_o ^ POWER[i*5 +: 5];
      end
    end
  end

endmodule

`default_nettype wire
