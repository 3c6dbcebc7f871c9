sc_vft_set_update.v
sc_vft_bit_array.v
sc_vft_sync_mem.v
sc_vft.v
