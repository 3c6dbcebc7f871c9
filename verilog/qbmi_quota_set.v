// SPDX-License-Identifier: MIT OR Apache-2.0
// qbmi_quota_set
//
// Computes a set of quotas: the least common multiple of all kernels' requests per instruction,
// divided by each.
//
// The multiple is not stored, only its quotient and remainder for each kernel. It starts as 1. The
// kernels are processed in order: the multiple at the start of a kernel's turn is added repeatedly
// until the kernel's remainder is zero. K is the number of kernels. N is the width of a kernel's
// number, SET that of a quota.
//
// Parameters: K = 2, N = 1, SET = 6
// Part of: qbmi
// Source: Dai, section 4.3.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module qbmi_quota_set (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: all quotas are 1
  input  wire        rst_ni,
  // requests per instruction of a kernel have changed: start or restart
  input  wire        start_i,
  // requests per memory instruction of each kernel; stable until the next start
  input  wire [11:0] requests_i,
  // the quotas that were last computed
  output reg  [11:0] quota_o,
  // the quotas were computed at the last clock edge
  output wire        update_o
);

  localparam LAST = 1'b1;
  reg divides;
  reg [5:0] reduced;
  reg busy_q;
  reg updated_q;
  // number of the kernel in turn
  reg turn_q;
  reg [11:0] quotient_d;
  // quotients of the common multiple by each kernel's requests
  reg [11:0] quotient_q;
  reg [9:0] rest_d;
  // remainders of the common multiple by each kernel's requests
  reg [9:0] rest_q;
  reg [11:0] step_quotient_d;
  // quotients and remainders of the multiple at the start of the turn; each step adds them
  reg [11:0] step_quotient_q;
  reg [9:0] step_rest_d;
  reg [9:0] step_rest_q;
  reg [11:0] quota_d;
  reg [11:0] quota_q;

  always @(*) begin : comb_divides
    integer i;
    reg kernel;
    divides = 1'b0;
    for (i = 0; i < 2; i = i + 1) begin
      kernel = i[0];
      if (turn_q == kernel) begin
        divides = ~(|rest_q[i*5 +: 5]);
      end
    end
  end

  always @(*) begin : comb_quotient_d
    integer i;
    reg [4:0] addend;
    reg [5:0] sum;
    reg carry;
    reg [4:0] addend_2;
    quotient_d = quotient_q;
    rest_d = rest_q;
    step_quotient_d = step_quotient_q;
    step_rest_d = step_rest_q;
    quota_d = quota_q;
    for (i = 0; i < 2; i = i + 1) begin
      addend = rest_q[i*5 +: 5];
      sum = {1'b0, addend};
      addend_2 = step_rest_q[i*5 +: 5];
      sum = sum + {1'b0, addend_2};
      carry = sum >= requests_i[i*6 +: 6];
      reduced = sum;
      if (carry) begin
        reduced = sum - requests_i[i*6 +: 6];
      end
      if (start_i) begin
        // 1 divided by the kernel's requests: 1 if that is 1, else 0 and a remainder of 1
        quotient_d[i*6 +: 6] = 6'd0;
        step_quotient_d[i*6 +: 6] = 6'd0;
        rest_d[i*5 +: 5] = 5'd1;
        step_rest_d[i*5 +: 5] = 5'd1;
        if (requests_i[i*6 +: 6] == 6'd1) begin
          quotient_d[i*6 +: 6] = 6'd1;
          step_quotient_d[i*6 +: 6] = 6'd1;
          rest_d[i*5 +: 5] = 5'd0;
          step_rest_d[i*5 +: 5] = 5'd0;
        end
      end else if (busy_q) begin
        if (divides) begin
          step_quotient_d[i*6 +: 6] = quotient_q[i*6 +: 6];
          step_rest_d[i*5 +: 5] = rest_q[i*5 +: 5];
          if (turn_q == LAST) begin
            quota_d[i*6 +: 6] = quotient_q[i*6 +: 6];
          end
        end else begin
          // one more step; the quotient takes a carry when the remainder is reduced
          quotient_d[i*6 +: 6] = quotient_q[i*6 +: 6] + step_quotient_q[i*6 +: 6] + {5'd0, carry};
          rest_d[i*5 +: 5] = reduced[4:0];
        end
      end
      quota_o[i*6 +: 6] = quota_q[i*6 +: 6];
    end
  end

  assign update_o = updated_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      quotient_q <= 12'd0;
      rest_q <= 10'd0;
      step_quotient_q <= 12'd0;
      step_rest_q <= 10'd0;
      quota_q <= {2{6'd1}};
    end else begin
      quotient_q <= quotient_d;
      rest_q <= rest_d;
      step_quotient_q <= step_quotient_d;
      step_rest_q <= step_rest_d;
      quota_q <= quota_d;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      updated_q <= 1'b0;
      turn_q <= 1'b0;
    end else begin
      updated_q <= 1'b0;
      if (start_i) begin
        busy_q <= 1'b1;
        turn_q <= 1'b0;
      end else if (busy_q & divides) begin
        // the multiple is divisible by this kernel's requests: continue with the next kernel, or
        // finish
        turn_q <= turn_q + 1'b1;
        if (turn_q == LAST) begin
          busy_q <= 1'b0;
          updated_q <= 1'b1;
        end
      end
    end
  end

  // unused bits
  wire unused = &{1'b0, reduced[5]};

endmodule

`default_nettype wire
