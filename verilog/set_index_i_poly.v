// set_index_i_poly
//
// Maps a line to a set by its address modulo an irreducible polynomial.
//
// Dai, section 3.4.1, I-Poly. K is the width of an index.
//
// Parameters: sets = 32
// In this file: K = 5
// Source: Dai, sections 3.4.1 and 3.7
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module set_index_i_poly (
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
  wire [4:0] hash_residue_o;

  set_index_i_poly_polynomial_residue hash (
    .line_i    (line_i),
    .residue_o (hash_residue_o)
  );

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
      index_q <= hash_residue_o;
    end
  end

endmodule

`default_nettype wire
