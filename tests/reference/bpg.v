// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of bpg with tags of 32 bits and intervals of 1,000 accesses, written by hand from Dai's sections 2.5
// and 2.6 and the description of the block.

`default_nettype none

// The shadow tags and the hit counter for one L.
module bpg_calculator #(parameter [5:0] LAST = 0) (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        access_i,
  input  wire  [5:0] warp_i,
  input  wire  [1:0] set_i,
  input  wire        known_i,
  input  wire [31:0] tag_i,
  input  wire        end_i,
  output reg   [9:0] hits_o
);

  // A tag and its valid bit in each of four places, the youngest first.
  reg [32:0] first [0:3];
  reg [32:0] second [0:3];
  reg [32:0] third [0:3];
  reg [32:0] fourth [0:3];
  wire [32:0] a = first[set_i], b = second[set_i], c = third[set_i], d = fourth[set_i];

  wire watched = access_i && warp_i <= LAST;
  wire [32:0] wanted = {1'b1, tag_i};
  wire in_a = known_i && a == wanted;
  wire in_b = known_i && b == wanted;
  wire in_c = known_i && c == wanted;
  wire in_d = known_i && d == wanted;
  wire clear = access_i && !known_i;

  always @(posedge clk_i) begin
    if (watched || clear) first[set_i] <= {watched, tag_i};
    if ((watched && !in_a) || clear) second[set_i] <= {known_i && a[32], a[31:0]};
    if ((watched && !in_a && !in_b) || clear) third[set_i] <= {known_i && b[32], b[31:0]};
    if ((watched && !in_a && !in_b && !in_c) || clear) fourth[set_i] <= {known_i && c[32], c[31:0]};
  end

  wire hit = watched && (in_a || in_b || in_c || in_d);
  wire [9:0] kept = end_i ? hits_o >> 1 : hits_o;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) hits_o <= 0;
    else hits_o <= kept + (hit && !(&kept));

endmodule

module bpg (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        access_i,
  input  wire [36:0] line_i,
  input  wire  [5:0] warp_i,
  input  wire        rsfail_i,
  output reg   [3:0] l_max_o,
  output reg   [7:0] bypass_o,
  output reg         update_o
);

  // The sets 0, 9, 18 and 27 of 32 are sampled.
  wire [1:0] set = line_i[4:3];
  wire sampled = access_i && line_i[2:0] == {1'b0, line_i[4:3]};
  reg [3:0] known;
  reg [9:0] accesses;
  reg [11:0] failures;
  wire interval_ends = access_i && accesses == 10'd999;
  wire [11:0] kept = interval_ends ? failures >> 1 : failures;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      known <= 0;
      accesses <= 0;
      failures <= 0;
    end else begin
      if (sampled) known <= known | (4'd1 << set);
      accesses <= interval_ends ? 10'd0 : accesses + access_i;
      failures <= kept + (rsfail_i && !(&kept));
    end

  // failures x L^3 / 1024
  wire [21:0] x1 = failures;
  wire [21:0] x3 = x1 + (x1 << 1);
  wire [21:0] x27 = x3 + (x3 << 3);
  wire [21:0] x125 = (x1 << 7) - x3;
  wire [21:0] x343 = (x27 << 3) + ((x1 << 7) - x1);
  wire [87:0] half = {x1[11:1], x343[20:10], x27[17:7], x125[20:10], {3'd0, x1[11:4]}, x27[20:10], {6'd0, x1[11:7]},
                      {9'd0, x1[11:10]}};

  wire [9:0] hits [1:8];
  reg [13:0] adjusted [1:8];
  genvar l;
  generate
    for (l = 1; l <= 8; l = l + 1) begin : calculators
      bpg_calculator #(.LAST (l - 1)) calculator (
        .clk_i    (clk_i),
        .rst_ni   (rst_ni),
        .access_i (sampled),
        .warp_i   (warp_i),
        .set_i    (set),
        .known_i  (known[set]),
        .tag_i    (line_i[36:5]),
        .end_i    (interval_ends),
        .hits_o   (hits[l])
      );
      // Hits count eightfold: four of 32 sets are sampled. The top bit keeps the difference above 0.
      always @(posedge clk_i) adjusted[l] <= 14'h800 + {hits[l], 3'd0} - half[l * 11 - 11 +: 11];
    end
  endgenerate

  // The largest of eight; the larger L among equals.
  wire g2 = adjusted[2] >= adjusted[1];
  wire g4 = adjusted[4] >= adjusted[3];
  wire g6 = adjusted[6] >= adjusted[5];
  wire g8 = adjusted[8] >= adjusted[7];
  wire [13:0] m2 = g2 ? adjusted[2] : adjusted[1];
  wire [13:0] m4 = g4 ? adjusted[4] : adjusted[3];
  wire [13:0] m6 = g6 ? adjusted[6] : adjusted[5];
  wire [13:0] m8 = g8 ? adjusted[8] : adjusted[7];
  wire upper4 = m4 >= m2;
  wire upper8 = m8 >= m6;
  wire upper = (upper8 ? m8 : m6) >= (upper4 ? m4 : m2);
  wire second = upper ? upper8 : upper4;
  wire [2:0] chosen = {upper, second, upper ? (second ? g8 : g6) : (second ? g4 : g2)};

  reg ended, some_hit;
  wire any_hit = |{hits[1], hits[2], hits[3], hits[4], hits[5], hits[6], hits[7], hits[8]};
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      ended <= 0;
      some_hit <= 0;
      update_o <= 0;
      l_max_o <= 8;
    end else begin
      ended <= interval_ends;
      some_hit <= any_hit;
      update_o <= ended;
      if (ended && some_hit) l_max_o <= chosen + 4'd1;
    end

  integer w;
  always @* for (w = 0; w < 8; w = w + 1) bypass_o[w] = l_max_o <= w;

endmodule

`default_nettype wire
