// bdi_decompressor
//
// Rebuilds cache lines from base-delta-immediate payloads: one line per cycle, two or more cycles each.
//
// CABA, section 5.1; LATTE-CC, section IV.C.1. A tag that means nothing gives a line of zeros and error_o.
//
// Parameters: line_bytes = 128, pipeline_depth = 2
// Source: CABA, section 5.1; LATTE-CC, section IV.C.1
// Written by selvedge 0.1.0 with reset async-low

`default_nettype none

module bdi_decompressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire          rst_ni,
  // a payload is offered
  input  wire          valid_i,
  // its encoding's tag
  input  wire    [3:0] encoding_i,
  // base, mask and deltas from bit 0 up
  input  wire [1023:0] payload_i,
  // the payload is taken in this cycle
  output wire          ready_o,
  // a line is offered
  output wire          valid_o,
  // the tag meant nothing; the line is zero
  output wire          error_o,
  // the line: byte 0 in bits 7 to 0
  output wire [1023:0] line_o,
  // the consumer takes the line in this cycle
  input  wire          ready_i
);

  reg [1024:0] result;
  reg [1155:0] parts;
  wire [1023:0] spread_deltas_o;
  wire [63:0] spread_mask_o;
  wire [1023:0] rebuild_deltas_i;
  wire [3:0] rebuild_tag_i;
  wire [63:0] rebuild_base_i;
  wire [63:0] rebuild_mask_i;
  wire [1023:0] rebuild_line_o;
  wire rebuild_error_o;
  wire results_ready_o;
  wire [1024:0] results_data_o;
  wire middle_valid_o;
  wire [1155:0] middle_data_o;

  bdi_decompressor_bdi_spread spread (
    .payload_i (payload_i),
    .tag_i     (encoding_i),
    .deltas_o  (spread_deltas_o),
    .mask_o    (spread_mask_o)
  );

  bdi_decompressor_bdi_rebuild rebuild (
    .deltas_i (rebuild_deltas_i),
    .tag_i    (rebuild_tag_i),
    .base_i   (rebuild_base_i),
    .mask_i   (rebuild_mask_i),
    .line_o   (rebuild_line_o),
    .error_o  (rebuild_error_o)
  );

  bdi_decompressor_elastic_pipe #(.DATA_WIDTH (1025)) results (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (middle_valid_o),
    .data_i  (result),
    .ready_o (results_ready_o),
    .valid_o (valid_o),
    .data_o  (results_data_o),
    .ready_i (ready_i)
  );

  bdi_decompressor_elastic_pipe #(.DATA_WIDTH (1156)) middle (
    .clk_i   (clk_i),
    .rst_ni  (rst_ni),
    .valid_i (valid_i),
    .data_i  (parts),
    .ready_o (ready_o),
    .valid_o (middle_valid_o),
    .data_o  (middle_data_o),
    .ready_i (results_ready_o)
  );

  always @(*) begin
    parts = {132'd0, spread_deltas_o};
    parts[1027:1024] = encoding_i;
    parts[1091:1028] = payload_i[63:0];
    parts[1155:1092] = spread_mask_o;
  end

  // add the bases
  assign rebuild_deltas_i = middle_data_o[1023:0];
  assign rebuild_tag_i = middle_data_o[1027:1024];
  assign rebuild_base_i = middle_data_o[1091:1028];
  assign rebuild_mask_i = middle_data_o[1155:1092];

  always @(*) begin
    result = {1'b0, rebuild_line_o};
    result[1024] = rebuild_error_o;
  end

  assign line_o = results_data_o[1023:0];
  assign error_o = results_data_o[1024];

endmodule

`default_nettype wire
