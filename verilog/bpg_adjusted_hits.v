// SPDX-License-Identifier: MIT OR Apache-2.0
// bpg_adjusted_hits
//
// Weighs the hits that the first L warps would have in the L1D against the reservation failures
// that they would cause.
//
// Dai, section 2.6. TAG is the width of a tag, WORD that of a tag with its valid bit. A set has
// WAYS tags. One of 2^SHIFT sets is sampled. ADJUSTED is the width of adjusted hits. L comes in
// through ports, which are tied to constants. The tags of a set are in the order of their last use,
// in one memory per position. An access writes its tag to the first position. The tags before its
// old position, or all on a miss, move one position further.
//
// Parameters: WAYS = 4, SHIFT = 3, ADJUSTED = 14
// Part of: bpg
// Source: Dai, section 2.6
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module bpg_adjusted_hits #(
  // Width of a tag; a line address has the bits of a set's index more; verified with 20, 32
  parameter integer TAG_BITS = 32
) (
  // clock
  input  wire                clk_i,
  // asynchronous reset, active low: no hits
  input  wire                rst_ni,
  // the last warp that uses the L1D: L - 1
  input  wire          [5:0] last_warp_i,
  // an access to a sampled set
  input  wire                access_i,
  // warp of the access
  input  wire          [5:0] warp_i,
  // number of the sampled set
  input  wire          [1:0] set_i,
  // the set had an access since reset, so that its words are valid
  input  wire                known_i,
  // tag of the line
  input  wire [TAG_BITS-1:0] tag_i,
  // half of the estimated reservation failures
  input  wire         [10:0] half_i,
  // the interval ends: halve the hits
  input  wire                interval_ends_i,
  // at least one hit is counted
  output wire                any_hit_o,
  // adjusted hits as of the last cycle, with an offset of 2048
  output wire         [13:0] adjusted_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (TAG_BITS != 20 && TAG_BITS != 32) begin : gen_wrong_tag_bits
      bpg_adjusted_hits_TAG_BITS_must_be_20_or_32 wrong_tag_bits ();
    end
  endgenerate

  localparam WORD = TAG_BITS + 1;
  localparam [13:0] OFFSET = 14'h800;
  wire watched;
  reg hit;
  wire [9:0] faded;
  reg [13:0] scaled;
  reg [3:0] places_write;
  reg [WORD*4-1:0] places_write_data;
  wire [WORD*4-1:0] places_read_data;
  reg [9:0] hits_q;
  reg [13:0] adjusted_q;

  genvar g;
  generate
    for (g = 0; g < 4; g = g + 1) begin : gen_places
      selvedge_mem #(.A (2), .BITS (WORD)) places (
        .clk_i           (clk_i),
        .write_i         (places_write[g]),
        .write_address_i (set_i),
        .write_data_i    (places_write_data[g*WORD +: WORD]),
        .read_address_i  (set_i),
        .read_data_o     (places_read_data[g*WORD +: WORD])
      );
    end
  endgenerate

  assign watched = access_i & (warp_i <= last_warp_i);

  // shift in the new tag; the words after it move up, or become invalid in the set's first access
  always @(*) begin : comb_places_write_data
    integer place;
    // word that moves to this position from the previous one
    reg [TAG_BITS:0] moved;
    // word that is read and moves on; separate from `word`, to keep the comparison out of the write
    // path
    reg [TAG_BITS:0] data;
    moved = {1'b0, tag_i};
    moved[TAG_BITS] = watched;
    for (place = 0; place < 4; place = place + 1) begin
      places_write_data[place*WORD +: WORD] = moved;
      data = places_read_data[place*WORD +: WORD];
      moved = {known_i & data[TAG_BITS], data[TAG_BITS-1:0]};
    end
  end

  // words up to the tag's position move; the first access to the set writes all words
  always @(*) begin : comb_hit
    integer place;
    // the tag was not found before this position
    reg sought;
    reg [TAG_BITS:0] word;
    hit = 1'b0;
    sought = watched;
    for (place = 0; place < 4; place = place + 1) begin
      places_write[place] = sought | (access_i & ~known_i);
      word = places_read_data[place*WORD +: WORD];
      if (known_i & word[TAG_BITS] & (word[TAG_BITS-1:0] == tag_i)) begin
        hit = 1'b1;
        sought = 1'b0;
      end
    end
  end

  // saturating count of hits; at the end of an interval it is halved first
  assign faded = interval_ends_i ? (hits_q >> 1) : hits_q;

  // hits times the sets per group, because one is sampled, minus half of the failures
  always @(*) begin
    scaled = 14'd0;
    scaled[12:3] = hits_q;
  end

  assign adjusted_o = adjusted_q;
  assign any_hit_o = |hits_q;

  always @(posedge clk_i) begin
    adjusted_q <= (OFFSET + scaled) - {3'd0, half_i};
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      hits_q <= 10'd0;
    end else begin
      hits_q <= faded;
      if (watched & hit & ~(&faded)) begin
        hits_q <= faded + 10'd1;
      end
    end
  end

endmodule

`default_nettype wire
