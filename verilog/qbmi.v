// SPDX-License-Identifier: MIT OR Apache-2.0
// qbmi
//
// Ranks kernels by memory-instruction quotas, so that all make equally many memory requests.
//
// Dai, section 4.3.2. K is the number of kernels, N the bits of a kernel's number, SET those of a
// quota in a set, QUOTA those of a current quota.
//
// Parameters: kernels = 2
// In this file: K = 2, N = 1, SET = 6, QUOTA = 7
// Source: Dai, section 4.3.2
// Written by selvedge 0.1.0 with reset control
//
// QBMI, quota-based memory-instruction issuing: which of the kernels on an SM goes first with its
// memory instructions.
//
// Source: Dai, section 4.3.2 (balanced memory request issuing), hardware cost in section 4.4.4.
//
// A memory instruction of one kernel may make one request to the L1D, that of another 32. Kernels
// that take turns by instruction are therefore unequal by request. QBMI gives kernel i, whose
// instructions make r_i requests on average, the quota
//
//   quota_i = LCM(r_0, .., r_n) / r_i
//
// Each memory instruction costs its kernel one of its quota, and the kernel with the larger quota
// goes first. When a quota comes to zero, a new set of quotas is added to all kernels, so that none
// is ever without. Over a set every kernel then makes LCM requests. A kernel's r is measured anew
// with every 1,024 of its requests.
//
//   request_i -> [1,024 requests?] ---------\
//   issue_i --+-> [instructions] -> table -> r_i -> [count up multiples] -> new set
//             |                                                               | add when a quota comes to 0
//             +-----------------------------------------> -1 -> [quotas] <----/
//                                                                  |
//                                                                  +-> compare each with each -> rank_o
//
// How the hardware computes:
// - r is 1,024 / instructions, rounded to the nearest whole number and kept within 1 to 32. The
//   dividend is a constant, so 31 constant thresholds take the place of a divider. One request is
//   made per cycle, hence one interval ends per cycle, and one table serves all kernels.
// - LCM and quotas need no gcd, divider or multiplier. For each kernel a quotient and a remainder
//   of one common multiple by r_i are kept, and nothing of the multiple itself: it starts as 1, and
//   for each kernel in turn its present value is added to it again until that kernel's remainder is
//   zero. Then the multiple is the LCM and the quotients are the quotas. Kernel i takes r_i /
//   gcd(r_i, LCM of those before) cycles: 2 at least and 63 at most with two kernels, at most 119
//   with four. The old set stays in force meanwhile. A kernel whose r is renewed starts the
//   computation over.
//
// Choices where the paper is silent:
// - One memory instruction issues and one request is made per cycle: an SM has one load/store unit.
// - r is rounded, because a common multiple needs whole numbers; a request comes from one of 32
//   lanes, so r is at most 32.
// - Equal quotas: the lower kernel number goes first. Then, with instructions always ready, each
//   set is issued exactly: at its end kernel 0 is at zero and all others are at one. Turns at equal
//   quotas would let that drift by one.
// - A set is added in the clock that brings a quota to zero; a quota of zero never shows.
// - Quotas saturate, at a value that holds two of the largest sets. With instructions always ready
//   they are at most a set and one; a kernel that issues nothing while others go on collects sets,
//   and goes first when it comes back, but not for longer than that.
// - Quotas are exact and not scaled down: four kernels with 32, 31, 29 and 27 requests have quotas
//   from 24,273 to 28,768. A kernel waits for at most the quotas of the others.
// - The interval ends with its last request; r comes from the instructions counted before that
//   cycle, and an instruction of that cycle belongs to the next interval. The instruction counter
//   saturates. None in an interval counts as 32 requests.
// - After reset r and quotas are 1: kernels take turns.
// - An instruction or request of a kernel number that does not exist is ignored (possible with
//   three kernels).
//
// PARAMETERS
// - kernels, default 2, allowed 2, 3, 4: kernels that share the SM
//
// PORTS AND TIMING
// All outputs come from registers, `rank_o` through the comparison of the quotas. Below, quotas are
// 3 and 1 per set.
//
//   clk_i           __/--\__/--\__/--\__/--\__/--\__
//   issue_i         __/-----------------------\_____
//   issue_kernel_i  ==< 0  >< 0  >< 0  >< 0  >======
//   quotas_o        =<3,1 ><2,1 ><1,1 ><3,2 ><2,2 >=     kernel 0, kernel 1
//   rank_o          =<0,1                          >     kernel 0 goes first; at 2,2 too, as the lower number
//   replenish_o     _____________________/-----\____
//
// STORAGE
// The paper adds one 10-bit instruction counter per kernel to the MILG (whose request counter it
// shares) and "extra arithmetic logics"; that makes 20 bits with two kernels. This block stands
// alone and holds 127: per kernel the two counters (10 each), r (6), the quota (7) and the set (6);
// for the sequential computation per kernel a quotient and a remainder (6 + 5), and once more those
// that are added (6 + 5); the computation's state (3), and two flags (2). The paper counts neither
// quotas nor what computes them.

`default_nettype none

module qbmi (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: one request per instruction, quotas of 1
  input  wire        rst_ni,
  // a memory instruction issues
  input  wire        issue_i,
  // the kernel that it is of
  input  wire        issue_kernel_i,
  // a memory request is made
  input  wire        request_i,
  // the kernel that it is of
  input  wire        request_kernel_i,
  // each kernel's rank: the one with rank 0 goes first
  output wire  [1:0] rank_o,
  // each kernel's current quota
  output wire [13:0] quotas_o,
  // a set of quotas was added at the last clock edge
  output wire        replenish_o,
  // the set that is added was computed anew at the last clock edge
  output wire        update_o
);

  localparam N = 1;
  localparam QUOTA = 7;
  localparam [6:0] MOST_QUOTA = 7'd127;
  reg kernel;
  reg [1:0] issues;
  reg [1:0] requested;
  reg [9:0] interval_instructions;
  reg empty;
  reg [6:0] left;
  reg [5:0] new_quota;
  reg [6:0] room;
  reg rank;
  reg [1:0] ranks;
  reg [13:0] quotas;
  reg own;
  reg rival;
  // memory instructions in each kernel's interval
  reg [19:0] instructions_q;
  // memory requests in each kernel's interval
  reg [19:0] requests_q;
  // requests per instruction of each kernel
  reg [11:0] average_q;
  // an average is new
  reg renewed_q;
  reg [13:0] quota_d;
  reg [13:0] quota_q;
  reg replenished_q;
  wire [5:0] averager_requests_o;
  wire [11:0] set_quota_o;

  qbmi_requests_per_instruction averager (
    .instructions_i (interval_instructions),
    .requests_o     (averager_requests_o)
  );

  qbmi_quota_set set (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .start_i    (renewed_q),
    .requests_i (average_q),
    .quota_o    (set_quota_o),
    .update_o   (update_o)
  );

  always @(*) begin : comb_quota_d
    integer i;
    quota_d = quota_q;
    for (i = 0; i < 2; i = i + 1) begin
      left = quota_q[i*7 +: 7];
      if (issues[i]) begin
        left = quota_q[i*7 +: 7] - 7'd1;
      end
      new_quota = set_quota_o[i*6 +: 6];
      room = MOST_QUOTA - {1'b0, new_quota};
      if (!empty) begin
        quota_d[i*7 +: 7] = left;
      end else if (left > room) begin
        quota_d[i*7 +: 7] = MOST_QUOTA;
      end else begin
        quota_d[i*7 +: 7] = left + {1'b0, new_quota};
      end
    end
  end

  // which kernel issues and which makes a request, a bit each
  always @(*) begin : comb_issues
    integer i;
    issues = 2'd0;
    requested = 2'd0;
    for (i = 0; i < 2; i = i + 1) begin
      kernel = i[0];
      issues[i] = issue_i & (issue_kernel_i == kernel);
      requested[i] = request_i & (request_kernel_i == kernel);
    end
  end

  // the 1024th request of a kernel ends its interval: its average is taken, its counters start over
  always @(*) begin : comb_interval_instructions
    integer i;
    interval_instructions = 10'd0;
    for (i = 0; i < 2; i = i + 1) begin
      if (requested[i]) begin
        interval_instructions = instructions_q[i*10 +: 10];
      end
    end
  end

  // an instruction costs its kernel one; when that leaves none, all kernels get a new set
  always @(*) begin : comb_empty
    integer i;
    empty = 1'b0;
    for (i = 0; i < 2; i = i + 1) begin
      empty = empty | (issues[i] & (quota_q[i*7 +: 7] == 7'd1));
    end
  end

  // a kernel's rank is the number of those with a larger quota, or an equal one and a lower number
  always @(*) begin : comb_ranks
    integer i;
    integer j;
    ranks = 2'd0;
    quotas = 14'd0;
    for (i = 0; i < 2; i = i + 1) begin
      own = i[0];
      rank = 1'b0;
      for (j = 0; j < 2; j = j + 1) begin
        rival = j[0];
        if ((quota_q[j*7 +: 7] > quota_q[i*7 +: 7]) | ((quota_q[j*7 +: 7] == quota_q[i*7 +: 7]) &
            (rival < own))) begin
          rank = rank + 1'b1;
        end
      end
      ranks[i*N] = rank;
      quotas[i*QUOTA +: 7] = quota_q[i*7 +: 7];
    end
  end

  assign rank_o = ranks;
  assign quotas_o = quotas;
  assign replenish_o = replenished_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      replenished_q <= 1'b0;
      quota_q <= {2{7'd1}};
    end else begin
      replenished_q <= empty;
      quota_q <= quota_d;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin : update_instructions_q
    integer i;
    if (!rst_ni) begin
      instructions_q <= 20'd0;
      average_q <= {2{6'd1}};
      renewed_q <= 1'b0;
    end else begin
      renewed_q <= 1'b0;
      for (i = 0; i < 2; i = i + 1) begin
        if (requested[i] & (&requests_q[i*10 +: 10])) begin
          renewed_q <= 1'b1;
          average_q[i*6 +: 6] <= averager_requests_o;
          // an instruction of this cycle belongs to the next interval
          instructions_q[i*10 +: 10] <= 10'd0;
          if (issues[i]) begin
            instructions_q[i*10 +: 10] <= 10'd1;
          end
        end else if (issues[i] & !(&instructions_q[i*10 +: 10])) begin
          instructions_q[i*10 +: 10] <= instructions_q[i*10 +: 10] + 10'd1;
        end
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin : update_requests_q
    integer i;
    if (!rst_ni) begin
      requests_q <= 20'd0;
    end else begin
      for (i = 0; i < 2; i = i + 1) begin
        requests_q[i*10 +: 10] <= requests_q[i*10 +: 10] + {9'd0, requested[i]};
      end
    end
  end

endmodule

`default_nettype wire
