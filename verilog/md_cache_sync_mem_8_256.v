// md_cache_sync_mem_8_256
//
// Memory of 2^A words with synchronous write and synchronous read; reading gives the old word. No reset.
//
// Parameters: A = 8, BITS = 256
// Part of: md_cache
// Source: CABA, section 5.3.2
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module md_cache_sync_mem_8_256 (
  // clock
  input  wire         clk_i,
  // write this cycle
  input  wire         write_i,
  // where to write
  input  wire   [7:0] write_address_i,
  // what to write
  input  wire [255:0] write_data_i,
  // where to read
  input  wire   [7:0] read_address_i,
  // the word that was there at the last clock edge
  output wire [255:0] read_data_o
);

  reg [255:0] words [0:255];

  integer i;
  initial begin
    for (i = 0; i < 256; i = i + 1) begin : clear
      words[i] = 256'h0;
    end
  end

  reg [255:0] read_data_q;
  initial read_data_q = 256'h0;
  always @(posedge clk_i) begin
    read_data_q <= words[read_address_i];
    if (write_i) begin
      words[write_address_i] <= write_data_i;
    end
  end

  assign read_data_o = read_data_q;

endmodule

`default_nettype wire
