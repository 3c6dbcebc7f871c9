// sc_code_builder
//
// Builds canonical Huffman codes of limited length and least total length from a value-frequency table.
//
// LATTE-CC, section IV.C.2. INDEX are the bits of an entry's index, COUNT those that hold the number of
// entries, ITEM those of a count and an index, WEIGHT those of the heaviest package; ITEMS, WORD and ADDRESS
// are those of the lengths.
//
// Parameters: entries = 1024, max_code_bits = 16
// In this file: INDEX = 10, COUNT = 11, ITEM = 22, WEIGHT = 27, ITEMS = 12, WORD = 6, ADDRESS = 10
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_code_builder (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low: a build in progress is forgotten
  input  wire        rst_ni,
  // build codes; ignored while busy
  input  wire        start_i,
  // weight of the escape symbol, taken with the start
  input  wire [13:0] escape_weight_i,
  // the table gives the oldest entry that was asked for
  input  wire        read_valid_i,
  // its value
  input  wire [31:0] read_value_i,
  // its count
  input  wire [11:0] read_count_i,
  // the code is taken
  input  wire        code_ready_i,
  // codes are being built
  output wire        busy_o,
  // read an entry of the table
  output reg         read_o,
  // which entry
  output reg   [9:0] read_index_o,
  // a code is given
  output wire        code_valid_o,
  // it is the first one
  output wire        code_first_o,
  // it is the last one
  output wire        code_last_o,
  // the entry that it stands for
  output wire  [9:0] code_index_o,
  // it stands for the escape symbol
  output wire        code_escape_o,
  // the value that it stands for
  output wire [31:0] code_value_o,
  // the code, right-aligned
  output wire [15:0] code_code_o,
  // its length
  output wire  [4:0] code_length_o
);

  localparam [2:0] STAGE_COUNT = 3'd4;
  localparam [2:0] STAGE_DRAIN = 3'd1;
  localparam [2:0] STAGE_EMIT = 3'd5;
  localparam [2:0] STAGE_IDLE = 3'd0;
  localparam [2:0] STAGE_MERGE = 3'd3;
  localparam [2:0] STAGE_SORT = 3'd2;
  reg drained;
  wire empty;
  reg [2:0] stage_d;
  reg [2:0] stage_q;
  reg entering_d;
  // the first cycle of the stage
  reg entering_q;
  reg [13:0] escape_weight_d;
  reg [13:0] escape_weight_q;
  reg [10:0] asked_d;
  // entries that were asked for
  reg [10:0] asked_q;
  reg [9:0] given_d;
  // entries that the table gave
  reg [9:0] given_q;
  reg sorter_clear_i;
  reg sorter_put_i;
  reg sorter_sort_i;
  reg [9:0] sorter_rank_i;
  wire [10:0] sorter_size_o;
  wire sorter_done_o;
  wire [11:0] sorter_count_o;
  wire [9:0] sorter_index_o;
  wire merger_start_i;
  wire [9:0] merger_rank_o;
  wire merger_item_valid_o;
  wire merger_symbol_o;
  wire [3:0] merger_list_o;
  wire [10:0] merger_item_o;
  wire merger_last_o;
  wire merger_done_o;
  wire lengths_start_i;
  wire lengths_done_o;
  wire [10:0] lengths_longer_from_o;
  wire emitter_start_i;
  wire [9:0] emitter_rank_o;
  wire [3:0] emitter_length_o;
  wire emitter_read_o;
  wire emitter_done_o;

  sc_code_builder_sorter sorter (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .clear_i (sorter_clear_i),
    .put_i   (sorter_put_i),
    .count_i (read_count_i),
    .index_i (given_q),
    .sort_i  (sorter_sort_i),
    .rank_i  (sorter_rank_i),
    .size_o  (sorter_size_o),
    .done_o  (sorter_done_o),
    .count_o (sorter_count_o),
    .index_o (sorter_index_o)
  );

  sc_code_builder_merger merger (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .start_i         (merger_start_i),
    .size_i          (sorter_size_o),
    .escape_weight_i (escape_weight_q),
    .rank_o          (merger_rank_o),
    .count_i         (sorter_count_o),
    .item_valid_o    (merger_item_valid_o),
    .symbol_o        (merger_symbol_o),
    .list_o          (merger_list_o),
    .item_o          (merger_item_o),
    .last_o          (merger_last_o),
    .done_o          (merger_done_o)
  );

  sc_code_builder_lengths lengths (
    .clk_i         (clk_i),
    .rst_ni        (rst_ni),
    .item_valid_i  (merger_item_valid_o),
    .symbol_i      (merger_symbol_o),
    .list_i        (merger_list_o),
    .item_i        (merger_item_o),
    .last_i        (merger_last_o),
    .start_i       (lengths_start_i),
    .size_i        (sorter_size_o),
    .done_o        (lengths_done_o),
    .length_i      (emitter_length_o),
    .longer_from_o (lengths_longer_from_o)
  );

  sc_code_builder_emitter emitter (
    .clk_i           (clk_i),
    .rst_ni          (rst_ni),
    .start_i         (emitter_start_i),
    .size_i          (sorter_size_o),
    .escape_weight_i (escape_weight_q),
    .rank_o          (emitter_rank_o),
    .count_i         (sorter_count_o),
    .index_i         (sorter_index_o),
    .length_o        (emitter_length_o),
    .longer_from_i   (lengths_longer_from_o),
    .read_o          (emitter_read_o),
    .read_valid_i    (read_valid_i),
    .read_value_i    (read_value_i),
    .code_valid_o    (code_valid_o),
    .code_ready_i    (code_ready_i),
    .code_first_o    (code_first_o),
    .code_last_o     (code_last_o),
    .code_index_o    (code_index_o),
    .code_escape_o   (code_escape_o),
    .code_value_o    (code_value_o),
    .code_code_o     (code_code_o),
    .code_length_o   (code_length_o),
    .done_o          (emitter_done_o)
  );

  always @(*) begin
    stage_d = stage_q;
    escape_weight_d = escape_weight_q;
    asked_d = asked_q;
    given_d = given_q;
    // the table is read from its first entry to its last; entries that exist are sorted
    read_o = emitter_read_o;
    read_index_o = 10'd0;
    if (emitter_read_o) begin
      read_index_o = sorter_index_o;
    end
    drained = 1'b0;
    sorter_put_i = 1'b0;
    if (stage_q == STAGE_DRAIN) begin
      read_o = !asked_q[10];
      read_index_o = asked_q[9:0];
      if (!asked_q[10]) begin
        asked_d = asked_q + 11'd1;
      end
      sorter_put_i = read_valid_i & (|read_count_i);
      drained = read_valid_i & (&given_q);
      if (read_valid_i) begin
        given_d = given_q + 10'd1;
      end
    end
    entering_d = 1'b0;
    sorter_clear_i = 1'b0;
    sorter_sort_i = 1'b0;
    case (stage_q)
      STAGE_IDLE: begin
        if (start_i) begin
          sorter_clear_i = 1'b1;
          escape_weight_d = escape_weight_i;
          asked_d = 11'd0;
          given_d = 10'd0;
          stage_d = STAGE_DRAIN;
        end
      end
      STAGE_DRAIN: begin
        if (drained) begin
          stage_d = STAGE_SORT;
          entering_d = 1'b1;
        end
      end
      STAGE_SORT: begin
        sorter_sort_i = entering_q & !empty;
        if (entering_q & empty) begin
          stage_d = STAGE_EMIT;
          entering_d = 1'b1;
        end else if (sorter_done_o) begin
          stage_d = STAGE_MERGE;
          entering_d = 1'b1;
        end
      end
      STAGE_MERGE: begin
        if (merger_done_o) begin
          stage_d = STAGE_COUNT;
          entering_d = 1'b1;
        end
      end
      STAGE_COUNT: begin
        if (lengths_done_o) begin
          stage_d = STAGE_EMIT;
          entering_d = 1'b1;
        end
      end
      default: begin
        if (emitter_done_o) begin
          stage_d = STAGE_IDLE;
        end
      end
    endcase
  end

  // one stage after the other; an empty table needs only the emission
  assign empty = !(|sorter_size_o);
  assign busy_o = stage_q != STAGE_IDLE;

  // merger and emitter read the sorted entries in turn
  always @(*) begin
    sorter_rank_i = emitter_rank_o;
    if (stage_q == STAGE_MERGE) begin
      sorter_rank_i = merger_rank_o;
    end
  end

  assign merger_start_i = entering_q & (stage_q == STAGE_MERGE);
  assign lengths_start_i = entering_q & (stage_q == STAGE_COUNT);
  assign emitter_start_i = entering_q & (stage_q == STAGE_EMIT);

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_q <= 3'd0;
      entering_q <= 1'b0;
      escape_weight_q <= 14'd0;
      asked_q <= 11'd0;
      given_q <= 10'd0;
    end else begin
      stage_q <= stage_d;
      entering_q <= entering_d;
      escape_weight_q <= escape_weight_d;
      asked_q <= asked_d;
      given_q <= given_d;
    end
  end

endmodule

`default_nettype wire
