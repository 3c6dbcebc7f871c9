//! `heartwall`: tracks points on a beating wall through the frames of a film, as Rodinia's heartwall.
use super::check::Results;
use super::helpers::{int, launch_row, mebibytes, place_f32s, place_words};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x4ea;
const THREADS: usize = 128;
/// Edge lengths of a template, and of the window of offsets ([`SEARCH`]), in pixels.
const TEMPLATE: usize = 9;
const SEARCH: usize = 11;
const AREA: usize = TEMPLATE * TEMPLATE;
/// Weight of the new frame in a template.
const BLEND: f32 = 0.1;
/// The kernel fuses no operations, so the reference rounds in the same way.
const TOLERANCE: f32 = 1e-5;

pub(super) const HEARTWALL: Planned = Planned {
    name: "heartwall",
    summary: "tracking of points by templates through the frames of a film, one block per point",
    papers: "LATTE-CC (HTW)",
    group: Group::Images,
    ptx: ("heartwall.ptx", include_str!("../../kernels/heartwall.ptx")),
    description: |size| {
        let Film { side, points, frames } = film(size);
        let bytes = 4 * (side * side + points * (AREA + 2));
        format!("{frames} frames of {side} x {side} pixels, {points} points, {}", mebibytes(bytes))
    },
    plan,
};

/// Side of a frame in pixels, number of points, and number of frames.
#[derive(Clone, Copy)]
struct Film {
    side: usize,
    points: usize,
    frames: usize,
}

/// Returns the film of a size. `paper` has 51 points, like Rodinia's film, and a similar number of frames.
fn film(size: Size) -> Film {
    match size {
        Size::Tiny => Film { side: 96, points: 10, frames: 2 },
        Size::Small => Film { side: 160, points: 51, frames: 6 },
        Size::Study | Size::Paper => Film { side: 640, points: 51, frames: 20 },
    }
}

/// Half the width of the bright wall, in pixels.
const WALL: f32 = 6.0;

/// Returns the wall's radius in a frame, in pixels. It changes by a few pixels.
fn radius(film: Film, frame: usize) -> f32 {
    film.side as f32 / 3.0 - 4.0 * (0.5 * frame as f32).sin()
}

/// Returns a speckled frame with a brighter ring. Pixels have byte values. The speckle on the wall moves with it.
fn pixels(film: Film, frame: usize) -> Vec<f32> {
    let mut random = Random::new(SEED);
    let speckle: Vec<f32> = (0..256 * 16).map(|_| random.unit()).collect();
    let middle = film.side as f32 / 2.0;
    let pixel = |at: usize| {
        let (x, y) = ((at % film.side) as f32 - middle, (at / film.side) as f32 - middle);
        let away = (x * x + y * y).sqrt() - radius(film, frame);
        if away.abs() < WALL {
            let turn = ((y.atan2(x) / std::f32::consts::TAU + 0.5) * 255.0) as usize;
            let depth = (away + WALL) as usize;
            (140.0 + 100.0 * speckle[depth * 256 + turn]).floor()
        } else {
            (60.0 * speckle[(at * 31) % speckle.len()]).floor()
        }
    };
    (0..film.side * film.side).map(pixel).collect()
}

/// Returns the columns and rows of the points, evenly spaced on the wall of the first frame.
fn points(film: Film) -> [Vec<u32>; 2] {
    let place = |point: usize, cosine: fn(f32) -> f32| {
        let turn = std::f32::consts::TAU * point as f32 / film.points as f32;
        (film.side as f32 / 2.0 + radius(film, 0) * cosine(turn)) as u32
    };
    [f32::cos, f32::sin].map(|cosine| (0..film.points).map(|point| place(point, cosine)).collect())
}

/// Returns the pixels around a point.
fn template(pixels: &[f32], side: usize, column: usize, row: usize) -> impl Iterator<Item = f32> {
    let corner = (row - TEMPLATE / 2) * side + column - TEMPLATE / 2;
    (0..AREA).map(move |at| pixels[corner + at / TEMPLATE * side + at % TEMPLATE])
}

/// Tracking state of the points.
struct Tracked {
    columns: Vec<u32>,
    rows: Vec<u32>,
    templates: Vec<f32>,
}

impl Tracked {
    fn new(film: Film) -> Self {
        let ([columns, rows], pixels) = (points(film), pixels(film, 0));
        let places = columns.iter().zip(&rows);
        let templates = places
            .flat_map(|(column, row)| template(&pixels, film.side, *column as usize, *row as usize))
            .collect();
        Tracked { columns, rows, templates }
    }

    /// Moves every point to its position in the next frame.
    fn follow(&mut self, pixels: &[f32], side: usize) {
        for point in 0..self.columns.len() {
            let wanted = &mut self.templates[point * AREA..][..AREA];
            let [column, row] = [self.columns[point], self.rows[point]].map(|at| at as usize - SEARCH / 2);
            let likeness = |offset: usize| {
                let there = template(pixels, side, column + offset % SEARCH, row + offset / SEARCH);
                let (product, energy) =
                    there.zip(&*wanted).fold((0.0_f32, 1.0_f32), |(product, energy), (pixel, wanted)| {
                        (pixel.mul_add(*wanted, product), pixel.mul_add(pixel, energy))
                    });
                product / energy.sqrt()
            };
            let (mut best, mut most) = (0, likeness(0));
            for offset in 1..SEARCH * SEARCH {
                let likeness = likeness(offset);
                if likeness > most {
                    (best, most) = (offset, likeness);
                }
            }
            let [column, row] = [column + best % SEARCH, row + best / SEARCH];
            for (wanted, pixel) in wanted.iter_mut().zip(template(pixels, side, column, row)) {
                *wanted = BLEND.mul_add(pixel - *wanted, *wanted);
            }
            (self.columns[point], self.rows[point]) = (column as u32, row as u32);
        }
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let film = film(size);
    let tracked = Tracked::new(film);
    let frame = memory.alloc((4 * film.side * film.side) as u64, "frame")?;
    let templates = place_f32s(memory, "templates", &tracked.templates)?;
    let columns = place_words(memory, "columns", &tracked.columns)?;
    let rows = place_words(memory, "rows", &tracked.rows)?;
    let mut shown = 0;
    let launches = move |memory: &mut DeviceMemory| {
        if shown == film.frames {
            return Ok(None);
        }
        shown += 1;
        memory.write_f32s(frame, &pixels(film, shown))?;
        let pointers = [frame, templates, columns, rows].map(Arg::Ptr);
        let args = pointers.into_iter().chain([Arg::F32(BLEND), int(film.side)]).collect();
        Ok(Some(launch_row("heartwall", film.points * THREADS, THREADS as u32, args)))
    };
    Ok(Plan::following(launches, move |memory| {
        let mut tracked = Tracked::new(film);
        (1..=film.frames).for_each(|frame| tracked.follow(&pixels(film, frame), film.side));
        for (buffer, address, expected) in
            [("columns", columns, tracked.columns), ("rows", rows, tracked.rows)]
        {
            let got = memory.read_u32s(address, film.points)?;
            Results { workload: "heartwall", buffer, got: &got }.equal(expected)?;
        }
        let got = memory.read_f32s(templates, AREA * film.points)?;
        Results { workload: "heartwall", buffer: "templates", got: &got }.close(tracked.templates, TOLERANCE)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_stay_on_the_wall() {
        let film = film(Size::Tiny);
        let mut tracked = Tracked::new(film);
        (1..=film.frames).for_each(|frame| tracked.follow(&pixels(film, frame), film.side));
        let middle = film.side as f32 / 2.0;
        for (column, row) in tracked.columns.iter().zip(&tracked.rows) {
            let away = (*column as f32 - middle).hypot(*row as f32 - middle) - radius(film, film.frames);
            assert!(away.abs() < WALL, "{column} {row}");
        }
    }
}
