// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_decompressor_sc_schedule
//
// Chooses the words of a group to read in a cycle: each bank gives one row.
//
// Parameters: K = 4
// Part of: sc_decompressor
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_decompressor_sc_schedule (
  // address of each value: row and bank
  input  wire [39:0] places_i,
  // words that are not read yet
  input  wire  [3:0] pending_i,
  // words that come from an escape and not from a bank
  input  wire  [3:0] raw_i,
  // row to read in each bank
  output reg  [55:0] rows_o,
  // words that are read in this cycle
  output reg   [3:0] served_o
);

  localparam K = 4;
  wire [3:0] wanted;

  // each bank serves the first word that needs it
  assign wanted = pending_i & ~raw_i;

  always @(*) begin : comb_rows_o
    integer bank;
    integer i;
    for (bank = 0; bank < 8; bank = bank + 1) begin
      rows_o[bank*7 +: 7] = 7'd0;
      for (i = 0; i < 4; i = i + 1) begin
        if (wanted[K-1-i] & (places_i[(K-1-i)*10 +: 3] == bank[2:0])) begin
          rows_o[bank*7 +: 7] = places_i[(K-1-i)*10+3 +: 7];
        end
      end
    end
  end

  always @(*) begin : comb_served_o
    integer i;
    integer j;
    reg waits;
    reg [2:0] own;
    reg [2:0] other;
    for (i = 0; i < 4; i = i + 1) begin
      waits = 1'b0;
      own = i[2:0];
      for (j = 0; j < 4; j = j + 1) begin
        other = 3'd4 - 3'd1 - j[2:0];
        if ((other < own) & wanted[K-1-j] & (places_i[i*10 +: 3] == places_i[(K-1-j)*10 +: 3]))
            begin
          waits = ~raw_i[i] & (places_i[i*10+3 +: 7] != places_i[(K-1-j)*10+3 +: 7]);
        end
      end
      served_o[i] = pending_i[i] & ~waits;
    end
  end

endmodule

`default_nettype wire
