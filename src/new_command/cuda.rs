//! Compiles CUDA kernels to PTX with clang and the embedded header.
use crate::error::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Device language for kernels that include no header of the host.
const HEADER: &str = include_str!("cuda_device.h");
/// Toolkit headers that sources include. `HEADER` already defines their contents, so they are empty files.
const EMPTY: [&str; 15] = [
    "builtin_types.h",
    "channel_descriptor.h",
    "cuda.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_texture_types.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "driver_types.h",
    "math_functions.h",
    "sm_20_atomic_functions.h",
    "texture_fetch_functions.h",
    "texture_types.h",
    "vector_functions.h",
    "vector_types.h",
];
/// Compilers to try, in order of preference.
const COMPILERS: [&str; 3] = ["clang++-19", "clang++", "clang"];

/// Compiles `source` to PTX with `compiler`, or with the first installed compiler. Returns the PTX.
///
/// # Errors
/// Fails if no compiler is installed or it rejects the source. The message is the first error in one line.
pub(super) fn compile(source: &Path, compiler: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let cannot = |why: String| Failure::usage(format!("{}: {why}", source.display()));
    // clang's message for an unreadable file has more lines.
    std::fs::metadata(source).map_err(|why| cannot(format!("cannot read it: {why}")))?;
    let folder = tempfile::tempdir().map_err(|why| cannot(format!("no temporary folder: {why}")))?;
    let (header, ptx) = (folder.path().join("cuda_device.h"), folder.path().join("kernels.ptx"));
    let empty = EMPTY.iter().map(|name| (folder.path().join(name), ""));
    for (path, text) in empty.chain([(header.clone(), HEADER)]) {
        std::fs::write(path, text).map_err(|why| cannot(format!("no temporary file: {why}")))?;
    }
    let output = run(source, compiler, &header, &ptx).map_err(cannot)?;
    if output.status.success() {
        return std::fs::read(&ptx).map_err(|why| cannot(format!("clang left no PTX: {why}")));
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mistake = said.lines().find(|line| line.contains("error:")).or_else(|| said.lines().next());
    Err(Failure::usage(mistake.map_or_else(
        || format!("{}: clang refuses it and does not say why ({})", source.display(), output.status),
        str::to_owned,
    )))
}

/// Runs the given compiler, or the first installed one.
fn run(source: &Path, compiler: Option<&Path>, header: &Path, ptx: &Path) -> Result<Output, String> {
    let named = compiler.map(|path| vec![path.to_path_buf()]);
    let candidates: Vec<PathBuf> = named.unwrap_or_else(|| COMPILERS.iter().map(PathBuf::from).collect());
    for candidate in &candidates {
        let run = Command::new(candidate)
            .args(["-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_60", "-nocudainc", "-nocudalib"])
            .args(["-O3", "-fno-color-diagnostics", "-S", "-idirafter"])
            .arg(header.parent().unwrap_or(Path::new(".")))
            .arg("-include")
            .arg(header)
            .arg(source)
            .arg("-o")
            .arg(ptx)
            .output();
        match run {
            Ok(output) => return Ok(output),
            Err(why) if why.kind() == std::io::ErrorKind::NotFound => {}
            Err(why) => return Err(format!("cannot run {}: {why}", candidate.display())),
        }
    }
    let names = candidates.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    Err(format!(
        "a clang with the NVPTX target compiles it, and there is none of {names} (--clang names one)"
    ))
}
