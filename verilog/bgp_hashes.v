// bgp_hashes
//
// Six indices of a block address: the XOR of its bytes, each rotated within the index.
//
// A is the width of an index, WIDE twice that.
//
// Parameters: A = 11, WIDE = 22
// Part of: bgp
// Source: LAMAR, section 3.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bgp_hashes (
  // the block address
  input  wire [31:0] address_i,
  // one index per hash
  output reg  [65:0] index_o
);

  localparam [95:0] ROTATION = {4'd8, 4'd4, 4'd7, 4'd10, 4'd3, 4'd8, 4'd4, 4'd0, 4'd10, 4'd2, 4'd6, 4'd6,
      4'd10, 4'd10, 4'd2, 4'd1, 4'd0, 4'd0, 4'd5, 4'd7, 4'd4, 4'd5, 4'd7, 4'd2};
  reg [7:0] slice;
  reg [21:0] shifted;

  always @(*) begin : comb_index_o
    integer byte_index;
    integer hash;
    for (hash = 0; hash < 6; hash = hash + 1) begin
      // bytes are shifted into twice the width, whose halves then make the rotation
      shifted = 22'd0;
      for (byte_index = 0; byte_index < 4; byte_index = byte_index + 1) begin
        slice = address_i[byte_index*8 +: 8];
        shifted = shifted ^ ({14'd0, slice} << ROTATION[(hash*4+byte_index)*4 +: 4]);
      end
      index_o[hash*11 +: 11] = shifted[10:0] ^ shifted[21:11];
    end
  end

endmodule

`default_nettype wire
