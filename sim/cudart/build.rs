//! Builds the libraries that programs load instead of libcudart and libcuda. They are compiled once, and linked under the names and
//! symbol versions of NVIDIA's releases.
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A library to link.
struct ClientLibrary {
    /// File name.
    name: &'static str,
    /// CUDA release.
    release: u32,
    /// Patterns of its symbols.
    symbols: &'static str,
    /// `true` if the name is also the version of the symbols.
    versioned: bool,
}

const fn runtime(name: &'static str, release: u32) -> ClientLibrary {
    ClientLibrary { name, release, symbols: "cuda*; __cuda*;", versioned: true }
}

const LIBRARIES: [ClientLibrary; 4] = [
    runtime("libcudart.so.11.0", 11),
    runtime("libcudart.so.12", 12),
    runtime("libcudart.so.13", 13),
    ClientLibrary { name: "libcuda.so.1", release: 13, symbols: "cu[A-Z]*;", versioned: false },
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=client");
    println!("cargo::rerun-if-changed=src/protocol.rs");
    println!("cargo::rerun-if-changed=../ptx/src/tensor_map.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux");
    if is_linux {
        compile(&out);
    }
    for library in &LIBRARIES {
        if is_linux {
            link(&out, library);
        } else {
            fs::write(out.join(library.name), []).expect("OUT_DIR can be written");
        }
    }
}

/// Runs a compiler or linker to its end.
fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    assert!(status.success(), "{command:?} failed");
}

/// Compiles the library as a static library. It depends only on the standard library.
fn compile(out: &Path) {
    let variable = |name: &str| env::var(name).expect("cargo sets it");
    run(Command::new(variable("RUSTC"))
        .args(["--edition=2024", "--crate-name=selvedge_cudart", "--crate-type=staticlib"])
        .args(["-Copt-level=2", "-Ccodegen-units=1", "-Crelocation-model=pic", "--cap-lints=allow"])
        .args(["--target", &variable("TARGET")])
        .arg("client/lib.rs")
        .arg("-o")
        .arg(out.join("libselvedge_cudart.a")));
}

/// Links a library. Other symbols are hidden.
fn link(out: &Path, library: &ClientLibrary) {
    let ClientLibrary { name, release, symbols, versioned } = library;
    let object = out.join(format!("{name}.o"));
    let aliases =
        fs::read_to_string("client/aliases.txt").expect("the list of aliases is beside the library");
    let aliases = aliases.lines().map(|alias| {
        let function = alias.trim_end_matches("_ptsz").trim_end_matches("_ptds");
        format!("--defsym={alias}={function}")
    });
    // GNU ld defines the aliases, since other linkers, such as Zig's, do not know `--defsym`.
    run(Command::new(env::var_os("LD").unwrap_or_else(|| "ld".into()))
        .args(["-r", "--whole-archive"])
        .arg(out.join("libselvedge_cudart.a"))
        .arg(format!("--defsym=selvedge_cudart_release=selvedge_release_{release}"))
        .args(aliases)
        .arg("-o")
        .arg(&object));
    let versions = out.join(format!("{name}.versions"));
    let version = if *versioned { name } else { "" };
    let text = format!("{version} {{ global: {symbols} local: *; }};\n");
    fs::write(&versions, text).expect("OUT_DIR can be written");
    run(Command::new(env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into()))
        .args(["-shared", "-s", "-Wl,--gc-sections", "-Wl,-z,defs"])
        .arg(&object)
        .arg(format!("-Wl,-soname,{name}"))
        .arg(format!("-Wl,--version-script={}", versions.display()))
        .args(["-lgcc_s", "-lc", "-lm", "-lpthread", "-ldl", "-o"])
        .arg(out.join(name)));
}
