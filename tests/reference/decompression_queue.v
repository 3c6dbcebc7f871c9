// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of decompression_queue, written by hand from the description of the block.

`default_nettype none

module decompression_queue (
  input  wire       clk_i,
  input  wire       rst_ni,
  input  wire       valid_i,
  input  wire [7:0] id_i,
  input  wire [3:0] latency_i,
  input  wire       ready_i,
  output wire       ready_o,
  output wire       valid_o,
  output reg  [7:0] id_o,
  output reg        accepted_o,
  output reg  [3:0] position_o,
  output reg  [7:0] hit_latency_o,
  output reg  [7:0] exact_latency_o
);

  reg [11:0] fifo [0:7];
  reg [2:0] head, tail;
  reg [3:0] count, left;
  reg busy;
  reg [7:0] work;

  assign ready_o = !count[3];
  assign valid_o = busy && left == 4'd1;
  wire [3:0] latency = latency_i == 0 ? 4'd1 : latency_i;
  wire enter = valid_i && ready_o;
  wire idle = !busy || (valid_o && ready_i);
  wire begins = idle && count != 0;
  wire direct = idle && count == 0 && enter;
  wire push = enter && !direct;
  wire [3:0] ahead = count + !idle;
  wire [3:0] with_own = ahead + 4'd1;
  wire works = busy && !(valid_o && !ready_i);
  wire [7:0] work_left = work - works;
  wire [7:0] exact = work_left + latency;

  always @(posedge clk_i) if (push) fifo[tail] <= {id_i, latency};

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      {head, tail, count, busy, id_o, left} <= 0;
      {work, accepted_o, position_o, hit_latency_o, exact_latency_o} <= 0;
    end else begin
      head <= head + begins;
      tail <= tail + push;
      count <= count + push - begins;
      busy <= !idle || begins || direct;
      if (begins) {id_o, left} <= fifo[head];
      else if (direct) {id_o, left} <= {id_i, latency};
      else if (works && !valid_o) left <= left - 4'd1;
      accepted_o <= enter;
      work <= enter ? exact : work_left;
      if (enter) begin
        position_o <= ahead;
        hit_latency_o <= latency * with_own;
        exact_latency_o <= exact;
      end
    end

endmodule

`default_nettype wire
