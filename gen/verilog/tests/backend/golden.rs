//! Compares emitted files with files in `golden`, so that a diff shows every change of style.
//!
//! To update the files: `SELVEDGE_BLESS=1 cargo test -p selvedge-gen --test backend golden`.

use crate::sequential::Registers;
use selvedge_gen::{Cells, EmitOptions, FileHeader, emit};
use selvedge_hw::rtl::prelude::*;
use std::path::Path;

fn assert_golden(name: &str, block: &dyn Block, cells: Cells) {
    let header = FileHeader {
        source: "a paper, section 1.2".into(),
        tool: "selvedge".into(),
        ..FileHeader::default()
    };
    let text = emit(block, name, &EmitOptions { header, cells, ..EmitOptions::default() }).unwrap().text();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/backend/golden/{name}.v"));
    if std::env::var_os("SELVEDGE_BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == text, "{} is stale; emitted now:\n{text}", path.display());
}

#[test]
fn registers_of_all_kinds() {
    assert_golden("registers", &Registers::default(), Cells::Own);
}

#[test]
fn registers_and_shared_memories() {
    assert_golden("shared", &Registers::default(), Cells::Shared);
}

#[test]
fn pipe_of_three_stages() {
    assert_golden("pipe", &Pipe::<U<16>>::new(3), Cells::Shared);
}

#[test]
fn bit_array() {
    assert_golden("bit_array", &BitArray::<6>::default(), Cells::Shared);
}
