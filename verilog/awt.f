awt_first_behind.v
awt_entry_match.v
selvedge_mem.v
awt.v
