// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_lengths
//
// Stores the number of symbols among the items of each node, and derives the position in the order
// at which each length begins.
//
// The last node is the root, and the nodes before it are ordered by depth. The number of items of a
// depth that are nodes is the number of nodes to examine next. Symbols that lie too deep get the
// maximum length. Then the code is over-full by one unit for each node that lies too deep. The
// repair first lengthens codes, the longest first, until the code is no longer over-full. If the
// code then has free units, the repair shortens codes. COUNT is the width of the number of entries
// in bits, and INDEX is one less.
//
// Parameters: INDEX = 10, COUNT = 11
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_code_builder_lengths #(
  // Maximum length of a code in bits; verified with 12, 16
  parameter integer MAX_CODE_BITS = 16
) (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // a node is made
  input  wire        node_valid_i,
  // number of the node
  input  wire  [9:0] node_i,
  // number of symbols among the two items of the node
  input  wire  [1:0] symbols_i,
  // starts the search for the lengths, after the last node
  input  wire        start_i,
  // number of entries, which is the number of nodes and one less than the number of symbols
  input  wire [10:0] size_i,
  // the lengths are valid from the next cycle on
  output reg         done_o,
  // a code length, modulo 16
  input  wire  [3:0] length_i,
  // position in the order from which on codes are longer than `length_i`
  output wire [10:0] longer_from_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (MAX_CODE_BITS != 12 && MAX_CODE_BITS != 16) begin : gen_wrong_max_code_bits
      sc_code_builder_lengths_MAX_CODE_BITS_must_be_12_or_16 wrong_max_code_bits ();
    end
  endgenerate

  localparam LAST_LENGTH_INTEGER = MAX_CODE_BITS - 1;
  localparam [3:0] LAST_LENGTH = LAST_LENGTH_INTEGER[3:0];
  localparam FIRST_UNIT_INTEGER = 2**MAX_CODE_BITS / 4;
  localparam [15:0] FIRST_UNIT = FIRST_UNIT_INTEGER[15:0];
  wire any_left;
  wire depth_ends;
  wire is_last;
  reg [10:0] seen_next;
  reg [10:0] place_next;
  wire [10:0] too_deep;
  reg [15:0] change;
  wire [15:0] excess_next;
  reg [3:0] neighbor;
  wire [10:0] neighbor_place;
  reg changes;
  wire [9:0] nodes_read_address;
  wire [1:0] nodes_read_data;
  reg longer_from_write;
  reg [3:0] longer_from_write_address;
  reg [10:0] longer_from_write_data;
  wire [3:0] longer_from_read_address;
  wire [10:0] longer_from_read_data;
  reg scanning_d;
  reg scanning_q;
  reg checking_d;
  reg checking_q;
  reg lengthening_d;
  reg lengthening_q;
  reg shortening_d;
  reg shortening_q;
  reg [3:0] length_d;
  // the length under examination, and the position at which longer codes begin
  reg [3:0] length_q;
  reg [10:0] place_d;
  reg [10:0] place_q;
  // number of nodes examined, and number of nodes of this depth that are left
  reg [10:0] seen_q;
  reg [10:0] left_d;
  reg [10:0] left_q;
  reg [15:0] excess_d;
  // units by which the code is over-full; below zero, the number of free units. A unit is the share
  // of a code of maximum length.
  reg [15:0] excess_q;
  reg [15:0] unit_d;
  // units that a code of this length frees when it becomes one bit longer
  reg [15:0] unit_q;

  selvedge_sync_mem #(.A (10), .BITS (2)) nodes (
    .clk_i           (clk_i),
    .write_i         (node_valid_i),
    .write_address_i (node_i),
    .write_data_i    (symbols_i),
    .read_address_i  (nodes_read_address),
    .read_data_o     (nodes_read_data)
  );

  selvedge_mem #(.A (4), .BITS (11)) longer_from (
    .clk_i           (clk_i),
    .write_i         (longer_from_write),
    .write_address_i (longer_from_write_address),
    .write_data_i    (longer_from_write_data),
    .read_address_i  (longer_from_read_address),
    .read_data_o     (longer_from_read_data)
  );

  // visit nodes by depth from the root, one per cycle; an empty depth takes a cycle
  assign any_left = |left_q;
  assign depth_ends = ~(|left_q) | (left_q == 11'd1);
  assign is_last = length_q == LAST_LENGTH;
  assign too_deep = size_i - seen_q - left_q;

  // shorten the first code of the next length, or lengthen the last code of this length
  always @(*) begin
    change = ~unit_q + 16'd1;
    neighbor = length_q - 4'd1;
    if (shortening_q) begin
      change = unit_q;
      neighbor = length_q + 4'd1;
      if (is_last) begin
        neighbor = 4'd1;
      end
    end
  end

  assign excess_next = excess_q + change;
  assign neighbor_place = (shortening_q & is_last) ? (size_i + 11'd1) : longer_from_read_data;

  always @(*) begin
    changes = place_q != neighbor_place;
    if (shortening_q) begin
      changes = changes & (excess_next[15] | ~(|excess_next));
    end
  end

  always @(*) begin
    scanning_d = scanning_q;
    lengthening_d = lengthening_q;
    shortening_d = shortening_q;
    length_d = length_q;
    left_d = left_q;
    excess_d = excess_q;
    unit_d = unit_q;
    checking_d = 1'b0;
    seen_next = seen_q;
    place_next = place_q;
    if (scanning_q & any_left) begin
      seen_next = seen_q + 11'd1;
      place_next = place_q + {9'd0, nodes_read_data};
    end
    longer_from_write = scanning_q & depth_ends;
    if (scanning_q) begin
      left_d = left_q - 11'd1;
      if (depth_ends) begin
        left_d = (seen_next + 11'd1) - place_next;
        length_d = length_q + 4'd1;
        if (is_last) begin
          length_d = length_q;
          scanning_d = 1'b0;
          checking_d = 1'b1;
        end
      end
    end
    // nodes that were not visited are too deep
    done_o = 1'b0;
    if (checking_q) begin
      excess_d = {5'd0, too_deep};
      unit_d = 16'd1;
      lengthening_d = |too_deep;
      done_o = ~(|too_deep);
    end
    if (lengthening_q | shortening_q) begin
      if (changes) begin
        place_next = place_q - 11'd1;
        if (shortening_q) begin
          place_next = place_q + 11'd1;
        end
        longer_from_write = 1'b1;
        excess_d = excess_next;
        done_o = ~(|excess_next);
        lengthening_d = lengthening_q & (|excess_next) & ~excess_next[15];
        shortening_d = excess_next[15];
      end else begin
        place_next = longer_from_read_data;
        length_d = neighbor;
        unit_d = unit_q << 1;
        if (shortening_q) begin
          unit_d = unit_q >> 1;
          if (is_last) begin
            unit_d = FIRST_UNIT;
          end
        end
      end
    end
    place_d = place_next;
    longer_from_write_address = length_q;
    longer_from_write_data = place_next;
    // no code is shorter than one bit
    if (start_i) begin
      scanning_d = 1'b1;
      length_d = 4'd1;
      place_d = 11'd0;
      seen_next = 11'd0;
      left_d = 11'd1;
      longer_from_write = 1'b1;
      longer_from_write_address = 4'd0;
      longer_from_write_data = 11'd0;
    end
  end

  assign nodes_read_address = size_i[9:0] + ~seen_next[9:0];
  assign longer_from_read_address = (lengthening_q | shortening_q) ? neighbor : length_i;
  assign longer_from_o = longer_from_read_data;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      scanning_q <= 1'b0;
      checking_q <= 1'b0;
      lengthening_q <= 1'b0;
      shortening_q <= 1'b0;
    end else begin
      scanning_q <= scanning_d;
      checking_q <= checking_d;
      lengthening_q <= lengthening_d;
      shortening_q <= shortening_d;
    end
  end

  always @(posedge clk_i) begin
    seen_q <= seen_next;
    length_q <= length_d;
    place_q <= place_d;
    left_q <= left_d;
    excess_q <= excess_d;
    unit_q <= unit_d;
  end

endmodule

`default_nettype wire
