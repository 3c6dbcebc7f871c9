// SPDX-License-Identifier: MIT OR Apache-2.0
// Behavioural model of an SRAM macro with one write port (0) and one read port (1), in the ports of OpenRAM.
// Words start unknown. A read of the word that is written at the same edge is unknown.

`default_nettype none

module sram_1r1w #(
  parameter integer ADDRESS_BITS = 6,
  parameter integer DATA_BITS = 76
) (
  input  wire                    clk0,
  input  wire                    csb0,
  input  wire [ADDRESS_BITS-1:0] addr0,
  input  wire    [DATA_BITS-1:0] din0,
  input  wire                    clk1,
  input  wire                    csb1,
  input  wire [ADDRESS_BITS-1:0] addr1,
  output reg     [DATA_BITS-1:0] dout1
);

  reg [DATA_BITS-1:0] words [0:2**ADDRESS_BITS-1];

  always @(posedge clk0) begin
    if (!csb0) words[addr0] <= din0;
  end

  always @(posedge clk1) begin
    if (!csb1) dout1 <= (!csb0 & (addr0 == addr1)) ? {DATA_BITS{1'bx}} : words[addr1];
  end

endmodule

`default_nettype wire
