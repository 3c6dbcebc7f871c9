// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of sc_decompressor with four codes per cycle, written by hand from the description of the block. A
// position, not a mark, moves from code to code.

`default_nettype none

module sc_decompressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire          compressed_i,
  input  wire   [10:0] bits_i,
  input  wire [1023:0] payload_i,
  input  wire          ready_i,
  input  wire          load_valid_i,
  input  wire          load_first_i,
  input  wire          load_last_i,
  input  wire          load_escape_i,
  input  wire   [31:0] load_value_i,
  input  wire   [15:0] load_code_i,
  input  wire    [4:0] load_length_i,
  output wire          ready_o,
  output reg           valid_o,
  output reg           error_o,
  output reg  [1023:0] line_o,
  output wire          load_ready_o
);

  integer i, j, l, p, b;

  // ---------------------------------------------------------------- codes
  reg [1:0] phase;  // 0 run, 1 drain, 2 load
  reg [16:0] limit [1:16];  // left-aligned end of the codes of each length
  reg [10:0] base [1:16];
  reg [10:0] rank;
  reg has_escape;
  reg [15:0] escape_code, escape_mask;
  reg [4:0] escape_length;
  reg [9:0] escape_place;

  wire load = load_valid_i && load_ready_o;
  wire [10:0] this_rank = load_first_i ? 11'd0 : rank;
  wire [4:0] align = 5'd16 - load_length_i;
  wire [16:0] this_limit = ({1'b0, load_code_i} + 17'd1) << align;
  wire [9:0] this_place = this_rank[10] ? escape_place : this_rank[9:0];

  reg [15:0] first_bit_lowest;
  always @* for (i = 0; i < 16; i = i + 1) first_bit_lowest[i] = load_code_i[15 - i];

  reg busy;
  wire found, placed, reading;
  assign ready_o = phase == 0 && !busy;
  assign load_ready_o = phase == 2;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) phase <= 0;
    else if (phase == 0) phase <= load_valid_i;
    else if (phase == 1) phase <= busy || found || placed || reading || valid_o ? 2'd1 : 2'd2;
    else if (load && load_last_i) phase <= 0;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      for (l = 1; l <= 16; l = l + 1) limit[l] <= 0;
      rank <= 0;
      has_escape <= 0;
      escape_place <= 0;
      escape_length <= 0;
    end else if (load) begin
      rank <= this_rank + 11'd1;
      for (l = 1; l <= 16; l = l + 1)
        if (load_length_i <= l) limit[l] <= this_limit & ~(17'h0ffff >> l);
        else if (load_first_i) limit[l] <= 0;
      if (load_first_i) begin
        has_escape <= 0;
        escape_place <= 0;
      end
      if (load_escape_i) begin
        has_escape <= 1;
        escape_place <= this_rank[9:0];
        escape_length <= load_length_i;
      end
    end

  always @(posedge clk_i)
    if (load) begin
      for (l = 1; l <= 16; l = l + 1)
        if (load_length_i == l) base[l] <= this_rank - load_code_i[10:0];
      if (load_escape_i) begin
        escape_code <= first_bit_lowest >> align;
        escape_mask <= 16'hffff >> align;
      end
    end

  // ---------------------------------------------------------------- length of the code at each bit of a block
  reg [1023:0] payload;  // behind the two blocks
  wire [47:0] next_bits = ready_o ? payload_i[47:0] : payload[47:0];
  reg [3:0] next_length [0:31];  // less one
  reg [31:0] next_value, next_escape;
  reg [15:0] head, below;
  always @* begin
    head = 0;
    below = 0;
    for (p = 0; p < 32; p = p + 1) begin
      for (b = 0; b < 16; b = b + 1) head[15 - b] = next_bits[p + b];
      for (l = 1; l <= 16; l = l + 1) below[l - 1] = {1'b0, head} < limit[l];
      next_length[p] = 0;
      for (l = 16; l >= 1; l = l - 1) if (below[l - 1]) next_length[p] = l - 1;
      next_escape[p] = has_escape && ((next_bits[p +: 16] ^ escape_code) & escape_mask) == 0;
      next_value[p] = below[15] && !next_escape[p];
    end
  end

  // ---------------------------------------------------------------- from code to code in two blocks
  reg [63:0] bits, value, escape;
  reg [3:0] length [0:63];
  reg [6:0] start;
  reg [5:0] used, left;
  reg [10:0] size;
  reg plain;

  reg [6:0] at, ends [0:3];
  reg [3:0] taken;
  reg stopped, escaped, invalid, code, wanted;
  always @* begin
    at = start;
    stopped = 0;
    escaped = 0;
    invalid = 0;
    code = 0;
    wanted = 0;
    for (i = 0; i < 4; i = i + 1) begin
      wanted = !stopped && left > i && !at[6];
      code = wanted && (value[at[5:0]] || escape[at[5:0]]);
      if (wanted && !code) invalid = 1;
      taken[i] = code;
      if (code) begin
        escaped = escape[at[5:0]];
        at = at + (escaped ? escape_length : {1'b0, length[at[5:0]]} + 5'd1);
      end
      ends[i] = at;
      stopped = !code || escaped;
    end
  end
  wire advance = escaped || at[6] || at[5];
  wire [2:0] count = taken[3] ? 3'd4 : taken[2] ? 3'd3 : taken[1] ? 3'd2 : {2'd0, taken[0]};
  wire [5:0] next_left = left - count;
  wire last = next_left == 0 || invalid;

  // A group of codes that was found, then its addresses, then its values.
  reg found_q, placed_q, reading_q;
  assign {found, placed, reading} = {found_q, placed_q, reading_q};
  reg [3:0] pending;
  wire [3:0] served;
  reg read_last;
  wire free = !valid_o || ready_i;
  wire issue = placed && free && !(reading && read_last);
  wire [3:0] still = pending & ~served;
  wire placed_done = issue && still == 0;
  wire found_goes = found && (!placed || placed_done);
  wire step = busy && !plain && (!found || found_goes);
  wire take = valid_i && ready_o;
  wire shift = take || (step && advance);
  wire whole = busy && plain && free && !found && !placed && !reading;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) busy <= 0;
    else if (take) busy <= 1;
    else if (whole || (step && last)) busy <= 0;

  always @(posedge clk_i) begin
    if (take) begin
      plain <= !compressed_i;
      size <= bits_i > 11'd1024 ? 11'd1024 : bits_i;
      start <= 7'd32;
      left <= 6'd32;
    end else if (step) begin
      start <= advance && !escaped ? at - 7'd32 : at;
      left <= next_left;
    end
    if (take) used <= 0;
    else if (shift) used <= used + 6'd1;
    if (take) payload <= payload_i >> 32;
    else if (shift) payload <= payload >> 32;
    if (shift) begin
      bits <= {next_bits[31:0], bits[63:32]};
      value <= {next_value, value[63:32]};
      escape <= {next_escape, escape[63:32]};
      for (p = 0; p < 32; p = p + 1) begin
        length[p] <= length[p + 32];
        length[p + 32] <= next_length[p];
      end
    end
  end

  // ---------------------------------------------------------------- codes that were found
  reg [111:0] found_bits;
  reg [6:0] found_begin, found_end [0:3];
  reg [3:0] found_taken;
  reg found_escaped, found_last, found_invalid;
  reg [5:0] found_used;
  reg [4:0] found_at;
  reg [10:0] found_size;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) found_q <= 0;
    else if (step && (taken[0] || invalid)) found_q <= 1;
    else if (found_goes) found_q <= 0;

  always @(posedge clk_i)
    if (step) begin
      found_bits <= {payload[47:0], bits};
      found_begin <= start;
      for (i = 0; i < 4; i = i + 1) found_end[i] <= ends[i];
      found_taken <= taken;
      found_escaped <= escaped;
      found_last <= last;
      found_invalid <= invalid;
      found_used <= used;
      found_at <= -left[4:0];
      found_size <= size;
    end

  reg [9:0] next_place [0:3];
  reg [6:0] from, last_end;
  reg [4:0] bits_of_code;
  reg [10:0] tail, code_rank;
  reg [122:0] before_end;
  always @* begin
    from = found_begin;
    last_end = found_begin;
    {tail, code_rank, bits_of_code, before_end} = 0;
    for (i = 0; i < 4; i = i + 1) begin
      bits_of_code = found_end[i][4:0] - from[4:0];
      before_end = {found_bits, 11'd0} >> found_end[i];
      for (b = 0; b < 11; b = b + 1) tail[b] = before_end[10 - b] && b < bits_of_code;
      code_rank = tail;
      for (l = 1; l <= 16; l = l + 1) if (bits_of_code == l) code_rank = tail + base[l];
      next_place[i] = code_rank[10] ? escape_place : code_rank[9:0];
      if (found_taken[i]) last_end = found_end[i];
      from = found_end[i];
    end
  end
  wire [111:0] behind_codes = found_bits >> last_end;
  wire [10:0] consumed = {found_used, 5'd0} + last_end + {found_escaped, 5'd0};

  // ---------------------------------------------------------------- addresses of the words
  reg [9:0] place [0:3];
  reg [3:0] raw;
  reg [31:0] placed_word;
  reg [4:0] placed_at;
  reg placed_last, placed_error;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) placed_q <= 0;
    else if (found_goes) placed_q <= 1;
    else if (placed_done) placed_q <= 0;

  always @(posedge clk_i) begin
    if (found_goes) begin
      for (i = 0; i < 4; i = i + 1) place[i] <= next_place[i];
      pending <= found_taken;
      raw <= found_escaped ? found_taken & ~(found_taken >> 1) : 4'd0;
      placed_word <= behind_codes[31:0];
      placed_at <= found_at;
      placed_last <= found_last;
      placed_error <= found_invalid || consumed > found_size + 11'd32;
    end else if (issue)
      pending <= still;
  end

  // The first word that wants a bank has it. Words of the same row share a read.
  wire [3:0] wants = pending & ~raw;
  wire [3:0] clash;
  wire [9:0] p0 = place[0], p1 = place[1], p2 = place[2], p3 = place[3];
  wire s01 = wants[0] && p0[2:0] == p1[2:0], s02 = wants[0] && p0[2:0] == p2[2:0], s03 = wants[0] && p0[2:0] == p3[2:0];
  wire s12 = wants[1] && p1[2:0] == p2[2:0], s13 = wants[1] && p1[2:0] == p3[2:0];
  wire s23 = wants[2] && p2[2:0] == p3[2:0];
  assign clash[0] = 0;
  assign clash[1] = s01 && p0[9:3] != p1[9:3];
  assign clash[2] = s02 ? p0[9:3] != p2[9:3] : s12 && p1[9:3] != p2[9:3];
  assign clash[3] = s03 ? p0[9:3] != p3[9:3] : s13 ? p1[9:3] != p3[9:3] : s23 && p2[9:3] != p3[9:3];
  assign served = pending & (raw | ~clash);

  // ---------------------------------------------------------------- eight banks of values
  wire [31:0] bank_word [0:7];
  genvar g;
  generate
    for (g = 0; g < 8; g = g + 1) begin : bank
      reg [31:0] values [0:127];
      reg [31:0] word;
      wire [6:0] row = wants[0] && p0[2:0] == g ? p0[9:3] : wants[1] && p1[2:0] == g ? p1[9:3] :
                       wants[2] && p2[2:0] == g ? p2[9:3] : p3[9:3];
      always @(posedge clk_i) begin
        word <= values[row];
        if (load && !load_escape_i && this_place[2:0] == g) values[this_place[9:3]] <= load_value_i;
      end
      assign bank_word[g] = word;
    end
  endgenerate

  // ---------------------------------------------------------------- words that the banks give
  reg [3:0] read_served, read_raw;
  reg [2:0] read_bank [0:3];
  reg [31:0] read_word;
  reg [4:0] read_at;
  reg read_error;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) reading_q <= 0;
    else reading_q <= issue;

  always @(posedge clk_i) begin
    read_served <= served;
    read_raw <= raw;
    for (i = 0; i < 4; i = i + 1) read_bank[i] <= place[i][2:0];
    read_word <= placed_word;
    read_at <= placed_at;
    read_last <= placed_last && still == 0;
    read_error <= placed_error;
  end

  reg [31:0] new_word [0:3], column [0:3];
  reg [3:0] in_column;
  reg [2:0] row_of [0:3];
  always @* begin
    for (i = 0; i < 4; i = i + 1) new_word[i] = read_raw[i] ? read_word : bank_word[read_bank[i]];
    // word i goes to the column (read_at + i) mod 4, and to the next row behind the last column
    for (i = 0; i < 4; i = i + 1) begin
      j = (i - read_at[1:0]) & 3;
      column[i] = new_word[j];
      in_column[i] = read_served[j];
      row_of[i] = read_at[4:2] + (i < read_at[1:0]);
    end
  end

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) valid_o <= 0;
    else if (whole || (reading && read_last)) valid_o <= 1;
    else if (ready_i) valid_o <= 0;

  always @(posedge clk_i)
    if (reading) begin
      for (i = 0; i < 32; i = i + 1)
        if (in_column[i & 3] && row_of[i & 3] == i / 4) line_o[i * 32 +: 32] <= column[i & 3];
      if (read_last) begin
        error_o <= read_error;
        if (read_error) line_o <= 0;
      end
    end else if (whole) begin
      error_o <= 0;
      line_o <= {payload[991:0], bits[63:32]};
    end

endmodule

`default_nettype wire
