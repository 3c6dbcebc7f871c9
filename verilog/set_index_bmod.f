set_index_bmod.v
