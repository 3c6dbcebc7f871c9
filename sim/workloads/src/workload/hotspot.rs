//! `hotspot`: the temperatures of a chip over time, as Rodinia's hotspot.
//!
//! Solves the heat equation on a grid of cells, in explicit time steps. A launch computes several steps. Each block keeps a
//! tile in shared memory. The tile overlaps its neighbours by one cell per step.
use std::path::{Path, PathBuf};

use super::check::Results;
use super::helpers::{int, mebibytes, place_f32s};
use super::input::{TextWords, finite, read_text};
use super::plan::{Plan, PlanRun};
use super::random::Random;
use super::{Arg, Group, HostProgram, Launch, LaunchDims, Size, Workload, WorkloadError};
use selvedge_ptx::memory::DeviceMemory;

const NAME: &str = "hotspot";
const SEED: u64 = 0x807;

/// Side of the kernel's tile, in cells and threads.
const TILE: usize = 16;

/// Time steps per launch, equal to Rodinia's usual pyramid height.
const STEPS_PER_LAUNCH: usize = 2;

/// The reference fuses multiply and add where the checked-in PTX does, so bits are equal. The tolerance is for
/// kernels compiled with other settings: about two units in the last place for each of a few steps. It must be this
/// small, because a step changes a temperature by only some thousandths of a degree.
const TOLERANCE: f32 = 5e-7;

/// Side of the square chip, in m.
const CHIP_SIDE: f32 = 0.016;
/// Thickness of the chip, in m.
const CHIP_THICKNESS: f32 = 0.0005;
/// Thermal conductivity of silicon, in W/(m K).
const CONDUCTIVITY: f32 = 100.0;
/// Temperature of the surroundings, in K.
const AMBIENT: f32 = 318.15;
/// Time step, relative to the longest step for which the explicit scheme is stable. In a stable step, a cell loses at
/// most its heat difference to the surroundings.
const SHARE_OF_STABLE_STEP: f32 = 0.5;

/// Max side of the grid, within the range of the kernel's 32-bit indices.
const LARGEST_SIDE: usize = 32768;

pub(super) struct Hotspot;

fn side(size: Size) -> usize {
    match size {
        Size::Tiny => 64,
        Size::Small => 256,
        Size::Study | Size::Paper => 512,
    }
}

fn steps(size: Size) -> usize {
    match size {
        Size::Tiny => 3,
        Size::Small => 4,
        Size::Study | Size::Paper => 10,
    }
}

/// A square chip of `side` x `side` cells, row by row.
#[derive(Debug, PartialEq)]
struct Chip {
    side: usize,
    /// Dissipation of each cell, in W.
    power: Vec<f32>,
    /// Initial temperature of each cell, in K.
    temperature: Vec<f32>,
}

/// Kernel parameters other than the grid. They are equal for all cells.
#[derive(Clone, Copy)]
struct Coefficients {
    /// Time step divided by a cell's heat capacity, in K/W.
    scale: f32,
    /// Conductance to the neighbours in the row, in W/K.
    rx: f32,
    /// Conductance to the neighbours in the column, in W/K.
    ry: f32,
    /// Conductance to the surroundings, in W/K.
    rz: f32,
}

impl Chip {
    /// Generates a floorplan of 8 x 8 units. All cells of a unit dissipate the same power. The chip is warmer around
    /// the centre of each unit, in proportion to its power, with a smooth decline.
    fn generated(side: usize) -> Self {
        const UNITS: usize = 8;
        const COOLEST: f32 = 323.0;
        const HOTTEST_UNIT_EXCESS: f32 = 2.0;
        const MOST_POWER: f32 = 0.0028;
        let mut random = Random::new(SEED);
        let units: Vec<f32> = (0..UNITS * UNITS).map(|_| random.unit()).collect();
        let unit_side = side.div_ceil(UNITS);
        let power_at = |cell: usize| {
            let (row, column) = (cell / side / unit_side, cell % side / unit_side);
            // Six decimals, as in the files.
            (units[row * UNITS + column] * MOST_POWER * 1e6).round() / 1e6
        };
        let temperature_at = |cell: usize| {
            let (row, column) = ((cell / side) as f32, (cell % side) as f32);
            let excess = units.iter().enumerate().map(|(unit, activity)| {
                let centre = |at: usize| (at as f32 + 0.5) * unit_side as f32;
                let (down, across) = (row - centre(unit / UNITS), column - centre(unit % UNITS));
                let distance = (down * down + across * across) / (unit_side * unit_side) as f32;
                HOTTEST_UNIT_EXCESS * activity / (1.0 + distance)
            });
            COOLEST + excess.sum::<f32>()
        };
        Self {
            side,
            power: (0..side * side).map(power_at).collect(),
            temperature: (0..side * side).map(temperature_at).collect(),
        }
    }

    /// Reads Rodinia's format: one number per line, row by row, of a square chip. `file` has the temperatures in K.
    /// The powers in W are in another file, whose name has `power` instead of `temp`.
    fn read(file: &Path) -> Result<Self, WorkloadError> {
        let power_file = power_file(file)?;
        let temperature = read_numbers(file, "temperature", "temperatures")?;
        let power = read_numbers(&power_file, "power", "powers")?;
        let side = temperature.len().isqrt();
        if side * side != temperature.len() || !(1..=LARGEST_SIDE).contains(&side) {
            let allowed = format!("a square number from 1 to {}", LARGEST_SIDE * LARGEST_SIDE);
            return Err(wrong_count(file, &temperature, allowed));
        }
        if power.len() != temperature.len() {
            return Err(wrong_count(&power_file, &power, format!("{}, as temperatures", temperature.len())));
        }
        Ok(Self { side, power, temperature })
    }

    fn coefficients(&self) -> Coefficients {
        let cell_side = CHIP_SIDE / self.side as f32;
        let sideways = CONDUCTIVITY * CHIP_THICKNESS;
        let upwards = CONDUCTIVITY * cell_side * cell_side / CHIP_THICKNESS;
        let scale = SHARE_OF_STABLE_STEP / (4.0 * sideways + upwards);
        Coefficients { scale, rx: sideways, ry: sideways, rz: upwards }
    }

    /// Returns the temperatures after `steps` steps, with the kernel's order of operations per cell.
    fn reference(&self, steps: usize) -> Vec<f32> {
        let coefficients = self.coefficients();
        let mut temperature = self.temperature.clone();
        for _ in 0..steps {
            temperature =
                (0..temperature.len()).map(|cell| self.step(&temperature, cell, coefficients)).collect();
        }
        temperature
    }

    /// Returns the temperature of `cell` one step after `temperature`.
    fn step(&self, temperature: &[f32], cell: usize, coefficients: Coefficients) -> f32 {
        let Coefficients { scale, rx, ry, rz } = coefficients;
        let (side, last) = (self.side, self.side - 1);
        let (row, column) = (cell / side, cell % side);
        let here = temperature[cell];
        let north = temperature[if row == 0 { cell } else { cell - side }];
        let south = temperature[if row == last { cell } else { cell + side }];
        let west = temperature[if column == 0 { cell } else { cell - 1 }];
        let east = temperature[if column == last { cell } else { cell + 1 }];
        let down = here.mul_add(-2.0, south + north);
        let across = here.mul_add(-2.0, east + west);
        let gain = down.mul_add(ry, self.power[cell]);
        let gain = across.mul_add(rx, gain);
        let gain = (AMBIENT - here).mul_add(rz, gain);
        gain.mul_add(scale, here)
    }
}

/// Returns the path of the power file that belongs to the temperature file `file`.
fn power_file(file: &Path) -> Result<PathBuf, WorkloadError> {
    let name = file.file_name().and_then(|name| name.to_str()).filter(|name| name.contains("temp"));
    let name = name.ok_or_else(|| WorkloadError::Unreadable {
        file: file.display().to_string(),
        what: "temperatures",
        why: "the file name must contain 'temp', the powers being in the file with 'power' in its place"
            .to_owned(),
    })?;
    Ok(file.with_file_name(name.replacen("temp", "power", 1)))
}

fn read_numbers(file: &Path, one: &str, many: &'static str) -> Result<Vec<f32>, WorkloadError> {
    let text = read_text(file, many)?;
    let mut words = TextWords::new(file, &text);
    let mut numbers = Vec::new();
    while let Some(word) = words.next_word() {
        let number = finite(word).ok_or_else(|| {
            words.refuse(format!("{one} of cell {}", numbers.len()), word, "a finite number")
        })?;
        numbers.push(number);
    }
    Ok(numbers)
}

fn wrong_count(file: &Path, numbers: &[f32], allowed: String) -> WorkloadError {
    let count = numbers.len();
    WorkloadError::bad_input(file, count.max(1), "number of cells", &count.to_string(), allowed)
}

impl Workload for Hotspot {
    fn name(&self) -> &'static str {
        NAME
    }

    fn summary(&self) -> &'static str {
        "temperatures of a chip: a stencil on tiles in shared memory, two time steps per launch"
    }

    fn papers(&self) -> &'static str {
        "LATTE-CC (HOT, 512 x 512), CABA (hs), Dai, chapter 4 (hs)"
    }

    fn group(&self) -> Group {
        Group::Stencils
    }

    fn inputs(&self, input: &Path) -> Vec<PathBuf> {
        std::iter::once(input.to_path_buf()).chain(power_file(input)).collect()
    }

    fn ptx(&self) -> (&'static str, &'static str) {
        ("hotspot.ptx", include_str!("../../kernels/hotspot.ptx"))
    }

    fn description(&self, size: Size) -> String {
        let side = side(size);
        format!("{side} x {side} cells, {} steps, {}", steps(size), mebibytes(3 * 4 * side * side))
    }

    fn input(&self) -> Option<&'static str> {
        Some("a temperature grid of Rodinia, with its power grid beside it")
    }

    fn start(&self, size: Size, input: Option<&Path>) -> Result<Box<dyn HostProgram>, WorkloadError> {
        let chip = input.map_or_else(|| Ok(Chip::generated(side(size))), Chip::read)?;
        Ok(Box::new(PlanRun::new(NAME, move |memory| plan(chip, steps(size), memory))))
    }
}

fn plan(chip: Chip, steps: usize, memory: &mut DeviceMemory) -> Result<Plan, WorkloadError> {
    let power = place_f32s(memory, "power", &chip.power)?;
    let now = place_f32s(memory, "temperature", &chip.temperature)?;
    let mut temperatures = [now, memory.alloc(4 * chip.temperature.len() as u64, "next temperature")?];
    let Coefficients { scale, rx, ry, rz } = chip.coefficients();
    let mut launches = Vec::new();
    for taken in (0..steps).step_by(STEPS_PER_LAUNCH) {
        let count = STEPS_PER_LAUNCH.min(steps - taken);
        let blocks = chip.side.div_ceil(TILE - 2 * count) as u32;
        let pointers = [power, temperatures[0], temperatures[1]].map(Arg::Ptr);
        let counts = [chip.side, chip.side, count].map(int);
        let numbers = [scale, rx, ry, rz, AMBIENT].map(Arg::F32);
        launches.push(Launch {
            kernel: "hotspot".to_owned(),
            dims: LaunchDims::new([blocks, blocks, 1], [TILE as u32, TILE as u32, 1]),
            args: pointers.into_iter().chain(counts).chain(numbers).collect(),
        });
        // The output of a launch is the input of the next.
        temperatures.reverse();
    }
    Ok(Plan::of(launches, move |memory| {
        let got = memory.read_f32s(temperatures[0], chip.temperature.len())?;
        Results { workload: NAME, buffer: "temperature", got: &got }.close(chip.reference(steps), TOLERANCE)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::testing::refusal;

    #[test]
    fn generated_temperatures_are_smooth_and_those_of_a_chip() {
        let chip = Chip::generated(64);
        let hottest = chip.temperature.iter().copied().fold(0.0, f32::max);
        assert!(chip.temperature.iter().all(|t| *t > 320.0) && hottest < 350.0, "up to {hottest} K");
        let rows = chip.temperature.chunks_exact(64);
        let steepest =
            rows.flat_map(|row| row.windows(2)).map(|pair| (pair[0] - pair[1]).abs()).fold(0.0, f32::max);
        assert!(steepest < 0.5, "neighbours differ by up to {steepest} K");
        assert!(chip.power.iter().all(|p| (0.0..0.003).contains(p)));
    }

    #[test]
    fn a_step_changes_every_temperature_by_more_than_the_tolerance_on_average() {
        let chip = Chip::generated(64);
        let after = chip.reference(1);
        let changes =
            chip.temperature.iter().zip(&after).map(|(before, after)| (after - before).abs() / after);
        let mean = changes.sum::<f32>() / after.len() as f32;
        assert!(mean > 20.0 * TOLERANCE, "mean relative change {mean:e}");
        assert!(after.iter().all(|t| (320.0..350.0).contains(t)), "the scheme is stable");
    }

    #[test]
    fn heat_flows_only_towards_the_cold() {
        let level = vec![AMBIENT; 9];
        let mut chip = Chip { side: 3, power: vec![0.0; 9], temperature: level.clone() };
        assert_eq!(chip.reference(5), level, "nothing changes in equilibrium");
        chip.temperature[4] = AMBIENT + 8.0;
        let after = chip.reference(1);
        assert!(after[4] < AMBIENT + 8.0 && after[1] > AMBIENT && after[3] > AMBIENT);
        assert_eq!([after[0], after[2], after[6], after[8]], [AMBIENT; 4], "corners are no neighbours");
    }

    #[test]
    fn malformed_files_are_refused_in_one_line() {
        let read = |file: &Path| {
            std::fs::write(file.with_file_name("power_2"), "0.1\n0.1\n0.1\n").unwrap();
            Chip::read(file)
        };
        let cases = [
            ("temp_2", "320\n321\nabc\n", "temp_2:3: temperature of cell 2 = 'abc': must be a finite number"),
            (
                "temp_2",
                "1\n2\n3\n",
                "temp_2:3: number of cells = '3': must be a square number from 1 to 1073741824",
            ),
            ("temp_2", "", "temp_2:1: number of cells = '0': must be a square number from 1 to 1073741824"),
            ("temp_2", "1\n2\n3\n4\n", "power_2:3: number of cells = '3': must be 4, as temperatures"),
            (
                "heat_2",
                "1\n",
                "heat_2: cannot read temperatures: the file name must contain 'temp', the powers being in the file \
                 with 'power' in its place",
            ),
        ];
        for (name, text, expected) in cases {
            assert_eq!(refusal(name, text, read), expected);
        }
        let missing = refusal("temp_9", "1\n", Chip::read);
        assert!(missing.starts_with("power_9: cannot read powers: "), "{missing}");
    }
}
