// fpc_decompressor
//
// Decompresses cache lines of frequent patterns: one line per cycle, two or more cycles each.
//
// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of
// CABA.
//
// Parameters: line_bytes = 128, segmented = false, pipeline_depth = 5
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module fpc_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // 1: head and data; 0: the line as it was
  input  wire          encoding_i,
  // head and data from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // a zero run reached beyond the line; the line is zero
  output wire          error_o,
  // the line: byte 0 in bits 7 to 0
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  localparam LINE = 1024;
  reg [1024:0] result;
  reg [1129:0] parsed;
  reg [95:0] prefixes;
  wire error;
  wire results_ready_o;
  wire [1024:0] results_data_o;
  wire [95:0] parse_prefixes_o;
  wire [7:0] parse_start_o;
  wire parse_error_o;
  wire middle_valid_o;
  wire [1129:0] middle_data_o;
  wire expand_encoding_i;
  wire [1023:0] expand_payload_i;
  wire [7:0] expand_start_i;
  wire [1023:0] expand_line_o;

  fpc_decompressor_elastic_pipe_4 results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (middle_valid_o),
    .data_i  (result),
    .ready_o (results_ready_o),
    .valid_o (valid_o),
    .data_o  (results_data_o),
    .ready_i (ready_i)
  );

  fpc_decompressor_fpc_parse parse (
    .encoding_i (encoding_i),
    .payload_i  (payload_i),
    .prefixes_o (parse_prefixes_o),
    .start_o    (parse_start_o),
    .error_o    (parse_error_o)
  );

  fpc_decompressor_elastic_pipe_1 middle (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (parsed),
    .ready_o (ready_o),
    .valid_o (middle_valid_o),
    .data_o  (middle_data_o),
    .ready_i (results_ready_o)
  );

  fpc_decompressor_fpc_expand expand (
    .encoding_i (expand_encoding_i),
    .payload_i  (expand_payload_i),
    .prefixes_i (prefixes),
    .start_i    (expand_start_i),
    .error_i    (error),
    .line_o     (expand_line_o)
  );

  always @(*) begin : comb_parsed
    integer g;
    parsed = {106'd0, payload_i};
    for (g = 0; g < 32; g = g + 1) begin
      parsed[LINE+g*3 +: 3] = parse_prefixes_o[g*3 +: 3];
    end
    parsed[1127:1120] = parse_start_o;
    parsed[1128] = parse_error_o;
    parsed[1129] = encoding_i;
  end

  // words from their data
  always @(*) begin : comb_prefixes
    integer g;
    prefixes = 96'd0;
    for (g = 0; g < 32; g = g + 1) begin
      prefixes[g*3 +: 3] = middle_data_o[LINE+g*3 +: 3];
    end
  end

  assign error = middle_data_o[1128];
  assign expand_payload_i = middle_data_o[1023:0];
  assign expand_start_i = middle_data_o[1127:1120];
  assign expand_encoding_i = middle_data_o[1129];

  always @(*) begin
    result = {1'b0, expand_line_o};
    result[1024] = error;
  end

  assign line_o = results_data_o[1023:0];
  assign error_o = results_data_o[1024];

endmodule

`default_nettype wire
