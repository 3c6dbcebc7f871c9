// sc_compressor_replicated_mem
//
// Memory of 2^A words with synchronous write and P asynchronous reads: P copies. No reset; it starts with
// zeros.
//
// Parameters: A = 8, P = 8, BITS = 180
// Part of: sc_compressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module sc_compressor_replicated_mem (
  // clock
  input  wire          clk_i,
  // write this cycle
  input  wire          write_i,
  // where to write
  input  wire    [7:0] write_address_i,
  // what to write
  input  wire  [179:0] write_data_i,
  // where to read, per port
  input  wire   [63:0] read_address_i,
  // the word there, before this cycle's write
  output wire [1439:0] read_data_o
);

  localparam PORTS = 8;

  // a memory has one read port: each port has a copy of its own
  genvar p;
  generate
    for (p = 0; p < PORTS; p = p + 1) begin : copies
      reg [179:0] words [0:255];

      integer i;
      initial begin
        for (i = 0; i < 256; i = i + 1) begin : clear
          words[i] = 180'h0;
        end
      end

      always @(posedge clk_i) begin
        if (write_i) begin
          words[write_address_i] <= write_data_i;
        end
      end

      assign read_data_o[p*180 +: 180] = words[read_address_i[p*8 +: 8]];
    end
  endgenerate

endmodule

`default_nettype wire
