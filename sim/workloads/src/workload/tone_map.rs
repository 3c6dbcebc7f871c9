//! `tone_map`: tones of a photograph for a screen, a long function of the eight bits of each pixel.
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x70;
/// Pixels of a column per thread.
const PIXELS: usize = 8;

pub(super) const TONE_MAP: Planned = Planned {
    name: "tone_map",
    summary: "tone curve of an 8-bit image by Newton's iterations, in a function of its own",
    papers: "for CABA, section 8.1",
    group: Group::Images,
    ptx: ("tone_map.ptx", include_str!("../../kernels/tone_map.ptx")),
    description: |size| {
        let (width, height) = shape(size);
        format!("{width} x {height} pixels, {}", mebibytes(4 * 2 * width * height))
    },
    plan,
};

/// Returns the number of columns and of rows.
fn shape(size: Size) -> (usize, usize) {
    match size {
        Size::Tiny => (128, 48),
        Size::Small => (512, 192),
        Size::Study => (1024, 512),
        Size::Paper => (1920, 1080),
    }
}

/// Returns the levels of a picture: a sky that brightens downwards, waves from left to right, and sensor noise.
fn picture(width: usize, height: usize) -> Vec<u32> {
    let mut random = Random::new(SEED);
    let pixel = |at: usize| {
        let (row, column) = (at / width, at % width);
        let wave = (column % 128).min(127 - column % 128);
        (160 * row / height + wave) as u32 + random.below(32)
    };
    (0..width * height).map(pixel).collect()
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let (width, height) = shape(size);
    let levels = place_words(memory, "levels", &picture(width, height))?;
    let tones = memory.alloc((4 * width * height) as u64, "tones")?;
    let args = [levels, tones].map(Arg::Ptr).into_iter().chain([int(width), int(height)]).collect();
    let launch = launch_grid("tone_map", [width, height.div_ceil(PIXELS)], [256, 1], args);
    Ok(Plan::of(vec![launch], move |memory| {
        let got = memory.read_f32s(tones, width * height)?;
        let expected = picture(width, height).into_iter().map(tone);
        Results { workload: "tone_map", buffer: "tones", got: &got }.equal(expected)
    }))
}

fn power(number: f32, factors: u32) -> f32 {
    (0..factors).fold(1.0, |power, _| power * number)
}

/// Returns the root of `degree` of a number from 0 to 1. The iteration starts at 1.
fn root(number: f32, degree: u32, steps: u32) -> f32 {
    (0..steps).fold(1.0, |root, _| {
        let power = power(root, degree - 1);
        root - (root * power - number) / (degree as f32 * power)
    })
}

/// Returns the tone of a level: the inverse of the sRGB curve, a filmic curve, and the sRGB curve.
fn tone(level: u32) -> f32 {
    let coded = level as f32 / 255.0;
    let light =
        if coded <= 0.040_45 { coded / 12.92 } else { power(root((coded + 0.055) / 1.055, 5, 10), 12) };
    let shown = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14);
    if shown <= 0.003_130_8 { 12.92 * shown } else { 1.055 * power(root(shown, 12, 16), 5) - 0.055 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the same curve in terms of the standard library's powers.
    #[test]
    fn the_iterations_have_found_their_roots() {
        for level in 0..256_u32 {
            let coded = f64::from(level) / 255.0;
            let light = if coded <= 0.040_45 { coded / 12.92 } else { ((coded + 0.055) / 1.055).powf(2.4) };
            let shown = light * (2.51 * light + 0.03) / (light * (2.43 * light + 0.59) + 0.14);
            let expected =
                if shown <= 0.003_130_8 { 12.92 * shown } else { 1.055 * shown.powf(1.0 / 2.4) - 0.055 };
            assert!((f64::from(tone(level)) - expected).abs() < 1e-4, "level {level}");
        }
    }
}
