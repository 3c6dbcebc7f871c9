//! Tests that the header agrees with the source, as cbindgen writes it, and that C and C++ compilers accept it.
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The header of the source as it is.
fn generated() -> String {
    let config = cbindgen::Config::from_file(folder().join("cbindgen.toml")).expect("the settings are valid");
    let mut files: Vec<PathBuf> = fs::read_dir(folder().join("src"))
        .expect("the source is there")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let builder = cbindgen::Builder::new().with_config(config);
    let builder = files.iter().fold(builder, |builder, file| builder.with_src(file));
    let mut text = Vec::new();
    builder.generate().expect("cbindgen reads the source").write(&mut text);
    String::from_utf8(text).expect("text")
}

#[test]
fn the_header_is_what_cbindgen_makes_of_the_source() {
    let path = folder().join("include/selvedge.h");
    let text = generated();
    if std::env::var_os("SELVEDGE_WRITE_HEADER").is_some() {
        fs::write(&path, &text).expect("written");
    }
    let header = fs::read_to_string(&path).expect("the header is there");
    assert!(
        header == text,
        "capi/include/selvedge.h is not up to date: its second line says how to write it"
    );
}

#[test]
fn the_header_has_every_function_and_the_version() {
    let header = generated();
    let mut count = 0;
    for file in ["block", "gpu", "lib", "memory", "text"] {
        let source =
            fs::read_to_string(folder().join(format!("src/{file}.rs"))).expect("the source is there");
        for part in source.split("extern \"C\" fn ").skip(1) {
            let name = part.split('(').next().expect("a name");
            assert!(header.contains(&format!("{name}(")), "{name}");
            count += 1;
        }
    }
    assert!(count > 30, "{count} functions");
    let version = format!("#define SELVEDGE_API_VERSION {}\n", selvedge_capi::SELVEDGE_API_VERSION);
    assert!(header.contains(&version), "{version}");
}

#[test]
fn c_and_cpp_take_the_header_without_a_warning() {
    let temporary = tempfile::tempdir().expect("a folder");
    for (compiler, standard, name) in [("gcc", "c99", "a.c"), ("g++", "c++11", "a.cpp")] {
        let source = temporary.path().join(name);
        fs::write(&source, "#include <selvedge.h>\nint main(void) { return SELVEDGE_STATUS_OK; }\n")
            .expect("written");
        let mut command = Command::new(compiler);
        command.args(["-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"]);
        command.arg(format!("-std={standard}")).arg("-I").arg(folder().join("include")).arg(&source);
        let output = command.output().expect("the compiler starts");
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
