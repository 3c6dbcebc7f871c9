// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of awb with instructions of 64 bits, written by hand from the description of the block.

`default_nettype none

module awb (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        stage_valid_i,
  input  wire  [5:0] stage_warp_i,
  input  wire        stage_high_i,
  input  wire        stage_last_i,
  input  wire [63:0] stage_instruction_i,
  input  wire [31:0] stage_mask_i,
  input  wire [15:0] stage_live_in_i,
  input  wire [15:0] stage_live_out_i,
  input  wire        flush_high_i,
  input  wire        flush_low_i,
  input  wire  [5:0] flush_warp_i,
  input  wire  [4:0] issue0_index_i,
  input  wire        issue0_pop_i,
  input  wire  [4:0] issue1_index_i,
  input  wire        issue1_pop_i,
  input  wire        low_pop_i,
  output wire [47:0] high_room_o,
  output wire        low_room_o,
  output wire [47:0] high_valid_o,
  output wire [63:0] issue0_instruction_o,
  output wire [31:0] issue0_mask_o,
  output wire [15:0] issue0_live_in_o,
  output wire [15:0] issue0_live_out_o,
  output wire        issue0_last_o,
  output wire [63:0] issue1_instruction_o,
  output wire [31:0] issue1_mask_o,
  output wire [15:0] issue1_live_in_o,
  output wire [15:0] issue1_live_out_o,
  output wire        issue1_last_o,
  output wire        low_valid_o,
  output wire  [5:0] low_warp_o,
  output wire [63:0] low_instruction_o,
  output wire [31:0] low_mask_o,
  output wire [15:0] low_live_in_o,
  output wire [15:0] low_live_out_o,
  output wire        low_last_o,
  output reg         overflow_o
);

  wire [128:0] staged = {stage_instruction_i, stage_mask_i, stage_live_in_i, stage_live_out_i, stage_last_i};
  wire high = stage_valid_i && stage_high_i;

  // ---------------------------------------------------------------- two slots for each of 48 warps
  reg [47:0] any, both, oldest;
  wire [63:0] stage_one = high ? 64'd1 << stage_warp_i : 64'd0;
  wire [63:0] flush_one = flush_high_i ? 64'd1 << flush_warp_i : 64'd0;
  wire [31:0] pop_even = issue0_pop_i ? 32'd1 << issue0_index_i : 32'd0;
  wire [31:0] pop_odd = issue1_pop_i ? 32'd1 << issue1_index_i : 32'd0;
  reg [47:0] pop;
  integer w;
  always @* for (w = 0; w < 24; w = w + 1) pop[2 * w +: 2] = {pop_odd[w], pop_even[w]} & any[2 * w +: 2];

  wire [47:0] comes = stage_one[47:0];
  wire [47:0] flush = flush_one[47:0];
  wire [47:0] put = comes & ~both & ~flush;
  wire write = put != 0;
  wire slot = ((oldest ^ any) & comes) != 0;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) {any, both, oldest} <= 0;
    else begin
      oldest <= oldest ^ pop;
      for (w = 0; w < 48; w = w + 1)
        if (flush[w]) {both[w], any[w]} <= 0;
        else case ({put[w], pop[w]})
          2'b10: {both[w], any[w]} <= {any[w], 1'b1};
          2'b01: {both[w], any[w]} <= {1'b0, both[w]};
          default: ;
        endcase
    end

  assign high_valid_o = any;
  assign high_room_o = ~both & ~(any & comes);

  reg [128:0] even [0:63];
  reg [128:0] odd [0:63];
  always @(posedge clk_i) begin
    if (write && !stage_warp_i[0]) even[{stage_warp_i[5:1], slot}] <= staged;
    if (write && stage_warp_i[0]) odd[{stage_warp_i[5:1], slot}] <= staged;
  end

  reg [31:0] even_any, odd_any, even_oldest, odd_oldest;
  always @* begin
    {even_any, odd_any, even_oldest, odd_oldest} = 0;
    for (w = 0; w < 24; w = w + 1) begin
      {odd_any[w], even_any[w]} = any[2 * w +: 2];
      {odd_oldest[w], even_oldest[w]} = oldest[2 * w +: 2];
    end
  end
  wire [128:0] even_word = even[{issue0_index_i, even_oldest[issue0_index_i]}];
  wire [128:0] odd_word = odd[{issue1_index_i, odd_oldest[issue1_index_i]}];
  assign {issue0_instruction_o, issue0_mask_o, issue0_live_in_o, issue0_live_out_o, issue0_last_o} =
      {129{even_any[issue0_index_i]}} & even_word;
  assign {issue1_instruction_o, issue1_mask_o, issue1_live_in_o, issue1_live_out_o, issue1_last_o} =
      {129{odd_any[issue1_index_i]}} & odd_word;

  // ---------------------------------------------------------------- two low-priority instructions
  reg head_valid, tail_valid;
  reg [134:0] head, tail;
  wire low = stage_valid_i && !stage_high_i;
  wire enters = low && !(flush_low_i && stage_warp_i == flush_warp_i);
  wire head_stays = head_valid && !low_pop_i && !(flush_low_i && head[134:129] == flush_warp_i);
  wire tail_stays = tail_valid && !(flush_low_i && tail[134:129] == flush_warp_i);

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      head_valid <= 0;
      tail_valid <= 0;
      overflow_o <= 0;
    end else begin
      head_valid <= head_stays || tail_stays || enters;
      tail_valid <= (head_stays && tail_stays) || (enters && (head_stays || tail_stays));
      overflow_o <= (high && !write && !(flush_high_i && stage_warp_i == flush_warp_i)) ||
                    (enters && head_stays && tail_stays);
    end

  always @(posedge clk_i) begin
    if (!head_stays) head <= tail_stays ? tail : {stage_warp_i, staged};
    if (!(head_stays && tail_stays)) tail <= {stage_warp_i, staged};
  end

  assign low_room_o = !tail_valid && !(head_valid && low);
  assign low_valid_o = head_valid;
  assign {low_warp_o, low_instruction_o, low_mask_o, low_live_in_o, low_live_out_o, low_last_o} = head;

endmodule

`default_nettype wire
