// cpack_compressor
//
// Compresses cache lines by C-Pack+Z with a first-in-first-out dictionary of 16 words, four words per cycle.
//
// The first four words are encoded in the cycle in which the line is taken. The dictionary starts empty with
// each line.
//
// Parameters: line_bytes = 128, dictionary = 16
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module cpack_compressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low
  input  wire          rst_ni,
  // a line is offered
  input  wire          valid_i,
  // the line: byte 0 in bits 7 to 0
  input  wire [1023:0] line_i,
  // the line is taken in this cycle
  output wire          ready_o,
  // a payload is offered
  output wire          valid_o,
  // 0: the line as it was; 1: compressed; 2: a line of zeros
  output wire    [1:0] encoding_o,
  // its size in bits
  output wire   [10:0] size_o,
  // the payload from bit 0 up
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  localparam [10:0] LINE_BITS = 11'h400;
  // from the place of a group's words to the top of the line
  localparam [10:0] TO_TOP = 11'd896;
  localparam [2:0] LAST_GROUP = 3'd7;
  wire working;
  wire ready;
  reg [1023:0] source;
  wire [1023:0] rotated;
  wire [127:0] words;
  reg [2:0] at;
  reg [1023:0] codes;
  reg [10:0] length;
  reg seen_nonzero;
  reg [511:0] encode_dictionary_i;
  reg [4:0] encode_count_i;
  reg [3:0] encode_next_i;
  wire [135:0] encode_string_o;
  wire [7:0] encode_length_o;
  wire [511:0] encode_dictionary_o;
  wire [4:0] encode_count_o;
  wire [3:0] encode_next_o;
  // a line is being encoded
  reg busy_q;
  reg done_q;
  // groups of four words that are encoded
  reg [2:0] group_q;
  // the line, the next words in the low bits; whole again after the last ones
  reg [1023:0] line_q;
  reg [511:0] dictionary_q;
  reg [4:0] count_q;
  reg [3:0] place_q;
  reg nonzero_q;
  reg [1023:0] payload_q;
  reg [10:0] size_q;
  reg [1:0] encoding_q;

  cpack_compressor_cpack_encode encode (
    .words_i      (words),
    .dictionary_i (encode_dictionary_i),
    .count_i      (encode_count_i),
    .next_i       (encode_next_i),
    .string_o     (encode_string_o),
    .length_o     (encode_length_o),
    .dictionary_o (encode_dictionary_o),
    .count_o      (encode_count_o),
    .next_o       (encode_next_o)
  );

  assign ready = !busy_q & (ready_i | !done_q);
  assign working = busy_q | (ready & valid_i);

  // a new line starts with an empty dictionary and no codes
  always @(*) begin
    source = line_i;
    at = 3'd0;
    encode_dictionary_i = 512'd0;
    encode_count_i = 5'd0;
    encode_next_i = 4'd0;
    if (busy_q) begin
      source = line_q;
      at = group_q;
      encode_dictionary_i = dictionary_q;
      encode_count_i = count_q;
      encode_next_i = place_q;
    end
  end

  assign words = source[127:0];
  // four words go from the low end to the high end
  assign rotated = (source >> 128) | ({896'd0, words} << TO_TOP);

  // their codes go behind those that are there
  always @(*) begin
    codes = 1024'd0;
    length = 11'd0;
    seen_nonzero = 1'b0;
    if (busy_q) begin
      codes = payload_q;
      length = size_q;
      seen_nonzero = nonzero_q;
    end
    codes = codes | ({888'd0, encode_string_o} << length);
    length = length + {3'd0, encode_length_o};
    seen_nonzero = seen_nonzero | (|words);
  end

  assign ready_o = ready;
  assign valid_o = done_q;
  assign encoding_o = encoding_q;
  assign size_o = size_q;
  assign payload_o = payload_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      done_q <= 1'b0;
      group_q <= 3'd0;
    end else if (working) begin
      busy_q <= 1'b1;
      done_q <= 1'b0;
      group_q <= at + 3'd1;
      if (at == LAST_GROUP) begin
        busy_q <= 1'b0;
        done_q <= 1'b1;
      end
    end else if (ready_i) begin
      done_q <= 1'b0;
    end
  end

  always @(posedge clk_i) begin
    if (working) begin
      line_q <= rotated;
      dictionary_q <= encode_dictionary_o;
      count_q <= encode_count_o;
      place_q <= encode_next_o;
      nonzero_q <= seen_nonzero;
      payload_q <= codes;
      size_q <= length;
      if (at == LAST_GROUP) begin
        encoding_q <= 2'd1;
        if (!seen_nonzero) begin
          encoding_q <= 2'd2;
          payload_q <= 1024'd0;
          size_q <= 11'd0;
        end else if (length >= LINE_BITS) begin
          encoding_q <= 2'd0;
          payload_q <= rotated;
          size_q <= LINE_BITS;
        end
      end
    end
  end

endmodule

`default_nettype wire
