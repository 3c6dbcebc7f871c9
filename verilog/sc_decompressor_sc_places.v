// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor_sc_places
//
// Finds the addresses of the values of K codes, and the word after an escape.
//
// Parameters: K = 4
// Part of: sc_decompressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_decompressor_sc_places (
  // the bits of the two blocks, and the 48 bits after them
  input  wire [111:0] bits_i,
  // position at which the first code begins, and position at which each code ends
  input  wire   [6:0] begin_i,
  input  wire  [27:0] ends_i,
  // one bit per code that was found
  input  wire   [3:0] taken_i,
  // rank of a code minus the code, for each length
  input  wire [175:0] bases_i,
  // address of the value whose rank is beyond the last address
  input  wire   [9:0] escape_place_i,
  // address of each value
  output reg   [39:0] places_o,
  // end of the last code
  output wire   [6:0] end_o,
  // word after that code
  output wire  [31:0] word_o
);

  wire [127:0] shifted;
  reg [6:0] code_begin;
  reg [6:0] last_end;
  reg [127:0] tail_shifted;
  wire [111:0] bits_shifted;

  assign shifted = {5'd0, bits_i, 11'd0};

  always @(*) begin : comb_code_begin
    integer b;
    integer i;
    integer l;
    reg [10:0] tail;
    reg [10:0] code;
    reg [4:0] length;
    reg [10:0] base;
    reg [10:0] rank;
    code_begin = begin_i;
    last_end = begin_i;
    for (i = 0; i < 4; i = i + 1) begin
      // the last 11 bits before its end determine a code
      length = ends_i[i*7 +: 5] - code_begin[4:0];
      tail_shifted = shifted >> ends_i[i*7 +: 7];
      tail = tail_shifted[10:0];
      code = 11'd0;
      for (b = 0; b < 11; b = b + 1) begin
        if (length > b[4:0]) begin
          code[b] = tail[10-b];
        end
      end
      base = 11'd0;
      for (l = 0; l < 16; l = l + 1) begin
        if (length == (l[4:0] + 5'd1)) begin
          base = bases_i[l*11 +: 11];
        end
      end
      rank = base + code;
      // values are stored by rank; the escape's entry is reused for the rank beyond the last
      // address
      places_o[i*10 +: 10] = rank[9:0];
      if (rank[10]) begin
        places_o[i*10 +: 10] = escape_place_i;
      end
      if (taken_i[i]) begin
        last_end = ends_i[i*7 +: 7];
      end
      code_begin = ends_i[i*7 +: 7];
    end
  end

  assign end_o = last_end;
  assign bits_shifted = bits_i >> last_end;
  assign word_o = bits_shifted[31:0];

  // unused bits
  wire unused = &{1'b0, code_begin[6:5], tail_shifted[127:11], bits_shifted[111:32]};

endmodule

`default_nettype wire
