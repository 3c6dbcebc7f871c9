awt_first_set.v
awt_entry_match.v
selvedge_mem.v
awt.v
