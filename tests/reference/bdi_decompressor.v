// Reference for the area of bdi_decompressor, written by hand: base-delta-immediate for lines of 128 bytes in one cycle.
//
// The deltas of the payload's encoding are laid into lanes of 16 bits; one row of adders serves words of every width.

`default_nettype none

module bdi_decompressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire    [3:0] encoding_i,
  input  wire [1023:0] payload_i,
  output wire          ready_o,
  output reg           valid_o,
  output reg           error_o,
  output reg  [1023:0] line_o,
  input  wire          ready_i
);

  // Deltas, sign-extended to words, and the mask of words that are deltas from zero.
  reg [1023:0] delta;
  reg [63:0] zero;
  integer i;
  always @(*) begin
    delta = 1024'd0;
    zero = 64'd0;
    case (encoding_i)
      4'd0: delta = payload_i;
      4'd3: begin
        zero[15:0] = payload_i[79:64];
        for (i = 0; i < 16; i = i + 1)
          delta[i*64 +: 64] = {{56{payload_i[80+i*8+7]}}, payload_i[80+i*8 +: 8]};
      end
      4'd4: begin
        zero[15:0] = payload_i[79:64];
        for (i = 0; i < 16; i = i + 1)
          delta[i*64 +: 64] = {{48{payload_i[80+i*16+15]}}, payload_i[80+i*16 +: 16]};
      end
      4'd5: begin
        zero[15:0] = payload_i[79:64];
        for (i = 0; i < 16; i = i + 1)
          delta[i*64 +: 64] = {{32{payload_i[80+i*32+31]}}, payload_i[80+i*32 +: 32]};
      end
      4'd7: begin
        zero[31:0] = payload_i[63:32];
        for (i = 0; i < 32; i = i + 1)
          delta[i*32 +: 32] = {{24{payload_i[64+i*8+7]}}, payload_i[64+i*8 +: 8]};
      end
      4'd8: begin
        zero[31:0] = payload_i[63:32];
        for (i = 0; i < 32; i = i + 1)
          delta[i*32 +: 32] = {{16{payload_i[64+i*16+15]}}, payload_i[64+i*16 +: 16]};
      end
      4'd10: begin
        zero = payload_i[79:16];
        for (i = 0; i < 64; i = i + 1)
          delta[i*16 +: 16] = {{8{payload_i[80+i*8+7]}}, payload_i[80+i*8 +: 8]};
      end
      default: ;
    endcase
  end

  // The base as often as it fits into 8 bytes; none for lines as they are, for zeros, and for tags that mean nothing.
  wire words8 = encoding_i >= 4'd2 & encoding_i <= 4'd5;
  wire words4 = encoding_i >= 4'd6 & encoding_i <= 4'd8;
  wire words2 = encoding_i == 4'd9 | encoding_i == 4'd10;
  wire [63:0] repeated =
    words8 ? payload_i[63:0] : words4 ? {2{payload_i[31:0]}} : words2 ? {4{payload_i[15:0]}} : 64'd0;

  // Adders of 16 bits, whose carries are passed on inside a word.
  reg [1023:0] line;
  reg carry;
  reg from_zero;
  integer lane;
  always @(*) begin
    carry = 1'b0;
    for (lane = 0; lane < 64; lane = lane + 1) begin
      if (lane % 4 == 0 | (lane % 2 == 0 & !words8) | (!words8 & !words4))
        carry = 1'b0;
      from_zero = words8 ? zero[lane/4] : words4 ? zero[lane/2] : zero[lane];
      {carry, line[lane*16 +: 16]} =
        {1'b0, delta[lane*16 +: 16]} + {1'b0, repeated[lane%4*16 +: 16] & {16{!from_zero}}} + {16'd0, carry};
    end
  end

  assign ready_o = ready_i | !valid_o;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_o <= 1'b0;
      error_o <= 1'b0;
      line_o <= 1024'd0;
    end else if (ready_o) begin
      valid_o <= valid_i;
      if (valid_i) begin
        error_o <= encoding_i > 4'd10;
        line_o <= line;
      end
    end

endmodule

`default_nettype wire
