// A small L1: direct-mapped, write-through, no allocation for writes, lines of 32 bytes, one request at a time.
module l1 #(
    parameter INDEX_BITS = 6
) (
    input  wire         clk_i,
    input  wire         rst_ni,
    // From the core: a word of 4 bytes.
    input  wire         valid_i,
    output wire         ready_o,
    input  wire         write_i,
    input  wire [31:0]  address_i,
    input  wire [31:0]  data_i,
    output reg          valid_o,
    output reg  [31:0]  data_o,
    // To memory: a line to read, or a word to write; what is offered stays until it is taken.
    output wire         mem_valid_o,
    input  wire         mem_ready_i,
    output wire         mem_write_o,
    output wire [31:0]  mem_address_o,
    output wire [31:0]  mem_data_o,
    input  wire         mem_valid_i,
    input  wire [255:0] mem_line_i,
    // What has happened so far.
    output reg  [31:0]  hits_o,
    output reg  [31:0]  misses_o,
    output reg  [31:0]  write_hits_o,
    output reg  [31:0]  write_misses_o
);
    localparam TAG_BITS = 32 - 5 - INDEX_BITS;
    localparam IDLE = 2'd0, SEND = 2'd1, WAIT = 2'd2;

    reg [255:0]            lines [0:(1 << INDEX_BITS) - 1];
    reg [TAG_BITS-1:0]     tags  [0:(1 << INDEX_BITS) - 1];
    reg [(1 << INDEX_BITS) - 1:0] valid;

    reg [1:0]  state;
    reg        write;
    reg [31:0] address;
    reg [31:0] data;

    wire [INDEX_BITS-1:0] index = address_i[5 +: INDEX_BITS];
    wire is_hit = valid[index] && tags[index] == address_i[31 -: TAG_BITS];

    assign ready_o       = state == IDLE;
    assign mem_valid_o   = state == SEND;
    assign mem_write_o   = write;
    assign mem_address_o = write ? address : {address[31:5], 5'd0};
    assign mem_data_o    = data;

    always @(posedge clk_i or negedge rst_ni)
        if (!rst_ni) begin
            state          <= IDLE;
            valid          <= 0;
            valid_o        <= 0;
            hits_o         <= 0;
            misses_o       <= 0;
            write_hits_o   <= 0;
            write_misses_o <= 0;
        end else begin
            valid_o <= 0;
            case (state)
                IDLE: if (valid_i) begin
                    write   <= write_i;
                    address <= address_i;
                    data    <= data_i;
                    if (write_i) begin
                        state <= SEND;
                        if (is_hit) begin
                            lines[index][32 * address_i[4:2] +: 32] <= data_i;
                            write_hits_o <= write_hits_o + 1;
                        end else
                            write_misses_o <= write_misses_o + 1;
                    end else if (is_hit) begin
                        hits_o  <= hits_o + 1;
                        valid_o <= 1;
                        data_o  <= lines[index][32 * address_i[4:2] +: 32];
                    end else begin
                        misses_o <= misses_o + 1;
                        state    <= SEND;
                    end
                end
                SEND: if (mem_ready_i) state <= WAIT;
                default: if (mem_valid_i) begin
                    state   <= IDLE;
                    valid_o <= 1;
                    if (!write) begin
                        valid[address[5 +: INDEX_BITS]] <= 1;
                        tags[address[5 +: INDEX_BITS]]  <= address[31 -: TAG_BITS];
                        lines[address[5 +: INDEX_BITS]] <= mem_line_i;
                        data_o <= mem_line_i[32 * address[4:2] +: 32];
                    end
                end
            endcase
        end
endmodule
