// milg
//
// Limits a kernel's memory instructions in flight by its reservation failures per request.
//
// Dai, section 4.3.3.2. INFLIGHT, RSFAIL and REQUEST are the bits of the three counters, PER_REQUEST those of
// the failures per request (RSFAIL - REQUEST). SUM is wide enough for the in-flight count and this cycle's
// issues.
//
// Parameters: inflight_bits = 7, rsfail_bits = 12, request_bits = 10
// In this file: INFLIGHT = 7, RSFAIL = 12, REQUEST = 10, PER_REQUEST = 2, SUM = 8
// Source: Dai, section 4.3.3.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module milg (
  // clock
  input  wire       clk_i,
  // asynchronous reset, active low: nothing in flight, no limit
  input  wire       rst_ni,
  // memory instructions issued in this cycle
  input  wire [1:0] issued_i,
  // memory instructions completed in this cycle
  input  wire [1:0] completed_i,
  // the kernel made a memory request
  input  wire       request_i,
  // a request failed to reserve what it needs
  input  wire       rsfail_i,
  // fewer instructions are in flight than the limit
  output wire       may_issue_o,
  // memory instructions in flight
  output wire [6:0] inflight_o,
  // the limit
  output wire [6:0] limit_o,
  // the limit was computed anew at the last clock edge
  output wire       update_o
);

  localparam [6:0] NO_LIMIT = 7'd127;
  reg [7:0] sum;
  reg [6:0] next_inflight;
  wire [1:0] rsfails_per_request;
  reg [6:0] inflight_q;
  // most instructions in flight in this interval
  reg [6:0] max_inflight_q;
  reg [11:0] rsfails_q;
  reg [9:0] requests_q;
  reg [6:0] limit_q;
  reg updated_q;
  reg [6:0] divider_number_i;
  wire [6:0] divider_quotient_o;

  milg_small_divider divider (
    .number_i   (divider_number_i),
    .divisor_i  (rsfails_per_request),
    .quotient_o (divider_quotient_o)
  );

  // instructions in flight: first those issued, then those completed; both ends saturate
  always @(*) begin
    sum = {1'b0, inflight_q} + {6'd0, issued_i};
    if (sum < {6'd0, completed_i}) begin
      sum = 8'd0;
    end else begin
      sum = sum - {6'd0, completed_i};
    end
  end

  always @(*) begin
    next_inflight = sum[6:0];
    if (sum > {1'b0, NO_LIMIT}) begin
      next_inflight = NO_LIMIT;
    end
  end

  // the shift right by REQUEST: reservation failures per request
  assign rsfails_per_request = rsfails_q[11:10];

  // what is in flight beyond the limit was so before the limit came
  always @(*) begin
    divider_number_i = max_inflight_q;
    if (max_inflight_q > limit_q) begin
      divider_number_i = limit_q;
    end
  end

  assign may_issue_o = inflight_q < limit_q;
  assign inflight_o = inflight_q;
  assign limit_o = limit_q;
  assign update_o = updated_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      inflight_q <= 7'd0;
    end else begin
      inflight_q <= next_inflight;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      max_inflight_q <= 7'd0;
      rsfails_q <= 12'd0;
      requests_q <= 10'd0;
      limit_q <= 7'd127;
      updated_q <= 1'b0;
    end else begin
      updated_q <= 1'b0;
      if (request_i & (&requests_q)) begin
        // the interval ends: a new limit, and the counters start over with the events of this cycle
        updated_q <= 1'b1;
        requests_q <= 10'd0;
        rsfails_q <= {11'd0, rsfail_i};
        max_inflight_q <= next_inflight;
        if (|rsfails_per_request) begin
          if (|divider_quotient_o) begin
            limit_q <= divider_quotient_o;
          end else begin
            limit_q <= 7'd1;
          end
        end
      end else begin
        requests_q <= requests_q + {9'd0, request_i};
        if (rsfail_i & !(&rsfails_q)) begin
          rsfails_q <= rsfails_q + 12'd1;
        end
        if (next_inflight > max_inflight_q) begin
          max_inflight_q <= next_inflight;
        end
      end
    end
  end

endmodule

`default_nettype wire
