selvedge_mem.v
decompression_queue.v
