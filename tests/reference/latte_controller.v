// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of latte_controller with 32 sets, two schedulers and policy 0, written by hand from LATTE-CC's
// section III and the description of the block. Every product and quotient takes a bit per cycle.

`default_nettype none

// A running mean with weight 1/16, in 1/256.
module latte_mean #(parameter BITS = 8, parameter [BITS-1:0] FIRST = 0) (
  input  wire            clk_i,
  input  wire            rst_ni,
  input  wire            sample_i,
  input  wire [BITS-1:0] value_i,
  output wire [BITS+3:0] sixteenths_o
);

  reg [BITS+7:0] mean;
  assign sixteenths_o = mean[BITS+7:4];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) mean <= {FIRST, 8'd0};
    else if (sample_i) mean <= mean - sixteenths_o + {value_i, 4'd0};

endmodule

module latte_controller (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        access_i,
  input  wire  [4:0] set_i,
  input  wire        hit_i,
  input  wire        insert_i,
  input  wire  [1:0] schedule_i,
  input  wire [11:0] warps_i,
  input  wire [15:0] cycles_i,
  input  wire        low_hit_i,
  input  wire  [7:0] low_latency_i,
  input  wire        high_hit_i,
  input  wire  [7:0] high_latency_i,
  input  wire        miss_return_i,
  input  wire [11:0] miss_latency_i,
  input  wire  [4:0] lookup_set_i,
  output reg   [1:0] lookup_mode_o,
  output reg         lookup_dedicated_o,
  output reg   [1:0] mode_o,
  output reg         decided_o,
  output reg  [13:0] tolerance_o,
  output wire        learning_o,
  output reg         ep_end_o,
  output wire        build_o,
  output reg         new_codes_o
);

  // Three of the eight sets of a quarter are dedicated: the value is the mode, or more.
  function [2:0] place(input [4:0] set);
    place = 3 * set[2:0] - set[4:3];
  endfunction

  // ---------------------------------------------------------------- EPs of 256 accesses, periods of ten EPs
  reg [7:0] accesses;
  reg [3:0] ep;
  reg first_period;
  wire ep_ends = access_i && &accesses;
  assign learning_o = ep == 0;
  assign build_o = ep == 9 || (learning_o && first_period);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      {accesses, ep, ep_end_o, new_codes_o} <= 0;
      first_period <= 1;
    end else begin
      accesses <= accesses + access_i;
      ep_end_o <= ep_ends;
      new_codes_o <= ep_ends && build_o;
      if (ep_ends) ep <= ep == 9 ? 4'd0 : ep + 4'd1;
      if (ep_ends && ep == 9) first_period <= 0;
    end

  // ---------------------------------------------------------------- the mode of a set
  wire [2:0] looked_up = place(lookup_set_i);
  wire is_dedicated = learning_o && looked_up < 3;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {lookup_mode_o, lookup_dedicated_o} <= 0;
    else begin
      lookup_mode_o <= is_dedicated ? looked_up[1:0] : mode_o;
      lookup_dedicated_o <= is_dedicated;
    end

  // ---------------------------------------------------------------- hits and insertions in dedicated sets
  reg [9:0] hits [0:2];
  reg [8:0] misses [0:2];
  wire [2:0] accessed = place(set_i);
  wire restart = learning_o && ep_end_o;
  genvar m;
  generate
    for (m = 0; m < 3; m = m + 1) begin : counters
      wire counts = access_i && accessed == m;
      always @(posedge clk_i or negedge rst_ni)
        if (!rst_ni) begin
          hits[m] <= 0;
          misses[m] <= 0;
        end else begin
          hits[m] <= (restart ? 10'd0 : hits[m]) + (counts && hit_i && ep < 2);
          misses[m] <= (restart ? 9'd0 : misses[m]) + (counts && !hit_i && insert_i && learning_o);
        end
    end
  endgenerate

  // ---------------------------------------------------------------- schedules, and means of latencies
  reg [9:0] schedules;
  reg [15:0] warps;
  reg [17:0] cycles;
  wire half = schedules >= 1022;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {schedules, warps, cycles} <= 0;
    else begin
      schedules <= (ep_end_o ? 10'd0 : half ? schedules >> 1 : schedules) + schedule_i[0] + schedule_i[1];
      warps <= (ep_end_o ? 16'd0 : half ? warps >> 1 : warps) +
               (({6{schedule_i[0]}} & warps_i[5:0]) + {1'b0, {6{schedule_i[1]}} & warps_i[11:6]});
      cycles <= (ep_end_o ? 18'd0 : half ? cycles >> 1 : cycles) +
                (({8{schedule_i[0]}} & cycles_i[7:0]) + {1'b0, {8{schedule_i[1]}} & cycles_i[15:8]});
    end

  wire [11:0] low_mean, high_mean;
  wire [15:0] miss_mean;
  latte_mean #(.FIRST (8'd2)) low (clk_i, rst_ni, low_hit_i, low_latency_i, low_mean);
  latte_mean #(.FIRST (8'd14)) high (clk_i, rst_ni, high_hit_i, high_latency_i, high_mean);
  latte_mean #(.BITS (12), .FIRST (12'd120)) miss (clk_i, rst_ni, miss_return_i, miss_latency_i, miss_mean);

  // ---------------------------------------------------------------- the decision: phases from the highest bit to bit 0
  localparam [2:0] IDLE = 0, DIVIDE = 1, MULTIPLY = 2, SUM = 3, AGAINST_NONE = 4, AGAINST_BEST = 5;
  reg [2:0] phase;
  reg [3:0] step;
  wire last = step == 0;
  wire compares = phase[2];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {phase, step} <= 0;
    else if (ep_end_o) begin
      phase <= DIVIDE;
      step <= 11;
    end else if (phase != IDLE) begin
      step <= !last ? step - 4'd1 : phase == DIVIDE ? 4'd11 : 4'd9;
      if (last) phase <= phase == AGAINST_BEST ? IDLE : phase + 3'd1;
    end

  // The evidence at the end of the EP. What is left of a sum moves up to its divisor.
  reg [9:0] divisor;
  reg [15:0] warps_left;
  reg [17:0] cycles_left;
  reg [11:0] mean_warps, mean_cycles;
  reg [29:0] hit;
  reg [26:0] missed;
  reg [11:0] low_cost, high_cost;
  reg [15:0] miss_cost;
  wire any = divisor != 0;
  wire warps_bit = any && warps_left >= {divisor, 5'd0};
  wire cycles_bit = any && cycles_left >= {divisor, 7'd0};

  always @(posedge clk_i)
    if (ep_end_o) begin
      divisor <= schedules;
      warps_left <= warps;
      cycles_left <= cycles;
      hit <= {hits[2], hits[1], hits[0]};
      missed <= {misses[2], misses[1], misses[0]};
      low_cost <= low_mean;
      high_cost <= high_mean;
      miss_cost <= miss_mean;
    end else if (phase == DIVIDE) begin
      mean_warps <= {mean_warps[10:0], warps_bit};
      mean_cycles <= {mean_cycles[10:0], cycles_bit};
      warps_left <= (warps_bit ? warps_left - {divisor, 5'd0} : warps_left) << 1;
      cycles_left <= (cycles_bit ? cycles_left - {divisor, 7'd0} : cycles_left) << 1;
    end

  // The tolerance in 1/1024, then the cost of the accesses of each mode.
  reg [23:0] tolerance;
  reg [24:0] cost [0:2];
  wire [17:0] hidden = tolerance[23:6];
  wire [15:0] bit_of_warps = mean_warps;
  wire [35:0] per_hit = {high_cost > hidden ? high_cost - hidden[11:0] : 12'd0,
                         low_cost > hidden ? low_cost - hidden[11:0] : 12'd0, 12'd0};

  always @(posedge clk_i)
    if (ep_end_o) tolerance <= 0;
    else if (phase == MULTIPLY) tolerance <= {tolerance[22:0], 1'b0} + (bit_of_warps[step] ? mean_cycles : 12'd0);

  wire [9:0] count [0:2];
  generate
    for (m = 0; m < 3; m = m + 1) begin : costs
      wire [15:0] h = hit[10*m +: 10];
      wire [15:0] n = missed[9*m +: 9];
      assign count[m] = h + n;
      always @(posedge clk_i)
        if (ep_end_o) cost[m] <= 0;
        else if (phase == SUM)
          cost[m] <= {cost[m][23:0], 1'b0} + ((h[step] ? per_hit[12*m +: 12] : 12'd0) + (n[step] ? {1'b0, miss_cost} : 17'd0));
    end
  endgenerate

  // Costs per access are compared by cross-multiplication: low-latency with none, then high-capacity with the better one.
  reg low_is_better;
  reg [35:0] difference;
  wire second = phase == AGAINST_BEST;
  wire best = second && low_is_better;
  wire [15:0] best_count = best ? count[1] : count[0];
  wire [15:0] next_count = second ? count[2] : count[1];
  wire [24:0] best_cost = best ? cost[1] : cost[0];
  wire [24:0] next_cost = second ? cost[2] : cost[1];
  wire [35:0] next_difference = {difference[34:0], 1'b0} + (next_count[step] ? best_cost : 25'd0)
                                                         - (best_count[step] ? next_cost : 25'd0);
  wire better = next_difference != 0 && !next_difference[35];

  always @(posedge clk_i) begin
    difference <= compares && !last ? next_difference : 36'd0;
    if (last && !second) low_is_better <= better;
  end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {mode_o, decided_o, tolerance_o} <= 0;
    else begin
      decided_o <= last && second;
      if (last && second) begin
        mode_o <= better ? 2'd2 : {1'b0, low_is_better};
        tolerance_o <= tolerance[23:10];
      end
    end

endmodule

`default_nettype wire
