// SPDX-License-Identifier: MIT OR Apache-2.0
// md_cache_md_entry
//
// Reads one entry of a block, and replaces it in an update.
//
// ENTRY is the width of an entry, OFFSET the width of its number.
//
// Parameters: ENTRY = 2, OFFSET = 7
// Part of: md_cache
// Source: CABA, section 5.3.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module md_cache_md_entry (
  // the block
  input  wire [255:0] block_i,
  // number of the entry
  input  wire   [6:0] offset_i,
  // replace the entry
  input  wire         update_i,
  // the new entry
  input  wire   [1:0] entry_i,
  // the entry, after the update
  output reg    [1:0] entry_o,
  // the block, after the update
  output reg  [255:0] block_o
);

  // base-2 logarithm of the width of an entry
  localparam [1:0] SHIFT = 2'd1;
  wire [7:0] place;

  assign place = {1'b0, offset_i} << SHIFT;

  always @(*) begin
    block_o = block_i;
    entry_o = (place <= 8'd254) ? block_i[place +: 2] : 2'd0;
    if (update_i) begin
      block_o = block_i;
      if (place <= 8'd254) begin
        block_o[place +: 2] = entry_i;
      end
      entry_o = entry_i;
    end
  end

endmodule

`default_nettype wire
