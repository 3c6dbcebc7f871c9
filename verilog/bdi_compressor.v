// bdi_compressor
//
// Compresses cache lines by base-delta-immediate: one line per cycle, two or more cycles each.
//
// CABA, section 5.1; LATTE-CC, section IV.C.1. The payload is the smallest of eleven encodings, ties to the
// wider base.
//
// Parameters: line_bytes = 128, pipeline_depth = 2
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_compressor (
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
  // its encoding's tag
  output wire    [3:0] encoding_o,
  // its size in bytes
  output wire    [7:0] size_o,
  // base, mask and deltas from bit 0 up; zero beyond the size
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  reg [1035:0] result;
  reg [1155:0] chosen;
  wire [3:0] choose_tag_o;
  wire [63:0] choose_base_o;
  wire [63:0] choose_mask_o;
  wire [1023:0] pack_line_i;
  wire [3:0] pack_tag_i;
  wire [63:0] pack_base_i;
  wire [63:0] pack_mask_i;
  wire [1023:0] pack_payload_o;
  wire [7:0] pack_size_o;
  wire results_ready_o;
  wire [1035:0] results_data_o;
  wire middle_valid_o;
  wire [1155:0] middle_data_o;

  bdi_compressor_bdi_choose choose (
    .line_i (line_i),
    .tag_o  (choose_tag_o),
    .base_o (choose_base_o),
    .mask_o (choose_mask_o)
  );

  bdi_compressor_bdi_pack pack (
    .line_i    (pack_line_i),
    .tag_i     (pack_tag_i),
    .base_i    (pack_base_i),
    .mask_i    (pack_mask_i),
    .payload_o (pack_payload_o),
    .size_o    (pack_size_o)
  );

  bdi_compressor_elastic_pipe #(.DATA_WIDTH (1036)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (middle_valid_o),
    .data_i  (result),
    .ready_o (results_ready_o),
    .valid_o (valid_o),
    .data_o  (results_data_o),
    .ready_i (ready_i)
  );

  bdi_compressor_elastic_pipe #(.DATA_WIDTH (1156)) middle (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (chosen),
    .ready_o (ready_o),
    .valid_o (middle_valid_o),
    .data_o  (middle_data_o),
    .ready_i (results_ready_o)
  );

  always @(*) begin
    chosen = {132'd0, line_i};
    chosen[1027:1024] = choose_tag_o;
    chosen[1091:1028] = choose_base_o;
    chosen[1155:1092] = choose_mask_o;
  end

  // pack the deltas
  assign pack_line_i = middle_data_o[1023:0];
  assign pack_tag_i = middle_data_o[1027:1024];
  assign pack_base_i = middle_data_o[1091:1028];
  assign pack_mask_i = middle_data_o[1155:1092];

  always @(*) begin
    result = {12'd0, pack_payload_o};
    result[1027:1024] = middle_data_o[1027:1024];
    result[1035:1028] = pack_size_o;
  end

  assign payload_o = results_data_o[1023:0];
  assign encoding_o = results_data_o[1027:1024];
  assign size_o = results_data_o[1035:1028];

endmodule

`default_nettype wire
