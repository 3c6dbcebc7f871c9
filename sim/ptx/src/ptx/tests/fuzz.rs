//! Tests that damaged PTX is either read or rejected with its line, and that it runs without a panic.
use super::super::{Arg, FunctionalError, Kernel, LaunchDims, Module, ParamKind, run_limited};
use crate::memory::DeviceMemory;
use selvedge_testing::{fuzz, one_line};
use std::path::Path;

/// Max warp instructions of a damaged kernel, whose loops may never end.
const MOST_INSTRUCTIONS: u64 = 3000;

/// Returns PTX of every kind: compiled workloads, and the kernels of the end-to-end tests.
fn real_files(most_bytes: usize) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = ["../workloads", "../../tests/data", "../../docs/own-kernels"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).expect("the folder is there"))
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "ptx"))
        .collect();
    paths.sort();
    let files = paths.iter().map(|path| std::fs::read(path).expect("PTX"));
    files.filter(|file| file.len() <= most_bytes).collect()
}

/// Returns a value for each parameter: the buffer for possible addresses, and a small number for the others.
fn arguments(kernel: &Kernel, buffer: u64) -> Vec<Arg> {
    let each = kernel.params.iter().map(|param| match (param.kind, param.bytes) {
        (ParamKind::Integer, 8) => Arg::Ptr(buffer),
        (ParamKind::Integer, 4) => Arg::U32(8),
        (ParamKind::Float, 4) => Arg::F32(1.5),
        (ParamKind::Float, 8) => Arg::F64(1.5),
        (_, bytes) => Arg::Bytes(vec![1; bytes as usize]),
    });
    each.collect()
}

#[test]
fn fuzz_ptx_is_read_or_refused_in_one_line_with_its_place() {
    fuzz("ptx", &real_files(usize::MAX), 300, |text| match Module::parse_bytes("fuzz.ptx", text) {
        Ok(module) => {
            module.kernels().iter().for_each(|kernel| drop(kernel.textures()));
            Ok(())
        }
        Err(error) => one_line(&error.to_string(), "fuzz.ptx", true),
    });
}

#[test]
fn fuzz_kernels_that_are_read_run_to_an_end_or_a_fault() {
    fuzz("kernels", &real_files(20_000), 300, |text| {
        let Ok(module) = Module::parse_bytes("fuzz.ptx", text) else { return Ok(()) };
        let mut memory = DeviceMemory::with_capacity(1 << 20);
        if module.load(&mut memory).is_err() {
            return Ok(());
        }
        let Ok(buffer) = memory.alloc(1 << 14, "buffer") else { return Ok(()) };
        let launch = LaunchDims { dynamic_shared: 256, ..LaunchDims::new([2, 1, 1], [40, 1, 1]) };
        for kernel in module.kernels() {
            if kernel.shared_bytes > 1 << 16 || kernel.local_bytes > 1 << 16 {
                continue;
            }
            let params = kernel.pack(&arguments(kernel, buffer)).expect("they suit the parameters");
            match run_limited(&module, kernel, &launch, &params, &mut memory, MOST_INSTRUCTIONS) {
                Ok(_) | Err(FunctionalError::Launch { .. } | FunctionalError::TooLong { .. }) => {}
                Err(error) => one_line(&error.to_string(), "fuzz.ptx", true)?,
            }
        }
        Ok(())
    });
}
