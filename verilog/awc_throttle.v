// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_throttle
//
// Reports whether the SM had resources to spare in the last window of cycles.
//
// It had none if a class of units was busy in more than BUSY_LIMIT cycles or if fewer than
// IDLE_LIMIT cycles were idle.
//
// Part of: awc
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_throttle #(
  // Busy cycles of a class of units, out of 128, above which low priority is throttled; verified
  // with 64, 96, 128
  parameter integer BUSY_LIMIT = 96
) (
  // clock
  input  wire       clk_i,
  // asynchronous reset, active low: low priority is not throttled
  input  wire       rst_ni,
  // classes of units that are busy, one bit each
  input  wire [2:0] busy_i,
  // no scheduler issues for a regular warp or at high priority
  input  wire       idle_i,
  // the SM had no resources to spare in the last window
  output wire       throttled_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (BUSY_LIMIT != 64 && BUSY_LIMIT != 96 && BUSY_LIMIT != 128) begin : gen_wrong_busy_limit
      awc_throttle_BUSY_LIMIT_must_be_64_96_or_128 wrong_busy_limit ();
    end
  endgenerate

  localparam [7:0] IDLE_LIMIT = 8'd8;
  reg [7:0] count;
  wire window_ends;
  reg [23:0] busy_d;
  // busy cycles of each class in the current window
  reg [23:0] busy_q;
  reg [7:0] idle_q;
  reg [6:0] cycle_q;
  reg throttled_d;
  reg throttled_q;

  assign window_ends = &cycle_q;

  always @(*) begin : comb_throttled_d
    integer unit;
    reg scarce;
    throttled_d = throttled_q;
    // count the last cycle of a window in it, then reset all counts
    scarce = 1'b0;
    for (unit = 0; unit < 3; unit = unit + 1) begin
      count = busy_q[unit*8 +: 8] + {7'd0, busy_i[unit]};
      scarce = scarce | (count > BUSY_LIMIT[7:0]);
      if (window_ends) begin
        count = 8'd0;
      end
      busy_d[unit*8 +: 8] = count;
    end
    count = idle_q + {7'd0, idle_i};
    scarce = scarce | (count < IDLE_LIMIT);
    if (window_ends) begin
      count = 8'd0;
      throttled_d = scarce;
    end
  end

  assign throttled_o = throttled_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      cycle_q <= 7'd0;
      idle_q <= 8'd0;
      busy_q <= 24'd0;
      throttled_q <= 1'b0;
    end else begin
      cycle_q <= cycle_q + 7'd1;
      idle_q <= count;
      busy_q <= busy_d;
      throttled_q <= throttled_d;
    end
  end

endmodule

`default_nettype wire
