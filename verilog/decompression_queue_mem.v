// decompression_queue_mem
//
// Memory of 2^A words with synchronous write and asynchronous read. It has no reset; it starts with given
// words.
//
// Parameters: A = 3, BITS = 12
// Part of: decompression_queue
// Source: LATTE-CC, section III-B
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module decompression_queue_mem (
  // clock
  input  wire        clk_i,
  // write this cycle
  input  wire        write_i,
  // where to write
  input  wire  [2:0] write_address_i,
  // what to write
  input  wire [11:0] write_data_i,
  // where to read
  input  wire  [2:0] read_address_i,
  // the word there, before this cycle's write
  output wire [11:0] read_data_o
);

  reg [11:0] words [0:7];

  integer i;
  initial begin
    for (i = 0; i < 8; i = i + 1) begin : clear
      words[i] = 12'h0;
    end
  end

  always @(posedge clk_i) begin
    if (write_i) begin
      words[write_address_i] <= write_data_i;
    end
  end

  assign read_data_o = words[read_address_i];

endmodule

`default_nettype wire
