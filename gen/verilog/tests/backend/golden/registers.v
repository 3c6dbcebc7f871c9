// registers_mem_1
//
// Memory of 2^A words with synchronous write and asynchronous read. It has no reset; its initial
// contents are given.
//
// Parameters: A = 2
// Part of: registers
// Source: a paper, section 1.2
// Written by selvedge with reset control

`default_nettype none

module registers_mem_1 (
  // clock
  input  wire       clk_i,
  // write this cycle
  input  wire       write_i,
  // write address
  input  wire [1:0] write_address_i,
  // write data
  input  wire [7:0] write_data_i,
  // read address
  input  wire [1:0] read_address_i,
  // word at the read address, before this cycle's write
  output wire [7:0] read_data_o
);

  reg [7:0] words [0:3];

  initial begin
    words[0] = 8'h9;
    words[1] = 8'h9;
    words[2] = 8'h9;
    words[3] = 8'h9;
  end

  always @(posedge clk_i) begin
    if (write_i) begin
      words[write_address_i] <= write_data_i;
    end
  end

  assign read_data_o = words[read_address_i];

endmodule

`default_nettype wire

// registers_mem_2
//
// Memory of 2^A words with synchronous write and asynchronous read. It has no reset; its initial
// contents are given.
//
// Parameters: A = 2
// Part of: registers
// Source: a paper, section 1.2
// Written by selvedge with reset control

`default_nettype none

module registers_mem_2 (
  // clock
  input  wire       clk_i,
  // write this cycle
  input  wire       write_i,
  // write address
  input  wire [1:0] write_address_i,
  // write data
  input  wire [7:0] write_data_i,
  // read address
  input  wire [1:0] read_address_i,
  // word at the read address, before this cycle's write
  output wire [7:0] read_data_o
);

  reg [7:0] words [0:3];

`ifndef SELVEDGE_NO_INITIAL
  integer i;
  initial begin
    for (i = 0; i < 4; i = i + 1) begin : clear
      words[i] = 8'h0;
    end
  end
`endif

  always @(posedge clk_i) begin
    if (write_i) begin
      words[write_address_i] <= write_data_i;
    end
  end

  assign read_data_o = words[read_address_i];

endmodule

`default_nettype wire

// registers
//
// Every way to write a register: plain, enabled, in an array, computed in a loop, from a state
// machine, in parts.
//
// Source: a paper, section 1.2
// Written by selvedge with reset control
// rst_ni needs a reset synchronizer: asserted at any time, released synchronously to clk_i

`default_nettype none

module registers (
  // clock
  input  wire        clk_i,
  // reset
  input  wire        rst_ni,
  // data
  input  wire  [7:0] x_i,
  // which element
  input  wire  [1:0] at_i,
  // enable
  input  wire        enable_i,
  // outputs, folded
  output reg   [7:0] y_o,
  // reset as data
  output wire        alive_o,
  // of the array
  output wire [31:0] element_o,
  // of the memory
  output wire  [7:0] stored_o,
  // of registers without reset
  output wire  [7:0] data_o,
  // there are data
  output wire        full_o
);

  localparam [1:0] PHASE_WAIT = 2'd0;
  localparam [1:0] PHASE_COUNT = 2'd1;
  localparam [1:0] PHASE_HOLD = 2'd2;
  reg [7:0] last;
  reg [7:0] plain_q;
  reg [7:0] enabled_q;
  reg [7:0] data_q;
  reg full_q;
  reg [15:0] items_q;
  reg [31:0] shifted_q;
  reg [23:0] summed_d;
  reg [23:0] summed_q;
  reg [1:0] state_q;
  reg [7:0] constant_q;
  reg [3:0] memories_write_address;
  wire [15:0] memories_read_data;

  registers_mem_2 memories_0 (
    .clk_i           (clk_i),
    .write_i         (enable_i),
    .write_address_i (memories_write_address[1:0]),
    .write_data_i    (x_i),
    .read_address_i  (at_i),
    .read_data_o     (memories_read_data[7:0])
  );

  registers_mem_1 memories_1 (
    .clk_i           (clk_i),
    .write_i         (enable_i),
    .write_address_i (memories_write_address[3:2]),
    .write_data_i    (x_i),
    .read_address_i  (at_i),
    .read_data_o     (memories_read_data[15:8])
  );

  assign full_o = full_q;
  assign data_o = data_q ^ items_q[7:0] ^ items_q[15:8];

  assign element_o = shifted_q;

  // a running sum through a local
  always @(*) begin : comb_last
    integer i;
    last = x_i;
    for (i = 0; i < 3; i = i + 1) begin
      last = last + summed_q[i*8 +: 8];
      summed_d[i*8 +: 8] = last;
    end
  end

  always @(*) begin : comb_memories_write_address
    integer i;
    for (i = 0; i < 2; i = i + 1) begin
      memories_write_address[i*2 +: 2] = at_i + i[1:0];
    end
  end

  assign stored_o = memories_read_data[7:0] - memories_read_data[15:8];

  always @(*) begin
    y_o = last ^ (plain_q + enabled_q + constant_q);
    if (state_q == PHASE_COUNT) begin
      y_o = y_o + 8'd1;
    end
  end

  assign alive_o = rst_ni & enable_i;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      plain_q <= 8'd3;
      summed_q <= 24'd0;
      constant_q <= 8'd85;
    end else begin
      plain_q <= x_i ^ plain_q;
      summed_q <= summed_d;
    end
  end

  // only when enabled
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      enabled_q <= 8'd200;
    end else if (enable_i) begin
      enabled_q <= x_i;
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= PHASE_HOLD;
    end else begin
      case (state_q)
        PHASE_WAIT: begin
          if (enable_i) begin
            state_q <= PHASE_COUNT;
          end
        end
        PHASE_COUNT: begin
          if (x_i > 8'd200) begin
            state_q <= PHASE_HOLD;
          end else if (x_i < 8'd20) begin
            state_q <= PHASE_WAIT;
          end
        end
        default: begin
          if (!enable_i) begin
            state_q <= PHASE_WAIT;
          end
        end
      endcase
    end
  end

  // data and the bit that says so under the same conditions
  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      full_q <= 1'b0;
    end else if (at_i == 2'd3) begin
      if (!enable_i) begin
        full_q <= 1'b0;
      end
    end else if (enable_i) begin
      full_q <= 1'b1;
    end
  end

  // data and the bit that says so under the same conditions
  always @(posedge clk_i) begin
    if (at_i == 2'd3) begin
      if (enable_i) begin
        data_q <= x_i;
      end
    end else if (enable_i) begin
      data_q <= data_q + 8'd1;
    end
  end

  always @(posedge clk_i) begin : update_items_q
    integer i;
    for (i = 0; i < 2; i = i + 1) begin
      items_q[i*8 +: 8] <= items_q[i*8 +: 8];
      if (at_i == i[1:0]) begin
        items_q[i*8 +: 8] <= x_i;
      end
    end
  end

  always @(posedge clk_i or negedge rst_ni) begin : update_shifted_q
    integer i;
    if (!rst_ni) begin
      shifted_q <= {8'd4, 8'd3, 8'd2, 8'd1};
    end else if (x_i[0]) begin
      shifted_q[7:0] <= x_i;
      for (i = 1; i < 4; i = i + 1) begin
        shifted_q[i*8 +: 8] <= shifted_q[(i-1)*8 +: 8];
      end
    end else begin
      shifted_q[{30'd0, at_i}*8 +: 8] <= enabled_q;
    end
  end

endmodule

`default_nettype wire
