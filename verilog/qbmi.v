// SPDX-License-Identifier: MIT OR Apache-2.0
// qbmi
//
// Ranks kernels by memory-instruction quotas, so that all make equally many memory requests.
//
// Dai, section 4.3.2. K is the number of kernels. N is the width of a kernel's number, SET that of
// a quota in a set, QUOTA that of a current quota.
//
// Parameters: kernels = 2
// In this file: K = 2, N = 1, SET = 6, QUOTA = 7
// Source: Dai, section 4.3.2
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// QBMI, quota-based memory-instruction issuing: ranks the kernels on an SM for the issue of memory
// instructions.
//
// Source: Dai, section 4.3.2 (balanced memory request issuing), hardware cost in section 4.4.4.
//
// A memory instruction of one kernel may make one request to the L1D, that of another kernel 32. If
// kernels alternate by instruction, they make unequal numbers of requests. QBMI gives kernel i,
// whose instructions make r_i requests on average, the quota
//
//   quota_i = LCM(r_0, .., r_n) / r_i
//
// Each memory instruction reduces the quota of its kernel by one, and the kernel with the larger
// quota goes first. When a quota reaches zero, a new set of quotas is added for all kernels, so
// that every quota is positive. Over one set, every kernel makes LCM requests. Each kernel's r is
// measured again over every 1,024 of its requests.
//
//   request_i -> [1,024 requests?] ---------\
//   issue_i --+-> [instructions] -> table -> r_i -> [count up multiples] -> new set
//             |                                                               | add when a quota comes to 0
//             +-----------------------------------------> -1 -> [quotas] <----/
//                                                                  |
//                                                                  +-> compare each with each -> rank_o
//
// Computation in hardware:
// - r is 1,024 / instructions, rounded to the nearest integer and clamped to 1 to 32. The dividend
//   is a constant, so that 31 constant thresholds replace a divider. At most one request is made
//   per cycle, so that at most one interval ends per cycle. One table therefore serves all kernels.
// - LCM and quotas need no gcd, divider or multiplier. A common multiple of the r_i is represented
//   only by its quotient and remainder by each r_i. The multiple starts as 1. The kernels are
//   processed in order. For each kernel, the multiple at the start of its turn is added repeatedly
//   until the kernel's remainder is zero. Afterwards the multiple is the LCM, and the quotients are
//   the quotas. Kernel i takes r_i / gcd(r_i, LCM of the previous kernels) cycles: in total 2 to 63
//   cycles with two kernels, at most 119 with four. During this time the old set stays in force. If
//   the r of a kernel changes, the computation restarts.
//
// Choices where the paper is silent:
// - At most one memory instruction issues and one request is made per cycle, because an SM has one
//   load/store unit.
// - r is rounded, because a common multiple needs integers. A request comes from one of 32 lanes,
//   so that r is at most 32.
// - Equal quotas: the lower kernel number goes first. With instructions always ready, each set is
//   then issued exactly: at its end, kernel 0 is at zero and all others are at one. Alternating at
//   equal quotas would let this drift by one.
// - A set is added in the cycle in which a quota would reach zero; a quota of zero is never
//   visible.
// - Quotas saturate at a value that holds two of the largest sets. With instructions always ready,
//   a quota is at most one set plus one. A kernel that issues nothing while others issue
//   accumulates sets. When it issues again, it goes first, for at most the saturated quota.
// - Quotas are exact and not scaled down: four kernels with 32, 31, 29 and 27 requests have quotas
//   from 24,273 to 28,768. A kernel waits for at most the quotas of the others.
// - The interval ends with its last request. r is computed from the instructions counted before
//   that cycle; an instruction of that cycle belongs to the next interval. The instruction counter
//   saturates. An interval without instructions counts as 32 requests per instruction.
// - After reset, r and quotas are 1: kernels alternate.
// - An instruction or request with an unused kernel number is ignored (possible with three
//   kernels).
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
//   rank_o          =<0,1                          >     kernel 0 goes first; also at 2,2, because its number is lower
//   replenish_o     _____________________/-----\____
//
// STORAGE
// The paper adds one 10-bit instruction counter per kernel to the MILG (whose request counter it
// shares) and "extra arithmetic logics": 20 bits with two kernels. This block is independent of the
// MILG and holds 127 bits with two kernels:
// - per kernel the two counters (10 each), r (6), the quota (7) and the set (6);
// - per kernel, for the computation, a quotient and a remainder (6 + 5), and those at the start of
//   the turn (6 + 5);
// - the state of the computation (3) and two flags (2).
//
// The paper counts neither the quotas nor the logic that computes them.

`default_nettype none

module qbmi (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: one request per instruction, quotas of 1
  input  wire        rst_ni,
  // a memory instruction issues
  input  wire        issue_i,
  // kernel of the instruction
  input  wire        issue_kernel_i,
  // a memory request is made
  input  wire        request_i,
  // kernel of the request
  input  wire        request_kernel_i,
  // rank of each kernel; the kernel with rank 0 goes first
  output wire  [1:0] rank_o,
  // each kernel's current quota
  output wire [13:0] quotas_o,
  // a set of quotas was added at the last clock edge
  output wire        replenish_o,
  // the set to add was computed again at the last clock edge
  output wire        update_o
);

  localparam N = 1;
  localparam QUOTA = 7;
  localparam [6:0] MOST_QUOTA = 7'd127;
  reg [1:0] issues;
  reg [1:0] requested;
  reg [9:0] interval_instructions;
  reg empty;
  reg [1:0] ranks;
  reg [13:0] quotas;
  // memory instructions in each kernel's interval
  reg [19:0] instructions_q;
  // memory requests in each kernel's interval
  reg [19:0] requests_q;
  // requests per instruction of each kernel
  reg [11:0] average_q;
  // a kernel's average was updated at the last clock edge
  reg renewed_q;
  reg [13:0] quota_d;
  reg [13:0] quota_q;
  reg replenished_q;
  wire [5:0] averager_requests;
  wire [11:0] set_quota;

  qbmi_requests_per_instruction averager (
    .instructions_i (interval_instructions),
    .requests_o     (averager_requests)
  );

  qbmi_quota_set set (
    .clk_i      (clk_i),
    .rst_ni     (rst_ni),
    .start_i    (renewed_q),
    .requests_i (average_q),
    .quota_o    (set_quota),
    .update_o   (update_o)
  );

  // one bit per kernel: issues an instruction, makes a request
  always @(*) begin : comb_issues
    integer i;
    reg kernel;
    for (i = 0; i < 2; i = i + 1) begin
      kernel = i[0];
      issues[i] = issue_i & (issue_kernel_i == kernel);
      requested[i] = request_i & (request_kernel_i == kernel);
    end
  end

  // the 1024th request of a kernel ends its interval: register its average, reset its counters
  always @(*) begin : comb_interval_instructions
    integer i;
    interval_instructions = 10'd0;
    for (i = 0; i < 2; i = i + 1) begin
      if (requested[i]) begin
        interval_instructions = instructions_q[i*10 +: 10];
      end
    end
  end

  // an instruction decrements its kernel's quota; at zero, all kernels get new quotas
  always @(*) begin : comb_empty
    integer i;
    empty = 1'b0;
    for (i = 0; i < 2; i = i + 1) begin
      empty = empty | (issues[i] & (quota_q[i*7 +: 7] == 7'd1));
    end
  end

  always @(*) begin : comb_quota_d
    integer i;
    reg [6:0] left;
    reg [5:0] new_quota;
    reg [6:0] room;
    quota_d = quota_q;
    for (i = 0; i < 2; i = i + 1) begin
      left = quota_q[i*7 +: 7];
      if (issues[i]) begin
        left = quota_q[i*7 +: 7] - 7'd1;
      end
      new_quota = set_quota[i*6 +: 6];
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

  // rank of a kernel: the number of kernels with a larger quota, or an equal quota and a lower
  // number
  always @(*) begin : comb_ranks
    integer i;
    integer j;
    reg rank;
    reg own;
    reg rival;
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
          average_q[i*6 +: 6] <= averager_requests;
          // an instruction of this cycle belongs to the next interval
          instructions_q[i*10 +: 10] <= 10'd0;
          if (issues[i]) begin
            instructions_q[i*10 +: 10] <= 10'd1;
          end
        end else if (issues[i] & ~(&instructions_q[i*10 +: 10])) begin
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
