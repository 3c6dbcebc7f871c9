// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A memory-instruction-limit generator, written by hand from Dai's section 4.3.3.2 and the description of the block. It
// shares nothing with the Verilog that Selvedge emits. The tests put it in the place of the block.

`timescale 1ns / 1ps

module milg (clk_i, rst_ni, issued_i, completed_i, request_i, rsfail_i, may_issue_o, inflight_o, limit_o, update_o);

	input            clk_i, rst_ni;
	input      [1:0] issued_i, completed_i;
	input            request_i, rsfail_i;
	output           may_issue_o;
	output reg [6:0] inflight_o;
	output reg [6:0] limit_o;
	output reg       update_o;

	reg [9:0]  requests;    // of this interval
	reg [11:0] failures;    // of this interval, at most 4095
	reg [6:0]  peak;        // most in flight in this interval

	// what is in flight after this cycle: 0 to 127
	reg [8:0] balance;
	always @(inflight_o or issued_i or completed_i) begin
		balance = {2'b00, inflight_o} + {7'd0, issued_i};
		if (balance < {7'd0, completed_i})
			balance = 9'd0;
		else
			balance = balance - {7'd0, completed_i};
		if (balance > 9'd127)
			balance = 9'd127;
	end

	// failures per request: one bit for each kind of divisor, of which none means "less than one"
	wire [1:0] per_request = failures[11:10];
	wire [6:0] bound = (peak < limit_o) ? peak : limit_o;
	wire       last  = request_i && (requests == 10'h3ff);

	reg [6:0] share;
	always @(*)
		case (per_request)
			2'd3:    share = bound / 7'd3;
			2'd2:    share = bound >> 1;
			default: share = bound;
		endcase

	assign may_issue_o = inflight_o < limit_o;

	always @(posedge clk_i or negedge rst_ni)
		if (~rst_ni) begin
			{inflight_o, peak, requests, failures, update_o} <= 0;
			limit_o <= 7'h7f;
		end else begin
			inflight_o <= balance[6:0];
			update_o   <= last;
			if (request_i)
				requests <= requests + 10'd1;
			if (last) begin
				failures <= {11'd0, rsfail_i};
				peak     <= balance[6:0];
				if (per_request != 2'd0)
					limit_o <= (share == 7'd0) ? 7'd1 : share;
			end else begin
				if (rsfail_i && failures != 12'hfff)
					failures <= failures + 12'd1;
				if (balance[6:0] > peak)
					peak <= balance[6:0];
			end
		end

endmodule
