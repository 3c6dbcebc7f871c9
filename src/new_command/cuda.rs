//! Compiles CUDA kernels to PTX with clang and the header that this command brings along.
use crate::error::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The device language for kernels that include no header of the host.
const HEADER: &str = include_str!("cuda_device.h");
/// The toolkit's headers that sources include for what `HEADER` has defined already: they are empty.
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
/// Compilers that are tried, the best known first.
const COMPILERS: [&str; 3] = ["clang++-19", "clang++", "clang"];

/// Compiles `source` to PTX with `compiler`, or the first compiler that is there; returns the PTX.
///
/// # Errors
/// There is no compiler, or it refuses the source: the first mistake, in one line.
pub(super) fn compile(source: &Path, compiler: Option<&Path>) -> Result<Vec<u8>, Failure> {
    let cannot = |why: String| Failure::usage(format!("{}: {why}", source.display()));
    // clang would say the same in more lines.
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

/// Runs the compiler that was named, or the first that is there.
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
