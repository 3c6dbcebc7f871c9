// SPDX-License-Identifier: MIT OR Apache-2.0
// latte_controller_amat_decision
//
// Chooses the mode with the lowest average memory access time (AMAT), 54 cycles after its start.
//
// Five phases: two means by division (12 cycles), their product (12), the cost of each mode (10),
// and two comparisons by cross-multiplication (10 each). Every product is computed from its highest
// bit down. Modes are 0 none, 1 low-latency, 2 high-capacity.
//
// Part of: latte_controller
// Source: LATTE-CC, section III
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module latte_controller_amat_decision (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: mode none
  input  wire        rst_ni,
  // load the inputs and begin
  input  wire        start_i,
  // hits of each mode
  input  wire [29:0] hits_i,
  // insertions of each mode
  input  wire [26:0] misses_i,
  // hit latency of the low-latency mode, in sixteenths
  input  wire [11:0] low_latency_i,
  // hit latency of the high-capacity mode, in sixteenths
  input  wire [11:0] high_latency_i,
  // miss latency, in sixteenths
  input  wire [15:0] miss_latency_i,
  // schedules of the EP
  input  wire  [9:0] schedules_i,
  // sum of available warps
  input  wire [15:0] warps_i,
  // sum of executed cycles
  input  wire [17:0] cycles_i,
  // the chosen mode
  output wire  [1:0] mode_o,
  // the mode was decided at the last clock edge
  output wire        decided_o,
  // latency tolerance at that decision, in cycles
  output wire [13:0] tolerance_o
);

  localparam [2:0] IDLE = 3'd0;
  localparam [2:0] DIVIDE = 3'd1;
  localparam [2:0] MULTIPLY = 3'd2;
  localparam [2:0] SUM_COSTS = 3'd3;
  localparam [2:0] COMPARE_LOW = 3'd4;
  localparam [2:0] COMPARE_HIGH = 3'd5;
  // the highest bit of a mean
  localparam [3:0] MEAN_TOP = 4'd11;
  // the highest bit of a count
  localparam [3:0] COUNT_TOP = 4'd9;
  // 0 AMAT with latency tolerance, 1 hit count, 2 AMAT without tolerance
  localparam [1:0] POLICY = 2'd0;
  wire last;
  wire [17:0] hidden;
  reg [35:0] per_hit;
  reg [29:0] accesses;
  reg [24:0] best_cost;
  reg [9:0] best_accesses;
  reg [9:0] best_hits;
  reg [24:0] next_cost;
  reg [9:0] next_accesses;
  reg [9:0] next_hits;
  reg [35:0] next_difference;
  wire better;
  wire divider_step;
  wire [11:0] divider_mean_warps;
  wire [11:0] divider_mean_cycles;
  reg [2:0] phase_q;
  // bit that this cycle handles
  reg [3:0] step_q;
  reg [29:0] hits_q;
  reg [26:0] misses_q;
  reg [11:0] low_latency_q;
  reg [11:0] high_latency_q;
  reg [15:0] miss_latency_q;
  // latency tolerance with 10 fractional bits
  reg [23:0] product_q;
  reg [74:0] cost_d;
  reg [74:0] cost_q;
  // cost of the better mode so far x accesses of the next mode, minus the reverse; two's complement
  reg [35:0] difference_q;
  reg low_is_better_q;
  reg [1:0] mode_q;
  reg decided_q;
  reg [13:0] tolerance_q;
  wire [15:0] divider_mean_warps_padded;
  wire [15:0] next_accesses_padded;
  wire [15:0] best_accesses_padded;

  latte_controller_mean_divider divider (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .start_i       (start_i),
    .step_i        (divider_step),
    .schedules_i   (schedules_i),
    .warps_i       (warps_i),
    .cycles_i      (cycles_i),
    .mean_warps_o  (divider_mean_warps),
    .mean_cycles_o (divider_mean_cycles)
  );

  // each phase processes its bits from high to low; the last phase decides
  assign last = step_q == 4'd0;

  assign divider_step = phase_q == DIVIDE;
  assign divider_mean_warps_padded = {4'd0, divider_mean_warps};

  // cost of a hit: its latency minus the latency that the pipeline hides
  assign hidden = (POLICY == 2'd2) ? 18'd0 : product_q[23:6];

  always @(*) begin : comb_per_hit
    integer lane;
    reg [8:0] insertions;
    for (lane = 0; lane < 3; lane = lane + 1) begin
      per_hit[lane*12 +: 12] = 12'd0;
      insertions = misses_q[lane*9 +: 9];
      accesses[lane*10 +: 10] = hits_q[lane*10 +: 10] + {1'b0, insertions};
    end
    if ({6'd0, low_latency_q} > hidden) begin
      per_hit[23:12] = low_latency_q - hidden[11:0];
    end
    if ({6'd0, high_latency_q} > hidden) begin
      per_hit[35:24] = high_latency_q - hidden[11:0];
    end
  end

  always @(*) begin : comb_cost_d
    integer lane;
    reg [11:0] charge;
    reg [24:0] sum;
    reg [15:0] hits_padded;
    reg [15:0] misses_padded;
    cost_d = cost_q;
    // cost of a mode = hits x hit cost + misses x miss latency
    for (lane = 0; lane < 3; lane = lane + 1) begin
      charge = per_hit[lane*12 +: 12];
      sum = cost_q[lane*25 +: 25] << 1;
      hits_padded = {6'd0, hits_q[lane*10 +: 10]};
      if (hits_padded[step_q]) begin
        sum = sum + {13'd0, charge};
      end
      misses_padded = {7'd0, misses_q[lane*9 +: 9]};
      if (misses_padded[step_q]) begin
        sum = sum + {9'd0, miss_latency_q};
      end
      if (start_i) begin
        cost_d[lane*25 +: 25] = 25'd0;
      end else if (phase_q == SUM_COSTS) begin
        cost_d[lane*25 +: 25] = sum;
      end
    end
  end

  // compare no compression with low-latency, then the better one with high-capacity
  always @(*) begin
    best_cost = cost_q[24:0];
    best_accesses = accesses[9:0];
    best_hits = hits_q[9:0];
    next_cost = cost_q[49:25];
    next_accesses = accesses[19:10];
    next_hits = hits_q[19:10];
    if (phase_q == COMPARE_HIGH) begin
      if (low_is_better_q) begin
        best_cost = cost_q[49:25];
        best_accesses = accesses[19:10];
        best_hits = hits_q[19:10];
      end
      next_cost = cost_q[74:50];
      next_accesses = accesses[29:20];
      next_hits = hits_q[29:20];
    end
  end

  assign next_accesses_padded = {6'd0, next_accesses};
  assign best_accesses_padded = {6'd0, best_accesses};

  always @(*) begin
    next_difference = difference_q << 1;
    if (next_accesses_padded[step_q]) begin
      next_difference = next_difference + {11'd0, best_cost};
    end
    if (best_accesses_padded[step_q]) begin
      next_difference = next_difference - {11'd0, next_cost};
    end
  end

  // the next mode is better if its cost per access is lower or its hits are more; ties keep the
  // mode
  assign better = (POLICY == 2'd1) ? (next_hits > best_hits) : ((|next_difference) &
      ~next_difference[35]);

  assign mode_o = mode_q;
  assign decided_o = decided_q;
  assign tolerance_o = tolerance_q;

  always @(posedge clk_i) begin
    cost_q <= cost_d;
  end

  always @(posedge clk_i) begin : update_hits_q
    integer lane;
    if (start_i) begin
      for (lane = 0; lane < 3; lane = lane + 1) begin
        hits_q[lane*10 +: 10] <= hits_i[lane*10 +: 10];
        misses_q[lane*9 +: 9] <= misses_i[lane*9 +: 9];
      end
      low_latency_q <= low_latency_i;
      high_latency_q <= high_latency_i;
      miss_latency_q <= miss_latency_i;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      phase_q <= 3'd0;
      step_q <= 4'd0;
    end else if (start_i) begin
      phase_q <= DIVIDE;
      step_q <= MEAN_TOP;
    end else if (phase_q != IDLE) begin
      step_q <= step_q - 4'd1;
      if (last) begin
        phase_q <= phase_q + 3'd1;
        step_q <= COUNT_TOP;
        if (phase_q == DIVIDE) begin
          step_q <= MEAN_TOP;
        end
        if (phase_q == COMPARE_HIGH) begin
          phase_q <= IDLE;
        end
      end
    end
  end

  always @(posedge clk_i) begin
    if (start_i) begin
      product_q <= 24'd0;
    end else if (phase_q == MULTIPLY) begin
      product_q <= product_q << 1;
      if (divider_mean_warps_padded[step_q]) begin
        product_q <= (product_q << 1) + {12'd0, divider_mean_cycles};
      end
    end
  end

  always @(posedge clk_i) begin
    if (last & (phase_q == COMPARE_LOW)) begin
      low_is_better_q <= better;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      mode_q <= 2'd0;
      decided_q <= 1'b0;
      tolerance_q <= 14'd0;
    end else begin
      decided_q <= 1'b0;
      if (last & (phase_q == COMPARE_HIGH)) begin
        decided_q <= 1'b1;
        tolerance_q <= product_q[23:10];
        if (better) begin
          mode_q <= 2'd2;
        end else begin
          mode_q <= {1'b0, low_is_better_q};
        end
      end
    end
  end

  always @(posedge clk_i) begin
    difference_q <= 36'd0;
    if (~last & (phase_q >= COMPARE_LOW)) begin
      difference_q <= next_difference;
    end
  end

endmodule

`default_nettype wire
