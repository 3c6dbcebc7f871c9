// Reference for the area of bdi_compressor, written by hand: base-delta-immediate for lines of 128 bytes in one cycle.
//
// One process tries each width of word and delta; one row of subtractors makes the deltas of the encoding that is chosen.

`default_nettype none

module bdi_compressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire [1023:0] line_i,
  output wire          ready_o,
  output reg           valid_o,
  output reg     [3:0] encoding_o,
  output reg     [7:0] size_o,
  output reg  [1023:0] payload_o,
  input  wire          ready_i
);

  // What each encoding with deltas makes of the line: 8-byte words with deltas of 1, 2 and 4 bytes, and so on.
  wire fits81, fits82, fits84, fits41, fits42, fits21;
  wire [63:0] base81, base82, base84;
  wire [31:0] base41, base42;
  wire [15:0] base21;
  wire [15:0] zero81, zero82, zero84;
  wire [31:0] zero41, zero42;
  wire [63:0] zero21;
  fit #(.WORD (64), .DELTA (8))  f81 (.line (line_i), .fits (fits81), .base (base81), .zero (zero81));
  fit #(.WORD (64), .DELTA (16)) f82 (.line (line_i), .fits (fits82), .base (base82), .zero (zero82));
  fit #(.WORD (64), .DELTA (32)) f84 (.line (line_i), .fits (fits84), .base (base84), .zero (zero84));
  fit #(.WORD (32), .DELTA (8))  f41 (.line (line_i), .fits (fits41), .base (base41), .zero (zero41));
  fit #(.WORD (32), .DELTA (16)) f42 (.line (line_i), .fits (fits42), .base (base42), .zero (zero42));
  fit #(.WORD (16), .DELTA (8))  f21 (.line (line_i), .fits (fits21), .base (base21), .zero (zero21));

  // Equal words.
  wire [63:0] first = line_i[63:0];
  wire all8 = line_i[1023:64] == line_i[959:0];
  wire all4 = all8 & (first[63:32] == first[31:0]);
  wire all2 = all4 & (first[31:16] == first[15:0]);

  // The smallest payload: 0, 2, 4, 8, 26, 40, 42, 72, 74, 74 bytes; of the last two the wider base.
  reg [3:0] encoding;
  reg [7:0] size;
  reg [63:0] base, zero;
  always @(*) begin
    encoding = 4'd0;
    size = 8'd128;
    base = 64'd0;
    zero = 64'd0;
    if (all2 & ~|first[15:0]) begin
      encoding = 4'd1; size = 8'd0;
    end else if (all2) begin
      encoding = 4'd9; size = 8'd2; base = {48'd0, first[15:0]};
    end else if (all4) begin
      encoding = 4'd6; size = 8'd4; base = {32'd0, first[31:0]};
    end else if (all8) begin
      encoding = 4'd2; size = 8'd8; base = first;
    end else if (fits81) begin
      encoding = 4'd3; size = 8'd26; base = base81; zero = {48'd0, zero81};
    end else if (fits41) begin
      encoding = 4'd7; size = 8'd40; base = {32'd0, base41}; zero = {32'd0, zero41};
    end else if (fits82) begin
      encoding = 4'd4; size = 8'd42; base = base82; zero = {48'd0, zero82};
    end else if (fits42) begin
      encoding = 4'd8; size = 8'd72; base = {32'd0, base42}; zero = {32'd0, zero42};
    end else if (fits84) begin
      encoding = 4'd5; size = 8'd74; base = base84; zero = {48'd0, zero84};
    end else if (fits21) begin
      encoding = 4'd10; size = 8'd74; base = {48'd0, base21}; zero = zero21;
    end
  end

  // Deltas: subtractors of 16 bits, whose borrows are passed on inside a word.
  wire words8 = encoding == 4'd3 | encoding == 4'd4 | encoding == 4'd5;
  wire words4 = encoding == 4'd7 | encoding == 4'd8;
  wire [63:0] repeated = words8 ? base : words4 ? {base[31:0], base[31:0]} : {4{base[15:0]}};
  reg [1023:0] delta;
  reg borrow;
  reg from_zero;
  integer lane;
  always @(*) begin
    borrow = 1'b0;
    for (lane = 0; lane < 64; lane = lane + 1) begin
      if (lane % 4 == 0 | (lane % 2 == 0 & !words8) | (!words8 & !words4))
        borrow = 1'b0;
      from_zero = words8 ? zero[lane/4] : words4 ? zero[lane/2] : zero[lane];
      {borrow, delta[lane*16 +: 16]} =
        {1'b0, line_i[lane*16 +: 16]} - {1'b0, repeated[lane%4*16 +: 16] & {16{!from_zero}}} - {16'd0, borrow};
    end
  end

  // The payload: base, mask in whole bytes, deltas.
  reg [1023:0] payload;
  integer i;
  always @(*) begin
    payload = 1024'd0;
    case (encoding)
      4'd0: payload = line_i;
      4'd2, 4'd6, 4'd9: payload[63:0] = base;
      4'd3: begin
        payload[79:0] = {zero[15:0], base};
        for (i = 0; i < 16; i = i + 1) payload[80+i*8 +: 8] = delta[i*64 +: 8];
      end
      4'd4: begin
        payload[79:0] = {zero[15:0], base};
        for (i = 0; i < 16; i = i + 1) payload[80+i*16 +: 16] = delta[i*64 +: 16];
      end
      4'd5: begin
        payload[79:0] = {zero[15:0], base};
        for (i = 0; i < 16; i = i + 1) payload[80+i*32 +: 32] = delta[i*64 +: 32];
      end
      4'd7: begin
        payload[63:0] = {zero[31:0], base[31:0]};
        for (i = 0; i < 32; i = i + 1) payload[64+i*8 +: 8] = delta[i*32 +: 8];
      end
      4'd8: begin
        payload[63:0] = {zero[31:0], base[31:0]};
        for (i = 0; i < 32; i = i + 1) payload[64+i*16 +: 16] = delta[i*32 +: 16];
      end
      4'd10: begin
        payload[79:0] = {zero, base[15:0]};
        for (i = 0; i < 64; i = i + 1) payload[80+i*8 +: 8] = delta[i*16 +: 8];
      end
      default: payload = 1024'd0;
    endcase
  end

  assign ready_o = ready_i | !valid_o;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_o <= 1'b0;
      encoding_o <= 4'd0;
      size_o <= 8'd0;
      payload_o <= 1024'd0;
    end else if (ready_o) begin
      valid_o <= valid_i;
      if (valid_i) begin
        encoding_o <= encoding;
        size_o <= size;
        payload_o <= payload;
      end
    end

endmodule

// Are all words deltas from zero, or from the first word that is none?
module fit #(
  parameter integer WORD = 64,
  parameter integer DELTA = 8
) (
  input  wire        [1023:0] line,
  output wire                 fits,
  output reg       [WORD-1:0] base,
  output wire [1024/WORD-1:0] zero
);

  localparam COUNT = 1024 / WORD;
  localparam UPPER = WORD - DELTA;

  // The first word that is no delta from zero, by a mask of one bit.
  wire [COUNT-1:0] first = ~zero & (zero + 1'b1);
  integer i;
  always @(*) begin
    base = {WORD{1'b0}};
    for (i = 0; i < COUNT; i = i + 1)
      base = base | (line[i*WORD +: WORD] & {WORD{first[i]}});
  end

  // A word is near when it lies in the range of 2^DELTA words whose middle is the base.
  wire [WORD-1:0] low = base - ({{WORD-1{1'b0}}, 1'b1} << (DELTA - 1));
  wire [UPPER-1:0] here = low[WORD-1:DELTA];
  wire [UPPER-1:0] next = here + 1'b1;
  wire [COUNT-1:0] near;
  genvar g;
  generate
    for (g = 0; g < COUNT; g = g + 1) begin : word
      wire [WORD-1:0] value = line[g*WORD +: WORD];
      wire below = value[DELTA-1:0] < low[DELTA-1:0];
      assign zero[g] = (&value[WORD-1:DELTA-1]) | ~(|value[WORD-1:DELTA-1]);
      assign near[g] = value[WORD-1:DELTA] == (below ? next : here);
    end
  endgenerate
  assign fits = &(zero | near);

endmodule

`default_nettype wire
