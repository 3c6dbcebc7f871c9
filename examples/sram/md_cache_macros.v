// SPDX-License-Identifier: MIT OR Apache-2.0
// The three macros of md_cache, made of the behavioural model. A memory compiler writes such modules. From this folder:
//   selvedge gen md_cache --memories wrapper --uvm-vectors -o out
//   iverilog -g2005 -s md_cache -o md_cache.vvp sram_1r1w.v md_cache_macros.v $(grep -v selvedge_sram out/md_cache.f | sed s,^,out/,)

`default_nettype none

module selvedge_sram_64x14 (
  input  wire clk0, input wire csb0, input wire [5:0] addr0, input wire [13:0] din0,
  input  wire clk1, input wire csb1, input wire [5:0] addr1, output wire [13:0] dout1
);
  sram_1r1w #(.ADDRESS_BITS (6), .DATA_BITS (14)) words (
    .clk0 (clk0), .csb0 (csb0), .addr0 (addr0), .din0 (din0), .clk1 (clk1), .csb1 (csb1), .addr1 (addr1), .dout1 (dout1)
  );
endmodule

module selvedge_sram_64x76 (
  input  wire clk0, input wire csb0, input wire [5:0] addr0, input wire [75:0] din0,
  input  wire clk1, input wire csb1, input wire [5:0] addr1, output wire [75:0] dout1
);
  sram_1r1w #(.ADDRESS_BITS (6), .DATA_BITS (76)) words (
    .clk0 (clk0), .csb0 (csb0), .addr0 (addr0), .din0 (din0), .clk1 (clk1), .csb1 (csb1), .addr1 (addr1), .dout1 (dout1)
  );
endmodule

module selvedge_sram_256x256 (
  input  wire clk0, input wire csb0, input wire [7:0] addr0, input wire [255:0] din0,
  input  wire clk1, input wire csb1, input wire [7:0] addr1, output wire [255:0] dout1
);
  sram_1r1w #(.ADDRESS_BITS (8), .DATA_BITS (256)) words (
    .clk0 (clk0), .csb0 (csb0), .addr0 (addr0), .din0 (din0), .clk1 (clk1), .csb1 (csb1), .addr1 (addr1), .dout1 (dout1)
  );
endmodule

`default_nettype wire
