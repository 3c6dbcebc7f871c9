// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of qbmi with two kernels, written by hand from Dai's section 4.3.2 and the description of the block.

`default_nettype none

module qbmi (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        issue_i,
  input  wire        issue_kernel_i,
  input  wire        request_i,
  input  wire        request_kernel_i,
  output wire  [1:0] rank_o,
  output wire [13:0] quotas_o,
  output reg         replenish_o,
  output wire        update_o
);

  // Requests per instruction, rounded, from the number of instructions that made 1,024 requests.
  function [5:0] average(input [9:0] n);
    if (n <= 32) average = 32;
    else if (n <= 33) average = 31;
    else if (n <= 34) average = 30;
    else if (n <= 35) average = 29;
    else if (n <= 37) average = 28;
    else if (n <= 38) average = 27;
    else if (n <= 40) average = 26;
    else if (n <= 41) average = 25;
    else if (n <= 43) average = 24;
    else if (n <= 45) average = 23;
    else if (n <= 47) average = 22;
    else if (n <= 49) average = 21;
    else if (n <= 52) average = 20;
    else if (n <= 55) average = 19;
    else if (n <= 58) average = 18;
    else if (n <= 62) average = 17;
    else if (n <= 66) average = 16;
    else if (n <= 70) average = 15;
    else if (n <= 75) average = 14;
    else if (n <= 81) average = 13;
    else if (n <= 89) average = 12;
    else if (n <= 97) average = 11;
    else if (n <= 107) average = 10;
    else if (n <= 120) average = 9;
    else if (n <= 136) average = 8;
    else if (n <= 157) average = 7;
    else if (n <= 186) average = 6;
    else if (n <= 227) average = 5;
    else if (n <= 292) average = 4;
    else if (n <= 409) average = 3;
    else if (n <= 682) average = 2;
    else average = 1;
  endfunction

  reg [9:0] instructions0, instructions1, requests0, requests1;
  reg [5:0] average0, average1;
  reg renewed;

  wire issue0 = issue_i && !issue_kernel_i;
  wire issue1 = issue_i && issue_kernel_i;
  wire request0 = request_i && !request_kernel_i;
  wire request1 = request_i && request_kernel_i;
  wire end0 = request0 && &requests0;
  wire end1 = request1 && &requests1;
  wire [5:0] new_average = average(request_kernel_i ? instructions1 : instructions0);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      instructions0 <= 0;
      instructions1 <= 0;
      requests0 <= 0;
      requests1 <= 0;
      average0 <= 1;
      average1 <= 1;
      renewed <= 0;
    end else begin
      renewed <= end0 || end1;
      if (request0) requests0 <= requests0 + 1'b1;
      if (request1) requests1 <= requests1 + 1'b1;
      if (end0) average0 <= new_average;
      if (end1) average1 <= new_average;
      if (end0) instructions0 <= issue0;
      else if (issue0 && !(&instructions0)) instructions0 <= instructions0 + 1'b1;
      if (end1) instructions1 <= issue1;
      else if (issue1 && !(&instructions1)) instructions1 <= instructions1 + 1'b1;
    end

  // The set of quotas: multiples are added to quotients and remainders by each average until both remainders are zero.
  reg busy, second, updated;
  reg [5:0] quotient0, quotient1, step_quotient0, step_quotient1, set0, set1;
  reg [4:0] rest0, rest1, step_rest0, step_rest1;
  wire [5:0] sum0 = rest0 + step_rest0;
  wire [5:0] sum1 = rest1 + step_rest1;
  wire carry0 = sum0 >= average0;
  wire carry1 = sum1 >= average1;
  wire divides = second ? rest1 == 0 : rest0 == 0;
  wire one0 = average0 == 1;
  wire one1 = average1 == 1;
  assign update_o = updated;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy <= 0;
      second <= 0;
      updated <= 0;
      {quotient0, quotient1, step_quotient0, step_quotient1} <= 0;
      {rest0, rest1, step_rest0, step_rest1} <= 0;
      set0 <= 1;
      set1 <= 1;
    end else begin
      updated <= 0;
      if (renewed) begin
        busy <= 1;
        second <= 0;
        quotient0 <= one0;
        step_quotient0 <= one0;
        rest0 <= !one0;
        step_rest0 <= !one0;
        quotient1 <= one1;
        step_quotient1 <= one1;
        rest1 <= !one1;
        step_rest1 <= !one1;
      end else if (busy) begin
        if (divides) begin
          step_quotient0 <= quotient0;
          step_quotient1 <= quotient1;
          step_rest0 <= rest0;
          step_rest1 <= rest1;
          second <= !second;
          if (second) begin
            set0 <= quotient0;
            set1 <= quotient1;
            busy <= 0;
            updated <= 1;
          end
        end else begin
          quotient0 <= quotient0 + step_quotient0 + carry0;
          quotient1 <= quotient1 + step_quotient1 + carry1;
          rest0 <= carry0 ? sum0 - average0 : sum0;
          rest1 <= carry1 ? sum1 - average1 : sum1;
        end
      end
    end

  // An instruction costs its kernel one. When that leaves none, both kernels get a set.
  reg [6:0] quota0, quota1;
  wire empty = (issue0 && quota0 == 1) || (issue1 && quota1 == 1);
  wire [6:0] left0 = quota0 - issue0;
  wire [6:0] left1 = quota1 - issue1;
  wire [7:0] more0 = left0 + set0;
  wire [7:0] more1 = left1 + set1;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      replenish_o <= 0;
      quota0 <= 1;
      quota1 <= 1;
    end else begin
      replenish_o <= empty;
      quota0 <= !empty ? left0 : more0[7] ? 7'd127 : more0[6:0];
      quota1 <= !empty ? left1 : more1[7] ? 7'd127 : more1[6:0];
    end

  wire first_is_1 = quota1 > quota0;
  assign rank_o = {!first_is_1, first_is_1};
  assign quotas_o = {quota1, quota0};

endmodule

`default_nettype wire
