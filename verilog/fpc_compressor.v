// fpc_compressor
//
// Compresses cache lines by frequent patterns: one line per cycle, two or more cycles each.
//
// GROUPS prefixes for GROUP words each: 1 is the original algorithm with zero runs, more are the segments of
// CABA.
//
// Parameters: line_bytes = 128, segmented = false, pipeline_depth = 2
// In this file: GROUPS = 32, GROUP = 1
// Source: LATTE-CC, table I; CABA, section 5.1.4
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module fpc_compressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire          rst_ni,
  // a line is offered
  input  wire          valid_i,
  // the line: byte 0 in bits 7 to 0
  input  wire [1023:0] line_i,
  // the line is taken in this cycle
  output wire          ready_o,
  // a payload is offered
  output wire          valid_o,
  // 1: head and data; 0: the line as it was
  output wire          encoding_o,
  // its size in bits
  output wire   [10:0] size_o,
  // head and data from bit 0 up; zero beyond the size
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  localparam LINE = 1024;
  reg [1035:0] result;
  reg [1311:0] classified;
  reg [287:0] symbols;
  wire results_ready_o;
  wire [1035:0] results_data_o;
  wire [287:0] classify_symbols_o;
  wire middle_valid_o;
  wire [1311:0] middle_data_o;
  wire [1023:0] pack_line_i;
  wire pack_encoding_o;
  wire [10:0] pack_size_o;
  wire [1023:0] pack_payload_o;

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1036)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (middle_valid_o),
    .data_i  (result),
    .ready_o (results_ready_o),
    .valid_o (valid_o),
    .data_o  (results_data_o),
    .ready_i (ready_i)
  );

  fpc_compressor_fpc_classify classify (
    .line_i    (line_i),
    .symbols_o (classify_symbols_o)
  );

  selvedge_elastic_pipe_1 #(.DATA_WIDTH (1312)) middle (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (classified),
    .ready_o (ready_o),
    .valid_o (middle_valid_o),
    .data_o  (middle_data_o),
    .ready_i (results_ready_o)
  );

  fpc_compressor_fpc_pack pack (
    .line_i     (pack_line_i),
    .symbols_i  (symbols),
    .encoding_o (pack_encoding_o),
    .size_o     (pack_size_o),
    .payload_o  (pack_payload_o)
  );

  always @(*) begin : comb_classified
    integer g;
    classified = {288'd0, line_i};
    for (g = 0; g < 32; g = g + 1) begin
      classified[LINE+g*9 +: 9] = classify_symbols_o[g*9 +: 9];
    end
  end

  // head and data
  assign pack_line_i = middle_data_o[1023:0];

  always @(*) begin : comb_symbols
    integer g;
    symbols = 288'd0;
    for (g = 0; g < 32; g = g + 1) begin
      symbols[g*9 +: 9] = middle_data_o[LINE+g*9 +: 9];
    end
  end

  always @(*) begin
    result = {12'd0, pack_payload_o};
    result[1024] = pack_encoding_o;
    result[1035:1025] = pack_size_o;
  end

  assign payload_o = results_data_o[1023:0];
  assign encoding_o = results_data_o[1024];
  assign size_o = results_data_o[1035:1025];

endmodule

`default_nettype wire
