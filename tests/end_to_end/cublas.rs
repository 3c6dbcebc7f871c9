//! Programs that call cuBLAS run Selvedge's kernels: they compute the right results, and refused calls have a line each.
use crate::command::selvedge_in;
use crate::cuda::{demand, report, text, toolkit};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Compiles `tests/cuda/blas.cu` into `folder`. NVIDIA's library is too large to install for tests, so that the program is linked with
/// one that has its functions' names.
fn compile(toolkit: &Path, folder: &Path) {
    let clang = || {
        let mut command = Command::new("clang++-19");
        command.current_dir(folder);
        command
    };
    let mut command = clang();
    command.args(["-x", "cuda", "--cuda-gpu-arch=sm_60", "-O1", "-w", "-c", "-o", "blas.o"]);
    command.arg(format!("--cuda-path={}", toolkit.display()));
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cuda/blas.cu"));
    demand(&command.output().expect("clang starts"), "blas.cu");
    let undefined =
        Command::new("nm").args(["-u", "blas.o"]).current_dir(folder).output().expect("nm starts");
    let undefined = text(&undefined.stdout);
    let names = undefined.split_whitespace().filter(|name| name.starts_with("cublas"));
    let functions: String = names.map(|name| format!("extern \"C\" void {name}() {{}}\n")).collect();
    fs::write(folder.join("names.cpp"), functions).expect("the folder can be written");
    let shared = ["-shared", "-fPIC", "-Wl,-soname,libcublas.so.11", "names.cpp", "-o", "libcublas.so"];
    demand(&clang().args(shared).output().expect("clang starts"), "the names of cuBLAS");
    let linked = clang()
        .args(["blas.o", "-L.", "-lcublas", "-o", "blas", "-lcudart", "-L"])
        .arg(toolkit.join("lib"))
        .output();
    demand(&linked.expect("clang starts"), "blas");
}

#[test]
fn cublas_computes_the_right_results_and_a_record_gives_the_same_report() {
    let test = "cublas_computes_the_right_results_and_a_record_gives_the_same_report";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    compile(&toolkit, folder);
    let options = ["--config", "gtx480", "--engine", "model", "--json", "a.json"];
    let words = [&["cuda"][..], &options, &["--record", "blas.sprog", "--", "./blas"]].concat();
    let output = selvedge_in(folder, &words);
    demand(&output, "blas");
    // For each type: 13 of vectors, of which a sum takes two, 4 of gemv, and 12 of gemm.
    assert!(text(&output.stdout).contains("cuBLAS: blas: 58 launches are of Selvedge's kernels"));
    let found = report(folder, "a.json");
    demand(
        &selvedge_in(folder, &["run", "blas.sprog", "--engine", "model", "--json", "b.json"]),
        "the record",
    );
    assert!(found == report(folder, "b.json"), "the record's report is another");
}

#[test]
fn refused_calls_of_cublas_have_a_line_each() {
    let test = "refused_calls_of_cublas_have_a_line_each";
    let Some(toolkit) = toolkit(test, "cuda11") else { return };
    let folder = tempfile::tempdir().expect("a folder");
    compile(&toolkit, folder.path());
    let output = selvedge_in(folder.path(), &["cuda", "--config", "gtx480", "--", "./blas", "refused"]);
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(3), "{out}{error}");
    for line in [
        "cublasSgemm_v2: cudaErrorInvalidValue",
        "cublasSgemm_v2: cudaErrorInitializationError",
        "cublasHgemm: cudaErrorNotSupported",
    ] {
        assert!(out.contains(line), "{line}: {out}{error}");
    }
}
