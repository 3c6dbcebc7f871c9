// Memories of which a proof keeps the word at one address, `place`. A read of another address returns any value.

module selvedge_mem #(parameter integer A = 8, parameter integer BITS = 13) (
  input  wire            clk_i,
  input  wire            write_i,
  input  wire    [A-1:0] write_address_i,
  input  wire [BITS-1:0] write_data_i,
  input  wire    [A-1:0] read_address_i,
  output wire [BITS-1:0] read_data_o
);
  (* keep *) wire [A-1:0] place;
  (* keep *) reg [BITS-1:0] word;
  (* anyseq *) wire [BITS-1:0] other;
  always @(posedge clk_i) if (write_i & (write_address_i == place)) word <= write_data_i;
  assign read_data_o = (read_address_i == place) ? word : other;
endmodule

module selvedge_sync_mem #(parameter integer A = 8, parameter integer BITS = 13) (
  input  wire            clk_i,
  input  wire            write_i,
  input  wire    [A-1:0] write_address_i,
  input  wire [BITS-1:0] write_data_i,
  input  wire    [A-1:0] read_address_i,
  output wire [BITS-1:0] read_data_o
);
  (* keep *) wire [A-1:0] place;
  (* keep *) reg [BITS-1:0] word;
  (* anyseq *) wire [BITS-1:0] other;
  reg [BITS-1:0] read_data_q;
  always @(posedge clk_i) begin
    read_data_q <= (read_address_i == place) ? word : other;
    if (write_i & (write_address_i == place)) word <= write_data_i;
  end
  assign read_data_o = read_data_q;
endmodule

module selvedge_bit_array #(parameter integer A = 8) (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire         clear_i,
  input  wire         set_i,
  input  wire [A-1:0] address_i,
  output wire         bit_o
);
  (* keep *) wire [A-1:0] place;
  (* keep *) reg word;
  (* anyseq *) wire other;
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) word <= 1'b0;
    else if (clear_i) word <= 1'b0;
    else if (set_i & (address_i == place)) word <= 1'b1;
  end
  assign bit_o = (address_i == place) ? word : other;
endmodule
