//! The runtime library and cuBLAS, under the file names that programs of CUDA 11, 12 and 13 load, and the driver library.
use std::fs;
use std::io;
use std::path::Path;

/// File name and contents of each library.
const LIBRARIES: [(&str, &[u8]); 7] = [
    ("libcudart.so.11.0", include_bytes!(concat!(env!("OUT_DIR"), "/libcudart.so.11.0"))),
    ("libcudart.so.12", include_bytes!(concat!(env!("OUT_DIR"), "/libcudart.so.12"))),
    ("libcudart.so.13", include_bytes!(concat!(env!("OUT_DIR"), "/libcudart.so.13"))),
    ("libcublas.so.11", include_bytes!(concat!(env!("OUT_DIR"), "/libcublas.so.11"))),
    ("libcublas.so.12", include_bytes!(concat!(env!("OUT_DIR"), "/libcublas.so.12"))),
    ("libcublas.so.13", include_bytes!(concat!(env!("OUT_DIR"), "/libcublas.so.13"))),
    ("libcuda.so.1", include_bytes!(concat!(env!("OUT_DIR"), "/libcuda.so.1"))),
];

/// Writes the libraries into a folder, for the library search path of a program.
///
/// # Errors
/// The folder cannot be written.
pub fn write(folder: &Path) -> io::Result<()> {
    LIBRARIES.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
}
