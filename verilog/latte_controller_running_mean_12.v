// SPDX-License-Identifier: MIT OR Apache-2.0
// latte_controller_running_mean_12
//
// Computes a running mean in which each new value has a weight of 1/16.
//
// VALUE is the width of a value. The mean has 8 fractional bits (MEAN bits in all). The output has
// 4 of them (SHOWN bits).
//
// Parameters: VALUE = 12, MEAN = 20, SHOWN = 16
// Part of: latte_controller
// Source: LATTE-CC, section III
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module latte_controller_running_mean_12 (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: the mean is its initial value
  input  wire        rst_ni,
  // a new value arrives
  input  wire        sample_i,
  // the new value
  input  wire [11:0] value_i,
  // mean of the earlier values, in sixteenths
  output wire [15:0] mean_o
);

  reg [19:0] mean_q;

  assign mean_o = mean_q[19:4];

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mean_q <= 20'h7800;
    end else if (sample_i) begin
      // exponential mean with weight 1/16
      mean_q <= (mean_q - (mean_q >> 4)) + {4'd0, value_i, 4'd0};
    end
  end

endmodule

`default_nettype wire
