// SPDX-License-Identifier: MIT OR Apache-2.0
// sc_code_builder_emitter
//
// Gives a code for every entry and for the escape symbol, in canonical order.
//
// The escape comes after the last entry whose count is not below its weight. INDEX is the width of
// an index in bits, COUNT is one more.
//
// Parameters: INDEX = 10, COUNT = 11
// Part of: sc_code_builder
// Source: LATTE-CC, section IV.C.2
// Written by selvedge 0.2.0 with reset control

`default_nettype none

module sc_code_builder_emitter #(
  // Maximum length of a code in bits; verified with 12, 16
  parameter integer MAX_CODE_BITS = 16
) (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low
  input  wire        rst_ni,
  // starts the emission of all codes
  input  wire        start_i,
  // number of entries, one less than the number of symbols
  input  wire [10:0] size_i,
  // weight of the escape symbol
  input  wire [13:0] escape_weight_i,
  // the next entry must be shown in the next cycle
  output wire        next_o,
  // count of the next entry
  input  wire [11:0] count_i,
  // index of the next entry
  input  wire  [9:0] index_i,
  // length of the next code, modulo 16
  output wire  [3:0] length_o,
  // position from which on codes are longer than `length_o`
  input  wire [10:0] longer_from_i,
  // reads the value of the entry `index_i`
  output wire        read_o,
  // the table replies to the read
  input  wire        read_valid_i,
  // value from the table
  input  wire [31:0] read_value_i,
  // a code is offered
  output wire        code_valid_o,
  // the consumer takes the code in this cycle
  input  wire        code_ready_i,
  // the code is the first one of the stream
  output wire        code_first_o,
  // the code is the last one of the stream
  output wire        code_last_o,
  // index of the entry that has the code; zero for the escape
  output wire  [9:0] code_index_o,
  // the code is that of the escape symbol
  output wire        code_escape_o,
  // value that has the code; zero for the escape
  output wire [31:0] code_value_o,
  // the code, right-aligned
  output wire [15:0] code_code_o,
  // length of the code in bits
  output wire  [4:0] code_length_o,
  // the last code is taken in this cycle
  output wire        done_o
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (MAX_CODE_BITS != 12 && MAX_CODE_BITS != 16) begin : gen_wrong_max_code_bits
      sc_code_builder_emitter_MAX_CODE_BITS_must_be_12_or_16 wrong_max_code_bits ();
    end
  endgenerate

  localparam [4:0] MAX_LENGTH = MAX_CODE_BITS[4:0];
  wire free;
  wire longer;
  wire choose;
  wire escape_next;
  wire give_escape;
  wire give_entry;
  wire ask;
  wire done;
  reg busy_q;
  // symbols without a code are left
  reg more_q;
  // a read of an entry's value is in flight
  reg waiting_q;
  reg read_q;
  // number of symbols that have a code
  reg [10:0] position_q;
  reg escape_left_q;
  // the next code
  reg [15:0] code_q;
  reg [4:0] length_q;
  reg valid_q;
  reg first_q;
  reg last_q;
  reg [9:0] index_q;
  reg escape_q;
  reg [31:0] value_q;
  reg [15:0] given_code_q;
  reg [4:0] given_length_q;

  // extend the code by one bit per cycle to the length of this position
  assign choose = busy_q & more_q & ~waiting_q;
  assign longer = (|size_i) & (length_q != MAX_LENGTH) & (position_q >= longer_from_i);
  // then output the escape, or read the entry's value and output the entry
  assign free = ~valid_q | code_ready_i;
  assign escape_next = escape_left_q & ((position_q == size_i) | ({2'd0, count_i} <
      escape_weight_i));
  assign give_escape = choose & ~longer & free & escape_next;
  assign give_entry = waiting_q & read_valid_i;
  assign ask = choose & ~longer & free & ~escape_next;

  assign done = busy_q & ~more_q & valid_q & code_ready_i;

  assign done_o = done;
  assign next_o = give_entry;
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
    end else begin
      read_q <= ask;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      waiting_q <= 1'b0;
      valid_q <= 1'b0;
      first_q <= 1'b0;
      last_q <= 1'b0;
    end else begin
      if (ask) begin
        waiting_q <= 1'b1;
      end
      if (valid_q & code_ready_i) begin
        valid_q <= 1'b0;
      end
      if (give_entry) begin
        waiting_q <= 1'b0;
      end
      if (give_entry | give_escape) begin
        valid_q <= 1'b1;
        first_q <= ~(|position_q);
        last_q <= position_q == size_i;
      end
      if (done) begin
        busy_q <= 1'b0;
      end
      if (start_i) begin
        busy_q <= 1'b1;
      end
    end
  end

  always @(posedge clk_i) begin
    if (choose & longer) begin
      length_q <= length_q + 5'd1;
      code_q <= code_q << 1;
    end
    if (give_entry) begin
      index_q <= index_i;
      escape_q <= 1'b0;
      value_q <= read_value_i;
    end
    if (give_escape) begin
      escape_left_q <= 1'b0;
      index_q <= 10'd0;
      escape_q <= 1'b1;
      value_q <= 32'd0;
    end
    if (give_entry | give_escape) begin
      given_code_q <= code_q;
      given_length_q <= length_q;
      code_q <= code_q + 16'd1;
      position_q <= position_q + 11'd1;
      more_q <= position_q != size_i;
    end
    if (start_i) begin
      more_q <= 1'b1;
      position_q <= 11'd0;
      escape_left_q <= 1'b1;
      code_q <= 16'd0;
      length_q <= 5'd1;
    end
  end

endmodule

`default_nettype wire
