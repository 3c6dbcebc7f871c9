// bpc_compressor
//
// Compresses cache lines by bit planes: one line at a time, four planes per cycle.
//
// LATTE-CC, table I. P is the bits of a plane, ALL those of all 33 planes, CHUNK those of four codes. A line
// of which the codes do not save a byte is given as it is.
//
// Parameters: line_bytes = 128
// In this file: P = 31, ALL = 1023, CHUNK = 128
// Source: LATTE-CC, table I
// Written by selvedge 0.1.0 with reset control

`default_nettype none

module bpc_compressor (
  // clock
  input  wire          clk_i,
  // asynchronous reset, active low; drops the line at work
  input  wire          rst_ni,
  // a line is offered
  input  wire          valid_i,
  // the line: byte 0 in bits 7 to 0
  input  wire [1023:0] line_i,
  // the line is taken in this cycle
  output wire          ready_o,
  // a payload is offered
  output wire          valid_o,
  // the payload is codes, not the line itself
  output wire          compressed_o,
  // its size in bytes
  output wire    [7:0] size_o,
  // the payload from bit 0 up; zero beyond the size
  output wire [1023:0] payload_o,
  // the consumer takes the payload in this cycle
  input  wire          ready_i
);

  localparam [6:0] FOUR_PLANES = 7'd124;
  localparam [7:0] LINE_BYTES = 8'd128;
  // the most bits of codes that save a byte
  localparam [10:0] MOST = 11'h3f8;
  wire ready;
  wire [10:0] bytes;
  wire [1022:0] planes_of_line_planes_o;
  wire [32:0] planes_of_line_zero_o;
  wire [32:0] planes_of_line_dbp_zero_o;
  wire [31:0] base_base_i;
  wire [32:0] base_code_o;
  wire [5:0] base_length_o;
  wire [123:0] encode_planes_i;
  wire [4:0] encode_zero_i;
  wire [3:0] encode_dbp_zero_i;
  wire [127:0] encode_codes_o;
  wire [7:0] encode_length_o;
  wire [5:0] encode_run_o;
  // a line is at work
  reg busy_q;
  reg [1023:0] line_q;
  // planes without a code, the next one lowest
  reg [1022:0] planes_q;
  reg [32:0] zero_q;
  reg [32:0] dbp_zero_q;
  reg [5:0] left_q;
  reg [5:0] run_q;
  // the codes so far
  reg [1023:0] codes_q;
  reg [10:0] length_q;
  reg valid_q;
  reg compressed_q;
  reg [7:0] size_q;
  reg [1023:0] payload_q;

  bpc_compressor_bpc_planes planes_of_line (
    .line_i     (line_i),
    .planes_o   (planes_of_line_planes_o),
    .zero_o     (planes_of_line_zero_o),
    .dbp_zero_o (planes_of_line_dbp_zero_o)
  );

  bpc_compressor_bpc_base base (
    .base_i   (base_base_i),
    .code_o   (base_code_o),
    .length_o (base_length_o)
  );

  bpc_compressor_bpc_encode encode (
    .planes_i   (encode_planes_i),
    .zero_i     (encode_zero_i),
    .dbp_zero_i (encode_dbp_zero_i),
    .left_i     (left_q),
    .run_i      (run_q),
    .codes_o    (encode_codes_o),
    .length_o   (encode_length_o),
    .run_o      (encode_run_o)
  );

  assign base_base_i = line_i[31:0];
  assign encode_planes_i = planes_q[123:0];
  assign encode_zero_i = zero_q[4:0];
  assign encode_dbp_zero_i = dbp_zero_q[3:0];
  assign ready = !busy_q & (!valid_q | ready_i);
  assign bytes = (length_q + 11'd7) >> 3;
  assign ready_o = ready;
  assign valid_o = valid_q;
  assign compressed_o = compressed_q;
  assign size_o = size_q;
  assign payload_o = payload_q;

  always @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      busy_q <= 1'b0;
      left_q <= 6'd0;
      valid_q <= 1'b0;
    end else if (ready) begin
      valid_q <= 1'b0;
      if (valid_i) begin
        // take a line: its planes, and the code of its first word
        busy_q <= 1'b1;
        left_q <= 6'd33;
      end
    end else if (busy_q & (|left_q)) begin
      // code four planes; beyond the last one a zero flag is low, so that a run ends there
      if (left_q > 6'd4) begin
        left_q <= left_q - 6'd4;
      end else begin
        left_q <= 6'd0;
      end
    end else if (busy_q) begin
      // the result
      busy_q <= 1'b0;
      valid_q <= 1'b1;
    end
  end

  always @(posedge clk_i) begin
    if (ready) begin
      if (valid_i) begin
        // take a line: its planes, and the code of its first word
        line_q <= line_i;
        planes_q <= planes_of_line_planes_o;
        zero_q <= planes_of_line_zero_o;
        dbp_zero_q <= planes_of_line_dbp_zero_o;
        run_q <= 6'd0;
        codes_q <= {991'd0, base_code_o};
        length_q <= {5'd0, base_length_o};
      end
    end else if (busy_q & (|left_q)) begin
      // code four planes; beyond the last one a zero flag is low, so that a run ends there
      planes_q <= planes_q >> FOUR_PLANES;
      zero_q <= zero_q >> 4;
      dbp_zero_q <= dbp_zero_q >> 4;
      run_q <= encode_run_o;
      codes_q <= codes_q | ({896'd0, encode_codes_o} << length_q);
      length_q <= length_q + {3'd0, encode_length_o};
    end else if (busy_q) begin
      // the result
      if (length_q <= MOST) begin
        compressed_q <= 1'b1;
        size_q <= bytes[7:0];
        payload_q <= codes_q;
      end else begin
        compressed_q <= 1'b0;
        size_q <= LINE_BYTES;
        payload_q <= line_q;
      end
    end
  end

  // bits that nothing here looks at
  wire unused = &{1'b0, bytes[10:8]};

endmodule

`default_nettype wire
