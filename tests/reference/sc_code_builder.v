// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of sc_code_builder with 1,024 entries and codes of up to 16 bits, written by hand from the
// description of the block: one state machine, a radix sort of a linked list, Huffman's two queues, lengths from the shape
// of the tree, canonical codes.

`default_nettype none

module sc_code_builder (
  input  wire        clk_i,
  input  wire        rst_ni,
  input  wire        start_i,
  input  wire [13:0] escape_weight_i,
  input  wire        read_valid_i,
  input  wire [31:0] read_value_i,
  input  wire [11:0] read_count_i,
  input  wire        code_ready_i,
  output wire        busy_o,
  output wire        read_o,
  output wire  [9:0] read_index_o,
  output reg         code_valid_o,
  output reg         code_first_o,
  output reg         code_last_o,
  output reg   [9:0] code_index_o,
  output reg         code_escape_o,
  output reg  [31:0] code_value_o,
  output reg  [15:0] code_code_o,
  output reg   [4:0] code_length_o
);

  localparam [3:0] IDLE = 0, DRAIN = 1, SORT = 2, JOIN = 3, JOINED = 4, MOVE = 5, MERGE = 6, TREE = 7, MEASURE = 8,
                   SCAN = 9, CHECK = 10, LENGTHEN = 11, SHORTEN = 12, EMIT = 13, CODES = 14;
  reg [3:0] state;
  assign busy_o = state != IDLE;

  // ---------------------------------------------------------------- DRAIN: the table is read, the last entry first
  reg [10:0] asked, size;
  reg [9:0] given;
  reg [13:0] escape_weight;
  reg reads;
  wire draining = state == DRAIN;
  wire comes = draining && read_valid_i && read_count_i != 0;
  wire drained = draining && read_valid_i && &given;

  // ---------------------------------------------------------------- SORT to MOVE: buckets of a digit, then their chain
  reg [11:0] counts [0:1023];
  reg [9:0] links [0:1023];
  reg [9:0] heads [0:15];
  reg [9:0] tails [0:15];
  reg [11:0] count;
  reg [9:0] link, here, head, last;
  reg [10:0] left;
  reg [15:0] filled;
  reg [3:0] bucket;
  reg [1:0] pass;
  reg started;

  wire moves = state == MOVE;
  wire joins = state == JOIN;
  wire put = comes || moves;
  wire [9:0] index = moves ? here : ~given;
  wire [3:0] digit = !moves ? read_count_i[3:0] : pass[1] ? count[11:8] : count[7:4];
  wire [3:0] slot = joins ? bucket : digit;
  wire is_filled = filled[slot];
  wire [9:0] tail = tails[slot];
  wire [9:0] first = heads[slot];
  wire turns, gives_entry;

  wire [9:0] address = state == EMIT ? last : state == JOINED ? head : moves || turns || gives_entry ? link : here;
  always @(posedge clk_i) begin
    here <= address;
    count <= counts[address];
    link <= links[address];
    if (comes) counts[index] <= read_count_i;
    if (turns) links[here] <= last;
    else if (joins ? is_filled && started : put && is_filled) links[joins ? last : tail] <= joins ? first : index;
    if (put && !is_filled) heads[digit] <= index;
    if (put) tails[digit] <= index;
  end

  // ---------------------------------------------------------------- MERGE and TREE: the lightest item of two queues
  reg [22:0] nodes [0:511];
  reg [22:0] node, weight;
  reg [10:0] entries_left, made, taken;
  reg escape_left, half, half_symbol, bypass;

  wire merges = state == TREE;
  wire any_entry = entries_left != 0;
  wire takes_escape = escape_left && (!any_entry || escape_weight <= count);
  wire [13:0] symbol_weight = takes_escape ? escape_weight : {2'd0, count};
  wire [22:0] node_weight = bypass ? weight : node;
  wire takes_symbol = (any_entry || escape_left) && (taken == made || symbol_weight <= node_weight);
  wire [22:0] item = takes_symbol ? {9'd0, symbol_weight} : node_weight;
  wire [22:0] sum = weight + item;
  wire makes = merges && half;
  wire [10:0] taken_next = taken + (merges && !takes_symbol);
  wire [10:0] made_next = made + 11'd1;
  assign turns = merges && takes_symbol && !takes_escape;

  always @(posedge clk_i) begin
    node <= nodes[taken_next[8:0]];
    if (makes) nodes[made[8:0]] <= sum;
  end

  // ---------------------------------------------------------------- MEASURE to SHORTEN: where longer codes begin
  reg [1:0] shapes [0:1023];
  reg [10:0] longer_from [0:15];
  reg [1:0] symbols;
  reg [10:0] seen, nodes_left, place;
  reg [15:0] excess, unit;
  reg [3:0] level;
  reg [4:0] length;

  wire scans = state == SCAN;
  wire shortens = state == SHORTEN;
  wire repairs = state == LENGTHEN || shortens;
  wire deepest = level == 15;
  wire sees = scans && nodes_left != 0;
  wire level_ends = nodes_left[10:1] == 0;
  wire [10:0] seen_next = seen + sees;
  wire [10:0] too_deep = size - seen - nodes_left;
  wire [3:0] neighbor = !shortens ? level - 4'd1 : deepest ? 4'd1 : level + 4'd1;
  wire [10:0] border = longer_from[repairs ? neighbor : length[3:0]];
  wire [15:0] excess_next = excess + (shortens ? unit : -unit);
  wire balanced = excess_next == 0;
  wire shifts = place != (shortens && deepest ? size + 11'd1 : border) && (!shortens || excess_next[15] || balanced);
  wire [10:0] place_next = repairs && !shifts ? border :
                           place + (repairs ? {{10{!shortens}}, 1'b1} : sees ? {9'd0, symbols} : 11'd0);
  wire measured = state == CHECK ? too_deep == 0 : repairs && shifts && balanced;
  wire measures = state == MEASURE;
  wire [9:0] shape = size[9:0] + ~(measures ? 10'd0 : seen_next[9:0]);

  always @(posedge clk_i) begin
    symbols <= shapes[shape];
    if (makes) shapes[made[9:0]] <= {half_symbol && takes_symbol, half_symbol ^ takes_symbol};
    if (measures || (scans && level_ends) || (repairs && shifts))
      longer_from[measures ? 4'd0 : level] <= measures ? 11'd0 : place_next;
  end

  // ---------------------------------------------------------------- EMIT and CODES: canonical codes with their values
  reg [10:0] position;
  reg [15:0] code;
  reg more, waiting;
  wire chooses = state == CODES && more && !waiting;
  wire longer = size != 0 && !length[4] && position >= border;
  wire places = chooses && !longer && (!code_valid_o || code_ready_i);
  wire at_end = position == size;
  wire escape_next = escape_left && (at_end || count < escape_weight);
  wire gives_escape = places && escape_next;
  wire gives = gives_escape || gives_entry;
  wire emitted = state == CODES && !more && code_valid_o && code_ready_i;
  assign gives_entry = waiting && read_valid_i;

  assign read_o = draining ? !asked[10] : reads;
  assign read_index_o = draining ? ~asked[9:0] & {10{!asked[10]}} : here & {10{reads}};

  // ---------------------------------------------------------------- control
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      state <= IDLE;
      {reads, waiting, code_valid_o} <= 0;
    end else begin
      reads <= places && !escape_next;
      if (places && !escape_next) waiting <= 1;
      else if (gives_entry) waiting <= 0;
      if (gives) code_valid_o <= 1;
      else if (code_ready_i) code_valid_o <= 0;
      case (state)
        IDLE: if (start_i) state <= DRAIN;
        DRAIN: if (drained) state <= SORT;
        SORT: state <= size == 0 ? EMIT : JOIN;
        JOIN: if (&bucket) state <= JOINED;
        JOINED: state <= &pass ? MERGE : MOVE;
        MOVE: if (left == 0) state <= JOIN;
        MERGE: state <= TREE;
        TREE: if (makes && made_next == size) state <= MEASURE;
        MEASURE: state <= SCAN;
        SCAN: if (level_ends && deepest) state <= CHECK;
        CHECK: state <= measured ? EMIT : LENGTHEN;
        LENGTHEN, SHORTEN: if (shifts) state <= balanced ? EMIT : excess_next[15] ? SHORTEN : state;
        EMIT: state <= CODES;
        default: if (emitted) state <= IDLE;
      endcase
    end

  // Every register below is set before it is read.
  always @(posedge clk_i) begin
    if (state == IDLE) begin
      escape_weight <= escape_weight_i;
      filled <= 0;
      {asked, given, size, pass, bucket} <= 0;
    end
    if (draining) begin
      asked <= asked + !asked[10];
      given <= given + read_valid_i;
      size <= size + comes;
    end
    if (put) filled[slot] <= 1;
    left <= moves ? left - 11'd1 : size - 11'd1;
    if (joins) begin
      bucket <= bucket + 4'd1;
      started <= started || is_filled;
      if (is_filled) last <= tail;
      if (is_filled && !started) head <= first;
      if (&bucket) begin
        filled <= 0;
        pass <= pass + 2'd1;
      end
    end else started <= 0;
    if (turns) last <= here;

    bypass <= makes && taken_next == made;
    if (state == MERGE) begin
      entries_left <= size;
      {made, taken, half} <= 0;
    end
    if (state == MERGE || state == EMIT) escape_left <= 1;
    if (merges) begin
      half <= !half;
      half_symbol <= takes_symbol;
      weight <= half ? sum : item;
      taken <= taken_next;
      if (half) made <= made_next;
      if (takes_symbol && takes_escape) escape_left <= 0;
      if (turns) entries_left <= entries_left - 11'd1;
    end

    place <= measures ? 11'd0 : place_next;
    seen <= measures ? 11'd0 : seen_next;
    if (measures) begin
      level <= 1;
      nodes_left <= 1;
    end
    if (scans) begin
      nodes_left <= level_ends ? seen_next + 11'd1 - place_next : nodes_left - 11'd1;
      if (level_ends && !deepest) level <= level + 4'd1;
    end
    if (state == CHECK) begin
      excess <= too_deep;
      unit <= 1;
    end
    if (repairs)
      if (shifts) excess <= excess_next;
      else begin
        level <= neighbor;
        unit <= !shortens ? unit << 1 : deepest ? 16'h4000 : unit >> 1;
      end

    if (state == EMIT) begin
      {position, code} <= 0;
      length <= 1;
      more <= 1;
    end
    if (chooses && longer) begin
      length <= length + 5'd1;
      code <= code << 1;
    end
    if (gives_escape) escape_left <= 0;
    if (gives) begin
      position <= position + 11'd1;
      code <= code + 16'd1;
      more <= !at_end;
      code_first_o <= position == 0;
      code_last_o <= at_end;
      code_escape_o <= gives_escape;
      code_index_o <= gives_escape ? 10'd0 : here;
      code_value_o <= gives_escape ? 32'd0 : read_value_i;
      code_code_o <= code;
      code_length_o <= length;
    end
  end

endmodule

`default_nettype wire
