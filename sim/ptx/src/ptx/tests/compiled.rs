//! Tests the results of clang's output for 16-bit floating point, matrix products and asynchronous copies.

use super::super::small_float::SmallFloat;
use super::super::{Arg, LaunchDims, Module, Rounding, run_functional};
use super::note_all;
use crate::memory::DeviceMemory;

const TEXT: &str = include_str!("small_floats.ptx");

/// Runs a kernel with one warp on buffers of words, and returns their final contents.
fn run(kernel: &str, buffers: &[Vec<u32>]) -> Vec<Vec<u32>> {
    note_all(TEXT);
    let module = Module::parse("small_floats.ptx", TEXT).expect("clang's PTX is accepted");
    let mut memory = DeviceMemory::new();
    let addresses: Vec<u64> = buffers
        .iter()
        .map(|words| {
            let address = memory.alloc(4 * words.len() as u64, "buffer").unwrap();
            memory.write_u32s(address, words).unwrap();
            address
        })
        .collect();
    let kernel = module.kernel(kernel).unwrap();
    let arguments: Vec<Arg> = addresses.iter().map(|address| Arg::Ptr(*address)).collect();
    let params = kernel.pack(&arguments).unwrap();
    run_functional(&module, &kernel, &LaunchDims::new([1; 3], [32, 1, 1]), &params, &mut memory).unwrap();
    addresses.iter().zip(buffers).map(|(a, words)| memory.read_u32s(*a, words.len()).unwrap()).collect()
}

/// Numbers whose sums and products need no rounding.
fn small(seed: usize, count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 5 + seed) % 9) as f64 - 4.0).collect()
}

fn pack(values: &[f64], format: SmallFloat) -> Vec<u32> {
    let bits: Vec<u32> = values.iter().map(|value| format.encode(*value, Rounding::Nearest)).collect();
    bits.chunks(2).map(|pair| pair[0] | pair[1] << 16).collect()
}

#[test]
fn pairs_of_halves() {
    let [a, b, c] = [0, 3, 7].map(|seed| small(seed, 64));
    let words = |values: &[f64]| pack(values, SmallFloat::Half);
    let out = run("halves", &[words(&a), words(&b), words(&c), vec![0; 32]]);
    let wanted: Vec<f64> =
        (0..64).map(|i| if a[i] < b[i] { (a[i] * b[i] + c[i]).max(a[i]) } else { -(a[i] - c[i]) }).collect();
    let got: Vec<f64> = out[3]
        .iter()
        .flat_map(|word| [word & 0xffff, word >> 16])
        .map(|bits| SmallFloat::Half.decode(bits))
        .collect();
    assert_eq!(got, wanted);
}

#[test]
fn brain_floats() {
    let (a, b) = (small(1, 32), small(4, 32));
    let singles = b.iter().map(|value| (*value as f32).to_bits()).collect();
    let out = run("brains", &[pack(&a, SmallFloat::Brain), singles, vec![0; 16], vec![0; 32], vec![0; 32]]);
    let wanted: Vec<f64> = (0..32).map(|i| a[i] * b[i] + a[i]).collect();
    assert_eq!(out[2], pack(&wanted, SmallFloat::Brain));
    assert_eq!(out[3], wanted.iter().map(|value| (*value as f32).to_bits()).collect::<Vec<_>>());
    assert_eq!(out[4], wanted.iter().map(|value| *value as i32 as u32).collect::<Vec<_>>());
}

#[test]
fn a_product_of_matrices() {
    // Rows of A in the order of `ldmatrix`: four 8 x 8 matrices, first the rows below, then those to the right.
    let a = small(2, 256);
    let element =
        |row: usize, column: usize| a[64 * (row / 8 + 2 * (column / 8)) + 8 * (row % 8) + column % 8];
    let b: Vec<Vec<f64>> = (0..16).map(|row| small(row, 8)).collect();
    let fragments: Vec<f64> = (0..32)
        .flat_map(|lane| {
            let (group, thread) = (lane / 4, lane % 4 * 2);
            [0, 1, 8, 9].map(|row| b[thread + row][group])
        })
        .collect();
    let words = |values: &[f64]| pack(values, SmallFloat::Half);
    let out = run("product", &[words(&a), words(&fragments), vec![0; 128]]);
    for lane in 0..32 {
        for register in 0..4 {
            let (row, column) = (lane / 4 + 8 * (register / 2), lane % 4 * 2 + register % 2);
            let sum: f64 = (0..16).map(|k| element(row, k) * b[k][column]).sum();
            assert_eq!(
                f32::from_bits(out[2][4 * lane + register]),
                sum as f32 + 0.5,
                "row {row}, column {column}"
            );
        }
    }
}
