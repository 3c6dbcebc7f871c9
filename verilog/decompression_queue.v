// SPDX-License-Identifier: MIT OR Apache-2.0
// decompression_queue
//
// Queues hits on compressed lines for the decompressor and returns the effective latency of each.
//
// LATTE-CC, section III-B. 2^A lines can wait. POSITION is A + 1, and LATENCY is the width of an
// effective latency.
//
// Parameters: depth = 8
// In this file: A = 3, POSITION = 4, LATENCY = 8
// Source: LATTE-CC, section III-B
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// Decompression queue: hits on compressed lines wait here for the decompressor, and get their
// effective latency on entry.
//
// Source: LATTE-CC, section III-B and equation 3:
//
//   effective hit latency = decompression latency x (position in the queue + 1)
//
// A line enters with its identifier and the latency of its compression mode (2 cycles for BDI, 14
// for SC). The decompressor handles one line at a time, in the order of entry. Decompression takes
// the line's latency.
//
//   id_i, latency_i --+--> [waiting: a memory of `depth` lines] --+--> [in the decompressor: id, cycles left] --> id_o
//                     \---------- nothing waits, it is free ------/
//
//   lines ahead, latency_i --> x --> hit_latency_o        cycles of work ahead + latency_i --> exact_latency_o
//
// Choices where the paper is silent:
// - The position counts all lines ahead, including the line in the decompressor, but not a line
//   that leaves in the same cycle. A line that finds the decompressor free, or just becoming free,
//   has position 0 and waits only for its own latency.
// - The formula assumes that all lines ahead have the new line's mode and that the first one has
//   just begun. With mixed modes it can be too low or too high, so the block also reports the exact
//   latency. It is the sum of the remaining cycles of the line in the decompressor, the latencies
//   of the waiting lines, and the line's own latency. It holds if the consumer takes lines at once;
//   each cycle of delay adds one.
// - The paper does not give the depth. Lines are refused while `depth` lines wait.
// - A latency of 0 counts as 1. Uncompressed lines need no decompression, but the queue handles
//   them.
//
// PARAMETERS
// - depth, default 8, allowed 4, 8, 16: lines that can wait, in addition to the line in the
//   decompressor
//
// PORTS AND TIMING
// Both sides are valid/ready: a line enters when `valid_i` and `ready_o` are high, and leaves when
// `valid_o` and `ready_i` are high. `ready_o` and `valid_o` come from registers. The reply to an
// entry, `position_o` and both latencies, comes one cycle later and holds until the next reply.
//
//   clk_i          __/--\__/--\__/--\__/--\__/--\__     a line of latency 2, then one of latency 14
//   valid_i        __/-----------\_________________
//   id_i           ==< A  >< B   >=================
//   accepted_o     ________/-----------\___________
//   position_o     ========< 0   >< 1  ============
//   hit_latency_o  ========< 2   >< 28 ============
//   exact_latency_o========< 2   >< 15 ============     A has one cycle left when B enters
//   valid_o        ______________/-----\___________     A, 2 cycles after it entered; B follows 13 cycles from here
//   id_o           ========< A         >< B =======
//
// STORAGE
// By default 148 bits: 8 waiting lines of 12 bits (identifier 8, latency 4), their pointers (3
// each) and count (4), the line in the decompressor (1 + 8 + 4), the cycles of work ahead (8), and
// the reply (1 + 4 + 8 + 8). The paper counts none of them.

`default_nettype none

module decompression_queue (
  // clock
  input  wire       clk_i,
  // asynchronous reset, active low: the queue is empty
  input  wire       rst_ni,
  // a hit on a compressed line is offered
  input  wire       valid_i,
  // identifier of the hit
  input  wire [7:0] id_i,
  // decompression latency of the line's mode, in cycles
  input  wire [3:0] latency_i,
  // the consumer takes the decompressed line in this cycle
  input  wire       ready_i,
  // the queue can take a line in this cycle
  output wire       ready_o,
  // a decompressed line is offered
  output wire       valid_o,
  // identifier of the line in the decompressor
  output wire [7:0] id_o,
  // a line entered in the last cycle
  output wire       accepted_o,
  // lines that were ahead of that line
  output wire [3:0] position_o,
  // effective hit latency of that line by the paper's formula, in cycles
  output wire [7:0] hit_latency_o,
  // cycles from that line's entry until it is decompressed, if the consumer does not stall
  output wire [7:0] exact_latency_o
);

  // next_line: the first bit of each field
  localparam NEXT_LINE_REMAINING = 0;
  localparam NEXT_LINE_ID = 4;
  localparam [3:0] DEPTH = 4'd8;
  wire [3:0] latency;
  wire [11:0] next_line;
  wire has_room;
  wire finished;
  // the line in the decompressor leaves
  wire leaves;
  // the decompressor can begin a line
  wire free;
  wire enters;
  // the entering line goes to the decompressor at once
  wire passes;
  // a waiting line goes to the decompressor
  wire begins;
  wire [3:0] ahead;
  wire [3:0] ahead_and_own;
  wire [7:0] work_ahead;
  wire lines_write;
  wire [11:0] lines_write_data;
  wire [11:0] lines_read_data;
  reg [2:0] read_q;
  reg [2:0] write_q;
  // number of waiting lines
  reg [3:0] waiting_q;
  // the decompressor holds a line
  reg busy_q;
  reg [7:0] id_q;
  // remaining cycles of the line in the decompressor
  reg [3:0] remaining_q;
  // remaining cycles of all lines together
  reg [7:0] work_q;
  reg accepted_q;
  reg [3:0] position_q;
  reg [7:0] hit_latency_q;
  reg [7:0] exact_latency_q;

  selvedge_mem #(.A (3), .BITS (12)) lines (
    .clk_i           (clk_i),
    .write_i         (lines_write),
    .write_address_i (write_q),
    .write_data_i    (lines_write_data),
    .read_address_i  (read_q),
    .read_data_o     (lines_read_data)
  );

  // a line is finished in its last cycle; when it leaves, the next one begins
  assign finished = busy_q & (remaining_q == 4'd1);
  assign leaves = finished & ready_i;
  assign free = ~busy_q | leaves;
  assign has_room = waiting_q != DEPTH;
  assign enters = valid_i & has_room;
  assign begins = free & (|waiting_q);

  assign passes = free & ~(|waiting_q) & enters;

  assign latency = (|latency_i) ? latency_i : 4'd1;
  // the memory of waiting lines is a ring buffer
  assign lines_write = enters & ~passes;
  assign lines_write_data = {id_i, latency};
  assign next_line = lines_read_data;

  // reply: lines and cycles ahead of the entering line
  assign ahead = free ? waiting_q : (waiting_q + 4'd1);
  assign ahead_and_own = ahead + 4'd1;
  assign work_ahead = (busy_q & (~finished | ready_i)) ? (work_q - 8'd1) : work_q;

  assign ready_o = has_room;
  assign valid_o = finished;
  assign id_o = id_q;
  assign accepted_o = accepted_q;
  assign position_o = position_q;
  assign hit_latency_o = hit_latency_q;
  assign exact_latency_o = exact_latency_q;

  // the decompressor
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      accepted_q <= 1'b0;
    end else begin
      busy_q <= ~free | begins | passes;
      accepted_q <= enters;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q <= 3'd0;
    end else if (begins) begin
      read_q <= read_q + 3'd1;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      write_q <= 3'd0;
    end else if (enters & ~passes) begin
      write_q <= write_q + 3'd1;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      waiting_q <= 4'd0;
    end else if (enters & ~passes & ~begins) begin
      waiting_q <= waiting_q + 4'd1;
    end else if (begins & ~enters) begin
      waiting_q <= waiting_q - 4'd1;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      id_q <= 8'd0;
      remaining_q <= 4'd0;
    end else if (begins) begin
      id_q <= next_line[NEXT_LINE_ID +: 8];
      remaining_q <= next_line[NEXT_LINE_REMAINING +: 4];
    end else if (passes) begin
      id_q <= id_i;
      remaining_q <= latency;
    end else if (busy_q & ~finished) begin
      remaining_q <= remaining_q - 4'd1;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      work_q <= 8'd0;
      position_q <= 4'd0;
      hit_latency_q <= 8'd0;
      exact_latency_q <= 8'd0;
    end else begin
      work_q <= work_ahead;
      if (enters) begin
        work_q <= work_ahead + {4'd0, latency};
        position_q <= ahead;
        hit_latency_q <= {4'd0, latency} * {4'd0, ahead_and_own};
        exact_latency_q <= work_ahead + {4'd0, latency};
      end
    end
  end

endmodule

`default_nettype wire
