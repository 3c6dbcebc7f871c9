// set_index_bmod
//
// Maps a line to a set by the low bits of its address.
//
// Dai, section 3.4.1, BMOD. K is the width of an index.
//
// Parameters: sets = 32
// In this file: K = 5
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module set_index_bmod (
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

  reg valid_q;
  reg [4:0] index_q;

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
      index_q <= line_i[4:0];
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, line_i[31:5]};

endmodule

`default_nettype wire
