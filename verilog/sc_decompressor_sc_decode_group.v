// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor_sc_decode_group
//
// Takes up to K codes from a payload: as many as there are before an escape, whose word ends the cycle's
// codes.
//
// WINDOW is the bits of K codes and a word.
//
// Parameters: K = 4, WINDOW = 96, WW = 2
// Part of: sc_decompressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_decompressor_sc_decode_group (
  // the payload
  input  wire [1023:0] payload_i,
  // its bits that were taken already
  input  wire   [10:0] position_i,
  // words that are still to be decoded
  input  wire    [5:0] left_i,
  // where the codes of each length end, left-aligned
  input  wire  [271:0] ends_i,
  // rank of a code less the code, per length
  input  wire  [175:0] bases_i,
  // rank of the escape symbol
  input  wire   [10:0] escape_rank_i,
  // address of each value
  output reg    [39:0] places_o,
  // how many codes there are
  output wire    [2:0] taken_o,
  // the last of them is the escape
  output wire          escaped_o,
  // the word behind it
  output wire   [31:0] word_o,
  // where the next cycle's codes begin
  output reg    [10:0] position_o,
  // the bits are no code
  output wire          invalid_o
);

  localparam [4:0] CODE_BITS = 5'd16;
  reg [95:0] rest;
  reg [15:0] head;
  reg [15:0] code;
  reg below_end;
  reg found;
  reg [4:0] length;
  reg [10:0] base;
  reg [10:0] rank;
  reg [9:0] place;
  reg stop;
  reg [2:0] taken;
  reg escaped;
  reg [10:0] position;
  reg invalid;
  wire [1023:0] part_0;

  assign part_0 = payload_i >> position_i;

  always @(*) begin : comb_rest
    integer bit_index;
    integer i;
    integer l;
    rest = part_0[95:0];
    position = position_i;
    head = 16'd0;
    code = 16'd0;
    below_end = 1'b0;
    found = 1'b0;
    length = 5'd0;
    base = 11'd0;
    rank = 11'd0;
    place = 10'd0;
    stop = 1'b0;
    taken = 3'd0;
    escaped = 1'b0;
    invalid = 1'b0;
    for (i = 0; i < 4; i = i + 1) begin
      // a code's first bit is its most significant one
      for (bit_index = 0; bit_index < 16; bit_index = bit_index + 1) begin
        head[15-bit_index] = rest[bit_index];
      end
      // the ends never fall from length to length: the length is that of the first end above the bits
      found = 1'b0;
      length = 5'd0;
      base = 11'd0;
      for (l = 0; l < 16; l = l + 1) begin
        below_end = {1'b0, head} < ends_i[l*17 +: 17];
        if (below_end & !found) begin
          length = l[4:0] + 5'd1;
          base = bases_i[l*11 +: 11];
        end
        found = below_end;
      end
      // the values lie by rank; the escape has a rank but no value
      code = head >> (CODE_BITS - length);
      rank = base + code[10:0];
      place = rank[9:0];
      if (rank > escape_rank_i) begin
        place = place - 10'd1;
      end
      places_o[i*10 +: 10] = place;
      if (!stop & (left_i > i[5:0])) begin
        if (found) begin
          taken = taken + 3'd1;
          rest = rest >> length;
          position = position + {6'd0, length};
          escaped = rank == escape_rank_i;
          stop = rank == escape_rank_i;
        end else begin
          invalid = 1'b1;
          stop = 1'b1;
        end
      end
    end
  end

  assign word_o = rest[31:0];

  always @(*) begin
    position_o = position;
    if (escaped) begin
      position_o = position + 11'd32;
    end
  end

  assign taken_o = taken;
  assign escaped_o = escaped;
  assign invalid_o = invalid;

  // bits that nothing here looks at
  wire unused = &{1'b0, code[15:11], part_0[1023:96]};

endmodule

`default_nettype wire
