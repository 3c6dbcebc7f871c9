// SPDX-License-Identifier: MIT OR Apache-2.0
// md_cache
//
// Caches the burst count of each compressed line at the memory controller.
//
// CABA, section 5.3.2. A line number is a TAG, a set of SET bits, and an OFFSET in a block with
// entries of ENTRY bits. BLOCK is TAG + SET. SLOT is the width of set and way, TAGS the width of
// four tags.
//
// Parameters: kilobytes = 8, entry_bits = 2
// In this file: ENTRY = 2, OFFSET = 7, SET = 6, SLOT = 8, TAG = 19, BLOCK = 25, TAGS = 76
// Source: CABA, section 5.3.2
// Written by selvedge 0.2.0 with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i
//
// Metadata cache: holds the number of DRAM bursts of each compressed line, at a memory controller.
//
// Source: CABA, section 5.3.2: 8 KB, 4 ways. The metadata of all lines are in a reserved region of
// DRAM. A hit needs no DRAM access; a miss costs one more DRAM access.
//
//   line_i = | tag | set | line in the block |
//
//   request --> [tags, order, valid and dirty bits of the set] --> way --> [data: one block] --> entry --> reply
//                                     |                             ^ |
//                                  miss: least recently used way    | +-- dirty block --> [write-back buffer] --> DRAM
//                                     +------> refill request --> DRAM --> fill
//
// A request reads or updates a line's entry. An update that misses fetches the block first, because
// it needs the other entries of the block. Replacement is least recently used, with empty ways
// first.
//
// Choices where the paper is silent:
// - A block is one DRAM burst of 32 bytes, the minimum that a miss can fetch.
// - An entry has 2 bits by default, the number of bursts minus one, and a block covers 128 lines,
//   16 KB of data. The paper's 8 MB of metadata for 4 GB of memory give 2 bits per line of 128
//   bytes. With `entry_bits` = 4 an entry also holds the encoding. The cache does not interpret
//   entries.
// - The cache handles one request at a time. While it fetches a block it takes no other request, so
//   no request can hit a block that is in flight. Hits are taken every second cycle, about as fast
//   as DRAM can begin lines.
// - A miss moves its dirty victim into a write-back buffer of one block and requests its own block
//   at once. It waits only while an earlier block is still in the buffer. So DRAM has taken the
//   last version of a block before the cache requests that block again.
// - Reset invalidates all blocks, without a write-back.
// - A line number has 32 bits; in a smaller memory the upper bits are zero.
//
// PARAMETERS
// - kilobytes, default 8, allowed 4, 8, 16: size of the data in KB, in 4 ways
// - entry_bits, default 2, allowed 2, 4: bits of a line's entry
//
// PORTS AND TIMING
// All outputs come from registers, except `ready_o` and `refill_valid_o`, which follow from
// registers through at most one gate. A reply is valid for one cycle, in which the requester must
// take it. Requests to DRAM are valid/ready. `fill_valid_i` replies to the last refill request, at
// least one cycle after it was taken; at other times it is ignored.
//
//   clk_i           __/--\__/--\__/--\__/--\__/--\__/--\__      a hit, then a miss
//   valid_i         __/-----\_____/-----\_________________
//   line_i          ==< A  >======< B  >==================
//   ready_o         --------\_____/-----\_________________      low until the fetch has ended
//   valid_o         ____________________/-----\___________      A, three cycles after its request
//   hit_o, entry_o  ====================< A   >===========
//   refill_valid_o  ________________________________/-----      B, three cycles after its request
//
// STORAGE
// The paper counts 8 KB: the data, 65,536 bits. This block holds 72,054 by default. A tag has 19
// bits (4,864 in all). A set has order (6), valid bits (4), dirty bits (4) and 1 flag that is high
// if the set was used since reset (960 in all). The rest are registers: the outputs of the three
// memories (76, 14, 256), the request (35), the state of the access (27), the reply (4) and the
// write-back buffer (282).

`default_nettype none

module md_cache (
  // clock
  input  wire         clk_i,
  // asynchronous reset, active low: all is invalid
  input  wire         rst_ni,
  // a request is offered
  input  wire         valid_i,
  // the request updates the line's entry
  input  wire         update_i,
  // number of the line
  input  wire  [31:0] line_i,
  // the new entry of an update
  input  wire   [1:0] entry_i,
  // DRAM takes the refill request
  input  wire         refill_ready_i,
  // the block of the last refill request arrives
  input  wire         fill_valid_i,
  // the arriving block
  input  wire [255:0] fill_data_i,
  // DRAM takes the write-back
  input  wire         writeback_ready_i,
  // the cache can take a request in this cycle
  output wire         ready_o,
  // a reply is valid in this cycle
  output wire         valid_o,
  // the reply is a hit
  output wire         hit_o,
  // the line's entry, after the update if it is one
  output wire   [1:0] entry_o,
  // a block is requested from DRAM
  output wire         refill_valid_o,
  // number of the requested block
  output wire  [24:0] refill_block_o,
  // a write-back is offered to DRAM
  output wire         writeback_valid_o,
  // number of the block in the write-back
  output wire  [24:0] writeback_block_o,
  // data of the block in the write-back
  output wire [255:0] writeback_data_o
);

  // line: the first bit of each field
  localparam LINE_OFFSET = 0;
  localparam LINE_SET_INDEX = 7;
  localparam LINE_TAG = 13;
  wire ready;
  wire accepts;
  wire filled;
  // the write-back buffer is free
  wire buffer_free;
  wire [5:0] set;
  // way of the access, from the look-up on
  reg [1:0] current_way;
  wire [7:0] slot;
  reg [24:0] victim_block;
  wire [75:0] tags_read_data;
  wire [13:0] states_read_data;
  wire data_write;
  wire [255:0] data_read_data;
  wire used_bit;
  wire [13:0] lookup_state_in;
  wire lookup_hit;
  wire [1:0] lookup_way;
  wire lookup_evicts_dirty;
  wire [18:0] lookup_victim_tag;
  wire [75:0] lookup_tags;
  wire [13:0] lookup_state_out;
  wire [255:0] entry_port_block_in;
  wire [1:0] entry_port_entry;
  wire [255:0] entry_port_block_out;
  // the tags of the set are available
  reg looking_q;
  // a hit: the block is available
  reg reading_q;
  // a miss: the victim is available
  reg evicting_q;
  // the missing block is requested
  reg asking_q;
  // the missing block is in flight
  reg awaiting_q;
  reg [31:0] line_q;
  reg updates_q;
  reg [1:0] new_entry_q;
  reg [1:0] way_q;
  reg evicts_dirty_d;
  reg evicts_dirty_q;
  reg [18:0] victim_tag_d;
  reg [18:0] victim_tag_q;
  reg answered_q;
  reg hit_q;
  reg [1:0] answer_q;
  reg writeback_valid_q;
  reg [24:0] writeback_block_q;
  reg [255:0] writeback_data_q;

  selvedge_sync_mem #(.A (6), .BITS (76)) tags (
    .clk_i           (clk_i),
    .write_i         (looking_q),
    .write_address_i (set),
    .write_data_i    (lookup_tags),
    .read_address_i  (line_i[12:7]),
    .read_data_o     (tags_read_data)
  );

  selvedge_sync_mem #(.A (6), .BITS (14)) states (
    .clk_i           (clk_i),
    .write_i         (looking_q),
    .write_address_i (set),
    .write_data_i    (lookup_state_out),
    .read_address_i  (line_i[12:7]),
    .read_data_o     (states_read_data)
  );

  selvedge_sync_mem #(.A (8), .BITS (256)) data (
    .clk_i           (clk_i),
    .write_i         (data_write),
    .write_address_i (slot),
    .write_data_i    (entry_port_block_out),
    .read_address_i  (slot),
    .read_data_o     (data_read_data)
  );

  selvedge_bit_array #(.A (6)) used (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .clear_i   (1'b0),
    .set_i     (looking_q),
    .address_i (set),
    .bit_o     (used_bit)
  );

  md_cache_md_lookup lookup (
    .tags_i         (tags_read_data),
    .state_i        (lookup_state_in),
    .tag_i          (line_q[LINE_TAG +: 19]),
    .update_i       (updates_q),
    .hit_o          (lookup_hit),
    .way_o          (lookup_way),
    .evicts_dirty_o (lookup_evicts_dirty),
    .victim_tag_o   (lookup_victim_tag),
    .tags_o         (lookup_tags),
    .state_o        (lookup_state_out)
  );

  md_cache_md_entry entry_port (
    .block_i  (entry_port_block_in),
    .offset_i (line_q[LINE_OFFSET +: 7]),
    .update_i (updates_q),
    .entry_i  (new_entry_q),
    .entry_o  (entry_port_entry),
    .block_o  (entry_port_block_out)
  );

  always @(*) begin
    evicts_dirty_d = evicts_dirty_q;
    victim_tag_d = victim_tag_q;
    current_way = way_q;
    if (looking_q) begin
      current_way = lookup_way;
      evicts_dirty_d = lookup_evicts_dirty;
      victim_tag_d = lookup_victim_tag;
    end
  end

  // accept a request when idle, or while a hit is read
  assign ready = ~(looking_q | evicting_q | asking_q | awaiting_q);
  assign accepts = valid_i & ready;

  // look-up: a set that is unused since reset is empty; ignore its memory
  assign set = line_q[LINE_SET_INDEX +: 6];
  assign lookup_state_in = used_bit ? states_read_data : 14'd0;

  // the block: read by a hit, evicted by a miss, replaced by the fill from DRAM
  assign filled = awaiting_q & fill_valid_i;

  assign slot = {set, current_way};
  assign entry_port_block_in = awaiting_q ? fill_data_i : data_read_data;
  assign data_write = (reading_q & updates_q) | filled;
  // a dirty victim goes to the write-back buffer; the request waits until it is free
  assign buffer_free = ~writeback_valid_q | writeback_ready_i;

  always @(*) begin
    victim_block = {19'd0, set};
    victim_block[24:6] = victim_tag_q;
  end

  assign ready_o = ready;
  assign valid_o = answered_q;
  assign hit_o = hit_q;
  assign entry_o = answer_q;
  assign refill_valid_o = asking_q;
  assign refill_block_o = line_q[31:7];
  assign writeback_valid_o = writeback_valid_q;
  assign writeback_block_o = writeback_block_q;
  assign writeback_data_o = writeback_data_q;

  // phases of an access
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      looking_q <= 1'b0;
      reading_q <= 1'b0;
      evicting_q <= 1'b0;
      asking_q <= 1'b0;
      awaiting_q <= 1'b0;
      answered_q <= 1'b0;
      evicts_dirty_q <= 1'b0;
    end else begin
      looking_q <= accepts;
      reading_q <= looking_q & lookup_hit;
      evicting_q <= (looking_q & ~lookup_hit) | (evicting_q & ~buffer_free);
      asking_q <= (evicting_q & buffer_free) | (asking_q & ~refill_ready_i);
      awaiting_q <= (asking_q & refill_ready_i) | (awaiting_q & ~fill_valid_i);
      answered_q <= reading_q | filled;
      evicts_dirty_q <= evicts_dirty_d;
    end
  end

  always @(posedge clk_i) begin
    way_q <= current_way;
    victim_tag_q <= victim_tag_d;
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      updates_q <= 1'b0;
    end else if (accepts) begin
      updates_q <= update_i;
    end
  end

  always @(posedge clk_i) begin
    if (accepts) begin
      line_q <= line_i;
      new_entry_q <= entry_i;
    end
  end

  always @(posedge clk_i) begin
    if (reading_q | filled) begin
      hit_q <= reading_q;
      answer_q <= entry_port_entry;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      writeback_valid_q <= 1'b0;
    end else begin
      writeback_valid_q <= ~buffer_free;
      if (evicting_q & evicts_dirty_q & buffer_free) begin
        writeback_valid_q <= 1'b1;
      end
    end
  end

  always @(posedge clk_i) begin
    if (evicting_q & evicts_dirty_q & buffer_free) begin
      writeback_block_q <= victim_block;
      writeback_data_q <= data_read_data;
    end
  end

endmodule

`default_nettype wire
