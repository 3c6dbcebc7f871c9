// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The decompressor of bdi_decompressor.v with a latency of three cycles.

`include "bdi_decompressor.v"

module bdi_decompressor_3 (
	input           clk_i, rst_ni,
	input           valid_i,
	output          ready_o,
	input  [3:0]    encoding_i,
	input  [1023:0] payload_i,
	output          valid_o,
	input           ready_i,
	output          error_o,
	output [1023:0] line_o
);

	bdi_decompressor #(.STAGES(3)) slow (
		.clk_i(clk_i), .rst_ni(rst_ni),
		.valid_i(valid_i), .ready_o(ready_o), .encoding_i(encoding_i), .payload_i(payload_i),
		.valid_o(valid_o), .ready_i(ready_i), .error_o(error_o), .line_o(line_o)
	);

endmodule
