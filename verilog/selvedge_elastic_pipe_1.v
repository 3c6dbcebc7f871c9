// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_elastic_pipe_1
//
// One or more registers in a row between valid/ready partners.
//
// A register takes a new item when it is empty or when its own item moves on, so a stall at the
// output reaches the input only when every register is full. One item per cycle passes; valid_o
// never drops before ready_i.
//
// Parameters: STAGES = 1
// Written by selvedge 0.1.0 with reset control

`ifndef SELVEDGE_ELASTIC_PIPE_1_V
`define SELVEDGE_ELASTIC_PIPE_1_V

`default_nettype none

module selvedge_elastic_pipe_1 #(
  // bits of data_i
  parameter integer DATA_WIDTH = 13
) (
  // clock
  input  wire                  clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire                  rst_ni,
  // an item is offered
  input  wire                  valid_i,
  // the item that is offered
  input  wire [DATA_WIDTH-1:0] data_i,
  // the item is taken in this cycle
  output wire                  ready_o,
  // an item is given
  output wire                  valid_o,
  // the item that is given; without meaning while there is none
  output wire [DATA_WIDTH-1:0] data_o,
  // the item that is given is taken in this cycle
  input  wire                  ready_i
);

  // empty registers
  reg [4:0] holes;
  // the same, shifted so that bit 0 is the stage at hand
  reg [4:0] holes_ahead;
  // what is offered to the stage at hand
  reg valid;
  reg [DATA_WIDTH-1:0] data;
  reg last_valid;
  reg [DATA_WIDTH-1:0] last_data;
  reg stage_valid_d;
  reg stage_valid_q;
  reg [DATA_WIDTH-1:0] stage_data_d;
  reg [DATA_WIDTH-1:0] stage_data_q;

  always @(*) begin
    stage_valid_d = stage_valid_q;
    stage_data_d = stage_data_q;
    // from stage to stage; a hole here or further on lets an item move in
    holes_ahead = holes;
    valid = valid_i;
    data = data_i;
    if (ready_i | (|holes_ahead)) begin
      stage_valid_d = valid;
      if (valid) begin
        stage_data_d = data;
      end
    end
    holes_ahead = holes_ahead >> 1;
    valid = stage_valid_q;
    data = stage_data_q;
  end

  always @(*) begin
    holes = 5'd0;
    holes[0] = !stage_valid_q;
  end

  assign ready_o = ready_i | (|holes);

  // the outputs come from the last register alone, so that no path leads from ready_i to them
  always @(*) begin
    last_valid = 1'b0;
    last_valid = stage_valid_q;
  end

  always @(*) begin
    last_data = stage_data_q;
    last_data = stage_data_q;
  end

  assign valid_o = last_valid;
  assign data_o = last_data;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_valid_q <= 1'b0;
    end else begin
      stage_valid_q <= stage_valid_d;
    end
  end

  always @(posedge clk_i) begin
    stage_data_q <= stage_data_d;
  end

endmodule

`default_nettype wire

`endif
