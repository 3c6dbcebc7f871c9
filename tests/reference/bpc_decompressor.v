// Reference for the area of bpc_decompressor, written by hand. A chain of four shifts by one of five lengths finds the codes. They
// become planes in the next cycle: each plane takes the value of one of four codes, or stays. The words are sums of 16 bits, made
// twice: inside groups of four words, over the groups, and of both.

`default_nettype none

module bpc_decompressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire          compressed_i,
  input  wire [1023:0] payload_i,
  output wire          ready_o,
  output wire          valid_o,
  output wire          error_o,
  output wire [1023:0] line_o,
  input  wire          ready_i
);

  // A payload is read, then its words are added. A line as it was needs no reading and one cycle.
  reg busy, full, coded, reads, halfway, failed, error;
  wire ready = !busy & (!full | ready_i);
  wire adds = busy & !reads;
  wire ends = adds & (halfway | !coded);
  wire done;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      busy <= 1'b0;
      full <= 1'b0;
    end else begin
      busy <= ready ? valid_i : busy & !ends;
      full <= ends | (full & !ready);
    end
  always @(posedge clk_i) begin
    if (ready)
      coded <= compressed_i;
    reads <= ready ? compressed_i : reads & !done;
    halfway <= adds & coded;
  end

  // The base word, and the bits behind its code.
  reg [31:0] first;
  reg [5:0] first_length;
  reg [255:0] offered;
  always @*
    casez (payload_i[2:0])
      3'b??1: {first_length, first, offered} = {6'd33, payload_i[32:1], payload_i[288:33]};
      3'b110: {first_length, first, offered} = {6'd19, {16{payload_i[18]}}, payload_i[18:3], payload_i[274:19]};
      3'b010: {first_length, first, offered} = {6'd11, {24{payload_i[10]}}, payload_i[10:3], payload_i[266:11]};
      3'b100: {first_length, first, offered} = {6'd7, {28{payload_i[6]}}, payload_i[6:3], payload_i[262:7]};
      default: {first_length, first, offered} = {6'd3, 32'd0, payload_i[258:3]};
    endcase

  // The next four codes. The bits behind them, and behind those, are in the payload from `place` on.
  reg [1023:0] line;
  reg [127:0] codes, window;
  reg [7:0] place;
  wire [254:0] ahead = place[7] ? line[510:256] : line[382:128];
  wire [254:0] behind = ahead >> place[6:0];

  function [5:0] code_length(input [3:0] code);
    casez (code)
      4'b???1: code_length = 6'd32;
      4'b??10: code_length = 6'd7;
      4'b?100: code_length = 6'd3;
      4'b1000: code_length = 6'd10;
      default: code_length = 6'd5;
    endcase
  endfunction

  function [255:0] after(input [255:0] bits);
    casez (bits[3:0])
      4'b???1: after = bits >> 32;
      4'b??10: after = bits >> 7;
      4'b?100: after = bits >> 3;
      4'b1000: after = bits >> 10;
      default: after = bits >> 5;
    endcase
  endfunction

  wire [255:0] w0 = busy ? {behind[127:0], window} : offered;
  wire [255:0] w1 = after(w0);
  wire [255:0] w2 = after(w1);
  wire [255:0] w3 = after(w2);
  wire [255:0] w4 = after(w3);
  wire [6:0] begins = busy ? place[6:0] : {1'b0, first_length};
  always @(posedge clk_i) begin
    codes <= {w3[31:0], w2[31:0], w1[31:0], w0[31:0]};
    window <= w4[127:0];
    place <= {1'b0, begins} + {2'd0, code_length(w0[3:0])} + {2'd0, code_length(w1[3:0])} + {2'd0, code_length(w2[3:0])}
        + {2'd0, code_length(w3[3:0])};
  end

  // The codes of the cycle before as planes. A fifth code counts if it is that of the last plane.
  function [30:0] plane(input [31:0] code, input [30:0] above);
    reg [30:0] mark;
    integer n;
    begin
      for (n = 0; n < 31; n = n + 1)
        mark[n] = code[9:5] == n;
      casez (code[4:0])
        5'b????1: plane = above ^ code[31:1];
        5'b???10, 5'b??100: plane = above;
        5'b11000: plane = above ^ mark;
        5'b01000: plane = above ^ mark ^ mark << 1;
        5'b10000: plane = 31'd0;
        default: plane = ~above;
      endcase
    end
  endfunction

  function [5:0] count(input [31:0] code);
    count = code[1:0] == 2'b10 ? {1'b0, code[6:2]} + 6'd2 : 6'd1;
  endfunction

  reg [5:0] next;
  reg [30:0] above;
  reg [10:0] length;
  wire [30:0] p0 = plane(codes[31:0], above);
  wire [30:0] p1 = plane(codes[63:32], p0);
  wire [30:0] p2 = plane(codes[95:64], p1);
  wire [30:0] p3 = plane(codes[127:96], p2);
  wire [30:0] p4 = plane(window[31:0], p3);
  wire [6:0] s1 = {1'b0, next} + {1'b0, count(codes[31:0])};
  wire [6:0] two = {1'b0, count(codes[31:0])} + {1'b0, count(codes[63:32])};
  wire [7:0] s2 = {2'd0, next} + {1'b0, two};
  wire [7:0] s3 = {2'd0, next} + ({1'b0, two} + {2'd0, count(codes[95:64])});
  wire [6:0] other_two = {1'b0, count(codes[95:64])} + {1'b0, count(codes[127:96])};
  wire [7:0] s4 = {2'd0, next} + ({1'b0, two} + {1'b0, other_two});
  wire fifth = s4 == 8'd32;
  wire whole = s1 == 7'd33 | s2 == 8'd33 | s3 == 8'd33 | s4 == 8'd33 | (fifth & window[1:0] != 2'b10);
  assign done = s4 >= 8'd32;
  wire [7:0] read = {2'd0, code_length(codes[3:0])} + ({8{s1 < 7'd33}} & {2'd0, code_length(codes[35:32])})
      + ({8{s2 < 8'd33}} & {2'd0, code_length(codes[67:64])}) + ({8{s3 < 8'd33}} & {2'd0, code_length(codes[99:96])})
      + ({8{fifth}} & {2'd0, code_length(window[3:0])});
  always @(posedge clk_i) begin
    if (ready) begin
      next <= 6'd0;
      above <= 31'd0;
      length <= {5'd0, first_length};
    end else begin
      next <= s4[5:0];
      above <= p3;
      if (reads)
        length <= length + {3'd0, read};
    end
    if (reads)
      failed <= !whole;
  end

  // The planes of bits 31 to 0; the last code is also copied to all planes behind it.
  reg [991:0] planes;
  reg [30:0] value;
  integer i;
  always @(posedge clk_i) begin
    for (i = 1; i < 33; i = i + 1) begin
      value = ({31{next > i}} & planes[31*(i-1) +: 31]) | ({31{next <= i & s1 > i}} & p0) | ({31{s1 <= i & s2 > i}} & p1)
          | ({31{s2 <= i & s3 > i}} & p2) | ({31{s3 <= i & !(i == 32 & fifth)}} & p3) | ({31{i == 32 & fifth}} & p4);
      if (reads)
        planes[31*(i-1) +: 31] <= value;
      else if (i > 16)
        planes[31*(i-1) +: 31] <= planes[31*(i-17) +: 31];
    end
  end

  // Half of the words from the lower planes: the upper ones move down for the second half.
  reg [31:0] base;
  reg [64:0] carries, next_carries;
  reg [511:0] sums, half;
  reg [15:0] pair;
  integer g, w, n;
  // A sum and its carry, from two numbers and the carry of the other half.
  function [16:0] add(input [15:0] left, input [15:0] right, input carry);
    reg unused;
    {add, unused} = {1'b0, left, 1'b1} + {1'b0, right, carry & halfway};
  endfunction
  always @* begin
    half[15:0] = base[15:0];
    for (w = 1; w < 32; w = w + 1)
      for (n = 0; n < 16; n = n + 1)
        half[16*w+n] = planes[31*(31-n)+w-1];
    for (g = 0; g < 8; g = g + 1) begin
      {next_carries[4*g], half[64*g+16 +: 16]} = add(half[64*g +: 16], half[64*g+16 +: 16], carries[4*g]);
      {next_carries[4*g+1], pair} = add(half[64*g+32 +: 16], half[64*g+48 +: 16], carries[4*g+1]);
      {next_carries[4*g+2], half[64*g+32 +: 16]} = add(half[64*g+16 +: 16], half[64*g+32 +: 16], carries[4*g+2]);
      {next_carries[4*g+3], half[64*g+48 +: 16]} = add(half[64*g+16 +: 16], pair, carries[4*g+3]);
    end
    // The last word of each group: over two, four and eight groups.
    for (g = 1; g < 8; g = g + 2)
      {next_carries[32+g/2], half[64*g+48 +: 16]} = add(half[64*g+48 +: 16], half[64*g-16 +: 16], carries[32+g/2]);
    for (g = 2; g < 8; g = g + 1)
      if (g != 4 & g != 5)
        {next_carries[34+g/4*2+g%4], half[64*g+48 +: 16]}
            = add(half[64*g+48 +: 16], half[256*(g/4)+112 +: 16], carries[34+g/4*2+g%4]);
    for (g = 4; g < 8; g = g + 1)
      {next_carries[36+g], half[64*g+48 +: 16]} = add(half[64*g+48 +: 16], half[255:240], carries[36+g]);
    for (g = 1; g < 8; g = g + 1)
      for (w = 0; w < 3; w = w + 1)
        {next_carries[41+3*g+w], half[64*g+16*w +: 16]} = add(half[64*g+16*w +: 16], half[64*g-16 +: 16], carries[41+3*g+w]);
    sums = half;
  end
  always @(posedge clk_i) begin
    carries <= next_carries;
    if (ready)
      base <= first;
    else if (adds)
      base <= base >> 16;
  end

  // The payload, then the line.
  wire bad = failed | length > 11'd1024;
  wire shifts = reads & place[7];
  wire lower = adds & coded & !halfway & !bad;
  wire upper = adds & coded & halfway & !bad;
  wire cleared = adds & coded & bad;
  wire keeps_lower = !(ready | shifts | lower | cleared);
  wire keeps_upper = !(ready | shifts | upper | cleared);
  integer v;
  always @(posedge clk_i) begin
    for (v = 0; v < 32; v = v + 1) begin
      line[32*v +: 16] <= ({16{ready}} & payload_i[32*v +: 16]) | ({16{lower}} & sums[16*v +: 16])
          | ({16{keeps_lower}} & line[32*v +: 16]) | (v < 28 ? {16{shifts}} & line[(32*v+128)%1024 +: 16] : 16'd0);
      line[32*v+16 +: 16] <= ({16{ready}} & payload_i[32*v+16 +: 16]) | ({16{upper}} & sums[16*v +: 16])
          | ({16{keeps_upper}} & line[32*v+16 +: 16]) | (v < 28 ? {16{shifts}} & line[(32*v+144)%1024 +: 16] : 16'd0);
    end
    if (adds)
      error <= coded & bad;
  end

  assign ready_o = ready;
  assign valid_o = full;
  assign error_o = error;
  assign line_o = line;

endmodule

`default_nettype wire
