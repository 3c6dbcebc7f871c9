//! Builds the libraries that programs load instead of libcudart, libcublas and libcuda. They are compiled once, and linked under the
//! names and symbol versions of NVIDIA's releases. The functions of libcublas are in libcudart; its own file only leads there.
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
    /// Version script: versions with the patterns of their symbols. Other symbols are hidden.
    versions: &'static str,
    /// File name of a library that depends on this one and has no functions.
    leads_here: Option<&'static str>,
}

const LIBRARIES: [ClientLibrary; 4] = [
    ClientLibrary {
        name: "libcudart.so.11.0",
        release: 11,
        versions: "libcudart.so.11.0 { global: cuda*; __cuda*; local: *; }; libcublas.so.11 { global: cublas*; };",
        leads_here: Some("libcublas.so.11"),
    },
    ClientLibrary {
        name: "libcudart.so.12",
        release: 12,
        versions: "libcudart.so.12 { global: cuda*; __cuda*; local: *; }; libcublas.so.12 { global: cublas*; };",
        leads_here: Some("libcublas.so.12"),
    },
    ClientLibrary {
        name: "libcudart.so.13",
        release: 13,
        versions: "libcudart.so.13 { global: cuda*; __cuda*; local: *; }; libcublas.so.13 { global: cublas*; };",
        leads_here: Some("libcublas.so.13"),
    },
    ClientLibrary {
        name: "libcuda.so.1",
        release: 13,
        versions: "{ global: cu[A-Z]*; local: *; };",
        leads_here: None,
    },
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
            continue;
        }
        for name in [library.name].into_iter().chain(library.leads_here) {
            fs::write(out.join(name), []).expect("OUT_DIR can be written");
        }
    }
}

/// Runs a compiler or linker to its end.
fn run(command: &mut Command) {
    let status = command.status().unwrap_or_else(|error| panic!("{command:?} does not start: {error}"));
    assert!(status.success(), "{command:?} failed");
}

/// Compiles the library as a static library. It depends only on the standard library. A debug build is not optimized, because programs of
/// tests are small: the compiler needs 5 s instead of 28 s.
fn compile(out: &Path) {
    let variable = |name: &str| env::var(name).expect("cargo sets it");
    let level = if variable("PROFILE") == "debug" { "0" } else { "2" };
    run(Command::new(variable("RUSTC"))
        .args(["--edition=2024", "--crate-name=selvedge_cudart", "--crate-type=staticlib"])
        .args(["-Ccodegen-units=1", "-Cdebug-assertions=off", "-Crelocation-model=pic", "--cap-lints=allow"])
        .arg(format!("-Copt-level={level}"))
        .args(["--target", &variable("TARGET")])
        .arg("client/lib.rs")
        .arg("-o")
        .arg(out.join("libselvedge_cudart.a")));
}

/// Links a library, and the one that leads to it.
fn link(out: &Path, library: &ClientLibrary) {
    let ClientLibrary { name, release, versions, leads_here } = library;
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
    let cc = || Command::new(env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into()));
    let script = |name: &str, versions: &str| {
        let file = out.join(format!("{name}.versions"));
        fs::write(&file, versions).expect("OUT_DIR can be written");
        format!("-Wl,-soname,{name},--version-script={}", file.display())
    };
    run(cc()
        .args(["-shared", "-s", "-Wl,--gc-sections", "-Wl,-z,defs"])
        .arg(&object)
        .arg(script(name, versions))
        .args(["-lgcc_s", "-lc", "-lm", "-lpthread", "-ldl", "-o"])
        .arg(out.join(name)));
    if let Some(leading) = leads_here {
        run(cc()
            .args(["-shared", "-s", "-nostdlib", "-Wl,--no-as-needed"])
            .arg(out.join(name))
            .arg(script(leading, &format!("{leading} {{}};")))
            .arg("-o")
            .arg(out.join(leading)));
    }
}
