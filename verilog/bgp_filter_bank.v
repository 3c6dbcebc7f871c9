// SPDX-License-Identifier: MIT OR Apache-2.0
// bgp_filter_bank
//
// A bank of both bitarrays. A row of the memory is valid only if it was written since the last
// clear.
//
// A is the width of an index. Its low bits are the column, the other ROW bits select one of ROWS
// rows.
//
// Parameters: A = 8, ROW = 4, ROWS = 16, COLUMNS = 16
// Part of: bgp
// Source: LAMAR, section 3.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bgp_filter_bank (
  // clock
  input  wire       clk_i,
  // asynchronous reset, active low; clears both arrays
  input  wire       rst_ni,
  // index of the bit
  input  wire [7:0] index_i,
  // arrays in which the bit is set
  input  wire [1:0] set_i,
  // arrays to clear; wins over set
  input  wire [1:0] clear_i,
  // value of the bit in each array, before this cycle's set or clear
  output reg  [1:0] bit_o
);

  localparam COLUMNS = 16;
  wire [3:0] row;
  wire [3:0] column;
  wire [15:0] row_mark;
  wire [15:0] column_mark;
  reg [31:0] next_row;
  wire rows_write;
  wire [31:0] rows_read_data;
  reg [31:0] written_d;
  // rows of each array that were written since the array was cleared
  reg [31:0] written_q;

  selvedge_mem #(.A (4), .BITS (32)) rows (
    .clk_i           (clk_i),
    .write_i         (rows_write),
    .write_address_i (row),
    .write_data_i    (next_row),
    .read_address_i  (row),
    .read_data_o     (rows_read_data)
  );

  assign row = index_i[7:4];
  assign column = index_i[3:0];
  assign row_mark = 16'd1 << row;
  assign column_mark = 16'd1 << column;

  always @(*) begin : comb_written_d
    integer array;
    reg [1:0] is_written;
    // the row's bits of one array
    reg [15:0] half;
    written_d = written_q;
    is_written = 2'd0;
    bit_o = 2'd0;
    for (array = 0; array < 2; array = array + 1) begin
      is_written[array] = written_q[array*16+{28'd0, row}];
      half = rows_read_data[array*COLUMNS +: 16];
      if (is_written[array]) begin
        bit_o[array] = half[column];
      end else begin
        half = 16'd0;
      end
      next_row[array*COLUMNS +: 16] = half | column_mark;
      if (set_i[array]) begin
        written_d[array*16 +: 16] = written_q[array*16 +: 16] | row_mark;
      end
      if (clear_i[array]) begin
        written_d[array*16 +: 16] = 16'd0;
      end
    end
  end

  // an array that does not fill has no written rows: ignore its half of the row
  assign rows_write = |set_i;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      written_q <= 32'd0;
    end else begin
      written_q <= written_d;
    end
  end

endmodule

`default_nettype wire
