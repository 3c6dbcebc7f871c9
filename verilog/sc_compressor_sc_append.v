// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_compressor_sc_append
//
// Appends the bits of a group of words to a payload.
//
// GROUP is the maximum number of bits of a group, SUM the width of that number.
//
// Parameters: GROUP = 384, SUM = 9
// Part of: sc_compressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_compressor_sc_append (
  // bits of the group
  input  wire  [383:0] group_i,
  // number of these bits
  input  wire    [8:0] group_bits_i,
  // the group is the first of its line
  input  wire          first_i,
  // the payload so far
  input  wire [1023:0] payload_i,
  // number of bits of the payload so far
  input  wire   [10:0] bits_i,
  // payload with the group; bits that it cannot hold are lost
  output wire [1023:0] payload_o,
  // number of bits of that payload, lost bits included
  output wire   [10:0] bits_o
);

  reg [1023:0] payload;
  reg [10:0] bits;

  always @(*) begin
    payload = 1024'd0;
    bits = 11'd0;
    if (!first_i) begin
      payload = payload_i;
      bits = bits_i;
    end
  end

  assign payload_o = payload | ({640'd0, group_i} << bits);
  assign bits_o = bits + {2'd0, group_bits_i};

endmodule

`default_nettype wire
