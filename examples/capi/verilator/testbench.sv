// Reads and writes words through the L1 of l1.v, with Selvedge's L2 and DRAM behind it by DPI-C.
module testbench;
    import "DPI-C" function void memory_open(input string configuration);
    import "DPI-C" function void memory_close();
    // One core cycle: offers a request if there is one, and returns whether it was taken and what has been replied.
    import "DPI-C" function void memory_cycle(input bit valid, input bit write, input int unsigned address, input int unsigned data,
                                              output bit taken, output bit replied, output bit [255:0] line);

    reg          clk = 0, rst_n = 0, valid = 0, write = 0;
    reg  [31:0]  address = 0, data = 0;
    wire         ready, replied, mem_valid, mem_write;
    wire [31:0]  read_data, mem_address, mem_data, hits, misses, write_hits, write_misses;
    bit          mem_taken, mem_replied;
    bit  [255:0] mem_line;

    l1 l1 (
        .clk_i(clk), .rst_ni(rst_n), .valid_i(valid), .ready_o(ready), .write_i(write), .address_i(address), .data_i(data),
        .valid_o(replied), .data_o(read_data), .mem_valid_o(mem_valid), .mem_ready_i(mem_taken), .mem_write_o(mem_write),
        .mem_address_o(mem_address), .mem_data_o(mem_data), .mem_valid_i(mem_replied), .mem_line_i(mem_line),
        .hits_o(hits), .misses_o(misses), .write_hits_o(write_hits), .write_misses_o(write_misses)
    );

    always #1 clk = ~clk;

    // Between two edges, so that the L1 sees at the next one what the memory system says.
    always @(negedge clk)
        if (rst_n) memory_cycle(mem_valid, mem_write, mem_address, mem_data, mem_taken, mem_replied, mem_line);

    task access(input bit is_write, input [31:0] at, input [31:0] value);
        while (!ready) @(negedge clk);
        valid = 1;
        write = is_write;
        address = at;
        data = value;
        @(negedge clk);
        valid = 0;
        while (!replied) @(negedge clk);
    endtask

    task check(input [31:0] at, input [31:0] value);
        access(0, at, 0);
        if (read_data !== value) $fatal(1, "address %0h: read %0h, not %0h", at, read_data, value);
    endtask

    initial begin
        memory_open("gtx480");
        repeat (2) @(negedge clk);
        rst_n = 1;
        // 1 KiB is written, and read twice: each of the 32 lines misses once.
        for (int word = 0; word < 256; word++) access(1, 4 * word, 1000 + word);
        for (int pass = 0; pass < 2; pass++)
            for (int word = 0; word < 256; word++) check(4 * word, 1000 + word);
        // Writes of what is there go into the line and through it.
        for (int word = 0; word < 64; word++) access(1, 4 * word, 5000 + word);
        for (int word = 0; word < 64; word++) check(4 * word, 5000 + word);
        // Two lines of one index evict each other; the first is still there.
        for (int turn = 0; turn < 10; turn++) begin
            check(0, 5000);
            check(2048, 0);
        end
        $display("reads: %0d hits, %0d misses", hits, misses);
        $display("writes: %0d hits, %0d misses", write_hits, write_misses);
        rst_n = 0;
        memory_close();
        $finish;
    end
endmodule
