// SPDX-License-Identifier: MIT OR Apache-2.0
// latte_controller_mean_divider
//
// Computes the two means of latency tolerance by long division, one bit of both quotients per
// cycle.
//
// Twelve steps give the mean of warps with 6 fractional bits and the mean of cycles with 4.
//
// Part of: latte_controller
// Source: LATTE-CC, section III
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module latte_controller_mean_divider (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // load the sums
  input  wire        start_i,
  // perform one step
  input  wire        step_i,
  // number of schedules; 0 makes both means zero
  input  wire  [9:0] schedules_i,
  // sum of available warps, less than 64 per schedule
  input  wire [15:0] warps_i,
  // sum of executed cycles, less than 256 per schedule
  input  wire [17:0] cycles_i,
  // mean of available warps, in 1/64
  output wire [11:0] mean_warps_o,
  // mean of executed cycles, in 1/16
  output wire [11:0] mean_cycles_o
);

  wire [15:0] warps_divisor;
  wire [17:0] cycles_divisor;
  wire any;
  wire warps_bit;
  wire cycles_bit;
  reg [9:0] schedules_q;
  // remainder of the sum of warps
  reg [15:0] warps_q;
  // remainder of the sum of cycles
  reg [17:0] cycles_q;
  reg [11:0] mean_warps_q;
  reg [11:0] mean_cycles_q;

  // restoring division: the remainder shifts left past a fixed divisor
  assign warps_divisor = {1'b0, schedules_q, 5'd0};
  assign cycles_divisor = {1'b0, schedules_q, 7'd0};
  assign any = |schedules_q;
  assign warps_bit = any & (warps_q >= warps_divisor);
  assign cycles_bit = any & (cycles_q >= cycles_divisor);

  assign mean_warps_o = mean_warps_q;
  assign mean_cycles_o = mean_cycles_q;

  always @(posedge clk_i) begin
    if (start_i) begin
      schedules_q <= schedules_i;
      warps_q <= warps_i;
      cycles_q <= cycles_i;
    end else if (step_i) begin
      // shift the bit in; an addition would keep unknown bits
      mean_warps_q <= {mean_warps_q[10:0], warps_bit};
      mean_cycles_q <= {mean_cycles_q[10:0], cycles_bit};
      if (warps_bit) begin
        warps_q <= (warps_q - warps_divisor) << 1;
      end else begin
        warps_q <= warps_q << 1;
      end
      if (cycles_bit) begin
        cycles_q <= (cycles_q - cycles_divisor) << 1;
      end else begin
        cycles_q <= cycles_q << 1;
      end
    end
  end

  // unused bits
  wire unused = &{1'b0, rst_ni};

endmodule

`default_nettype wire
