// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_compressor_sc_lookup
//
// Chooses the words of a group to look up in a cycle: each bank looks up one word.
//
// Part of: sc_compressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_compressor_sc_lookup (
  // words of the group
  input  wire [255:0] words_i,
  // words that are not looked up yet
  input  wire   [7:0] pending_i,
  // words that are looked up in this cycle
  output reg    [7:0] served_o,
  // the bank of each word
  output reg   [23:0] banks_o,
  // row to read in each bank
  output reg   [39:0] rows_o,
  // tag to look for in each bank
  output reg  [191:0] tags_o
);

  // set and bank of each word
  reg [63:0] sets;
  reg [23:0] banks;
  // first word of each bank
  reg [7:0] first;

  always @(*) begin : comb_banks_o
    integer i;
    reg [31:0] word;
    for (i = 0; i < 8; i = i + 1) begin
      word = words_i[i*32 +: 32];
      sets[i*8 +: 8] = word[7:0] ^ word[15:8] ^ word[23:16] ^ word[31:24];
      banks[i*3 +: 3] = sets[i*8 +: 3] ^ sets[i*8+3 +: 3] ^ {1'b0, sets[i*8+6 +: 2]};
      banks_o[i*3 +: 3] = banks[i*3 +: 3];
    end
  end

  // each bank serves the first word that needs it
  always @(*) begin : comb_first
    integer i;
    integer j;
    reg alone;
    reg [3:0] own;
    reg [3:0] other;
    for (i = 0; i < 8; i = i + 1) begin
      own = i[3:0];
      alone = pending_i[i];
      for (j = 0; j < 8; j = j + 1) begin
        other = j[3:0];
        if ((other < own) & pending_i[j] & (banks[i*3 +: 3] == banks[j*3 +: 3])) begin
          alone = 1'b0;
        end
      end
      first[i] = alone;
    end
    // equal words share a lookup
    for (i = 0; i < 8; i = i + 1) begin
      own = i[3:0];
      alone = first[i];
      for (j = 0; j < 8; j = j + 1) begin
        other = j[3:0];
        if ((other < own) & first[j] & (words_i[i*32 +: 32] == words_i[j*32 +: 32])) begin
          alone = pending_i[i];
        end
      end
      served_o[i] = alone;
    end
  end

  always @(*) begin : comb_rows_o
    integer bank;
    integer i;
    for (bank = 0; bank < 8; bank = bank + 1) begin
      rows_o[bank*5 +: 5] = 5'd0;
      tags_o[bank*24 +: 24] = 24'd0;
      for (i = 0; i < 8; i = i + 1) begin
        if (first[i] & (banks[i*3 +: 3] == bank[2:0])) begin
          rows_o[bank*5 +: 5] = rows_o[bank*5 +: 5] | sets[i*8+3 +: 5];
          tags_o[bank*24 +: 24] = tags_o[bank*24 +: 24] | words_i[i*32+8 +: 24];
        end
      end
    end
  end

endmodule

`default_nettype wire
