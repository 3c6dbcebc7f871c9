// pipe
//
// A pipeline of any number of stages, including zero.
//
// Parameters: STAGES = 3
// Source: a paper, section 1.2
// Written by selvedge with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i

`default_nettype none

module pipe (
  // clock
  input  wire        clk_i,
  // asynchronous reset, active low; empties the pipeline
  input  wire        rst_ni,
  // data enters this cycle
  input  wire        valid_i,
  // data that enters
  input  wire [15:0] data_i,
  // data leaves this cycle
  output reg         valid_o,
  // data that leaves; undefined before the first data has left
  output reg  [15:0] data_o
);

  reg [2:0] stage_valid_d;
  reg [2:0] stage_valid_q;
  reg [47:0] stage_data_d;
  reg [47:0] stage_data_q;

  always @(*) begin : comb_stage_data_d
    integer i;
    stage_data_d = stage_data_q;
    // from stage to stage; what a stage holds is the input of the next one
    valid_o = valid_i;
    data_o = data_i;
    for (i = 0; i < 3; i = i + 1) begin
      stage_valid_d[i] = valid_o;
      if (valid_o) begin
        stage_data_d[i*16 +: 16] = data_o;
      end
      valid_o = stage_valid_q[i];
      data_o = stage_data_q[i*16 +: 16];
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      stage_valid_q <= 3'd0;
    end else begin
      stage_valid_q <= stage_valid_d;
    end
  end

  always @(posedge clk_i) begin
    stage_data_q <= stage_data_d;
  end

endmodule

`default_nettype wire
