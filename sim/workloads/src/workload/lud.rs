//! `lud`: LU decomposition in place, by tiles, as Rodinia's lud.
use super::check::Results;
use super::helpers::{int, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Launch, LaunchDims, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const TILE: usize = 16;
/// The reference rounds like the checked-in PTX. If values cancel, only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;

pub(super) const LUD: Planned = Planned {
    name: "lud",
    summary: "LU decomposition by tiles: diagonal, borders, inside",
    papers: "Dai, chapter 2 (LUD)",
    group: Group::DenseAlgebra,
    ptx: ("lud.ptx", include_str!("../../kernels/lud.ptx")),
    description: |size| {
        let n = side(size);
        format!("{n} x {n} matrix, {}", mebibytes(4 * n * n))
    },
    plan,
};

/// Returns the number of rows and of columns, a multiple of a tile; `paper` is Rodinia's size.
fn side(size: Size) -> usize {
    match size {
        Size::Tiny => 64,
        Size::Small => 192,
        Size::Study => 512,
        Size::Paper => 2048,
    }
}

/// Returns a matrix as Rodinia generates it. Elements decrease with the distance from the diagonal, so no pivots are
/// needed.
fn matrix(n: usize) -> Vec<f32> {
    let element = |at: usize| 10.0 * (-0.001 * (at / n).abs_diff(at % n) as f32).exp();
    (0..n * n).map(element).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let n = side(size);
    let a = place_f32s(memory, "a", &matrix(n))?;
    let mut launches = Vec::new();
    let mut launch = |kernel: &str, blocks: [usize; 2], threads: [usize; 2], start| {
        let [blocks, threads] = [blocks, threads].map(|pair| [pair[0] as u32, pair[1] as u32, 1]);
        let args = vec![Arg::Ptr(a), int(n), int(start)];
        launches.push(Launch { kernel: kernel.into(), dims: LaunchDims::new(blocks, threads), args });
    };
    for start in (0..n).step_by(TILE) {
        let others = (n - start) / TILE - 1;
        launch("lud_diagonal", [1, 1], [TILE, 1], start);
        if others > 0 {
            launch("lud_border", [others, 1], [2 * TILE, 1], start);
            launch("lud_inside", [others, others], [TILE, TILE], start);
        }
    }
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(a, n * n)?;
        Results { workload: "lud", buffer: "a", got: &got }.close(reference(n), TOLERANCE)
    }))
}

/// Computes the decomposition on the CPU, with the sums of each element in the kernels' order. Within the steps of a
/// tile, products are subtracted one by one. Earlier tiles are subtracted as one sum each.
fn reference(n: usize) -> Vec<f32> {
    let mut a = matrix(n);
    for start in (0..n).step_by(TILE) {
        let end = start + TILE;
        for k in start..end {
            for row in k + 1..n {
                a[row * n + k] /= a[k * n + k];
                // Rows outside the tile only need the tile's columns at this point.
                let columns = if row < end { k + 1..n } else { k + 1..end };
                for column in columns {
                    a[row * n + column] = (-a[row * n + k]).mul_add(a[k * n + column], a[row * n + column]);
                }
            }
        }
        for (row, column) in (end..n).flat_map(|row| (end..n).map(move |column| (row, column))) {
            let products = (start..end).map(|k| (a[row * n + k], a[k * n + column]));
            a[row * n + column] -= products.fold(0.0_f32, |sum, (left, up)| left.mul_add(up, sum));
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factors_multiply_to_the_matrix() {
        let n = 48;
        let (a, lu) = (matrix(n), reference(n));
        for (at, element) in a.iter().enumerate() {
            let (row, column) = (at / n, at % n);
            let lower = |k| if k == row { 1.0 } else { f64::from(lu[row * n + k]) };
            let product: f64 = (0..=row.min(column)).map(|k| lower(k) * f64::from(lu[k * n + column])).sum();
            assert!(
                (product - f64::from(*element)).abs() < 1e-3,
                "({row}, {column}): {product} for {element}"
            );
        }
    }
}
