// bit_array
//
// 2^A bits. The bit at the address is tested and can be set; all bits are cleared at once.
//
// Clear wins over set.
//
// Parameters: A = 6
// Source: a paper, section 1.2
// Written by selvedge with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i

`default_nettype none

module bit_array (
  // clock
  input  wire       clk_i,
  // asynchronous reset, active low; clears all bits
  input  wire       rst_ni,
  // clear all bits
  input  wire       clear_i,
  // set the bit at the address
  input  wire       set_i,
  // the address
  input  wire [5:0] address_i,
  // the bit at the address, before this cycle's set or clear
  output wire       bit_o
);

  localparam COLUMN_BITS = 6 / 2;
  localparam ROW_BITS = 6 - COLUMN_BITS;
  localparam COLUMNS = 2**COLUMN_BITS;
  localparam ROWS = 2**ROW_BITS;

  reg [ROWS*COLUMNS-1:0] bits_q;
  reg [ROWS*COLUMNS-1:0] set;
  reg [COLUMNS-1:0] column;

  // an address is a row (its high bits) and a column (its low bits)
  always @(*) begin : decode
    integer r;
    column = {{COLUMNS-1{1'b0}}, 1'b1} << address_i[COLUMN_BITS-1:0];
    set = {ROWS*COLUMNS{1'b0}};
    for (r = 0; r < ROWS; r = r + 1) begin
      if (address_i[COLUMN_BITS +: ROW_BITS] == r[ROW_BITS-1:0]) begin
        set[r*COLUMNS +: COLUMNS] = column;
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      bits_q <= {ROWS*COLUMNS{1'b0}};
    end else begin
      if (clear_i) begin
        bits_q <= {ROWS*COLUMNS{1'b0}};
      end else if (set_i) begin
        bits_q <= bits_q | set;
      end
    end
  end

  assign bit_o = bits_q[address_i];

endmodule

`default_nettype wire
