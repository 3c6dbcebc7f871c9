// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of spp, written by hand: a table of 256 patterns with a known bit each.

`default_nettype none

module spp (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        query_i,
  input  wire [31:0] query_address_i,
  input  wire  [3:0] requested_i,
  input  wire        evict_i,
  input  wire [31:0] evict_address_i,
  input  wire  [3:0] used_i,
  output reg         valid_o,
  output reg   [3:0] sectors_o,
  output reg         known_o
);

  function [7:0] fold(input [31:0] a);
    fold = a[31:24] ^ a[23:16] ^ a[15:8] ^ a[7:0];
  endfunction

  wire [7:0] from = fold(query_address_i);
  wire [7:0] to = fold(evict_address_i);

  // A counter clears the table after a reset, an entry per cycle.
  reg [7:0] clear_at;
  reg cleared;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      clear_at <= 8'd0;
      cleared <= 1'b0;
    end else if (!cleared) begin
      clear_at <= clear_at + 8'd1;
      cleared <= &clear_at;
    end

  reg [4:0] history [0:255];
  wire [4:0] entry = history[from];

  always @(posedge clk_i)
    if (!cleared || evict_i)
      history[cleared ? to : clear_at] <= {cleared, used_i};

  wire bypass = evict_i && cleared && to == from;
  wire known = bypass || (cleared && entry[4]);
  wire [3:0] pattern = bypass ? used_i : entry[3:0];

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_o <= 1'b0;
    else valid_o <= query_i;

  always @(posedge clk_i)
    if (query_i) begin
      known_o <= known;
      sectors_o <= known ? pattern | requested_i : 4'hf;
    end

endmodule

`default_nettype wire
