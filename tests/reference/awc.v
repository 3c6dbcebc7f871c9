// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of awc with 48 entries, a busy limit of 96 and an idle limit of 8, written by hand from CABA's
// sections 4.3 and 4.4 and the description of the block. The table and the buffer are those of `awt.v` and `awb.v`.

`default_nettype none

module awc (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        load_i,
  input  wire  [8:0] load_address_i,
  input  wire [63:0] load_data_i,
  input  wire        map_write_i,
  input  wire  [4:0] map_event_i,
  input  wire        map_enable_i,
  input  wire        map_high_i,
  input  wire  [4:0] map_sr_i,
  input  wire  [6:0] map_end_i,
  input  wire        trigger_valid_i,
  input  wire  [4:0] trigger_event_i,
  input  wire  [5:0] trigger_warp_i,
  input  wire [31:0] trigger_mask_i,
  input  wire [15:0] trigger_live_in_i,
  input  wire [15:0] trigger_live_out_i,
  input  wire        kill_high_i,
  input  wire        kill_low_i,
  input  wire  [5:0] kill_warp_i,
  input  wire  [2:0] busy_i,
  input  wire        idle_i,
  input  wire  [4:0] issue0_index_i,
  input  wire        issue0_pop_i,
  input  wire  [4:0] issue1_index_i,
  input  wire        issue1_pop_i,
  input  wire        low_pop_i,
  output wire        trigger_known_o,
  output wire        trigger_high_o,
  output wire        trigger_ready_o,
  output wire        full_o,
  output wire        fetch_o,
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
  output wire        throttled_o,
  output wire [47:0] active_o
);

  // ---------------------------------------------------------------- the map: an event's routine
  reg [31:0] known;
  reg [12:0] routes [0:31];
  wire [4:0] sr;
  wire [6:0] last_id;
  wire ready;
  assign {trigger_high_o, sr, last_id} = routes[trigger_event_i];
  assign trigger_known_o = known[trigger_event_i];
  assign trigger_ready_o = trigger_known_o && ready;

  always @(posedge clk_i)
    if (map_write_i) routes[map_event_i] <= {map_high_i, map_sr_i, map_end_i};
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) known <= 0;
    else if (map_write_i) known[map_event_i] <= map_enable_i;

  // ---------------------------------------------------------------- throttling by the last window of 128 cycles
  reg [6:0] cycle;
  reg [7:0] busy [0:2];
  reg [7:0] idle;
  reg throttled;
  wire window_ends = &cycle;
  wire [7:0] busy0 = busy[0] + busy_i[0], busy1 = busy[1] + busy_i[1], busy2 = busy[2] + busy_i[2];
  wire [7:0] idle_now = idle + idle_i;
  assign throttled_o = throttled;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      {cycle, throttled, idle} <= 0;
      busy[0] <= 0;
      busy[1] <= 0;
      busy[2] <= 0;
    end else begin
      cycle <= cycle + 7'd1;
      idle <= window_ends ? 8'd0 : idle_now;
      busy[0] <= window_ends ? 8'd0 : busy0;
      busy[1] <= window_ends ? 8'd0 : busy1;
      busy[2] <= window_ends ? 8'd0 : busy2;
      if (window_ends) throttled <= busy0 > 96 || busy1 > 96 || busy2 > 96 || idle_now < 8;
    end

  // ---------------------------------------------------------------- table, store and buffer
  wire [47:0] high_room;
  wire low_room, high, is_last;
  wire [5:0] warp;
  wire [4:0] fetch_sr;
  wire [6:0] inst;
  wire [31:0] mask;
  wire [15:0] live_in, live_out;

  awc_table table_of_assist_warps (
    .clk_i                (clk_i),
    .rst_ni               (rst_ni),
    .trigger_valid_i      (trigger_valid_i && trigger_known_o),
    .trigger_warp_i       (trigger_warp_i),
    .trigger_high_i       (trigger_high_o),
    .trigger_sr_i         (sr),
    .trigger_end_i        (last_id),
    .trigger_mask_i       (trigger_mask_i),
    .trigger_live_in_i    (trigger_live_in_i),
    .trigger_live_out_i   (trigger_live_out_i),
    .kill_high_i          (kill_high_i),
    .kill_low_i           (kill_low_i),
    .kill_warp_i          (kill_warp_i),
    .high_room_i          (high_room),
    .low_room_i           (low_room && !throttled),
    .trigger_ready_o      (ready),
    .full_o               (full_o),
    .deploy_valid_o       (fetch_o),
    .deploy_warp_o        (warp),
    .deploy_high_o        (high),
    .deploy_sr_o          (fetch_sr),
    .deploy_inst_o        (inst),
    .deploy_last_o        (is_last),
    .deploy_mask_o        (mask),
    .deploy_live_in_o     (live_in),
    .deploy_live_out_o    (live_out),
    .active_o             (active_o)
  );

  reg [63:0] store [0:511];
  reg [63:0] instruction;
  wire [8:0] address = {fetch_sr, 4'd0} + inst;
  always @(posedge clk_i) begin
    instruction <= store[address];
    if (load_i) store[load_address_i] <= load_data_i;
  end

  // What goes with an instruction waits while the store is read.
  reg staged;
  reg [71:0] stage;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) staged <= 0;
    else staged <= fetch_o;
  always @(posedge clk_i) stage <= {warp, high, is_last, mask, live_in, live_out};

  awc_buffer buffer (
    .clk_i                (clk_i),
    .rst_ni               (rst_ni),
    .stage_valid_i        (staged),
    .stage_warp_i         (stage[71:66]),
    .stage_high_i         (stage[65]),
    .stage_last_i         (stage[64]),
    .stage_instruction_i  (instruction),
    .stage_mask_i         (stage[63:32]),
    .stage_live_in_i      (stage[31:16]),
    .stage_live_out_i     (stage[15:0]),
    .flush_high_i         (kill_high_i),
    .flush_low_i          (kill_low_i),
    .flush_warp_i         (kill_warp_i),
    .issue0_index_i       (issue0_index_i),
    .issue0_pop_i         (issue0_pop_i),
    .issue1_index_i       (issue1_index_i),
    .issue1_pop_i         (issue1_pop_i),
    .low_pop_i            (low_pop_i),
    .high_room_o          (high_room),
    .low_room_o           (low_room),
    .high_valid_o         (high_valid_o),
    .issue0_instruction_o (issue0_instruction_o),
    .issue0_mask_o        (issue0_mask_o),
    .issue0_live_in_o     (issue0_live_in_o),
    .issue0_live_out_o    (issue0_live_out_o),
    .issue0_last_o        (issue0_last_o),
    .issue1_instruction_o (issue1_instruction_o),
    .issue1_mask_o        (issue1_mask_o),
    .issue1_live_in_o     (issue1_live_in_o),
    .issue1_live_out_o    (issue1_live_out_o),
    .issue1_last_o        (issue1_last_o),
    .low_valid_o          (low_valid_o),
    .low_warp_o           (low_warp_o),
    .low_instruction_o    (low_instruction_o),
    .low_mask_o           (low_mask_o),
    .low_live_in_o        (low_live_in_o),
    .low_live_out_o       (low_live_out_o),
    .low_last_o           (low_last_o)
  );

endmodule

module awc_table (
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

module awc_buffer (
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
  output wire        low_last_o
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
    end else begin
      head_valid <= head_stays || tail_stays || enters;
      tail_valid <= (head_stays && tail_stays) || (enters && (head_stays || tail_stays));
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
