// SPDX-License-Identifier: MIT OR Apache-2.0
// latte_controller
//
// Chooses an L1D's compression mode by set sampling, hit latency and the pipeline's latency
// tolerance.
//
// LATTE-CC, section III. SET is the width of a set number, REST two less.
//
// Parameters: policy = 0
// In this file: SET = $clog2(SETS), REST = SET - 2
// Source: LATTE-CC, section III
// Written by selvedge 0.1.0 with reset control
//
// LATTE-CC controller: which of three compression modes the lines of an L1D are inserted with.
//
// Source: LATTE-CC, section III, with the parameters of section IV.C.3.
//
// Time is counted in experimental phases (EPs) of 256 L1 accesses; ten of them are a period. The
// first EP of a period learns: four sets are dedicated to each mode {none, low-latency,
// high-capacity}, and per mode their insertions (N_miss) and hits (N_hit) are counted. Hits go on
// counting for one more EP, because compression pays off later. At the end of every EP the mode
// with the lowest average memory access time, as the pipeline feels it, becomes the mode of all
// sets that are not dedicated at the time:
//
//   AMAT = (N_hit x max(hit latency - latency tolerance, 0) + N_miss x miss latency) / (N_hit + N_miss)
//   latency tolerance = mean warps available x mean execution cycles per schedule, over the EP
//
//    access, set, hit, insert -> [EPs of the period] -> learning, build, new codes
//                          \---> [dedicated set?] ----> N_hit, N_miss per mode ---\
//    schedules, warps, cycles -> [sums of the EP] ---> tolerance -----------------+-> [decide] -> mode
//    hit latencies, miss latency -> [running means] ------------------------------/
//    lookup_set_i -> [dedicated set?] -> its mode, or the chosen one -> lookup_mode_o
//
// Choices where the paper is silent, and where it is read otherwise than printed:
// - It prints `min` where `max` is meant: a tolerated latency costs nothing, it does not pay.
// - Dedicated sets: with the set number split into its two highest bits h and the rest r, a set is
//   dedicated to mode (3 r - h) modulo the number of values of r, if that is a mode
//   (`LatteControllerParams::dedicated`). Each mode gets one set per quarter of the cache, two even
//   and two odd ones.
// - An insertion is counted with the access that misses and allocates, so that the counts are
//   bounded: at most 256 insertions and 512 hits (9 and 10 bits), and at most 512 both together.
// - Latency tolerance: per EP the schedules (what a scheduler issues from one warp before it
//   switches to another) that ended, the warps available as it switched, and the cycles of the runs
//   are summed, from two schedulers. When 1,022 schedules are counted, all three sums are halved.
//   Each mean is rounded down, warps to 1/64 and cycles to 1/16. An EP without a schedule tolerates
//   nothing.
// - Hit latency: the running mean of the effective hit latencies that the decompression queues
//   report per mode (decompression latency x (queue position + 1)), and miss latency: that of the
//   L1 miss round trips. Each new value counts 1/16, the means have 8 bits behind the point, of
//   which the decision sees 4. They start at table I's 2 and 14 cycles and table II's 120.
// - Modes are compared by cross-multiplying. A tie goes to the simpler mode, also where a mode's
//   dedicated sets saw nothing.
// - The decision takes 55 cycles from `ep_end_o` to `decided_o`, one bit of every product at a
//   time; the former mode stays until then. The mode changes at no other time.
// - SC's codes: `build_o` says that values are to be counted, in the last EP of each period and in
//   the first of all; `new_codes_o` that the counting ended in the cycle before: new codes, and
//   lines with older ones are invalid.
//
// `policy` makes the paper's rivals (section V.D), for a multiplexer each: 1 is Adaptive-Hit-Count,
// where the mode with the most hits wins, 2 is Adaptive-CMP, which knows the latencies but no
// tolerance. Of the latter's own predictor, for the L2 of a CMP, only this is taken over.
//
// PARAMETERS
// - ep_accesses, default 256, allowed 64, 256: L1 accesses of an EP
// - period_eps, default 10, allowed 5, 10: EPs of a period, the learning one included
// - sets, default 32, allowed 32, 64: sets of the cache, of which four per mode are dedicated while
//   learning
// - policy, default 0, allowed 0, 1, 2: what decides: 0 AMAT with latency tolerance, 1 hit count, 2
//   AMAT without tolerance
//
// PORTS AND TIMING
// Everything may happen in every cycle. All outputs come from registers. Modes are 0 none, 1
// low-latency, 2 high-capacity.
//
//   clk_i          __/--\__/--\__/--\__   __/--\__/--\__
//   access_i       __/-----\___________   ______________   the 256th of an EP
//   ep_end_o       ________/-----\_____   ______________
//   learning_o     --------\___________   ______________   it was the first EP of a period
//   decided_o      ____________________   ________/-----   55 cycles after ep_end_o
//   mode_o         ==< 0                            >< 2 >
//   lookup_set_i   ==< 5  >============   ==< 5  >======
//   lookup_mode_o  ========< 0  >======   ========< 2  >
//
// STORAGE
// The paper counts 134 bytes: two policy bits in each of the 512 tags of a 16 KB cache with four
// times the tags (128 bytes), and six more bytes, which are the six counters with 8 bits each. The
// policy bits are in the tags, not in this block. It holds 496 bits: the six counters have 57 (8
// bits would overflow), and the paper counts neither what measures latencies and tolerance (96),
// nor the position in the period (15), nor the divider and comparator, bit by bit (308), with its
// results (20).

`default_nettype none

module latte_controller #(
  // L1 accesses of an experimental phase (EP); verified with 64, 256
  parameter integer EP_ACCESSES = 256,
  // EPs of a period, the learning one included; verified with 5, 10
  parameter integer PERIOD_EPS = 10,
  // Sets of the cache, of which four per mode are dedicated while learning; verified with 32, 64
  parameter integer SETS = 32
) (
  // clock
  input  wire                    clk_i,
  // asynchronous reset, active low: the first EP of the first period begins, mode none
  input  wire                    rst_ni,
  // the L1D is accessed
  input  wire                    access_i,
  // the set that is accessed
  input  wire [$clog2(SETS)-1:0] set_i,
  // the access hits
  input  wire                    hit_i,
  // the access misses and will insert a line
  input  wire                    insert_i,
  // schedules that ended, a bit per scheduler
  input  wire              [1:0] schedule_i,
  // warps available to each scheduler at the end of its schedule
  input  wire             [11:0] warps_i,
  // cycles that each schedule executed
  input  wire             [15:0] cycles_i,
  // a line of the low-latency mode was hit
  input  wire                    low_hit_i,
  // its effective hit latency
  input  wire              [7:0] low_latency_i,
  // a line of the high-capacity mode was hit
  input  wire                    high_hit_i,
  // its effective hit latency
  input  wire              [7:0] high_latency_i,
  // a miss returned
  input  wire                    miss_return_i,
  // cycles of its round trip
  input  wire             [11:0] miss_latency_i,
  // a set whose mode is asked for
  input  wire [$clog2(SETS)-1:0] lookup_set_i,
  // the mode of the set that was looked up in the last cycle
  output wire              [1:0] lookup_mode_o,
  // that set is dedicated to its mode
  output wire                    lookup_dedicated_o,
  // the chosen mode: 0 none, 1 low-latency, 2 high-capacity
  output wire              [1:0] mode_o,
  // the mode was decided anew at the last clock edge
  output wire                    decided_o,
  // latency tolerance that the last decision looked at, in cycles
  output wire             [13:0] tolerance_o,
  // this EP learns
  output wire                    learning_o,
  // an EP ended with the last cycle
  output wire                    ep_end_o,
  // the statistical codec counts values in this EP
  output wire                    build_o,
  // such an EP ended with the last cycle
  output wire                    new_codes_o
);

  localparam LAST_ACCESS_INTEGER = EP_ACCESSES - 1;
  localparam [7:0] LAST_ACCESS = LAST_ACCESS_INTEGER[7:0];
  localparam LAST_EP_INTEGER = PERIOD_EPS - 1;
  localparam [3:0] LAST_EP = LAST_EP_INTEGER[3:0];
  wire learning;
  wire build;
  wire ep_ends;
  reg counts;
  reg [9:0] next_hits;
  reg [8:0] next_misses;
  wire accessed_set_dedicated_o;
  wire [1:0] accessed_set_mode_o;
  wire looked_up_set_dedicated_o;
  wire [1:0] looked_up_set_mode_o;
  wire [11:0] low_latency_mean_o;
  wire [11:0] high_latency_mean_o;
  wire [15:0] miss_latency_mean_o;
  wire [9:0] sums_schedules_o;
  wire [15:0] sums_warps_o;
  wire [17:0] sums_cycles_o;
  wire [1:0] decision_mode_o;
  // accesses of this EP
  reg [7:0] accesses_q;
  // EPs of this period
  reg [3:0] ep_q;
  reg first_period_q;
  reg ep_ended_q;
  reg new_codes_q;
  reg [29:0] hits_d;
  reg [29:0] hits_q;
  reg [26:0] misses_d;
  reg [26:0] misses_q;
  reg [1:0] lookup_mode_q;
  reg lookup_dedicated_q;

  latte_controller_dedicated_sets #(.SETS (SETS)) accessed_set (
    .set_i       (set_i),
    .dedicated_o (accessed_set_dedicated_o),
    .mode_o      (accessed_set_mode_o)
  );

  latte_controller_dedicated_sets #(.SETS (SETS)) looked_up_set (
    .set_i       (lookup_set_i),
    .dedicated_o (looked_up_set_dedicated_o),
    .mode_o      (looked_up_set_mode_o)
  );

  latte_controller_running_mean_3 low_latency (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .sample_i (low_hit_i),
    .value_i  (low_latency_i),
    .mean_o   (low_latency_mean_o)
  );

  latte_controller_running_mean_2 high_latency (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .sample_i (high_hit_i),
    .value_i  (high_latency_i),
    .mean_o   (high_latency_mean_o)
  );

  latte_controller_running_mean_1 miss_latency (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .sample_i (miss_return_i),
    .value_i  (miss_latency_i),
    .mean_o   (miss_latency_mean_o)
  );

  latte_controller_schedule_sums sums (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .restart_i   (ep_ended_q),
    .schedule_i  (schedule_i),
    .warps_i     (warps_i),
    .cycles_i    (cycles_i),
    .schedules_o (sums_schedules_o),
    .warps_o     (sums_warps_o),
    .cycles_o    (sums_cycles_o)
  );

  latte_controller_amat_decision decision (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .start_i        (ep_ended_q),
    .hits_i         (hits_q),
    .misses_i       (misses_q),
    .low_latency_i  (low_latency_mean_o),
    .high_latency_i (high_latency_mean_o),
    .miss_latency_i (miss_latency_mean_o),
    .schedules_i    (sums_schedules_o),
    .warps_i        (sums_warps_o),
    .cycles_i       (sums_cycles_o),
    .mode_o         (decision_mode_o),
    .decided_o      (decided_o),
    .tolerance_o    (tolerance_o)
  );

  always @(*) begin : comb_hits_d
    integer mode;
    hits_d = hits_q;
    misses_d = misses_q;
    for (mode = 0; mode < 3; mode = mode + 1) begin
      next_hits = hits_q[mode*10 +: 10];
      next_misses = misses_q[mode*9 +: 9];
      if (learning & ep_ended_q) begin
        next_hits = 10'd0;
        next_misses = 9'd0;
      end
      counts = access_i & accessed_set_dedicated_o & (accessed_set_mode_o == mode[1:0]);
      hits_d[mode*10 +: 10] = next_hits + {9'd0, counts & hit_i & (ep_q < 4'd2)};
      misses_d[mode*9 +: 9] = next_misses + {8'd0, counts & !hit_i & insert_i & learning};
    end
  end

  // EPs by accesses, periods by EPs
  assign learning = ep_q == 4'd0;
  assign build = (ep_q == LAST_EP) | (learning & first_period_q);
  assign ep_ends = access_i & (accesses_q == LAST_ACCESS);

  assign lookup_mode_o = lookup_mode_q;
  assign lookup_dedicated_o = lookup_dedicated_q;
  assign mode_o = decision_mode_o;
  assign learning_o = learning;
  assign ep_end_o = ep_ended_q;
  assign build_o = build;
  assign new_codes_o = new_codes_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ep_ended_q <= 1'b0;
      new_codes_q <= 1'b0;
      lookup_dedicated_q <= 1'b0;
      hits_q <= 30'd0;
      misses_q <= 27'd0;
    end else begin
      ep_ended_q <= ep_ends;
      new_codes_q <= ep_ends & build;
      lookup_dedicated_q <= learning & looked_up_set_dedicated_o;
      hits_q <= hits_d;
      misses_q <= misses_d;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      accesses_q <= 8'd0;
      ep_q <= 4'd0;
      first_period_q <= 1'b1;
    end else begin
      accesses_q <= accesses_q + {7'd0, access_i};
      if (ep_ends) begin
        accesses_q <= 8'd0;
        ep_q <= ep_q + 4'd1;
        if (ep_q == LAST_EP) begin
          ep_q <= 4'd0;
          first_period_q <= 1'b0;
        end
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      lookup_mode_q <= 2'd0;
    end else begin
      lookup_mode_q <= decision_mode_o;
      if (learning & looked_up_set_dedicated_o) begin
        lookup_mode_q <= looked_up_set_mode_o;
      end
    end
  end

endmodule

`default_nettype wire
