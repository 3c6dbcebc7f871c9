awt_first_set.v
awt_entry_match.v
awt_mem.v
awt.v
