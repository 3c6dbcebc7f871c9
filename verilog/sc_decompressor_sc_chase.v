// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor_sc_chase
//
// Follows up to K codes through two blocks. An escape ends the codes of the cycle, because its word
// follows.
//
// A mark shows where a code begins; a code moves it by its length.
//
// Parameters: K = 4
// Part of: sc_decompressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_decompressor_sc_chase (
  // length of the code at each bit of the blocks, less one: one vector per bit of the length
  input  wire [255:0] lengths_i,
  // bits at which the code of a value would begin
  input  wire  [63:0] values_i,
  // bits at which the code of the escape would begin
  input  wire  [63:0] escapes_i,
  // length of the escape's code
  input  wire   [4:0] escape_length_i,
  // mark at which the first code begins
  input  wire  [79:0] start_i,
  // number of words that are left to decode
  input  wire   [5:0] left_i,
  // one bit per code that was found
  output reg    [3:0] taken_o,
  // position at which the first code begins, and position at which each code ends
  output reg    [6:0] begin_o,
  output reg   [27:0] ends_o,
  // the last of these codes is the escape
  output wire         escaped_o,
  // mark at which the codes of the next cycle begin
  output wire  [79:0] start_o,
  // the first block is consumed; the mark of the next cycle counts from the second block
  output wire         advance_o,
  // the bits at the mark are no code
  output wire         invalid_o
);

  // for each bit of a position, all marks whose position has that bit set
  localparam [559:0] NUMBERS = {80'hffff0000000000000000, 80'hffffffff00000000,
      80'hffff0000ffff0000, 80'hff00ff00ff00ff00ff00, 80'hf0f0f0f0f0f0f0f0f0f0,
      80'hcccccccccccccccccccc, 80'haaaaaaaaaaaaaaaaaaaa};
  // bits at which a code of each length begins
  reg [1023:0] of_length;
  wire [63:0] codes;
  reg [79:0] stopped;
  reg [79:0] escape_end;
  reg [63:0] any_invalid;
  wire advance;

  always @(*) begin : comb_of_length
    integer l;
    integer p;
    reg [3:0] index;
    for (l = 0; l < 16; l = l + 1) begin
      index = l[3:0];
      of_length[l*64 +: 64] = values_i;
      for (p = 0; p < 4; p = p + 1) begin
        if (index[p]) begin
          of_length[l*64 +: 64] = of_length[l*64 +: 64] & lengths_i[p*64 +: 64];
        end else begin
          of_length[l*64 +: 64] = of_length[l*64 +: 64] & ~lengths_i[p*64 +: 64];
        end
      end
    end
  end

  assign codes = values_i | escapes_i;

  always @(*) begin : comb_stopped
    integer b;
    integer i;
    integer l;
    reg [4:0] length;
    reg [79:0] mark;
    reg [63:0] held;
    reg [79:0] behind;
    reg [79:0] behind_escape;
    mark = start_i;
    stopped = 80'd0;
    escape_end = 80'd0;
    any_invalid = 64'd0;
    for (i = 0; i < 4; i = i + 1) begin
      // keep the position if no code matches or no more words are needed
      held = 64'd0;
      if (left_i > i[5:0]) begin
        held = mark[63:0];
      end
      any_invalid = any_invalid | (held & ~codes);
      held = held & codes;
      taken_o[i] = |held;
      stopped = stopped | (mark & ~{16'd0, held});
      behind = 80'd0;
      for (l = 0; l < 16; l = l + 1) begin
        length = l[4:0] + 5'd1;
        behind = behind | ({16'd0, held & of_length[l*64 +: 64]} << length);
      end
      behind_escape = {16'd0, held & escapes_i} << escape_length_i;
      escape_end = escape_end | behind_escape;
      mark = behind;
      ends_o[i*7 +: 7] = 7'd0;
      for (b = 0; b < 7; b = b + 1) begin
        ends_o[i*7+b] = |((behind | behind_escape) & NUMBERS[b*80 +: 80]);
      end
    end
    stopped = stopped | mark;
  end

  always @(*) begin : comb_begin_o
    integer b;
    for (b = 0; b < 7; b = b + 1) begin
      begin_o[b] = |(start_i & NUMBERS[b*80 +: 80]);
    end
  end

  assign invalid_o = |any_invalid;
  // the raw word after an escape has the bits of a block
  assign escaped_o = |escape_end;
  assign advance = (|escape_end) | (|stopped[79:32]);
  assign advance_o = advance;
  assign start_o = advance ? ((stopped >> 32) | escape_end) : stopped;

endmodule

`default_nettype wire
