//! `weather`: winds, clouds and rain on a grid of air. It replaces GPGPU-Sim's weather prediction (WP).
use super::check::Results;
use super::helpers::{int, launch_grid, mebibytes, place_f32s};
use super::plan::{Plan, Planned};
use super::random::Random;
use super::{Arg, Group, Size, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const SEED: u64 = 0x3ea;
/// Fraction of a value's difference from its neighbours that it loses per step.
const MIXING: f32 = 0.02;
/// The kernels fuse no operations, so the reference rounds in the same way.
const TOLERANCE: f32 = 1e-5;

pub(super) const WEATHER: Planned = Planned {
    name: "weather",
    summary: "weather on a grid: stencils that carry four fields, then cloud and rain by columns",
    papers: "LAMAR (WP)",
    group: Group::Stencils,
    ptx: ("weather.ptx", include_str!("../../kernels/weather.ptx")),
    description: |size| {
        let WeatherGrid { columns, rows, levels, steps } = grid(size);
        let bytes = 4 * columns * rows * (10 * levels + 1);
        format!("{columns} x {rows} x {levels} cells, {steps} steps, {}", mebibytes(bytes))
    },
    plan,
};

/// Cells in each direction, and steps.
#[derive(Clone, Copy)]
struct WeatherGrid {
    columns: usize,
    rows: usize,
    levels: usize,
    steps: usize,
}

fn grid(size: Size) -> WeatherGrid {
    match size {
        Size::Tiny => WeatherGrid { columns: 32, rows: 12, levels: 6, steps: 2 },
        Size::Small => WeatherGrid { columns: 64, rows: 48, levels: 12, steps: 3 },
        Size::Study => WeatherGrid { columns: 128, rows: 128, levels: 28, steps: 2 },
        Size::Paper => WeatherGrid { columns: 128, rows: 128, levels: 28, steps: 10 },
    }
}

const FIELDS: [&str; 4] = ["temperature", "vapour", "cloud", "rain"];

/// State of the air, level by level and row by row.
struct Air {
    grid: WeatherGrid,
    /// Temperature, vapour, cloud and rain.
    fields: [Vec<f32>; 4],
    /// Cells per step by which the air moves to the east and to the north.
    winds: [Vec<f32>; 2],
    /// Pressure of each level, in hectopascals.
    pressure: Vec<f32>,
    /// Rain that has reached the ground.
    ground: Vec<f32>,
}

impl Air {
    /// Returns moist air, warmer near the ground and in the middle, with turning winds above.
    fn new(grid: WeatherGrid) -> Self {
        let mut random = Random::new(SEED);
        let plane = grid.columns * grid.rows;
        let cells = plane * grid.levels;
        let mut air = Air {
            grid,
            fields: [(); 4].map(|()| vec![0.0; cells]),
            winds: [(); 2].map(|()| vec![0.0; cells]),
            pressure: (0..grid.levels).map(|level| 1000.0 - 20.0 * level as f32).collect(),
            ground: vec![0.0; plane],
        };
        for cell in 0..cells {
            let height = (cell / plane) as f32;
            let across = |at: usize, of: usize| {
                let share = at as f32 / of as f32;
                4.0 * share * (1.0 - share)
            };
            let middle =
                across(cell % grid.columns, grid.columns) * across(cell % plane / grid.columns, grid.rows);
            air.fields[0][cell] = 293.0 - 1.2 * height + 3.0 * middle + 0.5 * random.unit();
            air.fields[1][cell] = (17.0 - 0.8 * height) * (0.8 + 0.4 * middle) + 0.5 * random.unit();
            air.winds[0][cell] = 0.1 + 0.02 * height + 0.05 * random.unit();
            air.winds[1][cell] = 0.15 - 0.03 * height + 0.05 * random.unit();
        }
        air
    }

    /// Computes one step on the CPU.
    fn step(&mut self) {
        for field in 0..4 {
            self.fields[field] =
                (0..self.fields[field].len()).map(|cell| self.carried(&self.fields[field], cell)).collect();
        }
        let plane = self.ground.len();
        for column in 0..plane {
            let mut falling = 0.0;
            for level in (0..self.grid.levels).rev() {
                falling = self.water(level * plane + column, self.pressure[level], falling);
            }
            self.ground[column] += falling;
        }
    }

    /// Returns the new value of a field in `cell`.
    fn carried(&self, field: &[f32], cell: usize) -> f32 {
        let WeatherGrid { columns, rows, levels, .. } = self.grid;
        let (level, row, column) = (cell / columns / rows, cell / columns % rows, cell % columns);
        let at = |level: usize, row: usize, column: usize| {
            field[(level * rows + row % rows) * columns + column % columns]
        };
        let value = field[cell];
        let [west, east] = [column + columns - 1, column + 1].map(|column| at(level, row, column));
        let [south, north] = [row + rows - 1, row + 1].map(|row| at(level, row, column));
        let below = at(level.saturating_sub(1), row, column);
        let above = at((level + 1).min(levels - 1), row, column);
        let [u, v] = [&self.winds[0], &self.winds[1]].map(|wind| wind[cell]);
        let along = if u > 0.0 { value - west } else { east - value };
        let across = if v > 0.0 { value - south } else { north - value };
        let around = west + east + south + north + below + above;
        MIXING.mul_add(around - 6.0 * value, value - u * along - v * across)
    }

    /// Updates cloud and rain in `cell`, to which `falling` rain is added. Returns the rain that falls out of it.
    fn water(&mut self, cell: usize, pressure: f32, falling: f32) -> f32 {
        let [t, q, c, r] = [0, 1, 2, 3].map(|field| self.fields[field][cell]);
        let steam = 6.11 * f64::from(24.92 * (t - 273.15) / (t - 35.85)).exp2() as f32;
        let full = 622.0 * steam / (pressure - steam);
        let warmth = 1.0 + 10_240.0 * full / ((t - 35.85) * (t - 35.85));
        let condensed = ((q - full) / warmth).max(-c);
        let c = c + condensed;
        let made = (0.02 * (c - 0.5).max(0.0) + 0.05 * c * r).min(c);
        let r = r + made + falling;
        let falls = 0.3 * r;
        let new = [2.5_f32.mul_add(condensed, t), q - condensed, c - made, r - falls];
        (0..4).for_each(|field| self.fields[field][cell] = new[field]);
        falls
    }
}

fn plan(size: Size, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let grid = grid(size);
    let WeatherGrid { columns, rows, levels, steps } = grid;
    let air = Air::new(grid);
    let cells = columns * rows * levels;
    let [mut now, mut next] = [[0; 4]; 2];
    for (field, name) in FIELDS.into_iter().enumerate() {
        now[field] = place_f32s(memory, name, &air.fields[field])?;
        next[field] = memory.alloc(4 * cells as u64, name)?;
    }
    let east = place_f32s(memory, "east wind", &air.winds[0])?;
    let north = place_f32s(memory, "north wind", &air.winds[1])?;
    let pressure = place_f32s(memory, "pressure", &air.pressure)?;
    let ground = place_f32s(memory, "ground", &air.ground)?;
    let launch = |kernel, pointers: &[u64], factor: Option<f32>| {
        let pointers = pointers.iter().map(|pointer| Arg::Ptr(*pointer));
        let numbers = [columns, rows, levels].map(int);
        let args = pointers.chain(factor.map(Arg::F32)).chain(numbers).collect();
        launch_grid(kernel, [columns, rows], [32, 4], args)
    };
    let mut launches = Vec::new();
    for _ in 0..steps {
        for field in 0..4 {
            launches.push(launch("weather_carry", &[now[field], east, north, next[field]], Some(MIXING)));
        }
        (now, next) = (next, now);
        let [temperature, vapour, cloud, rain] = now;
        launches.push(launch("weather_water", &[temperature, vapour, cloud, rain, ground, pressure], None));
    }
    Ok(Plan::of(launches, move |memory| {
        let mut air = Air::new(grid);
        (0..steps).for_each(|_| air.step());
        for (field, name) in FIELDS.into_iter().enumerate() {
            let got = memory.read_f32s(now[field], cells)?;
            let expected = air.fields[field].iter().copied();
            Results { workload: "weather", buffer: name, got: &got }.close(expected, TOLERANCE)?;
        }
        let got = memory.read_f32s(ground, columns * rows)?;
        Results { workload: "weather", buffer: "ground", got: &got }.close(air.ground, TOLERANCE)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_clouds_over_and_rains_without_losing_water() {
        let mut air = Air::new(grid(Size::Small));
        let water = |air: &Air| air.fields[1..].iter().flatten().map(|grams| f64::from(*grams)).sum::<f64>();
        // The per-column part of a step keeps the amount of water.
        let before = water(&air);
        for column in 0..air.ground.len() {
            let mut falling = 0.0;
            for level in (0..air.grid.levels).rev() {
                falling = air.water(level * air.ground.len() + column, air.pressure[level], falling);
            }
            air.ground[column] += falling;
        }
        let fallen: f64 = air.ground.iter().map(|grams| f64::from(*grams)).sum();
        assert!((water(&air) + fallen - before).abs() < 1e-4 * before);
        (0..10).for_each(|_| air.step());
        assert!(air.ground.iter().any(|grams| *grams > 0.0));
    }
}
