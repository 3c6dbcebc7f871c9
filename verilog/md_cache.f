md_cache_md_entry.v
md_cache_md_lookup.v
selvedge_bit_array.v
selvedge_sync_mem.v
md_cache.v
