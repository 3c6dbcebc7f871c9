// bpg
//
// Decides by shadow tags and reservation failures how many warps use the L1D and which bypass it.
//
// Dai, sections 2.5 and 2.6. ADDRESS and TAG are the widths of a line address and of a tag, LINE that of a
// set's tags.
//
// Parameters: tag_bits = 32, interval = 1000
// In this file: ADDRESS = 37, TAG = 32, LINE = 128
// Source: Dai, section 2.6
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bpg (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: nothing is known, nobody bypasses
  input  wire        rst_ni,
  // a load accesses the L1D or bypasses it
  input  wire        access_i,
  // line address
  input  wire [36:0] line_i,
  // number of the warp or thread block
  input  wire  [5:0] warp_i,
  // a request failed to reserve what it needs
  input  wire        rsfail_i,
  // number of warps or thread blocks that may use the L1D
  output wire  [3:0] l_max_o,
  // which warps or thread blocks bypass the L1D; those from 8 on do as 7
  output wire  [7:0] bypass_o,
  // the number was chosen anew at the last clock edge
  output wire        update_o
);

  localparam [9:0] LAST_OF_INTERVAL = 10'd999;
  // L cubed, for each calculator
  localparam [79:0] CUBE = {10'd512, 10'd343, 10'd216, 10'd125, 10'd64, 10'd27, 10'd8, 10'd1};
  wire [2:0] place;
  wire [1:0] group;
  wire sampled;
  wire [31:0] tag;
  wire interval_ends;
  reg [11:0] faded;
  reg [3:0] level;
  reg [7:0] bypass;
  wire [47:0] calculator_last_warp_i;
  wire [79:0] calculator_cube_i;
  wire [7:0] calculator_any_hit_o;
  wire [111:0] calculator_adjusted_o;
  wire [3:0] most_hits_l_o;
  reg [9:0] accesses_d;
  reg [9:0] accesses_q;
  reg [11:0] rsfails_q;
  // the interval ended at the last clock edge: choose
  reg ended_q;
  // some calculator had counted a hit by then
  reg hit_q;
  reg [3:0] l_max_q;
  reg updated_q;

  genvar g;
  generate
    for (g = 0; g < 8; g = g + 1) begin : each_calculator
      bpg_adjusted_hits calculator (
        .clk_i           (clk_i),
        .rst_ni          (rst_ni),
        .last_warp_i     (calculator_last_warp_i[g*6 +: 6]),
        .cube_i          (calculator_cube_i[g*10 +: 10]),
        .access_i        (sampled),
        .warp_i          (warp_i),
        .set_i           (group),
        .tag_i           (tag),
        .rsfails_i       (rsfails_q),
        .interval_ends_i (interval_ends),
        .any_hit_o       (calculator_any_hit_o[g]),
        .adjusted_o      (calculator_adjusted_o[g*14 +: 14])
      );
    end
  endgenerate

  bpg_most_hits most_hits (
    .adjusted_i (calculator_adjusted_o),
    .l_o        (most_hits_l_o)
  );

  // one set of each group of 8 is sampled: the one at the place in it that is the group's number
  assign place = line_i[2:0];
  assign group = line_i[4:3];
  assign tag = line_i[36:5];
  assign sampled = access_i & (place == {1'b0, group});
  // the last access of the interval: adjusted hits are taken, and all counters are halved
  assign interval_ends = access_i & (accesses_q == LAST_OF_INTERVAL);

  always @(*) begin
    accesses_d = accesses_q + {9'd0, access_i};
    faded = rsfails_q;
    if (interval_ends) begin
      accesses_d = 10'd0;
      faded = rsfails_q >> 1;
    end
  end

  assign calculator_last_warp_i = {6'd7, 6'd6, 6'd5, 6'd4, 6'd3, 6'd2, 6'd1, 6'd0};
  assign calculator_cube_i = CUBE;

  always @(*) begin : comb_bypass
    integer i;
    bypass = 8'd0;
    for (i = 0; i < 8; i = i + 1) begin
      level = i[3:0];
      bypass[i] = l_max_q <= level;
    end
  end

  assign l_max_o = l_max_q;
  assign bypass_o = bypass;
  assign update_o = updated_q;

  // one cycle later the adjusted hits are compared; where there are none, the number stays
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      ended_q <= 1'b0;
      updated_q <= 1'b0;
      accesses_q <= 10'd0;
    end else begin
      ended_q <= interval_ends;
      updated_q <= ended_q;
      accesses_q <= accesses_d;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      l_max_q <= 4'd8;
    end else if (ended_q & hit_q) begin
      l_max_q <= most_hits_l_o;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rsfails_q <= 12'd0;
    end else begin
      rsfails_q <= faded;
      if (rsfail_i & !(&faded)) begin
        rsfails_q <= faded + 12'd1;
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin : update_hit_q
    integer i;
    if (!rst_ni) begin
      hit_q <= 1'b0;
    end else begin
      hit_q <= 1'b0;
      for (i = 0; i < 8; i = i + 1) begin
        if (calculator_any_hit_o[i]) begin
          hit_q <= 1'b1;
        end
      end
    end
  end

endmodule

`default_nettype wire
