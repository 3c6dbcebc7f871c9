//! Fuzzes `gpgpusim`: see `selvedge_fuzz::targets`.
#![no_main]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| selvedge_fuzz::targets::gpgpusim(bytes));
