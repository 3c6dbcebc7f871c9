// SPDX-License-Identifier: MIT OR Apache-2.0
// awc_entry_match
//
// Compares every entry of the table with the trigger, the killed warp and the warps that have room.
//
// Part of: awc
// Source: CABA, sections 4.3 and 4.4
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module awc_entry_match (
  // SR.ID and warp of every entry
  input  wire [527:0] keys_i,
  // SR.ID and warp of the trigger
  input  wire  [10:0] trigger_key_i,
  // the killed warp
  input  wire   [5:0] kill_warp_i,
  // warps that have room, one bit each
  input  wire  [47:0] room_i,
  // entries with the trigger's SR.ID and warp
  output reg   [47:0] same_o,
  // entries of the killed warp
  output reg   [47:0] killed_o,
  // entries whose warp has room
  output reg   [47:0] room_o
);

  wire [63:0] room_padded;

  assign room_padded = {16'd0, room_i};

  always @(*) begin : comb_same_o
    integer e;
    reg [10:0] key;
    reg [5:0] warp;
    for (e = 0; e < 48; e = e + 1) begin
      key = keys_i[e*11 +: 11];
      warp = key[10:5];
      same_o[e] = key == trigger_key_i;
      killed_o[e] = warp == kill_warp_i;
      room_o[e] = room_padded[warp];
    end
  end

endmodule

`default_nettype wire
