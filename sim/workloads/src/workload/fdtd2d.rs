//! `fdtd2d`: electric and magnetic fields on a plane over time, as the FDTD-2D of PolyBench/GPU 1.0.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

/// The reference rounds like the checked-in PTX. If values cancel, only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;

pub(super) const FDTD2D: Planned = Planned {
    name: "fdtd2d",
    summary: "finite-difference time domain on a plane, three kernels per time step",
    papers: "Dai, chapter 2 (2DF)",
    group: Group::Stencils,
    ptx: ("fdtd2d.ptx", include_str!("../../kernels/fdtd2d.ptx")),
    description: |size| {
        let (n, steps) = shape(size);
        format!("{n} x {n} cells, {steps} time steps, {}", mebibytes(4 * (3 * n * n + 2 * n + steps)))
    },
    plan,
};

/// Returns the number of rows (and of columns) and of time steps; `paper` is Polybench's standard size.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (64, 2),
        Size::Small => (256, 4),
        Size::Study => (2048, 1),
        Size::Paper => (2048, 500),
    }
}

/// Fields along x, along y and across the plane, filled in as Polybench does. Field `ex` has one column more, and `ey` one row
/// more. Polybench fills in the first n x n elements of each without regard to that.
struct Fields {
    ex: Vec<f32>,
    ey: Vec<f32>,
    hz: Vec<f32>,
}

impl Fields {
    fn new(n: usize) -> Self {
        let field = |up: f32, right: f32, offset: f32, rest: usize| {
            let value = move |i: usize, j: usize| ((i as f32 - up) * (j as f32 + right) + offset) / n as f32;
            let row = |i: usize| (0..n).map(move |j| value(i, j));
            (0..n).flat_map(row).chain(std::iter::repeat_n(0.0, rest)).collect::<Vec<f32>>()
        };
        Fields { ex: field(0.0, 1.0, 1.0, n), ey: field(1.0, 2.0, 2.0, n), hz: field(9.0, 4.0, 3.0, 0) }
    }

    /// Computes one time step on the CPU. `source` is the value of the source in this step.
    fn step(&mut self, n: usize, source: f32) {
        let Fields { ex, ey, hz } = self;
        ey[..n].fill(source);
        for cell in n..n * n {
            ey[cell] = (hz[cell] - hz[cell - n]).mul_add(-0.5, ey[cell]);
        }
        for cell in (0..n * n).filter(|cell| cell % n > 0) {
            let wide = cell + cell / n;
            ex[wide] = (hz[cell] - hz[cell - 1]).mul_add(-0.5, ex[wide]);
        }
        for cell in 0..n * n {
            let wide = cell + cell / n;
            let curl = ex[wide + 1] - ex[wide] + ey[cell + n] - ey[cell];
            hz[cell] = curl.mul_add(-0.7, hz[cell]);
        }
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (n, steps) = shape(size);
    let fields = Fields::new(n);
    let sources: Vec<f32> = (0..steps).map(|step| step as f32).collect();
    let source = Arg::Ptr(place_f32s(memory, "source", &sources)?);
    let ex = Arg::Ptr(place_f32s(memory, "ex", &fields.ex)?);
    let ey = Arg::Ptr(place_f32s(memory, "ey", &fields.ey)?);
    let magnetic = place_f32s(memory, "hz", &fields.hz)?;
    let hz = Arg::Ptr(magnetic);
    let launch = |kernel: &str, mut args: Vec<Arg>| {
        args.extend([int(n), int(n)]);
        launch_grid(kernel, [n, n], [32, 8], args)
    };
    let launches = (0..steps).flat_map(|step| {
        [
            launch("fdtd2d_ey", vec![source.clone(), ey.clone(), hz.clone(), int(step)]),
            launch("fdtd2d_ex", vec![ex.clone(), hz.clone()]),
            launch("fdtd2d_hz", vec![ex.clone(), ey.clone(), hz.clone()]),
        ]
    });
    Ok(Plan::of(launches.collect(), move |memory| {
        let mut fields = Fields::new(n);
        (0..steps).for_each(|step| fields.step(n, step as f32));
        let got = memory.read_f32s(magnetic, n * n)?;
        Results { workload: "fdtd2d", buffer: "hz", got: &got }.close(fields.hz, TOLERANCE)
    }))
}
