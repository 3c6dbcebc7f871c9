//! Tests that modules which differ only in numbers become one module with parameters.
use selvedge_blocks::find;
use selvedge_gen::{EmitOptions, emit};

/// Returns the names of a block's modules, and the sum of their lines without comments.
fn modules(block: &str) -> (Vec<String>, usize) {
    let entry = find(block).expect("the block is in the registry");
    let elaborated = entry.elaborate(&entry.defaults()).expect("the defaults are valid");
    let design = emit(elaborated.as_ref(), block, &EmitOptions::default()).expect("the block is emitted");
    let is_code = |line: &&str| !line.trim_start().starts_with("//");
    let lines = design.modules.iter().map(|module| module.text.lines().filter(is_code).count()).sum();
    (design.modules.into_iter().map(|module| module.name).collect(), lines)
}

#[test]
fn the_encoders_of_the_bdi_compressor_share_their_modules() {
    let (names, lines) = modules("bdi_compressor");
    let fits: Vec<_> = names.iter().filter(|name| name.contains("bdi_near")).collect();
    assert_eq!(
        fits,
        ["bdi_compressor_bdi_near", "bdi_compressor_bdi_nears"],
        "six encoders share one module"
    );
    assert!(lines < 1200, "{lines} lines in {names:?}");
}

#[test]
fn the_bdi_decompressor_shares_its_modules_too() {
    let (names, _) = modules("bdi_decompressor");
    let own: Vec<_> = names.iter().filter(|name| !name.starts_with("selvedge_")).collect();
    assert!(!own.iter().any(|name| name.ends_with(|c: char| c.is_ascii_digit())), "{own:?}");
}
