// SPDX-License-Identifier: MIT OR Apache-2.0
// milg
//
// Limits a kernel's memory instructions in flight by its reservation failures per request.
//
// Dai, section 4.3.3.2. INFLIGHT, RSFAIL and REQUEST are the widths of the three counters,
// PER_REQUEST that of the failures per request (RSFAIL - REQUEST). SUM is wide enough for the
// in-flight count plus the issues of one cycle.
//
// In this file: INFLIGHT = INFLIGHT_BITS, RSFAIL = RSFAIL_BITS, REQUEST = REQUEST_BITS, PER_REQUEST
// = RSFAIL_BITS - REQUEST_BITS, SUM = INFLIGHT_BITS + 1
// Source: Dai, section 4.3.3.2
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// MILG, memory-instruction-limit generator: limits the memory instructions of a kernel in flight on
// an SM.
//
// Source: Dai, section 4.3.3.2 (dynamic memory instruction limiting, figure 36), hardware cost in
// section 4.4.4.
//
// One MILG watches one kernel on one SM. It counts the kernel's memory instructions in flight with
// their maximum, and its reservation failures. After every 2^`request_bits` memory requests
// (1,024), it sets a new limit:
//
//   limit = max(1, min(max_inflight, limit) / (reservation failures >> request_bits))
//
// The shift turns the count into failures per request. The goal is less than one failure per
// request: if the shift gives 0, the limit does not change. At the end of an interval, the maximum
// restarts from the current number in flight, the failure counter from zero. `may_issue_o` gates
// the issue of the kernel's memory instructions.
//
// Choices where the paper is silent:
// - The paper does not define the quotient by zero. It says: "The number of inflight memory
//   instructions from a kernel is reduced when there are more than one reservation failures per
//   memory request and the ultimate goal is to achieve at most one". A limit with less than one
//   failure per request has reached the goal, and would lose it if the limit were lifted. A limit
//   therefore never rises.
// - Instructions in flight when a new limit is set can exceed it until they complete. They say
//   nothing about the traffic under the new limit: the interval's maximum counts at most `limit`
//   instructions.
// - The interval ends with its last request. The limit is computed from the counters before that
//   cycle. Events of that cycle belong to the next interval, so that no adder precedes the divider.
// - Counters saturate. The in-flight counter cannot overflow while the issuing side respects
//   `may_issue_o` and issues one instruction at a time. A completion with no instruction in flight
//   leaves zero.
// - The in-flight counter is not reset at the end of an interval.
//
// PARAMETERS
// - inflight_bits, default 7, allowed 6, 7, 8: width of the in-flight counter, its maximum and the
//   limit
// - rsfail_bits, default 12, allowed 12, 14: width of the saturating reservation-failure counter
// - request_bits, default 10, allowed 8, 10: width of the request counter, and the shift
//
// PORTS AND TIMING
// `issued_i` and `completed_i` are numbers of instructions in this cycle, 0 to 3. All outputs come
// from registers.
//
//   clk_i        __/--\__/--\__/--\__/--\__
//   issued_i     ==< 1  >< 0  >< 0  >< 0  >
//   request_i    ________/-----\___________   the 1024th request
//   inflight_o   ==< 4  >< 5  >< 5  >< 5  >
//   limit_o      ==< 127       >< new      >
//   update_o     _______________/-----\____   the limit is new in this cycle
//
// STORAGE
// The paper counts 7 + 12 + 10 = 29 bits. This block holds 44 bits: the three counters, the limit
// (7), the interval's maximum (7) and the `update_o` flag (1). The formula needs limit and maximum,
// but the paper's sum omits them.

`default_nettype none

module milg #(
  // Width of the in-flight counter, of its maximum and of the limit; verified with 6, 7, 8
  parameter integer INFLIGHT_BITS = 7,
  // Width of the saturating reservation-failure counter; verified with 12, 14
  parameter integer RSFAIL_BITS = 12,
  // Width of the request counter, and the shift: a new limit comes every 2^request_bits requests;
  // verified with 8, 10
  parameter integer REQUEST_BITS = 10
) (
  // clock
  input  wire                     clk_i,
  // asynchronous reset, active low: nothing in flight, no limit
  input  wire                     rst_ni,
  // number of memory instructions issued in this cycle
  input  wire               [1:0] issued_i,
  // number of memory instructions completed in this cycle
  input  wire               [1:0] completed_i,
  // the kernel makes a memory request
  input  wire                     request_i,
  // a request fails to reserve a line, an MSHR or a miss-queue entry
  input  wire                     rsfail_i,
  // fewer instructions are in flight than the limit
  output wire                     may_issue_o,
  // memory instructions in flight
  output wire [INFLIGHT_BITS-1:0] inflight_o,
  // maximum memory instructions in flight
  output wire [INFLIGHT_BITS-1:0] limit_o,
  // the limit was computed again at the last clock edge
  output wire                     update_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (INFLIGHT_BITS < 6 || INFLIGHT_BITS > 8) begin : gen_wrong_inflight_bits
      milg_INFLIGHT_BITS_must_be_6_to_8 wrong_inflight_bits ();
    end
    if (RSFAIL_BITS != 12 && RSFAIL_BITS != 14) begin : gen_wrong_rsfail_bits
      milg_RSFAIL_BITS_must_be_12_or_14 wrong_rsfail_bits ();
    end
    if (REQUEST_BITS != 8 && REQUEST_BITS != 10) begin : gen_wrong_request_bits
      milg_REQUEST_BITS_must_be_8_or_10 wrong_request_bits ();
    end
  endgenerate

  localparam PER_REQUEST = RSFAIL_BITS - REQUEST_BITS;
  localparam SUM = INFLIGHT_BITS + 1;
  localparam [INFLIGHT_BITS-1:0] NO_LIMIT = {INFLIGHT_BITS{1'b1}};
  reg [INFLIGHT_BITS:0] sum;
  reg [INFLIGHT_BITS-1:0] next_inflight;
  wire [PER_REQUEST-1:0] rsfails_per_request;
  reg [INFLIGHT_BITS-1:0] inflight_q;
  // maximum instructions in flight in this interval
  reg [INFLIGHT_BITS-1:0] max_inflight_q;
  reg [RSFAIL_BITS-1:0] rsfails_q;
  reg [REQUEST_BITS-1:0] requests_q;
  reg [INFLIGHT_BITS-1:0] limit_q;
  reg updated_q;
  wire [INFLIGHT_BITS-1:0] divider_number;
  wire [INFLIGHT_BITS-1:0] divider_quotient;

  milg_small_divider #(
    .INFLIGHT_BITS (INFLIGHT_BITS),
    .RSFAIL_BITS (RSFAIL_BITS),
    .REQUEST_BITS (REQUEST_BITS)
  ) divider (
    .number_i   (divider_number),
    .divisor_i  (rsfails_per_request),
    .quotient_o (divider_quotient)
  );

  // instructions in flight: add the issued ones, subtract the completed ones; saturates at both
  // ends
  always @(*) begin
    sum = {1'b0, inflight_q} + {{(INFLIGHT_BITS-1){1'b0}}, issued_i};
    if (sum < {{(INFLIGHT_BITS-1){1'b0}}, completed_i}) begin
      sum = {SUM{1'b0}};
    end else begin
      sum = sum - {{(INFLIGHT_BITS-1){1'b0}}, completed_i};
    end
  end

  always @(*) begin
    next_inflight = sum[INFLIGHT_BITS-1:0];
    if (sum > {1'b0, NO_LIMIT}) begin
      next_inflight = NO_LIMIT;
    end
  end

  // the shift right by REQUEST: reservation failures per request
  assign rsfails_per_request = rsfails_q[RSFAIL_BITS-1:REQUEST_BITS];

  // instructions in flight above the limit were issued before the limit was set: ignore them
  assign divider_number = (max_inflight_q > limit_q) ? limit_q : max_inflight_q;
  assign may_issue_o = inflight_q < limit_q;
  assign inflight_o = inflight_q;
  assign limit_o = limit_q;
  assign update_o = updated_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inflight_q <= {INFLIGHT_BITS{1'b0}};
    end else begin
      inflight_q <= next_inflight;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      max_inflight_q <= {INFLIGHT_BITS{1'b0}};
      rsfails_q <= {RSFAIL_BITS{1'b0}};
      requests_q <= {REQUEST_BITS{1'b0}};
      limit_q <= {INFLIGHT_BITS{1'b1}};
      updated_q <= 1'b0;
    end else begin
      updated_q <= 1'b0;
      if (request_i & (&requests_q)) begin
        // the interval ends: set a new limit; the counters restart with the events of this cycle
        updated_q <= 1'b1;
        requests_q <= {REQUEST_BITS{1'b0}};
        rsfails_q <= {{(RSFAIL_BITS-1){1'b0}}, rsfail_i};
        max_inflight_q <= next_inflight;
        if (|rsfails_per_request) begin
          if (|divider_quotient) begin
            limit_q <= divider_quotient;
          end else begin
            limit_q <= {{(INFLIGHT_BITS-1){1'b0}}, 1'b1};
          end
        end
      end else begin
        requests_q <= requests_q + {{(REQUEST_BITS-1){1'b0}}, request_i};
        if (rsfail_i & ~(&rsfails_q)) begin
          rsfails_q <= rsfails_q + {{(RSFAIL_BITS-1){1'b0}}, 1'b1};
        end
        if (next_inflight > max_inflight_q) begin
          max_inflight_q <= next_inflight;
        end
      end
    end
  end

endmodule

`default_nettype wire
