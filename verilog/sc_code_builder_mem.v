// sc_code_builder_mem
//
// Memory of 2^A words with synchronous write and asynchronous read. It has no reset; it starts with given
// words.
//
// Parameters: A = 4, BITS = 11
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module sc_code_builder_mem (
  // clock
  input  wire        clk_i,
  // write this cycle
  input  wire        write_i,
  // where to write
  input  wire  [3:0] write_address_i,
  // what to write
  input  wire [10:0] write_data_i,
  // where to read
  input  wire  [3:0] read_address_i,
  // the word there, before this cycle's write
  output wire [10:0] read_data_o
);

  reg [10:0] words [0:15];

  integer i;
  initial begin
    for (i = 0; i < 16; i = i + 1) begin : clear
      words[i] = 11'h0;
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
