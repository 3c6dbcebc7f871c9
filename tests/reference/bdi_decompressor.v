// SPDX-License-Identifier: MIT OR Apache-2.0
//
// A decompressor of base-delta-immediate cache lines of 128 bytes, written by hand from the description of the format:
// base, mask and deltas from bit 0 up, a set bit of the mask for a word that is a delta from zero. It shares nothing with
// the Verilog that Selvedge emits. The tests put it in the place of the block.

`timescale 1ns / 1ps

module bdi_decompressor #(
	parameter STAGES = 1
) (
	input               clk_i,
	input               rst_ni,

	// compressed side
	input               valid_i,
	output              ready_o,
	input      [3:0]    encoding_i,
	input      [1023:0] payload_i,

	// line side
	output              valid_o,
	input               ready_i,
	output              error_o,
	output     [1023:0] line_o
);

	// tags
	localparam RAW   = 4'd0,  ZERO  = 4'd1,
	           B8_D0 = 4'd2,  B8_D1 = 4'd3,  B8_D2 = 4'd4,  B8_D4 = 4'd5,
	           B4_D0 = 4'd6,  B4_D1 = 4'd7,  B4_D2 = 4'd8,
	           B2_D0 = 4'd9,  B2_D1 = 4'd10;

	//---------------------------------------------------------------- words of 8 bytes
	wire [63:0] base8 = payload_i[63:0];
	wire [15:0] mask8 = payload_i[79:64];
	wire [1023:0] lines8 [0:3];

	genvar w;
	generate
		for (w = 0; w < 16; w = w + 1) begin : word8
			wire [63:0] from = mask8[w] ? 64'd0 : base8;
			wire signed [7:0]  by1 = payload_i[80 +  8 * w +:  8];
			wire signed [15:0] by2 = payload_i[80 + 16 * w +: 16];
			wire signed [31:0] by4 = payload_i[80 + 32 * w +: 32];
			assign lines8[0][64 * w +: 64] = base8;
			assign lines8[1][64 * w +: 64] = from + {{56{by1[7]}},  by1};
			assign lines8[2][64 * w +: 64] = from + {{48{by2[15]}}, by2};
			assign lines8[3][64 * w +: 64] = from + {{32{by4[31]}}, by4};
		end
	endgenerate

	//---------------------------------------------------------------- words of 4 bytes
	wire [31:0] base4 = payload_i[31:0];
	wire [31:0] mask4 = payload_i[63:32];
	wire [1023:0] lines4 [0:2];

	generate
		for (w = 0; w < 32; w = w + 1) begin : word4
			wire [31:0] from = mask4[w] ? 32'd0 : base4;
			wire signed [7:0]  by1 = payload_i[64 +  8 * w +:  8];
			wire signed [15:0] by2 = payload_i[64 + 16 * w +: 16];
			assign lines4[0][32 * w +: 32] = base4;
			assign lines4[1][32 * w +: 32] = from + {{24{by1[7]}},  by1};
			assign lines4[2][32 * w +: 32] = from + {{16{by2[15]}}, by2};
		end
	endgenerate

	//---------------------------------------------------------------- words of 2 bytes
	wire [15:0] base2 = payload_i[15:0];
	wire [63:0] mask2 = payload_i[79:16];
	wire [1023:0] lines2 [0:1];

	generate
		for (w = 0; w < 64; w = w + 1) begin : word2
			wire [15:0] from = mask2[w] ? 16'd0 : base2;
			wire signed [7:0] by1 = payload_i[80 + 8 * w +: 8];
			assign lines2[0][16 * w +: 16] = base2;
			assign lines2[1][16 * w +: 16] = from + {{8{by1[7]}}, by1};
		end
	endgenerate

	//---------------------------------------------------------------- which of them it is
	reg [1023:0] line;
	reg          bad;

	always @* begin
		bad = 1'b0;
		case (encoding_i)
			RAW:     line = payload_i;
			ZERO:    line = {1024{1'b0}};
			B8_D0:   line = lines8[0];
			B8_D1:   line = lines8[1];
			B8_D2:   line = lines8[2];
			B8_D4:   line = lines8[3];
			B4_D0:   line = lines4[0];
			B4_D1:   line = lines4[1];
			B4_D2:   line = lines4[2];
			B2_D0:   line = lines2[0];
			B2_D1:   line = lines2[1];
			default: begin
				line = {1024{1'b0}};
				bad  = 1'b1;
			end
		endcase
	end

	//---------------------------------------------------------------- stages that hold a line each
	reg  [1024:0] held [0:STAGES - 1];
	reg  [STAGES - 1:0] full;
	wire [STAGES:0] room;

	assign room[STAGES] = ready_i;

	genvar s;
	generate
		for (s = 0; s < STAGES; s = s + 1) begin : stage
			wire comes;
			assign room[s] = !full[s] || room[s + 1];

			if (s == 0) begin : first
				assign comes = valid_i;
				always @(posedge clk_i or negedge rst_ni)
					if (!rst_ni) held[s] <= 1025'd0;
					else if (comes && room[s]) held[s] <= {bad, line};
			end else begin : later
				assign comes = full[s - 1];
				always @(posedge clk_i or negedge rst_ni)
					if (!rst_ni) held[s] <= 1025'd0;
					else if (comes && room[s]) held[s] <= held[s - 1];
			end

			always @(posedge clk_i or negedge rst_ni)
				if (!rst_ni) full[s] <= 1'b0;
				else if (room[s]) full[s] <= comes;
		end
	endgenerate

	assign ready_o = room[0];
	assign valid_o = full[STAGES - 1];
	assign {error_o, line_o} = held[STAGES - 1];

endmodule
