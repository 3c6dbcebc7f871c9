// Reference for the area of bpc_compressor, written by hand. A line is 33 planes of 31 bits. Four planes leave per cycle, and their
// codes join the payload in the next cycle: they rotate to their place in the current block of 128 bits, and a mask separates
// what belongs to the next block. The payload has a select line per block, so that nothing shifts it.

`default_nettype none

module bpc_compressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire [1023:0] line_i,
  output wire          ready_o,
  output wire          valid_o,
  output wire          compressed_o,
  output wire    [7:0] size_o,
  output wire [1023:0] payload_o,
  input  wire          ready_i
);

  // Cycles since the line was taken; 0 without one.
  reg [3:0] cycle;
  reg full;
  wire ready = ~|cycle & (!full | ready_i);
  wire last = cycle == 4'd9;
  wire ends = cycle == 4'd10;
  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      cycle <= 4'd0;
      full <= 1'b0;
    end else begin
      cycle <= ready ? {3'd0, valid_i} : ends ? 4'd0 : cycle + {3'd0, |cycle};
      full <= ends | (full & !ready);
    end

  // The planes of the offered line, the highest first.
  reg [1022:0] offered;
  reg [32:0] delta;
  integer i, j;
  always @*
    for (i = 0; i < 31; i = i + 1) begin
      delta = {1'b0, line_i[32*i+32 +: 32]} - {1'b0, line_i[32*i +: 32]};
      for (j = 0; j < 33; j = j + 1)
        offered[31*(32-j)+i] = delta[j];
    end

  // The length and the code of a base word.
  function [38:0] base_code(input [31:0] base);
    if (~|base)
      base_code = {6'd3, 33'd0};
    else if (&base[31:3] | ~|base[31:3])
      base_code = {6'd7, 26'd0, base[3:0], 3'b100};
    else if (&base[31:7] | ~|base[31:7])
      base_code = {6'd11, 22'd0, base[7:0], 3'b010};
    else if (&base[31:15] | ~|base[31:15])
      base_code = {6'd19, 14'd0, base[15:0], 3'b110};
    else
      base_code = {6'd33, base, 1'b1};
  endfunction
  wire [38:0] base = base_code(line_i[31:0]);

  // The length and the code of a plane whose exclusive-or with the plane above is not zero.
  function [37:0] plane_code(input [30:0] dbp, input [30:0] dbx);
    reg [30:0] pairs, marks;
    reg [4:0] set, clear;
    integer n;
    begin
      // Two neighbors have one mark, at the lower one. The numbers of several marks differ in some bit.
      pairs = dbx & dbx >> 1;
      marks = |pairs ? pairs : dbx;
      set = 5'd0;
      clear = 5'd0;
      for (n = 0; n < 31; n = n + 1)
        if (marks[n]) begin
          set = set | n[4:0];
          clear = clear | ~n[4:0];
        end
      if (&dbx)
        plane_code = {6'd5, 32'd0};
      else if (~|dbp)
        plane_code = {6'd5, 32'b10000};
      else if (~|(set & clear) & dbx == marks)
        plane_code = {6'd10, 22'd0, set, 5'b11000};
      else if (~|(set & clear) & dbx == (pairs | pairs << 1))
        plane_code = {6'd10, 22'd0, set, 5'b01000};
      else
        plane_code = {6'd32, dbx, 1'b1};
    end
  endfunction

  // The length and the code of the last of some zero planes; `more` is their number less two.
  function [37:0] run_code(input single, input [4:0] more);
    run_code = single ? {6'd3, 32'b100} : {6'd7, 25'd0, more, 2'b10};
  endfunction

  // Four planes, and whether each and the next one are zero. In the last cycle there is one plane.
  reg [1022:0] planes;
  reg [30:0] above;
  reg [5:0] run;
  wire [30:0] p0 = planes[30:0];
  wire [30:0] p1 = planes[61:31];
  wire [30:0] p2 = planes[92:62];
  wire [30:0] p3 = planes[123:93];
  wire [4:0] zero = {planes[154:124] == p3 & !last, p3 == p2 & !last, p2 == p1 & !last, p1 == p0 & !last, p0 == above};
  wire [3:0] coded = {{3{!last}}, 1'b1} & ~(zero[3:0] & zero[4:1]);
  wire [4:0] less = run[4:0] - 5'd1;
  wire [4:0] plus1 = run[4:0] + 5'd1;
  wire [4:0] plus2 = run[4:0] + 5'd2;
  wire [37:0] code0 = zero[0] ? run_code(~|run, less) : plane_code(p0, p0 ^ above);
  wire [37:0] code1 = zero[1] ? run_code(!zero[0], run[4:0]) : plane_code(p1, p1 ^ p0);
  wire [37:0] code2 = zero[2] ? run_code(!zero[1], zero[0] ? plus1 : 5'd0) : plane_code(p2, p2 ^ p1);
  wire [37:0] code3 = zero[3] ? run_code(!zero[2], !zero[1] ? 5'd0 : zero[0] ? plus2 : 5'd1) : plane_code(p3, p3 ^ p2);
  wire [5:0] run4 = !zero[2] ? 6'd1 : !zero[1] ? 6'd2 : !zero[0] ? 6'd3 : run + 6'd4;
  always @(posedge clk_i) begin
    planes <= ready ? offered : planes >> 124;
    above <= p3 & {31{!ready}};
    run <= run4 & {6{!ready & zero[3] & zero[4]}};
  end

  // The codes, none in the first cycle.
  reg [31:0] c0, c1, c2, c3;
  reg [5:0] n0, n1, n2, n3;
  always @(posedge clk_i) begin
    {n0, c0} <= code0 & {38{coded[0] & !ready}};
    {n1, c1} <= code1 & {38{coded[1] & !ready}};
    {n2, c2} <= code2 & {38{coded[2] & !ready}};
    {n3, c3} <= code3 & {38{coded[3] & !ready}};
  end

  // All four, behind the bits of the block that are there.
  reg [10:0] length;
  reg [127:0] tail;
  wire [63:0] lower = {32'd0, c0} | {32'd0, c1} << n0;
  wire [63:0] upper = {32'd0, c2} | {32'd0, c3} << n2;
  wire [6:0] lower_length = {1'b0, n0} + {1'b0, n1};
  wire [6:0] upper_length = {1'b0, n2} + {1'b0, n3};
  wire [127:0] four = {64'd0, lower} | {64'd0, upper} << lower_length;
  wire [7:0] more = {1'b0, lower_length} + {1'b0, upper_length};
  wire [10:0] total = length + {3'd0, more};
  reg [127:0] turned;
  integer b;
  always @* begin
    turned = four;
    for (b = 0; b < 7; b = b + 1)
      if (length[b])
        turned = turned << (1 << b) | turned >> (128 - (1 << b));
  end
  wire [127:0] there = ~({128{1'b1}} << length[6:0]);
  wire [127:0] here = tail | (turned & ~there);
  wire [127:0] next = turned & there;
  wire leaves = total[10:7] != length[10:7];
  always @(posedge clk_i) begin
    length <= ready ? {5'd0, base[38:33]} : total;
    tail <= ready ? {95'd0, base[32:0]} : leaves ? next : here;
  end

  // The payload up to this block. At the end the last code may go on in the next block.
  reg [1023:0] line, payload;
  reg compressed;
  reg [7:0] size;
  wire raw = ends & total > 11'd1016;
  wire packs = |cycle & !raw;
  wire [10:0] rounded = total + 11'd7;
  wire [7:0] selected, kept, behind;
  genvar g;
  generate
    for (g = 0; g < 8; g = g + 1) begin : block
      assign selected[g] = packs & length[10:7] == g;
      assign kept[g] = ~|cycle | (packs & length[10:7] > g);
      always @(posedge clk_i)
        payload[128*g +: 128] <= ({128{selected[g]}} & here) | ({128{kept[g]}} & payload[128*g +: 128])
            | ({128{raw}} & line[128*g +: 128]) | {96'd0, {32{behind[g]}} & next[31:0]};
    end
  endgenerate
  assign behind = {selected[6:0], 1'b0} & {8{ends}};
  always @(posedge clk_i) begin
    if (ready)
      line <= line_i;
    if (ends) begin
      compressed <= !raw;
      size <= raw ? 8'd128 : rounded[10:3];
    end
  end

  assign ready_o = ready;
  assign valid_o = full;
  assign compressed_o = compressed;
  assign size_o = size;
  assign payload_o = payload;

endmodule

`default_nettype wire
