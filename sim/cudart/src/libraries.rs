//! The runtime library, under the names that programs of CUDA 11, 12 and 13 ask for.
use std::fs;
use std::io;
use std::path::Path;

/// Name and contents of each library.
const LIBRARIES: [(&str, &[u8]); 3] = [
    ("libcudart.so.11.0", include_bytes!(concat!(env!("OUT_DIR"), "/libcudart.so.11.0"))),
    ("libcudart.so.12", include_bytes!(concat!(env!("OUT_DIR"), "/libcudart.so.12"))),
    ("libcudart.so.13", include_bytes!(concat!(env!("OUT_DIR"), "/libcudart.so.13"))),
];

/// Writes the libraries into a folder, where a program finds them when the folder is in its search path.
///
/// # Errors
/// The folder cannot be written.
pub fn write(folder: &Path) -> io::Result<()> {
    LIBRARIES.iter().try_for_each(|(name, bytes)| fs::write(folder.join(name), bytes))
}
