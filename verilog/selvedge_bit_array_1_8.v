// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_bit_array_1_8
//
// 2^A bits with P ports: all ports set their bit together, each port sees its own bit, all bits
// clear at once.
//
// Clear wins over set.
//
// Parameters: P = 1, A = 8
// Written by selvedge 0.1.0 with reset control

`ifndef SELVEDGE_BIT_ARRAY_1_8_V
`define SELVEDGE_BIT_ARRAY_1_8_V

`default_nettype none

module selvedge_bit_array_1_8 (
  // clock
  input  wire       clk_i,
  // asynchronous reset, active low; clears all bits
  input  wire       rst_ni,
  // clear all bits
  input  wire       clear_i,
  // set the bits at all addresses
  input  wire       set_i,
  // one address per port
  input  wire [7:0] address_i,
  // the bit at each address, before this cycle's set or clear
  output wire [0:0] bit_o
);

  localparam PORTS = 1;
  localparam COLUMNS = 16;
  localparam ROWS = 16;

  reg [255:0] bits_q;
  reg [255:0] set;
  reg [PORTS*COLUMNS-1:0] column;

  // an address is a row (its high bits) and a column (its low bits)
  always @(*) begin : decode
    integer p;
    integer r;
    for (p = 0; p < PORTS; p = p + 1) begin
      column[p*COLUMNS +: COLUMNS] = 16'd1 << address_i[p*8 +: 4];
    end
    set = 256'd0;
    for (r = 0; r < ROWS; r = r + 1) begin
      for (p = 0; p < PORTS; p = p + 1) begin
        if (address_i[p*8+4 +: 4] == r[3:0]) begin
          set[r*COLUMNS +: COLUMNS] = set[r*COLUMNS +: COLUMNS] | column[p*COLUMNS +: COLUMNS];
        end
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bits_q <= 256'd0;
    end else begin
      if (clear_i) begin
        bits_q <= 256'd0;
      end else if (set_i) begin
        bits_q <= bits_q | set;
      end
    end
  end

  genvar g;
  generate
    for (g = 0; g < PORTS; g = g + 1) begin : gen_read
      assign bit_o[g] = bits_q[address_i[g*8 +: 8]];
    end
  endgenerate

endmodule

`default_nettype wire

`endif
