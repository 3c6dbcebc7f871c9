// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_emitter
//
// Gives a code for every entry and for the escape symbol, in canonical order.
//
// The escape comes after the last entry that does not weigh less. INDEX are the bits of an index, COUNT one
// more.
//
// Parameters: INDEX = 10, COUNT = 11
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module sc_code_builder_emitter (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // give all codes
  input  wire        start_i,
  // number of entries, which is one less than symbols
  input  wire [10:0] size_i,
  // weight of the escape symbol
  input  wire [13:0] escape_weight_i,
  // place of the entry that is wanted in the next cycle
  output wire  [9:0] rank_o,
  // count of the entry that was wanted in the last cycle
  input  wire [11:0] count_i,
  // its index
  input  wire  [9:0] index_i,
  // the length of the codes that come, modulo 16
  output wire  [3:0] length_o,
  // place from which on codes are longer
  input  wire [10:0] longer_from_i,
  // read the value of the entry `index_i`
  output wire        read_o,
  // the value is given
  input  wire        read_valid_i,
  // the value
  input  wire [31:0] read_value_i,
  // a code is given
  output wire        code_valid_o,
  // the code is taken
  input  wire        code_ready_i,
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
  output wire  [4:0] code_length_o,
  // the last code is taken in this cycle
  output wire        done_o
);

  localparam [4:0] MAX_LENGTH = 5'd16;
  wire free;
  wire longer;
  wire choose;
  wire escape_next;
  wire give_escape;
  wire give_entry;
  wire ask;
  wire done;
  reg [10:0] entries_next;
  reg busy_d;
  reg busy_q;
  reg more_d;
  // symbols are left
  reg more_q;
  reg waiting_d;
  // a value was asked for
  reg waiting_q;
  reg read_q;
  reg [10:0] position_d;
  // symbols that have their code, and entries among them
  reg [10:0] position_q;
  reg [10:0] entries_d;
  reg [10:0] entries_q;
  reg escape_left_d;
  reg escape_left_q;
  reg [15:0] code_d;
  // the next code
  reg [15:0] code_q;
  reg [4:0] length_d;
  reg [4:0] length_q;
  reg valid_d;
  reg valid_q;
  reg first_d;
  reg first_q;
  reg last_d;
  reg last_q;
  reg [9:0] index_d;
  reg [9:0] index_q;
  reg escape_d;
  reg escape_q;
  reg [31:0] value_d;
  reg [31:0] value_q;
  reg [15:0] given_code_d;
  reg [15:0] given_code_q;
  reg [4:0] given_length_d;
  reg [4:0] given_length_q;

  always @(*) begin
    busy_d = busy_q;
    more_d = more_q;
    waiting_d = waiting_q;
    position_d = position_q;
    escape_left_d = escape_left_q;
    code_d = code_q;
    length_d = length_q;
    valid_d = valid_q;
    first_d = first_q;
    last_d = last_q;
    index_d = index_q;
    escape_d = escape_q;
    value_d = value_q;
    given_code_d = given_code_q;
    given_length_d = given_length_q;
    if (choose & longer) begin
      length_d = length_q + 5'd1;
      code_d = code_q << 1;
    end
    if (ask) begin
      waiting_d = 1'b1;
    end
    entries_next = entries_q + {10'd0, give_entry};
    entries_d = entries_next;
    if (valid_q & code_ready_i) begin
      valid_d = 1'b0;
    end
    if (give_entry) begin
      waiting_d = 1'b0;
      index_d = index_i;
      escape_d = 1'b0;
      value_d = read_value_i;
    end
    if (give_escape) begin
      escape_left_d = 1'b0;
      index_d = 10'd0;
      escape_d = 1'b1;
      value_d = 32'd0;
    end
    if (give_entry | give_escape) begin
      valid_d = 1'b1;
      first_d = !(|position_q);
      last_d = position_q == size_i;
      given_code_d = code_q;
      given_length_d = length_q;
      code_d = code_q + 16'd1;
      position_d = position_q + 11'd1;
      more_d = position_q != size_i;
    end
    if (done) begin
      busy_d = 1'b0;
    end
    if (start_i) begin
      busy_d = 1'b1;
      more_d = 1'b1;
      position_d = 11'd0;
      entries_next = 11'd0;
      entries_d = 11'd0;
      escape_left_d = 1'b1;
      code_d = 16'd0;
      length_d = 5'd1;
    end
  end

  // codes grow, one bit per cycle, until they have the length of this place
  assign choose = busy_q & more_q & !waiting_q;
  assign longer = (|size_i) & (length_q != MAX_LENGTH) & (position_q >= longer_from_i);
  // then the escape is given, or the entry's value is read and the entry is given
  assign free = !valid_q | code_ready_i;
  assign escape_next = escape_left_q & ((entries_q == size_i) | ({2'd0, count_i} < escape_weight_i));
  assign give_escape = choose & !longer & free & escape_next;
  assign give_entry = waiting_q & read_valid_i;
  assign ask = choose & !longer & free & !escape_next;

  assign done = busy_q & !more_q & valid_q & code_ready_i;
  assign done_o = done;
  assign rank_o = entries_next[9:0];
  assign length_o = length_q[3:0];
  assign read_o = read_q;
  assign code_valid_o = valid_q;
  assign code_first_o = first_q;
  assign code_last_o = last_q;
  assign code_index_o = index_q;
  assign code_escape_o = escape_q;
  assign code_value_o = value_q;
  assign code_code_o = given_code_q;
  assign code_length_o = given_length_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      read_q <= 1'b0;
      busy_q <= 1'b0;
      more_q <= 1'b0;
      waiting_q <= 1'b0;
      position_q <= 11'd0;
      entries_q <= 11'd0;
      escape_left_q <= 1'b0;
      code_q <= 16'd0;
      length_q <= 5'd0;
      valid_q <= 1'b0;
      first_q <= 1'b0;
      last_q <= 1'b0;
    end else begin
      read_q <= ask;
      busy_q <= busy_d;
      more_q <= more_d;
      waiting_q <= waiting_d;
      position_q <= position_d;
      entries_q <= entries_d;
      escape_left_q <= escape_left_d;
      code_q <= code_d;
      length_q <= length_d;
      valid_q <= valid_d;
      first_q <= first_d;
      last_q <= last_d;
    end
  end

  always @(posedge clk_i) begin
    index_q <= index_d;
    escape_q <= escape_d;
    value_q <= value_d;
    given_code_q <= given_code_d;
    given_length_q <= given_length_d;
  end

endmodule

`default_nettype wire
