// sc_decompressor_replicated_mem
//
// Memory of 2^A words with synchronous write and P asynchronous reads: P copies. No reset; it starts with
// zeros.
//
// Parameters: A = 10, P = 4, BITS = 32
// Part of: sc_decompressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module sc_decompressor_replicated_mem (
  // clock
  input  wire         clk_i,
  // write this cycle
  input  wire         write_i,
  // where to write
  input  wire   [9:0] write_address_i,
  // what to write
  input  wire  [31:0] write_data_i,
  // where to read, per port
  input  wire  [39:0] read_address_i,
  // the word there, before this cycle's write
  output wire [127:0] read_data_o
);

  localparam PORTS = 4;

  // a memory has one read port: each port has a copy of its own
  genvar p;
  generate
    for (p = 0; p < PORTS; p = p + 1) begin : copies
      reg [31:0] words [0:1023];

      integer i;
      initial begin
        for (i = 0; i < 1024; i = i + 1) begin : clear
          words[i] = 32'h0;
        end
      end

      always @(posedge clk_i) begin
        if (write_i) begin
          words[write_address_i] <= write_data_i;
        end
      end

      assign read_data_o[p*32 +: 32] = words[read_address_i[p*10 +: 10]];
    end
  endgenerate

endmodule

`default_nettype wire
