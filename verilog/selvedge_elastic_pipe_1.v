// SPDX-License-Identifier: MIT OR Apache-2.0
// selvedge_elastic_pipe_1
//
// One or more registers in series between valid/ready partners.
//
// A register takes a new item if it is empty or if its own item moves on. A stall at the output
// therefore reaches the input only when every register is full. The throughput is one item per
// cycle; valid_o never drops before ready_i.
//
// Written by selvedge 0.2.0 with reset control

`ifndef SELVEDGE_ELASTIC_PIPE_1_V
`define SELVEDGE_ELASTIC_PIPE_1_V

`default_nettype none

module selvedge_elastic_pipe_1 #(
  // bits of data_i
  parameter integer DATA_BITS = 13
) (
  // clock
  input  wire                 clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire                 rst_ni,
  // an item is offered
  input  wire                 valid_i,
  // offered item
  input  wire [DATA_BITS-1:0] data_i,
  // the item is accepted in this cycle
  output wire                 ready_o,
  // an item is available
  output wire                 valid_o,
  // available item; undefined while valid_o is low
  output wire [DATA_BITS-1:0] data_o,
  // the available item is accepted in this cycle
  input  wire                 ready_i
);

  // a parameter with a value that is not verified: the message is the name of a missing module
  generate
    if (DATA_BITS < 1) begin : gen_wrong_data_bits
      selvedge_elastic_pipe_1_DATA_BITS_must_be_1_or_more wrong_data_bits ();
    end
  endgenerate

  // empty registers, one bit per stage
  reg [4:0] holes;
  // empty registers, shifted so that bit 0 is the current stage
  reg [4:0] holes_ahead;
  // an item is offered to the current stage
  wire valid;
  reg stage_valid_d;
  reg stage_valid_q;
  reg [DATA_BITS-1:0] stage_data_d;
  reg [DATA_BITS-1:0] stage_data_q;

  always @(*) begin
    holes = 5'd0;
    holes[0] = ~stage_valid_q;
  end

  assign ready_o = ready_i | (|holes);
  assign valid = valid_i;

  always @(*) begin
    stage_valid_d = stage_valid_q;
    stage_data_d = stage_data_q;
    // an item moves if this stage or a later one is empty
    holes_ahead = holes;
    if (ready_i | (|holes_ahead)) begin
      stage_valid_d = valid;
      if (valid) begin
        stage_data_d = data_i;
      end
    end
    holes_ahead = holes_ahead >> 1;
  end

  // the outputs depend on the last register only: no path from ready_i to them
  assign valid_o = stage_valid_q;
  assign data_o = stage_data_q;

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
