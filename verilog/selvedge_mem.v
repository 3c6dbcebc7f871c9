// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_mem
//
// Memory of 2^A words with synchronous write and asynchronous read. It has no reset; its initial
// contents are given.
//
// Written by selvedge 0.2.0

`ifndef SELVEDGE_MEM_V
`define SELVEDGE_MEM_V

`default_nettype none

module selvedge_mem #(
  parameter integer A = 8,
  parameter integer BITS = 13
) (
  // clock
  input  wire            clk_i,
  // write this cycle
  input  wire            write_i,
  // write address
  input  wire    [A-1:0] write_address_i,
  // write data
  input  wire [BITS-1:0] write_data_i,
  // read address
  input  wire    [A-1:0] read_address_i,
  // word at the read address, before this cycle's write
  output wire [BITS-1:0] read_data_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (A < 1 || A > 30) begin : gen_wrong_a
      selvedge_mem_A_must_be_1_to_30 wrong_a ();
    end
    if (BITS < 1) begin : gen_wrong_bits
      selvedge_mem_BITS_must_be_1_or_more wrong_bits ();
    end
  endgenerate

  reg [BITS-1:0] words [0:2**A-1];

`ifndef SELVEDGE_NO_INITIAL
  integer i;
  initial begin
    for (i = 0; i < 2**A; i = i + 1) begin : clear
      words[i] = {BITS{1'b0}};
    end
  end
`endif

  always @(posedge clk_i) begin
    if (write_i) begin
      words[write_address_i] <= write_data_i;
    end
  end

  assign read_data_o = words[read_address_i];

endmodule

`default_nettype wire

`endif
