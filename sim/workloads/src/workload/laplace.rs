//! `laplace`: Laplace's equation in a box by Jacobi's method, as the LPS kernel of ISPASS-2009.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// The reference rounds like the checked-in PTX. All terms are positive.
const TOLERANCE: f32 = 1e-5;

pub(super) const LAPLACE: Planned = Planned {
    name: "laplace",
    summary: "Laplace's equation in a box by Jacobi's method, plane by plane in shared memory",
    papers: "CABA (LPS)",
    group: Group::Stencils,
    ptx: ("laplace.ptx", include_str!("../../kernels/laplace.ptx")),
    description: |size| {
        let (n, steps) = shape(size);
        format!("{n} x {n} x {n} points, {steps} steps, {}", mebibytes(4 * 2 * n * n * n))
    },
    plan,
};

/// Returns the points in each direction, and the steps; `paper` is the size of ISPASS-2009.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (20, 2),
        Size::Small => (64, 4),
        Size::Study => (100, 3),
        Size::Paper => (100, 100),
    }
}

/// Returns a box whose bottom is warm and cools towards a corner. All other points are 0.
fn start(n: usize) -> Vec<f32> {
    let bottom = |at: usize| 100.0 - 0.5 * (at % n) as f32 - 0.25 * (at / n) as f32;
    (0..n * n * n).map(|at| if at < n * n { bottom(at) } else { 0.0 }).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (n, steps) = shape(size);
    let (mut from, mut to) = (place_f32s(memory, "u", &start(n))?, place_f32s(memory, "v", &start(n))?);
    let mut launches = Vec::new();
    for _ in 0..steps {
        let args = [from, to].map(Arg::Ptr).into_iter().chain([n; 3].map(int)).collect();
        launches.push(launch_grid("laplace", [n, n], [32, 4], args));
        (from, to) = (to, from);
    }
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(from, n * n * n)?;
        Results { workload: "laplace", buffer: "u", got: &got }.close(reference(n, steps), TOLERANCE)
    }))
}

fn reference(n: usize, steps: usize) -> Vec<f32> {
    let mut now = start(n);
    for _ in 0..steps {
        let mut next = now.clone();
        for (z, y, x) in
            (1..n - 1).flat_map(|z| (1..n - 1).flat_map(move |y| (1..n - 1).map(move |x| (z, y, x))))
        {
            let at = (z * n + y) * n + x;
            let sum = now[at - 1] + now[at + 1] + now[at - n] + now[at + n];
            next[at] = (sum + now[at - n * n] + now[at + n * n]) * (1.0 / 6.0);
        }
        now = next;
    }
    now
}
