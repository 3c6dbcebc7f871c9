// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of md_cache with 64 sets of four ways, written by hand from the description of the block.

`default_nettype none

module md_cache (
  input  wire         clk_i,
  input  wire         rst_ni,
  input  wire         valid_i,
  input  wire         update_i,
  input  wire  [31:0] line_i,
  input  wire   [1:0] entry_i,
  input  wire         refill_ready_i,
  input  wire         fill_valid_i,
  input  wire [255:0] fill_data_i,
  input  wire         writeback_ready_i,
  output wire         ready_o,
  output reg          valid_o,
  output reg          hit_o,
  output reg    [1:0] entry_o,
  output wire         refill_valid_o,
  output wire  [24:0] refill_block_o,
  output reg          writeback_valid_o,
  output reg   [24:0] writeback_block_o,
  output reg  [255:0] writeback_data_o
);

  // The tags of a set are looked up, then a hit reads its block, and a miss evicts, asks and awaits a block.
  reg look, read, evict, ask, await_fill;
  reg update;
  reg [31:0] line;
  reg [1:0] new_entry;
  assign ready_o = !look && !evict && !ask && !await_fill;
  wire accept = valid_i && ready_o;
  wire [5:0] set = line[12:7];
  wire [18:0] tag = line[31:13];

  always @(posedge clk_i) if (accept) {line, new_entry} <= {line_i, entry_i};
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) update <= 0;
    else if (accept) update <= update_i;

  // ---------------------------------------------------------------- tags; the bits of a set count once it was written
  reg [75:0] tag_memory [0:63];
  reg [13:0] state_memory [0:63];
  reg [75:0] tags;
  reg [13:0] stored;
  reg [63:0] written;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) written <= 0;
    else if (look) written[set] <= 1;

  wire [13:0] state = written[set] ? stored : 14'd0;
  wire [3:0] valid = state[13:10];
  wire [3:0] dirty = state[9:6];
  // For the pairs of ways 01, 02, 03, 12, 13 and 23 from bit 0 up: the first one was used after the second.
  wire [5:0] later = state[5:0];

  wire [3:0] same = {tags[75:57] == tag, tags[56:38] == tag, tags[37:19] == tag, tags[18:0] == tag} & valid;
  wire hit = same != 0;
  wire [3:0] oldest = {later[2] & later[4] & later[5], later[1] & later[3] & !later[5], later[0] & !later[3] & !later[4],
                       !later[0] & !later[1] & !later[2]};
  wire [3:0] empty = {!valid[3] & valid[2] & valid[1] & valid[0], !valid[2] & valid[1] & valid[0], !valid[1] & valid[0],
                      !valid[0]};
  wire [3:0] way = hit ? same : valid == 4'hf ? oldest : empty;
  wire [1:0] number = {way[3] | way[2], way[3] | way[1]};
  wire [18:0] victim = {19{way[0]}} & tags[18:0] | {19{way[1]}} & tags[37:19] | {19{way[2]}} & tags[56:38] |
                       {19{way[3]}} & tags[75:57];
  wire [5:0] next_later = {(later[5] | way[2]) & !way[3], (later[4] | way[1]) & !way[3], (later[3] | way[1]) & !way[2],
                           (later[2] | way[0]) & !way[3], (later[1] | way[0]) & !way[2], (later[0] | way[0]) & !way[1]};
  wire [3:0] next_dirty = update ? dirty | way : hit ? dirty : dirty & ~way;

  always @(posedge clk_i) begin
    tags <= tag_memory[line_i[12:7]];
    stored <= state_memory[line_i[12:7]];
    if (look) begin
      tag_memory[set] <= {way[3] ? tag : tags[75:57], way[2] ? tag : tags[56:38], way[1] ? tag : tags[37:19],
                          way[0] ? tag : tags[18:0]};
      state_memory[set] <= {valid | way, next_dirty, next_later};
    end
  end

  // ---------------------------------------------------------------- steps
  reg [1:0] kept_number;
  reg [18:0] kept_victim;
  reg kept_dirty;
  wire [1:0] current = look ? number : kept_number;
  wire filled = await_fill && fill_valid_i;
  wire room = !writeback_valid_o || writeback_ready_i;
  wire write_back = evict && kept_dirty && room;

  always @(posedge clk_i) begin
    kept_number <= current;
    if (look) kept_victim <= victim;
  end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      {look, read, evict, ask, await_fill, valid_o, kept_dirty, writeback_valid_o} <= 0;
    end else begin
      look <= accept;
      read <= look && hit;
      evict <= (look && !hit) || (evict && !room);
      ask <= (evict && room) || (ask && !refill_ready_i);
      await_fill <= (ask && refill_ready_i) || (await_fill && !fill_valid_i);
      valid_o <= read || filled;
      if (look) kept_dirty <= !hit && (way & valid & dirty) != 0;
      writeback_valid_o <= !room || write_back;
    end

  // ---------------------------------------------------------------- blocks
  reg [255:0] blocks [0:255];
  reg [255:0] block;
  wire [255:0] source = await_fill ? fill_data_i : block;
  wire [7:0] place = {line[6:0], 1'b0};
  reg [255:0] changed;
  always @* begin
    changed = source;
    if (update) changed[place +: 2] = new_entry;
  end

  always @(posedge clk_i) begin
    block <= blocks[{set, current}];
    if ((read && update) || filled) blocks[{set, current}] <= changed;
    if (read || filled) begin
      hit_o <= read;
      entry_o <= update ? new_entry : source[place +: 2];
    end
    if (write_back) begin
      writeback_block_o <= {kept_victim, set};
      writeback_data_o <= block;
    end
  end

  assign refill_valid_o = ask;
  assign refill_block_o = line[31:7];

endmodule

`default_nettype wire
