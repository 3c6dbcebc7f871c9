// cpack_decompressor
//
// Decompresses cache lines of C-Pack+Z with a first-in-first-out dictionary of 16 words, four words per
// cycle.
//
// The first four words are decoded in the cycle in which the payload is taken. The dictionary starts empty
// with each line.
//
// Parameters: line_bytes = 128, dictionary = 16
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module cpack_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // 0: the line as it was; 1: compressed; 2: a line of zeros
  input  wire    [1:0] encoding_i,
  // the payload from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the payload is none that a compressor makes; the line is zero
  output wire          error_o,
  // the line: byte 0 in bits 7 to 0
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  localparam [2:0] LAST_GROUP = 3'd7;
  wire working;
  wire ready;
  reg [1023:0] source;
  reg [1:0] kind;
  reg [2:0] at;
  wire [127:0] words;
  reg seen_wrong;
  reg [1023:0] decoded;
  wire [135:0] decode_string_i;
  reg [511:0] decode_dictionary_i;
  reg [4:0] decode_count_i;
  reg [3:0] decode_next_i;
  wire [127:0] decode_words_o;
  wire [7:0] decode_length_o;
  wire decode_error_o;
  wire [511:0] decode_dictionary_o;
  wire [4:0] decode_count_o;
  wire [3:0] decode_next_o;
  // a payload is being decoded
  reg busy_q;
  reg done_q;
  // groups of four words that are decoded
  reg [2:0] group_q;
  reg [1:0] encoding_q;
  // what is left of the payload
  reg [1023:0] string_q;
  reg [511:0] dictionary_q;
  reg [4:0] count_q;
  reg [3:0] place_q;
  // something was wrong so far
  reg wrong_q;
  reg [1023:0] line_q;
  reg error_q;

  cpack_decompressor_cpack_decode decode (
    .encoding_i   (kind),
    .string_i     (decode_string_i),
    .dictionary_i (decode_dictionary_i),
    .count_i      (decode_count_i),
    .next_i       (decode_next_i),
    .words_o      (decode_words_o),
    .length_o     (decode_length_o),
    .error_o      (decode_error_o),
    .dictionary_o (decode_dictionary_o),
    .count_o      (decode_count_o),
    .next_o       (decode_next_o)
  );

  assign ready = !busy_q & (ready_i | !done_q);
  assign working = busy_q | (ready & valid_i);

  // a new payload starts with an empty dictionary and an empty line
  always @(*) begin
    source = payload_i;
    kind = encoding_i;
    at = 3'd0;
    decode_dictionary_i = 512'd0;
    decode_count_i = 5'd0;
    decode_next_i = 4'd0;
    if (busy_q) begin
      source = string_q;
      kind = encoding_q;
      at = group_q;
      decode_dictionary_i = dictionary_q;
      decode_count_i = count_q;
      decode_next_i = place_q;
    end
  end

  assign decode_string_i = source[135:0];
  assign words = decode_words_o;

  always @(*) begin : comb_seen_wrong
    integer g;
    seen_wrong = &encoding_i;
    decoded = 1024'd0;
    if (busy_q) begin
      seen_wrong = wrong_q;
      decoded = line_q;
    end
    seen_wrong = seen_wrong | decode_error_o;
    for (g = 0; g < 8; g = g + 1) begin
      if (at == g[2:0]) begin
        decoded[g*128 +: 64] = words[63:0];
        decoded[g*128+64 +: 64] = words[127:64];
      end
    end
  end

  assign ready_o = ready;
  assign valid_o = done_q;
  assign error_o = error_q;
  assign line_o = line_q;

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
      encoding_q <= kind;
      string_q <= source >> decode_length_o;
      dictionary_q <= decode_dictionary_o;
      count_q <= decode_count_o;
      place_q <= decode_next_o;
      wrong_q <= seen_wrong;
      line_q <= decoded;
      if (at == LAST_GROUP) begin
        error_q <= seen_wrong;
        if (seen_wrong) begin
          line_q <= 1024'd0;
        end
      end
    end
  end

endmodule

`default_nettype wire
