sc_vft_set_update.v
selvedge_bit_array.v
selvedge_sync_mem.v
sc_vft.v
