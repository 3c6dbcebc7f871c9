// set_index_d_prime
//
// Maps a line to a set by its low address bits, displaced by a prime times its tag.
//
// Dai, section 3.4.1, D_Prime. K is the width of an index.
//
// Parameters: sets = 32, prime = 11
// In this file: K = 5
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module set_index_d_prime (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // a line is there
  input  wire        valid_i,
  // its address
  input  wire [31:0] line_i,
  // a line was there in the last cycle
  output wire        valid_o,
  // the set of the last line
  output wire  [4:0] index_o
);

  // the prime, modulo 2^K
  localparam [4:0] PRIME = 5'd11;
  wire [4:0] tag;
  reg valid_q;
  reg [4:0] index_q;

  // modulo 2^K only the lowest K bits of the tag matter
  assign tag = line_i[9:5];
  assign valid_o = valid_q;
  assign index_o = index_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      valid_q <= 1'b0;
    end else begin
      valid_q <= valid_i;
    end
  end

  always @(posedge clk_i) begin
    if (valid_i) begin
      index_q <= (tag * PRIME) + line_i[4:0];
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, line_i[31:10]};

endmodule

`default_nettype wire
