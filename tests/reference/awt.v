// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of awt with 48 entries, written by hand from CABA's section 4.4 and the description of the block.

`default_nettype none

module awt (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        trigger_valid_i,
  input  wire  [5:0] trigger_warp_i,
  input  wire        trigger_high_i,
  input  wire  [4:0] trigger_sr_i,
  input  wire  [6:0] trigger_end_i,
  input  wire [31:0] trigger_mask_i,
  input  wire [15:0] trigger_live_in_i,
  input  wire [15:0] trigger_live_out_i,
  input  wire        kill_high_i,
  input  wire        kill_low_i,
  input  wire  [5:0] kill_warp_i,
  input  wire [47:0] high_room_i,
  input  wire        low_room_i,
  output wire        trigger_ready_o,
  output wire        full_o,
  output wire        deploy_valid_o,
  output wire  [5:0] deploy_warp_o,
  output wire        deploy_high_o,
  output wire  [4:0] deploy_sr_o,
  output wire  [6:0] deploy_inst_o,
  output wire        deploy_last_o,
  output wire [31:0] deploy_mask_o,
  output wire [15:0] deploy_live_in_o,
  output wire [15:0] deploy_live_out_o,
  output wire [47:0] active_o
);

  // The lowest bit that is set. An OR of all bits below each, by doubling the distance, finds it.
  function [47:0] lowest(input [47:0] bits);
    integer distance;
    reg [47:0] below;
    begin
      below = bits << 1;
      for (distance = 1; distance < 48; distance = 2 * distance) below = below | below << distance;
      lowest = bits & ~below;
    end
  endfunction

  function [5:0] number(input [47:0] one_hot);
    integer i;
    begin
      number = 0;
      for (i = 0; i < 48; i = i + 1) if (one_hot[i]) number = number | i;
    end
  endfunction

  reg [47:0] valid, high, started;
  reg [10:0] keys [0:47];  // warp and SR.ID

  // ---------------------------------------------------------------- every entry looks at its warp
  wire [63:0] room = {16'd0, high_room_i};
  reg [47:0] same, killed, ready;
  integer e;
  always @* for (e = 0; e < 48; e = e + 1) begin
    same[e] = valid[e] && keys[e] == {trigger_warp_i, trigger_sr_i};
    killed[e] = (high[e] ? kill_high_i : kill_low_i) && keys[e][10:5] == kill_warp_i;
    ready[e] = valid[e] && !killed[e] && (high[e] ? room[keys[e][10:5]] : low_room_i);
  end

  // ---------------------------------------------------------------- a free entry: low priority leaves twelve to high priority
  wire [47:0] free = ~valid & {{36{1'b1}}, {12{trigger_high_i}}};
  wire [47:0] slot = lowest(free);
  wire take = trigger_valid_i && trigger_ready_o;
  assign trigger_ready_o = free != 0 && same == 0;
  assign active_o = valid;
  assign full_o = &valid;

  // ---------------------------------------------------------------- round-robin
  reg [5:0] last;
  wire [47:0] behind = ready & ({47'h7fffffffffff, 1'b0} << last);
  wire [47:0] chosen = lowest(behind != 0 ? behind : ready);
  wire [5:0] index = number(chosen);
  assign deploy_valid_o = ready != 0;

  reg [10:0] key;
  always @* begin
    key = 0;
    for (e = 0; e < 48; e = e + 1) if (chosen[e]) key = key | keys[e];
  end
  assign {deploy_warp_o, deploy_sr_o} = key;
  assign deploy_high_o = (chosen & high) != 0;

  // ---------------------------------------------------------------- what is written once, and the next instruction
  reg [70:0] contexts [0:63];
  reg [6:0] insts [0:63];
  wire [6:0] end_id;
  assign {end_id, deploy_live_out_o, deploy_live_in_o, deploy_mask_o} = contexts[index];
  assign deploy_inst_o = (chosen & started) != 0 ? insts[index] : 7'd0;
  assign deploy_last_o = deploy_valid_o && deploy_inst_o == end_id;
  always @(posedge clk_i) begin
    if (take) contexts[number(slot)] <= {trigger_end_i, trigger_live_out_i, trigger_live_in_i, trigger_mask_i};
    if (deploy_valid_o) insts[index] <= deploy_inst_o + 7'd1;
  end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid <= 0;
      last <= 47;
    end else begin
      valid <= (valid & ~killed & ~(chosen & {48{deploy_last_o}})) | (slot & {48{take}});
      if (deploy_valid_o) last <= index;
    end

  always @(posedge clk_i)
    for (e = 0; e < 48; e = e + 1)
      if (take && slot[e]) begin
        started[e] <= 0;
        high[e] <= trigger_high_i;
        keys[e] <= {trigger_warp_i, trigger_sr_i};
      end else if (chosen[e]) started[e] <= 1;

endmodule

`default_nettype wire
