set_index_bxor.v
