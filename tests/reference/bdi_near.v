// What bdi_compressor's trial of an encoding means, written by hand: differences from the base as they are defined, whole.
//
// Each word is a delta from zero, which the mask says, or its difference from the base has upper bits that are all equal.

`default_nettype none

module bdi_compressor_bdi_near #(
  parameter integer BASE = 64,
  parameter integer DELTA = 8,
  parameter integer LINE = 1024
) (
  input  wire      [LINE-1:0] line_i,
  input  wire      [BASE-1:0] base_i,
  input  wire [LINE/BASE-1:0] mask_i,
  output reg                  fits_o
);

  reg [BASE-1:0] difference;
  integer i;
  always @(*) begin
    fits_o = 1'b1;
    for (i = 0; i < LINE / BASE; i = i + 1) begin
      difference = line_i[i*BASE +: BASE] - base_i;
      if (!mask_i[i] & ~&difference[BASE-1:DELTA-1] & |difference[BASE-1:DELTA-1])
        fits_o = 1'b0;
    end
  end

endmodule

`default_nettype wire
