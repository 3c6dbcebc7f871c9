// What bdi_compressor's comparison of words with a base means, written by hand: differences as they are defined, whole.
//
// A word is a delta from the base when the upper half of its difference and the bit below are all equal.

`default_nettype none

module bdi_compressor_bdi_near #(
  parameter integer DELTA = 32,
  parameter integer STRIDE = 64,
  parameter integer LINE = 1024
) (
  input  wire        [LINE-1:0] line_i,
  input  wire     [2*DELTA-1:0] base_i,
  output reg  [LINE/STRIDE-1:0] near_o
);

  reg [2*DELTA-1:0] difference;
  integer i;
  always @(*)
    for (i = 0; i < LINE / STRIDE; i = i + 1) begin
      difference = line_i[i*STRIDE +: 2*DELTA] - base_i;
      near_o[i] = &difference[2*DELTA-1:DELTA-1] | ~|difference[2*DELTA-1:DELTA-1];
    end

endmodule

`default_nettype wire
