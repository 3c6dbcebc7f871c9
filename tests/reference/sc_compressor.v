// SPDX-License-Identifier: MIT OR Apache-2.0
//
// Reference for the area of sc_compressor with eight words per cycle, written by hand from the description of the block.

`default_nettype none

module sc_compressor (
  input  wire          clk_i,
  input  wire          rst_ni,
  input  wire          valid_i,
  input  wire [1023:0] line_i,
  input  wire          ready_i,
  input  wire          load_valid_i,
  input  wire          load_first_i,
  input  wire          load_last_i,
  input  wire          load_escape_i,
  input  wire    [9:0] load_index_i,
  input  wire   [31:0] load_value_i,
  input  wire   [15:0] load_code_i,
  input  wire    [4:0] load_length_i,
  output wire          ready_o,
  output reg           valid_o,
  output reg           compressed_o,
  output reg    [10:0] bits_o,
  output reg  [1023:0] payload_o,
  output wire          load_ready_o
);

  integer i, j, b;
  genvar g, h;

  // ---------------------------------------------------------------- loading: run, drain, clear, load
  reg [1:0] phase;
  reg [4:0] clear_row, escape_length;
  reg [15:0] escape_code;
  reg fresh, loaded;
  reg looking, reading, packing;

  assign ready_o = phase == 0 && !looking && !reading;
  assign load_ready_o = phase == 3 && (fresh || !load_first_i);
  wire load = load_valid_i && load_ready_o;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      phase <= 0;
      clear_row <= 0;
      fresh <= 0;
      loaded <= 0;
      escape_length <= 0;
    end else begin
      case (phase)
        0: if (load_valid_i) phase <= 1;
        1: if (!looking && !reading && !packing && !valid_o) phase <= 2;
        2: begin
          clear_row <= clear_row + 5'd1;
          fresh <= 1;
          loaded <= 0;
          escape_length <= 0;
          if (&clear_row) phase <= 3;
        end
        3: if (load) begin
          fresh <= 0;
          if (load_last_i) begin
            loaded <= 1;
            phase <= 0;
          end
          if (load_escape_i) escape_length <= load_length_i;
        end else if (load_valid_i) phase <= 2;
      endcase
    end

  reg [15:0] mirrored;
  always @* for (i = 0; i < 16; i = i + 1) mirrored[i] = load_code_i[15 - i];
  wire [15:0] new_code = mirrored >> (5'd16 - load_length_i);
  always @(posedge clk_i) if (load && load_escape_i) escape_code <= new_code;

  // ---------------------------------------------------------------- words of a group, and their banks
  reg [1023:0] line;
  reg [1:0] group, read_group;
  reg [7:0] pending;
  always @(posedge clk_i) if (valid_i && ready_o) line <= line_i;
  wire [255:0] words = ready_o ? line_i[255:0] : line[group * 256 +: 256];

  reg [7:0] set [0:7];
  reg [2:0] bank [0:7];
  reg [7:0] first, served;
  always @* begin
    for (i = 0; i < 8; i = i + 1) begin
      set[i] = words[i * 32 +: 8] ^ words[i * 32 + 8 +: 8] ^ words[i * 32 + 16 +: 8] ^ words[i * 32 + 24 +: 8];
      bank[i] = set[i][2:0] ^ set[i][5:3] ^ {1'b0, set[i][7:6]};
    end
    first = pending;
    for (i = 1; i < 8; i = i + 1)
      for (j = 0; j < i; j = j + 1) if (pending[j] && bank[i] == bank[j]) first[i] = 0;
    served = first;
    for (i = 1; i < 8; i = i + 1)
      for (j = 0; j < i; j = j + 1)
        if (first[j] && pending[i] && words[i * 32 +: 32] == words[j * 32 +: 32]) served[i] = 1;
  end

  reg [7:0] read_served;
  reg [2:0] read_bank [0:7];
  reg read_done;
  wire pack = packing && (!valid_o || ready_i);
  reg packing_first, packing_last;
  wire next_packing = (reading && read_done) || (packing && !pack);
  wire next_valid = (valid_o && !ready_i) || (pack && packing_last);
  wire look = (looking || (valid_i && ready_o)) && !(next_packing && next_valid);
  wire [7:0] still = pending & ~served;
  wire done = still == 0;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      looking <= 0;
      reading <= 0;
      packing <= 0;
      group <= 0;
      pending <= 8'hff;
    end else begin
      reading <= look;
      packing <= next_packing;
      if (look) begin
        pending <= done ? 8'hff : still;
        group <= group + done;
        looking <= !(done && &group);
      end
    end

  always @(posedge clk_i) begin
    read_served <= served;
    read_group <= group;
    read_done <= done;
    for (i = 0; i < 8; i = i + 1) read_bank[i] <= bank[i];
  end

  // ---------------------------------------------------------------- eight banks of four ways: length, code, tag
  wire [2:0] load_bank = load_index_i[4:2] ^ load_index_i[7:5] ^ {1'b0, load_index_i[9:8]};
  wire clear = phase == 2;
  wire [44:0] entry = clear ? 45'd0 : {load_length_i, new_code, load_value_i[31:8]};
  wire [4:0] write_row = clear ? clear_row : load_index_i[9:5];
  wire [167:0] bank_code;

  generate
    for (g = 0; g < 8; g = g + 1) begin : banks
      reg [4:0] row;
      reg [23:0] tag, wanted;
      always @* begin
        row = 0;
        tag = 0;
        for (b = 0; b < 8; b = b + 1) begin
          row = row | {5{first[b] && bank[b] == g}} & set[b][7:3];
          tag = tag | {24{first[b] && bank[b] == g}} & words[b * 32 + 8 +: 24];
        end
      end
      always @(posedge clk_i) wanted <= tag;
      wire [83:0] code;
      for (h = 0; h < 4; h = h + 1) begin : ways
        reg [44:0] entries [0:31];
        reg [44:0] out;
        always @(posedge clk_i) begin
          out <= entries[row];
          if (clear || (load && !load_escape_i && load_bank == g && load_index_i[1:0] == h)) entries[write_row] <= entry;
        end
        assign code[h * 21 +: 21] = {21{out[44:40] != 0 && out[23:0] == wanted}} & out[44:24];
      end
      assign bank_code[g * 21 +: 21] = code[20:0] | code[41:21] | code[62:42] | code[83:63];
    end
  endgenerate

  // ---------------------------------------------------------------- fields of the words: a code, or the escape and the word
  wire [255:0] read_words = line[read_group * 256 +: 256];
  reg [47:0] field [0:7];
  reg [5:0] length [0:7];
  reg [20:0] own;
  reg [47:0] behind;
  always @(posedge clk_i)
    for (i = 0; i < 8; i = i + 1) begin
      own = bank_code[read_bank[i] * 21 +: 21];
      behind = {16'd0, read_words[i * 32 +: 32]} << escape_length;
      if (reading && read_served[i]) begin
        field[i] <= own[20:16] != 0 ? own[15:0] : escape_length != 0 ? behind | escape_code : 48'd0;
        length[i] <= own[20:16] != 0 ? own[20:16] : escape_length != 0 ? {1'b1, escape_length} : 6'd0;
      end
    end

  // ---------------------------------------------------------------- join the fields, append them to the payload
  wire [95:0] two [0:3];
  wire [191:0] four [0:1];
  wire [6:0] two_bits [0:3];
  wire [7:0] four_bits [0:1];
  generate
    for (g = 0; g < 4; g = g + 1) begin : pairs
      assign two[g] = field[2 * g] | {48'd0, field[2 * g + 1]} << length[2 * g];
      assign two_bits[g] = length[2 * g] + length[2 * g + 1];
    end
    for (g = 0; g < 2; g = g + 1) begin : fours
      assign four[g] = two[2 * g] | {96'd0, two[2 * g + 1]} << two_bits[2 * g];
      assign four_bits[g] = two_bits[2 * g] + two_bits[2 * g + 1];
    end
  endgenerate
  wire [383:0] joined = four[0] | {192'd0, four[1]} << four_bits[0];
  wire [8:0] joined_bits = four_bits[0] + four_bits[1];

  wire [10:0] bits_before = packing_first ? 11'd0 : bits_o;
  wire [10:0] next_bits = bits_before + joined_bits;
  wire [1023:0] next_payload = (packing_first ? 1024'd0 : payload_o) | {640'd0, joined} << bits_before;
  reg uncoded, word_without_code;
  always @* begin
    word_without_code = 0;
    for (i = 0; i < 8; i = i + 1) word_without_code = word_without_code || length[i] == 0;
  end
  wire next_uncoded = (uncoded && !packing_first) || word_without_code;
  wire fits = loaded && !next_uncoded && next_bits <= 11'd1024;

  always @(posedge clk_i or negedge rst_ni)
    if (!rst_ni) begin
      valid_o <= 0;
      packing_first <= 0;
      packing_last <= 0;
    end else begin
      valid_o <= next_valid;
      if (reading && read_done) begin
        packing_first <= read_group == 0;
        packing_last <= read_group == 3;
      end
    end

  always @(posedge clk_i)
    if (pack) begin
      uncoded <= next_uncoded;
      payload_o <= packing_last && !fits ? line : next_payload;
      bits_o <= packing_last && !fits ? 11'd1024 : next_bits;
      if (packing_last) compressed_o <= fits;
    end

endmodule

`default_nettype wire
