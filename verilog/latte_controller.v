// SPDX-License-Identifier: MIT OR Apache-2.0
// latte_controller
//
// Chooses an L1D's compression mode by set sampling, hit latency and the pipeline's latency
// tolerance.
//
// LATTE-CC, section III. SET is the width of a set number, REST two less. S schedulers have
// ALL_WARPS bits of warps and ALL_CYCLES bits of cycles.
//
// Parameters: schedulers = 2, policy = 0
// In this file: SET = $clog2(SETS), REST = SET - 2, S = 2, ALL_WARPS = 12, ALL_CYCLES = 16
// Source: LATTE-CC, section III
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// LATTE-CC controller: chooses one of three compression modes for the lines that an L1D inserts.
//
// Source: LATTE-CC, section III, with the parameters of section IV.C.3.
//
// Time is counted in experimental phases (EPs) of 256 L1 accesses; ten EPs are a period. The first
// EP of a period learns: four sets are dedicated to each mode {none, low-latency, high-capacity}.
// In these sets each mode's insertions (N_miss) and hits (N_hit) are counted. Hits are counted for
// one more EP, because compression pays off later. The controller decides at the end of every EP.
// It chooses the mode with the lowest average memory access time, less the latency that the
// pipeline hides. All sets that are not dedicated use the chosen mode:
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
// Choices where the paper is silent, and differences from its text:
// - The paper prints `min` where `max` is meant: a tolerated latency costs nothing, but it is no
//   gain.
// - Dedicated sets: the two highest bits of the set number are h, the rest is r. A set is dedicated
//   to mode (3 r - h) modulo the number of values of r, if that is a mode
//   (`LatteControllerParams::dedicated`). Each mode gets one set per quarter of the cache, two even
//   and two odd ones.
// - An insertion is counted with the access that misses and allocates, so that the counts are
//   bounded: at most 256 insertions and 512 hits (9 and 10 bits), and at most 512 of both together.
// - Latency tolerance: a schedule is the series of instructions that a scheduler issues from one
//   warp before it switches to another. Three sums are kept per EP over all schedulers: the
//   schedules that ended, the warps available at each switch, and the cycles of the schedules. When
//   1,022 schedules of two schedulers are counted, all three sums are halved, so that the number
//   stays below 1,024. Each mean is rounded down, warps to 1/64 and cycles to 1/16. An EP without a
//   schedule has no tolerance.
// - Hit latency: the running mean of the effective hit latencies that the decompression queues
//   report per mode (decompression latency x (queue position + 1)). Miss latency: the running mean
//   of the L1 miss round trips. Each new value has a weight of 1/16. The means have 8 fractional
//   bits; the decision uses 4 of them. They start at 2 and 14 cycles (table I) and 120 cycles
//   (table II).
// - Modes are compared by cross-multiplication. In a tie the simpler mode wins, also if a mode's
//   dedicated sets had no access.
// - The decision takes 55 cycles from `ep_end_o` to `decided_o`, because it handles one bit of
//   every product per cycle. The former mode stays until then. The mode changes at no other time.
// - SC's codes: while `build_o` is high, values are counted: in the last EP of each period and in
//   the first EP after reset. `new_codes_o` is high in the cycle after the counting: new codes are
//   ready, and lines with older codes are invalid.
//
// `policy` selects the paper's rivals (section V.D), which cost a multiplexer each. 1 is
// Adaptive-Hit-Count: the mode with the most hits wins. 2 is Adaptive-CMP, which uses the latencies
// but no tolerance. The rest of Adaptive-CMP, a predictor for the L2 of a CMP, is not modeled.
//
// PARAMETERS
// - ep_accesses, default 256, allowed 64, 256: L1 accesses of an EP
// - period_eps, default 10, allowed 5, 10: EPs of a period, including the learning EP
// - sets, default 32, allowed 32, 64, 128, 256: sets of the cache; four per mode are dedicated
//   while learning
// - schedulers, default 2, allowed 2, 4, 8: schedulers of the SM
// - policy, default 0, allowed 0, 1, 2: rule of the decision: 0 AMAT with latency tolerance, 1 hit
//   count, 2 AMAT without tolerance
//
// PORTS AND TIMING
// Any input may be active in any cycle. All outputs come from registers. Modes are 0 none, 1
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
// The paper counts 134 bytes. 128 bytes are two policy bits in each of the 512 tags of a 16 KB
// cache with four times the tags; six bytes are the six counters with 8 bits each. The policy bits
// are in the tags, not in this block. The block holds 496 bits. The six counters have 57, because 8
// bits each would overflow. The paper does not count the measurement of latencies and tolerance
// (96), the position in the period (15), the bit-serial divider and comparator (308), and the
// results of the decision (20).

`default_nettype none

module latte_controller #(
  // L1 accesses of an experimental phase (EP); verified with 64, 256
  parameter integer EP_ACCESSES = 256,
  // EPs of a period, including the learning EP; verified with 5, 10
  parameter integer PERIOD_EPS = 10,
  // Sets of the cache; four per mode are dedicated while learning; verified with 32, 64, 128, 256
  parameter integer SETS = 32
) (
  // clock
  input  wire                    clk_i,
  // asynchronous reset, active low: the first EP of the first period begins, mode none
  input  wire                    rst_ni,
  // the L1D is accessed
  input  wire                    access_i,
  // set of the access
  input  wire [$clog2(SETS)-1:0] set_i,
  // the access hits
  input  wire                    hit_i,
  // the access misses and will insert a line
  input  wire                    insert_i,
  // schedules that ended, one bit per scheduler
  input  wire              [1:0] schedule_i,
  // warps available to each scheduler at the end of its schedule
  input  wire             [11:0] warps_i,
  // cycles that each schedule executed
  input  wire             [15:0] cycles_i,
  // a line of the low-latency mode was hit
  input  wire                    low_hit_i,
  // effective hit latency of that line, in cycles
  input  wire              [7:0] low_latency_i,
  // a line of the high-capacity mode was hit
  input  wire                    high_hit_i,
  // effective hit latency of that line, in cycles
  input  wire              [7:0] high_latency_i,
  // a miss returned
  input  wire                    miss_return_i,
  // round trip of that miss, in cycles
  input  wire             [11:0] miss_latency_i,
  // set to look up
  input  wire [$clog2(SETS)-1:0] lookup_set_i,
  // mode of the set that was looked up in the last cycle
  output wire              [1:0] lookup_mode_o,
  // that set is dedicated to its mode
  output wire                    lookup_dedicated_o,
  // the chosen mode: 0 none, 1 low-latency, 2 high-capacity
  output wire              [1:0] mode_o,
  // a decision was made at the last clock edge
  output wire                    decided_o,
  // latency tolerance of the last decision, in cycles
  output wire             [13:0] tolerance_o,
  // this EP learns
  output wire                    learning_o,
  // an EP ended with the last cycle
  output wire                    ep_end_o,
  // the statistical codec counts values in this EP
  output wire                    build_o,
  // an EP with build_o high ended with the last cycle
  output wire                    new_codes_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (EP_ACCESSES != 64 && EP_ACCESSES != 256) begin : gen_wrong_ep_accesses
      latte_controller_EP_ACCESSES_must_be_64_or_256 wrong_ep_accesses ();
    end
    if (PERIOD_EPS != 5 && PERIOD_EPS != 10) begin : gen_wrong_period_eps
      latte_controller_PERIOD_EPS_must_be_5_or_10 wrong_period_eps ();
    end
    if (SETS != 32 && SETS != 64 && SETS != 128 && SETS != 256) begin : gen_wrong_sets
      latte_controller_SETS_must_be_32_64_128_or_256 wrong_sets ();
    end
  endgenerate

  localparam LAST_ACCESS_INTEGER = EP_ACCESSES - 1;
  localparam [7:0] LAST_ACCESS = LAST_ACCESS_INTEGER[7:0];
  localparam LAST_EP_INTEGER = PERIOD_EPS - 1;
  localparam [3:0] LAST_EP = LAST_EP_INTEGER[3:0];
  wire learning;
  wire build;
  wire ep_ends;
  wire accessed_set_dedicated;
  wire [1:0] accessed_set_mode;
  wire looked_up_set_dedicated;
  wire [1:0] looked_up_set_mode;
  wire [11:0] low_latency_mean;
  wire [11:0] high_latency_mean;
  wire [15:0] miss_latency_mean;
  wire [9:0] sums_schedules;
  wire [15:0] sums_warps;
  wire [17:0] sums_cycles;
  wire [1:0] decision_mode;
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
    .dedicated_o (accessed_set_dedicated),
    .mode_o      (accessed_set_mode)
  );

  latte_controller_dedicated_sets #(.SETS (SETS)) looked_up_set (
    .set_i       (lookup_set_i),
    .dedicated_o (looked_up_set_dedicated),
    .mode_o      (looked_up_set_mode)
  );

  latte_controller_running_mean_8 #(.RESET_MEAN (512)) low_latency (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .sample_i (low_hit_i),
    .value_i  (low_latency_i),
    .mean_o   (low_latency_mean)
  );

  latte_controller_running_mean_8 #(.RESET_MEAN (3584)) high_latency (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .sample_i (high_hit_i),
    .value_i  (high_latency_i),
    .mean_o   (high_latency_mean)
  );

  latte_controller_running_mean_12 miss_latency (
    .clk_i    (clk_i),
    .rst_ni   (rst_ni),
    .sample_i (miss_return_i),
    .value_i  (miss_latency_i),
    .mean_o   (miss_latency_mean)
  );

  latte_controller_schedule_sums sums (
    .clk_i       (clk_i),
    .rst_ni      (rst_ni),
    .restart_i   (ep_ended_q),
    .schedule_i  (schedule_i),
    .warps_i     (warps_i),
    .cycles_i    (cycles_i),
    .schedules_o (sums_schedules),
    .warps_o     (sums_warps),
    .cycles_o    (sums_cycles)
  );

  latte_controller_amat_decision decision (
    .clk_i          (clk_i),
    .rst_ni         (rst_ni),
    .start_i        (ep_ended_q),
    .hits_i         (hits_q),
    .misses_i       (misses_q),
    .low_latency_i  (low_latency_mean),
    .high_latency_i (high_latency_mean),
    .miss_latency_i (miss_latency_mean),
    .schedules_i    (sums_schedules),
    .warps_i        (sums_warps),
    .cycles_i       (sums_cycles),
    .mode_o         (decision_mode),
    .decided_o      (decided_o),
    .tolerance_o    (tolerance_o)
  );

  // count accesses per EP, and EPs per period
  assign learning = ep_q == 4'd0;
  assign build = (ep_q == LAST_EP) | (learning & first_period_q);
  assign ep_ends = access_i & (accesses_q == LAST_ACCESS);

  always @(*) begin : comb_hits_d
    integer mode;
    reg counts;
    reg [9:0] next_hits;
    reg [8:0] next_misses;
    for (mode = 0; mode < 3; mode = mode + 1) begin
      next_hits = hits_q[mode*10 +: 10];
      next_misses = misses_q[mode*9 +: 9];
      if (learning & ep_ended_q) begin
        next_hits = 10'd0;
        next_misses = 9'd0;
      end
      counts = access_i & accessed_set_dedicated & (accessed_set_mode == mode[1:0]);
      hits_d[mode*10 +: 10] = next_hits + {9'd0, counts & hit_i & (ep_q < 4'd2)};
      misses_d[mode*9 +: 9] = next_misses + {8'd0, counts & ~hit_i & insert_i & learning};
    end
  end

  assign lookup_mode_o = lookup_mode_q;
  assign lookup_dedicated_o = lookup_dedicated_q;
  assign mode_o = decision_mode;
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
      lookup_dedicated_q <= learning & looked_up_set_dedicated;
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
      lookup_mode_q <= decision_mode;
      if (learning & looked_up_set_dedicated) begin
        lookup_mode_q <= looked_up_set_mode;
      end
    end
  end

endmodule

`default_nettype wire
