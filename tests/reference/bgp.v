// Reference for the area of bgp, written by hand: two arrays of 2048 bits, six hashes, and the counters of the default.

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

  // Each hash is the exclusive-or of the address's bytes, each rotated inside 11 bits.
  function [10:0] rotated(input [7:0] slice, input integer by);
    rotated = ({3'd0, slice} << by) | ({3'd0, slice} >> (11 - by));
  endfunction

  function [10:0] hash(input [31:0] a, input integer r3, input integer r2, input integer r1, input integer r0);
    hash = rotated(a[31:24], r3) ^ rotated(a[23:16], r2) ^ rotated(a[15:8], r1) ^ rotated(a[7:0], r0);
  endfunction

  wire [65:0] place = {
    hash(address_i, 8, 4, 7, 10), hash(address_i, 3, 8, 4, 0), hash(address_i, 10, 2, 6, 6),
    hash(address_i, 10, 10, 2, 1), hash(address_i, 0, 0, 5, 7), hash(address_i, 4, 5, 7, 2)
  };

  // The bits that an insertion sets: rows and columns are decoded apart.
  reg [2047:0] bits0, bits1, set;
  reg [31:0] column;
  integer p, r;
  always @(*) begin
    set = 2048'd0;
    for (p = 0; p < 6; p = p + 1) begin
      column = 32'd1 << place[p*11 +: 5];
      for (r = 0; r < 64; r = r + 1)
        set[r*32 +: 32] = set[r*32 +: 32] | (column & {32{place[p*11+5 +: 6] == r}});
    end
  end

  wire [5:0] hit0, hit1;
  genvar g;
  generate
    for (g = 0; g < 6; g = g + 1) begin : read
      assign hit0[g] = bits0[place[g*11 +: 11]];
      assign hit1[g] = bits1[place[g*11 +: 11]];
    end
  endgenerate
  wire hit = active_o ? &hit1 : &hit0;

  // What goes in, and when the default flips.
  wire [2:0] used = {2'd0, used_i[0]} + {2'd0, used_i[1]} + {2'd0, used_i[2]} + {2'd0, used_i[3]};
  wire insert = evict_i & ((used < 3'd2) == default_coarse_o);
  reg [9:0] evictions, insertions;
  wire [9:0] with_this = insertions + {9'd0, insert};
  wire window_ends = evict_i & evictions == 10'd999;
  wire flip = window_ends & with_this > 10'd700;

  // Halves of a period: array 1 fills from the second on, and at the end of each the array that is full is cleared.
  reg [7:0] count;
  reg both_fill;
  wire half_ends = insert & &count;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      bits0 <= 2048'd0;
      bits1 <= 2048'd0;
      count <= 8'd0;
      both_fill <= 1'b0;
      active_o <= 1'b0;
    end else if (flip) begin
      bits0 <= 2048'd0;
      bits1 <= 2048'd0;
      count <= 8'd0;
      both_fill <= 1'b0;
      active_o <= 1'b0;
    end else begin
      if (half_ends & both_fill & !active_o)
        bits0 <= 2048'd0;
      else if (insert)
        bits0 <= bits0 | set;
      if (half_ends & both_fill & active_o)
        bits1 <= 2048'd0;
      else if (insert & both_fill)
        bits1 <= bits1 | set;
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
