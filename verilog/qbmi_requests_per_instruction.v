// SPDX-License-Identifier: MIT OR Apache-2.0
// qbmi_requests_per_instruction
//
// Requests per memory instruction over 1024 requests: rounded to the nearest integer, at most 32.
//
// Part of: qbmi
// Source: Dai, section 4.3.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module qbmi_requests_per_instruction (
  // memory instructions that made the requests
  input  wire [9:0] instructions_i,
  // requests per instruction
  output reg  [5:0] requests_o
);

  // maximum instructions with which the average is at least 2, at least 3 and so on
  localparam [309:0] MOST = {10'd32, 10'd33, 10'd34, 10'd35, 10'd37, 10'd38, 10'd40, 10'd41, 10'd43,
      10'd45, 10'd47, 10'd49, 10'd52, 10'd55, 10'd58, 10'd62, 10'd66, 10'd70, 10'd75, 10'd81,
      10'd89, 10'd97, 10'd107, 10'd120, 10'd136, 10'd157, 10'd186, 10'd227, 10'd292, 10'd409,
      10'd682};

  always @(*) begin : comb_requests_o
    integer i;
    requests_o = 6'd1;
    for (i = 0; i < 31; i = i + 1) begin
      if (instructions_i <= MOST[i*10 +: 10]) begin
        requests_o = i[5:0] + 6'd2;
      end
    end
  end

endmodule

`default_nettype wire
