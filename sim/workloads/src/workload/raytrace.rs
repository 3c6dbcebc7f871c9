//! `raytrace`: spheres on a chequered floor, with mirror bounces and shadows.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x3a;
const BOUNCES: usize = 4;
const FAR: f32 = 1.0e30;
const NEAR: f32 = 1.0e-3;
/// The kernel fuses no operations, so the reference rounds in the same way.
const TOLERANCE: f32 = 1e-5;

pub(super) const RAYTRACE: Planned = Planned {
    name: "raytrace",
    summary: "ray tracing of spheres with mirror bounces and shadows, one thread per pixel",
    papers: "LAMAR and CABA (RAY)",
    group: Group::Images,
    ptx: ("raytrace.ptx", include_str!("../../kernels/raytrace.ptx")),
    description: |size| {
        let (width, height, spheres) = shape(size);
        let bytes = 12 * width * height + size_of::<Sphere>() * spheres;
        format!("{width} x {height} pixels, {spheres} spheres, {}", mebibytes(bytes))
    },
    plan,
};

/// Returns the number of columns, rows and spheres; `paper` has GPGPU-Sim's 256 x 256 pixels.
fn shape(size: Size) -> (usize, usize, usize) {
    match size {
        Size::Tiny => (32, 16, 6),
        Size::Small => (96, 64, 10),
        Size::Study | Size::Paper => (256, 256, 16),
    }
}

type Vector3 = [f32; 3];
/// Centre, radius, colour and reflectivity, in the device's order.
type Sphere = [f32; 8];

/// Returns spheres on the floor in front of the camera.
fn spheres(count: usize) -> Vec<Sphere> {
    let mut random = Random::new(SEED);
    let mut draw = || {
        let radius = 0.2 + 0.5 * random.unit();
        let mut unit = || random.unit();
        [5.0 * unit() - 2.5, radius, 4.0 * unit(), radius, unit(), unit(), unit(), 0.6 * unit()]
    };
    (0..count).map(|_| draw()).collect()
}

/// Returns the direction of the light.
fn light() -> Vector3 {
    unit([-0.5, 1.0, -0.6])
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (width, height, count) = shape(size);
    let scene = place_f32s(memory, "spheres", spheres(count).as_flattened())?;
    let image = memory.alloc((12 * width * height) as u64, "image")?;
    let pointers = [scene, image].map(Arg::Ptr).into_iter();
    let args = pointers.chain(light().map(Arg::F32)).chain([count, width, height].map(int)).collect();
    let launch = launch_grid("raytrace", [width, height], [16, 8], args);
    Ok(Plan::of(vec![launch], move |memory| {
        let spheres = spheres(count);
        let pixels = (0..width * height).flat_map(|at| {
            let scale = 1.0 / height as f32;
            let right = ((at % width) as f32 - 0.5 * width as f32) * scale;
            let up = (0.5 * height as f32 - (at / width) as f32) * scale;
            trace(&spheres, [0.0, 1.0, -4.0], unit([right, up, 1.0]))
        });
        let got = memory.read_f32s(image, 3 * width * height)?;
        Results { workload: "raytrace", buffer: "image", got: &got }.close(pixels, TOLERANCE)
    }))
}

fn along(from: Vector3, direction: Vector3, distance: f32) -> Vector3 {
    [0, 1, 2].map(|axis| direction[axis].mul_add(distance, from[axis]))
}

fn dot(a: Vector3, b: Vector3) -> f32 {
    a[0].mul_add(b[0], a[1].mul_add(b[1], a[2] * b[2]))
}

fn unit(a: Vector3) -> Vector3 {
    let scale = 1.0 / dot(a, a).sqrt();
    a.map(|axis| axis * scale)
}

fn minus(a: Vector3, b: Vector3) -> Vector3 {
    [0, 1, 2].map(|axis| a[axis] - b[axis])
}

/// Returns the distance at which a ray first hits a sphere.
fn meet(sphere: &Sphere, from: Vector3, direction: Vector3) -> Option<f32> {
    let [x, y, z, radius, ..] = *sphere;
    let to = minus([x, y, z], from);
    let middle = dot(to, direction);
    let inside = middle.mul_add(middle, radius * radius - dot(to, to));
    let half = if inside < 0.0 { None } else { Some(inside.sqrt()) }?;
    [middle - half, middle + half].into_iter().find(|distance| *distance > NEAR)
}

/// Returns the position, normal, colour and reflectivity of the surface that a ray hits.
fn hit(spheres: &[Sphere], from: Vector3, direction: Vector3) -> Option<(Vector3, Vector3, Vector3, f32)> {
    let (mut nearest, mut sphere) = (FAR, None);
    for candidate in spheres {
        let met = meet(candidate, from, direction).filter(|distance| *distance < nearest);
        if let Some(distance) = met {
            (nearest, sphere) = (distance, Some(candidate));
        }
    }
    let down = -from[1] / direction[1];
    if direction[1] < 0.0 && down < nearest && down > NEAR {
        let place = along(from, direction, down);
        let tile = |axis: usize| (place[axis] + 1000.0) as i32;
        let is_dark = (tile(0) ^ tile(2)) & 1 != 0;
        return Some((place, [0.0, 1.0, 0.0], if is_dark { [0.2; 3] } else { [0.9, 0.9, 0.8] }, 0.2));
    }
    let [x, y, z, _, red, green, blue, mirror] = *sphere?;
    let place = along(from, direction, nearest);
    Some((place, unit(minus(place, [x, y, z])), [red, green, blue], mirror))
}

/// Returns the colour that a ray sees.
fn trace(spheres: &[Sphere], mut from: Vector3, mut direction: Vector3) -> Vector3 {
    let (mut seen, mut share) = ([0.0; 3], 1.0);
    for _ in 0..BOUNCES {
        let Some((place, normal, colour, mirror)) = hit(spheres, from, direction) else {
            return along(seen, [0.4, 0.6, 1.0], share * (0.5 + 0.5 * direction[1]));
        };
        let is_shadowed = spheres.iter().any(|sphere| meet(sphere, place, light()).is_some());
        let lit = if is_shadowed { 0.0 } else { dot(normal, light()).max(0.0) };
        seen = along(seen, colour, share * (1.0 - mirror) * (0.15 + 0.85 * lit));
        share *= mirror;
        direction = unit(along(direction, normal, -2.0 * dot(direction, normal)));
        from = place;
        if share < 0.01 {
            break;
        }
    }
    seen
}
