// SPDX-License-Identifier: MIT OR Apache-2.0
// fpc_decompressor_fpc_parse
//
// Reads the head symbol by symbol: the prefix of each of GROUPS groups, and what the groups behind them need.
//
// A group of one word (RUNS is 1) is the original algorithm, in which the prefix of zeros is followed by the
// length of the run. HEAD is the bits in which the longest head of the whole line lies.
//
// Parameters: GROUPS = 16, RUNS = 1, HEAD = 192, HEADW = 3, PRE = 48, PREW = 1
// Part of: fpc_decompressor
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module fpc_decompressor_fpc_parse (
  // the head from the first of the groups on
  input  wire [191:0] head_i,
  // words that a zero run before them still covers
  input  wire   [2:0] run_i,
  // bits of the head before them
  input  wire   [7:0] start_i,
  // a prefix for each group
  output wire  [47:0] prefixes_o,
  // the head behind the groups
  output wire [191:0] head_o,
  // words behind the groups that a zero run covers
  output wire   [2:0] run_o,
  // bits of the head up to there
  output wire   [7:0] start_o
);

  // zero words are counted in runs
  localparam HAS_RUNS = 1'b1;
  reg [191:0] head;
  reg [2:0] prefix;
  reg [2:0] run;
  reg [7:0] start;
  reg [47:0] prefixes;

  always @(*) begin : comb_head
    integer g;
    head = head_i;
    prefix = 3'd0;
    run = run_i;
    start = start_i;
    prefixes = 48'd0;
    for (g = 0; g < 16; g = g + 1) begin
      prefix = 3'd0;
      if (|run) begin
        run = run - 3'd1;
      end else begin
        prefix = head[2:0];
        if (HAS_RUNS & !(|prefix)) begin
          run = head[5:3];
          head = head >> 6;
          start = start + 8'd6;
        end else begin
          head = head >> 3;
          start = start + 8'd3;
        end
      end
      prefixes[g*3 +: 3] = prefix;
    end
  end

  assign prefixes_o = prefixes;
  assign head_o = head;
  assign run_o = run;
  assign start_o = start;

endmodule

`default_nettype wire
