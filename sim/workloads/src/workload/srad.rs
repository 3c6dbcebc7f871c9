//! `srad`, `srad_tiled`: speckle-reducing anisotropic diffusion of an ultrasound image, as Rodinia's srad v1 and v2.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x52ad;
const LAMBDA: f32 = 0.5;
/// Rows and columns of the featureless region from which the host computes the speckle's strength.
const REGION: usize = 16;
/// The reference rounds like the checked-in PTX. If values cancel, only equal bits are close enough.
const TOLERANCE: f32 = 1e-5;

pub(super) const SRAD: Planned = Planned {
    name: "srad",
    summary: "speckle-reducing anisotropic diffusion, two kernels per iteration",
    papers: "LATTE-CC (SR1), LAMAR (SRAD)",
    group: Group::Stencils,
    ptx: ("srad.ptx", include_str!("../../kernels/srad.ptx")),
    description,
    plan: |size, memory| plan(SRAD.name, ["srad_coefficients", "srad_update"], size, memory),
};

pub(super) const SRAD_TILED: Planned = Planned {
    name: "srad_tiled",
    summary: "speckle-reducing anisotropic diffusion on tiles in shared memory",
    papers: "Dai, chapters 2 and 3 (SR2, SRD2)",
    group: Group::Stencils,
    ptx: ("srad_tiled.ptx", include_str!("../../kernels/srad_tiled.ptx")),
    description,
    plan: |size, memory| {
        plan(SRAD_TILED.name, ["srad_tiled_coefficients", "srad_tiled_update"], size, memory)
    },
};

fn description(size: Size) -> String {
    let (n, iterations) = shape(size);
    format!("{n} x {n} pixels, {iterations} iterations, {}", mebibytes(4 * 6 * n * n))
}

/// Returns the number of rows (and of columns) and of iterations; `paper` is Rodinia's size.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (64, 2),
        Size::Small => (256, 3),
        Size::Study => (1024, 1),
        Size::Paper => (2048, 2),
    }
}

/// Returns bright and dark areas with multiplicative noise, on the scale of the diffusion: exp of 0 to 1.
fn image(n: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    let pixel = |at: usize| {
        let area = if (at / n / 16 + at % n / 24).is_multiple_of(2) { 0.35 } else { 0.6 };
        (area + 0.1 * random.unit()).exp()
    };
    (0..n * n).map(pixel).collect()
}

/// Returns the squared coefficient of variation of the upper left region, as the host computes it before each
/// iteration.
fn speckle(image: &[f32], n: usize) -> f32 {
    let region = || (0..REGION).flat_map(|row| &image[row * n..][..REGION]).map(|value| f64::from(*value));
    let count = (REGION * REGION) as f64;
    let mean = region().sum::<f64>() / count;
    let variance = region().map(|value| value * value).sum::<f64>() / count - mean * mean;
    (variance / (mean * mean)) as f32
}

/// Returns the plan of alternate launches of the two kernels, with the host's computation before each pair.
fn plan(
    workload: &'static str,
    [coefficients, update]: [&'static str; 2],
    size: Size,
    memory: &mut DeviceMemory,
) -> Result<Plan, WorkloadError> {
    let (n, iterations) = shape(size);
    let pixels = place_f32s(memory, "image", &image(n))?;
    let mut fields = Vec::new();
    for name in ["coefficient", "north", "south", "west", "east"] {
        fields.push(memory.alloc(4 * (n * n) as u64, name)?);
    }
    let pointers: Vec<Arg> = std::iter::once(pixels).chain(fields).map(Arg::Ptr).collect();
    let mut half_steps = 0;
    let launches = move |memory: &mut DeviceMemory| {
        if half_steps == 2 * iterations {
            return Ok(None);
        }
        half_steps += 1;
        let (kernel, factor) = if half_steps % 2 == 1 {
            (coefficients, speckle(&memory.read_f32s(pixels, n * n)?, n))
        } else {
            (update, LAMBDA)
        };
        let args = pointers.iter().cloned().chain([Arg::F32(factor), int(n), int(n)]).collect();
        Ok(Some(launch_grid(kernel, [n, n], [16, 16], args)))
    };
    Ok(Plan::following(launches, move |memory| {
        let mut expected = image(n);
        (0..iterations).for_each(|_| diffuse(&mut expected, n));
        let got = memory.read_f32s(pixels, n * n)?;
        Results { workload, buffer: "image", got: &got }.close(expected, TOLERANCE)
    }))
}

/// Computes one iteration on the CPU.
fn diffuse(image: &mut [f32], n: usize) {
    let q0 = speckle(image, n);
    let differences: Vec<[f32; 4]> = (0..n * n)
        .map(|at| {
            let (row, column) = (at / n, at % n);
            let north = if row > 0 { at - n } else { at };
            let south = if row < n - 1 { at + n } else { at };
            let west = if column > 0 { at - 1 } else { at };
            let east = if column < n - 1 { at + 1 } else { at };
            [north, south, west, east].map(|other| image[other] - image[at])
        })
        .collect();
    let coefficients: Vec<f32> = differences
        .iter()
        .zip(&*image)
        .map(|(difference, here)| coefficient(*difference, *here, q0))
        .collect();
    for at in 0..n * n {
        let below = coefficients[if at / n < n - 1 { at + n } else { at }];
        let right = coefficients[if at % n < n - 1 { at + 1 } else { at }];
        let (here, [north, south, west, east]) = (coefficients[at], differences[at]);
        let divergence = right.mul_add(east, here.mul_add(west, here.mul_add(north, below * south)));
        image[at] = (LAMBDA * 0.25).mul_add(divergence, image[at]);
    }
}

fn coefficient([north, south, west, east]: [f32; 4], here: f32, q0: f32) -> f32 {
    let squares = east.mul_add(east, west.mul_add(west, north.mul_add(north, south * south)));
    let gradient = squares / (here * here);
    let laplacian = (north + south + west + east) / here;
    let numerator = gradient.mul_add(0.5, laplacian * laplacian * -0.0625);
    let denominator = laplacian.mul_add(0.25, 1.0);
    let q = numerator / (denominator * denominator);
    let excess = (q - q0) / ((q0 + 1.0) * q0);
    (1.0 / (1.0 + excess)).clamp(0.0, 1.0)
}
