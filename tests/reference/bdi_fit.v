// What bdi_compressor's trial of an encoding means, written by hand: differences from the base as they are defined, whole.
//
// A word is a delta from zero, or from the first word that is none, when the upper bits of the difference are all equal.

`default_nettype none

module bdi_compressor_bdi_fit #(
  parameter integer BASE = 64,
  parameter integer DELTA = 8,
  parameter integer LINE = 1024
) (
  input  wire      [LINE-1:0] line_i,
  output reg                  fits_o,
  output reg       [BASE-1:0] base_o,
  output reg  [LINE/BASE-1:0] mask_o
);

  reg [BASE-1:0] word;
  reg [BASE-1:0] difference;
  reg found;
  integer i;
  always @(*) begin
    fits_o = 1'b1;
    base_o = {BASE{1'b0}};
    mask_o = {LINE/BASE{1'b0}};
    found = 1'b0;
    for (i = 0; i < LINE / BASE; i = i + 1) begin
      word = line_i[i*BASE +: BASE];
      mask_o[i] = (&word[BASE-1:DELTA-1]) | ~(|word[BASE-1:DELTA-1]);
      if (!mask_o[i] & !found) begin
        base_o = word;
        found = 1'b1;
      end
      difference = word - base_o;
      if (!mask_o[i] & ~&difference[BASE-1:DELTA-1] & |difference[BASE-1:DELTA-1])
        fits_o = 1'b0;
    end
  end

endmodule

`default_nettype wire
