// SPDX-License-Identifier: MIT OR Apache-2.0
// latte_controller_schedule_sums
//
// Sums over the schedules that ended in an EP: their number, the warps available at their ends, and
// the cycles they executed.
//
// When the number reaches its limit, all sums are halved, which keeps their quotients. S schedulers
// have ALL_WARPS bits of warps and ALL_CYCLES bits of cycles.
//
// Parameters: S = 2, ALL_WARPS = 12, ALL_CYCLES = 16
// Part of: latte_controller
// Source: LATTE-CC, section III
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module latte_controller_schedule_sums (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // the sums restart with this cycle's schedules
  input  wire        restart_i,
  // schedules that ended, one bit per scheduler
  input  wire  [1:0] schedule_i,
  // warps available to each scheduler
  input  wire [11:0] warps_i,
  // cycles that each schedule executed
  input  wire [15:0] cycles_i,
  // schedules, before this cycle
  output wire  [9:0] schedules_o,
  // sum of the warps, before this cycle
  output wire [15:0] warps_o,
  // sum of the cycles, before this cycle
  output wire [17:0] cycles_o
);

  // number of schedules at which the sums are halved
  localparam [9:0] FULL = 10'h3fe;
  reg [9:0] next_schedules;
  reg [15:0] next_warps;
  reg [17:0] next_cycles;
  reg [9:0] schedules_q;
  reg [15:0] warps_q;
  reg [17:0] cycles_q;

  always @(*) begin : comb_next_schedules
    integer scheduler;
    reg [5:0] more_warps;
    reg [7:0] more_cycles;
    next_schedules = schedules_q;
    next_warps = warps_q;
    next_cycles = cycles_q;
    if (restart_i) begin
      next_schedules = 10'd0;
      next_warps = 16'd0;
      next_cycles = 18'd0;
    end else if (schedules_q >= FULL) begin
      next_schedules = schedules_q >> 1;
      next_warps = warps_q >> 1;
      next_cycles = cycles_q >> 1;
    end
    for (scheduler = 0; scheduler < 2; scheduler = scheduler + 1) begin
      more_warps = warps_i[scheduler*6 +: 6];
      more_cycles = cycles_i[scheduler*8 +: 8];
      if (schedule_i[scheduler]) begin
        next_schedules = next_schedules + 10'd1;
        next_warps = next_warps + {10'd0, more_warps};
        next_cycles = next_cycles + {10'd0, more_cycles};
      end
    end
  end

  assign schedules_o = schedules_q;
  assign warps_o = warps_q;
  assign cycles_o = cycles_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      schedules_q <= 10'd0;
      warps_q <= 16'd0;
      cycles_q <= 18'd0;
    end else begin
      schedules_q <= next_schedules;
      warps_q <= next_warps;
      cycles_q <= next_cycles;
    end
  end

endmodule

`default_nettype wire
