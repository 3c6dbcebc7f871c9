// Reference for the area of bgp, written by hand: two arrays of 2048 bits in eight banks,
// six hashes, and the counters of the default.

`default_nettype none

module bgp (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        query_i,
  input  wire        evict_i,
  input  wire [31:0] address_i,
  input  wire  [3:0] used_i,
  output reg         valid_o,
  output reg         coarse_o,
  output reg         default_coarse_o,
  output reg         flip_o,
  output reg         active_o
);

  // A bit of a hash is the exclusive-or of five bits of the address: eight bits for each of six hashes, three for the skew.
  function [50:0] hashed(input [31:0] a);
    hashed = {
      ^{a[31], a[27], a[21], a[8], a[7]},
      ^{a[30], a[25], a[24], a[12], a[2]},
      ^{a[17], a[9], a[5], a[2], a[1]},
      ^{a[31], a[18], a[6], a[4], a[3]},
      ^{a[28], a[17], a[13], a[6], a[1]},
      ^{a[18], a[16], a[13], a[9], a[8]},
      ^{a[28], a[27], a[22], a[20], a[5]},
      ^{a[31], a[15], a[11], a[10], a[7]},
      ^{a[29], a[20], a[7], a[6], a[3]},
      ^{a[29], a[28], a[23], a[10], a[5]},
      ^{a[25], a[16], a[15], a[14], a[0]},
      ^{a[27], a[24], a[22], a[16], a[4]},
      ^{a[27], a[26], a[20], a[14], a[10]},
      ^{a[29], a[22], a[11], a[8], a[7]},
      ^{a[27], a[13], a[10], a[6], a[0]},
      ^{a[20], a[19], a[15], a[13], a[2]},
      ^{a[27], a[19], a[16], a[14], a[6]},
      ^{a[22], a[15], a[12], a[2], a[1]},
      ^{a[22], a[17], a[15], a[9], a[4]},
      ^{a[23], a[16], a[13], a[8], a[4]},
      ^{a[28], a[27], a[25], a[14], a[10]},
      ^{a[25], a[15], a[4], a[1], a[0]},
      ^{a[29], a[24], a[21], a[19], a[15]},
      ^{a[27], a[26], a[19], a[15], a[10]},
      ^{a[25], a[18], a[17], a[16], a[12]},
      ^{a[26], a[22], a[21], a[18], a[17]},
      ^{a[28], a[27], a[22], a[15], a[2]},
      ^{a[29], a[27], a[21], a[14], a[5]},
      ^{a[31], a[29], a[23], a[14], a[8]},
      ^{a[31], a[28], a[26], a[18], a[6]},
      ^{a[29], a[17], a[16], a[7], a[2]},
      ^{a[18], a[13], a[11], a[9], a[4]},
      ^{a[27], a[13], a[5], a[4], a[0]},
      ^{a[24], a[18], a[4], a[3], a[0]},
      ^{a[26], a[19], a[15], a[13], a[8]},
      ^{a[29], a[21], a[18], a[1], a[0]},
      ^{a[24], a[19], a[6], a[5], a[3]},
      ^{a[19], a[10], a[9], a[8], a[5]},
      ^{a[21], a[20], a[18], a[8], a[6]},
      ^{a[30], a[22], a[20], a[13], a[6]},
      ^{a[27], a[25], a[24], a[10], a[1]},
      ^{a[19], a[16], a[11], a[5], a[1]},
      ^{a[29], a[20], a[12], a[11], a[8]},
      ^{a[29], a[26], a[14], a[8], a[5]},
      ^{a[29], a[15], a[10], a[1], a[0]},
      ^{a[31], a[27], a[24], a[19], a[13]},
      ^{a[31], a[19], a[18], a[17], a[6]},
      ^{a[23], a[11], a[10], a[9], a[6]},
      ^{a[27], a[14], a[13], a[12], a[0]},
      ^{a[16], a[12], a[7], a[4], a[0]},
      ^{a[28], a[26], a[24], a[13], a[1]}
    };
  endfunction

  wire [50:0] hash = hashed(address_i);
  wire [2:0] skew = hash[50:48];

  // Eight banks of 16 rows. A row holds 16 bits of each array, and counts only if it was written since the array was cleared.
  wire insert, fill1, clear0, clear1;
  wire [7:0] hit0, hit1;
  genvar g;
  generate
    for (g = 0; g < 8; g = g + 1) begin : bank
      wire [2:0] which = skew ^ g[2:0];
      wire is_used = which < 3'd6;
      wire [63:0] padded = {16'd0, hash[47:0]};
      wire [7:0] index = padded[which*8 +: 8];
      wire [3:0] row = index[7:4];
      wire [15:0] bit_mask = 16'd1 << index[3:0];

      reg [31:0] rows [0:15];
      reg [15:0] written0, written1;
      wire [31:0] held = rows[row];
      wire [15:0] held0 = held[15:0] & {16{written0[row]}};
      wire [15:0] held1 = held[31:16] & {16{written1[row]}};
      assign hit0[g] = !is_used | |(held0 & bit_mask);
      assign hit1[g] = !is_used | |(held1 & bit_mask);

      always @(posedge clk_i)
        if (insert & is_used)
          rows[row] <= {held1 | bit_mask, held0 | bit_mask};

      always @(posedge clk_i or negedge rst_ni)
        if (!rst_ni) begin
          written0 <= 16'd0;
          written1 <= 16'd0;
        end else begin
          if (clear0)
            written0 <= 16'd0;
          else if (insert & is_used)
            written0[row] <= 1'b1;
          if (clear1)
            written1 <= 16'd0;
          else if (insert & fill1 & is_used)
            written1[row] <= 1'b1;
        end
    end
  endgenerate
  wire hit = active_o ? &hit1 : &hit0;

  // What goes in, and when the default flips.
  wire [2:0] used = {2'd0, used_i[0]} + {2'd0, used_i[1]} + {2'd0, used_i[2]} + {2'd0, used_i[3]};
  assign insert = evict_i & ((used < 3'd2) == default_coarse_o);
  reg [9:0] evictions, insertions;
  wire [9:0] with_this = insertions + {9'd0, insert};
  wire window_ends = evict_i & evictions == 10'd999;
  wire flip = window_ends & with_this > 10'd700;

  // Halves of a period: array 1 fills from the second on, and at the end of each the array that is full is cleared.
  reg [7:0] count;
  reg both_fill;
  wire half_ends = insert & &count;

  assign fill1 = both_fill;
  assign clear0 = flip | (half_ends & both_fill & !active_o);
  assign clear1 = flip | (half_ends & both_fill & active_o);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      count <= 8'd0;
      both_fill <= 1'b0;
      active_o <= 1'b0;
    end else if (flip) begin
      count <= 8'd0;
      both_fill <= 1'b0;
      active_o <= 1'b0;
    end else begin
      count <= count + {7'd0, insert};
      if (half_ends) begin
        both_fill <= 1'b1;
        active_o <= both_fill & !active_o;
      end
    end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_o <= 1'b0;
      coarse_o <= 1'b0;
      default_coarse_o <= 1'b1;
      flip_o <= 1'b0;
      evictions <= 10'd0;
      insertions <= 10'd0;
    end else begin
      valid_o <= query_i & !evict_i;
      if (query_i & !evict_i)
        coarse_o <= default_coarse_o ^ hit;
      default_coarse_o <= default_coarse_o ^ flip;
      flip_o <= flip;
      evictions <= window_ends ? 10'd0 : evictions + {9'd0, evict_i};
      insertions <= window_ends ? 10'd0 : with_this;
    end

endmodule

`default_nettype wire
