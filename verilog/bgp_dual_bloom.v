// bgp_dual_bloom
//
// A Bloom filter that forgets: two bitarrays take turns at answering and at being cleared.
//
// A is the width of an index, HALF the bits that count half a refresh period. Each array is cleared after two
// halves of insertions of its own; the other one, half full, then answers.
//
// Parameters: A = 11, WIDE = 22, HALF = 8
// Part of: bgp
// Source: LAMAR, section 3.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bgp_dual_bloom (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // the element
  input  wire [31:0] address_i,
  // put the element in
  input  wire        insert_i,
  // forget everything; wins over an insertion
  input  wire        clear_i,
  // the active array has all bits of the element, before this cycle's insertion
  output wire        hit_o,
  // number of the active array
  output wire        active_o
);

  wire half_ends;
  reg hit0;
  reg hit1;
  wire [65:0] hashes_index_o;
  wire array0_clear_i;
  wire [5:0] array0_bit_o;
  wire array1_clear_i;
  wire array1_set_i;
  wire [5:0] array1_bit_o;
  // insertions in this half of a period
  reg [7:0] count_q;
  // the first half since all was forgotten is over: array 1 fills too
  reg both_fill_q;
  reg active_q;

  bgp_hashes hashes (
    .address_i (address_i),
    .index_o   (hashes_index_o)
  );

  selvedge_bit_array_6_11 array0 (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .clear_i   (array0_clear_i),
    .set_i     (insert_i),
    .address_i (hashes_index_o),
    .bit_o     (array0_bit_o)
  );

  selvedge_bit_array_6_11 array1 (
    .clk_i     (clk_i),
    .rst_ni    (rst_ni),
    .clear_i   (array1_clear_i),
    .set_i     (array1_set_i),
    .address_i (hashes_index_o),
    .bit_o     (array1_bit_o)
  );

  always @(*) begin : comb_hit0
    integer hash;
    hit0 = 1'b1;
    hit1 = 1'b1;
    for (hash = 0; hash < 6; hash = hash + 1) begin
      hit0 = hit0 & array0_bit_o[hash];
      hit1 = hit1 & array1_bit_o[hash];
    end
  end

  assign hit_o = (active_q & hit1) | (!active_q & hit0);
  assign active_o = active_q;
  // at the end of each half but the first the active array is full: clear it, let the other answer
  assign half_ends = insert_i & (&count_q);
  assign array1_set_i = insert_i & both_fill_q;
  assign array0_clear_i = clear_i | (half_ends & both_fill_q & !active_q);
  assign array1_clear_i = clear_i | (half_ends & both_fill_q & active_q);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      count_q <= 8'd0;
      both_fill_q <= 1'b0;
      active_q <= 1'b0;
    end else if (clear_i) begin
      count_q <= 8'd0;
      both_fill_q <= 1'b0;
      active_q <= 1'b0;
    end else begin
      count_q <= count_q + {7'd0, insert_i};
      if (half_ends) begin
        both_fill_q <= 1'b1;
        active_q <= both_fill_q & !active_q;
      end
    end
  end

endmodule

`default_nettype wire
