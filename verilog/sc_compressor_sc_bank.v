// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_compressor_sc_bank
//
// A bank of the table. The ways of its sets are separate memories, so that one way can be written
// alone.
//
// Part of: sc_compressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_compressor_sc_bank (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // row to read, and tag to look for in the next cycle
  input  wire  [4:0] row_i,
  input  wire [23:0] tag_i,
  // ways to write
  input  wire  [3:0] write_i,
  // row and entry to write
  input  wire  [4:0] write_row_i,
  input  wire [44:0] entry_i,
  // code for the tag of the previous cycle
  output reg  [20:0] code_o
);

  // entry: the first bit of each field
  localparam ENTRY_TAG = 0;
  localparam ENTRY_LENGTH = 40;
  reg [3:0] ways_write;
  wire [179:0] ways_read_data;
  reg [23:0] tag_q;

  genvar g;
  generate
    for (g = 0; g < 4; g = g + 1) begin : gen_ways
      selvedge_sync_mem #(.A (5), .BITS (45)) ways (
        .clk_i           (clk_i),
        .write_i         (ways_write[g]),
        .write_address_i (write_row_i),
        .write_data_i    (entry_i),
        .read_address_i  (row_i),
        .read_data_o     (ways_read_data[g*45 +: 45])
      );
    end
  endgenerate

  always @(*) begin : comb_code_o
    integer way;
    reg [44:0] entry;
    code_o = 21'd0;
    for (way = 0; way < 4; way = way + 1) begin
      entry = ways_read_data[way*45 +: 45];
      if ((|entry[ENTRY_LENGTH +: 5]) & (entry[ENTRY_TAG +: 24] == tag_q)) begin
        code_o = entry[44:24];
      end
    end
  end

  always @(*) begin : comb_ways_write
    integer way;
    for (way = 0; way < 4; way = way + 1) begin
      ways_write[way] = write_i[way];
    end
  end

  always @(posedge clk_i) begin
    tag_q <= tag_i;
  end

  // unused bits
  wire unused = &{1'b0, rst_ni};

endmodule

`default_nettype wire
