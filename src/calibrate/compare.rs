//! `selvedge calibrate compare`: measured and simulated cycles of each kernel.
use super::{chart, read};
use crate::arguments::CorrelateOptions;
#[cfg(target_os = "linux")]
use crate::cuda_command::run_silently;
use crate::error::Failure;
use crate::output::{Plan, width};
use selvedge_area::Table;
#[cfg(target_os = "linux")]
use selvedge_hw::file::{MOST_TEXT_BYTES, read_text};
use selvedge_sim::calibration::{Agreement, Calibration, KernelPair, agreement};
#[cfg(target_os = "linux")]
use std::path::Path;

/// Compares the results of the microbenchmarks on a real GPU with those on a simulated one.
pub fn run(options: &CorrelateOptions) -> Result<(), Failure> {
    let mut plan = Plan::default();
    plan.read(&options.json);
    options.simulated.iter().for_each(|file| plan.read(file));
    plan.read_config(&options.config);
    options.csv.iter().for_each(|target| plan.write_or_print("--csv", target));
    options.plot.iter().for_each(|file| plan.write("--plot", file));
    let mut outputs = plan.check()?;
    let measured = read(&options.json)?;
    let simulated = simulated(options)?;
    let found = agreement(&measured, &simulated);
    if found.pairs.is_empty() {
        return Err(Failure::usage(format!(
            "{}: no kernel is also in the simulated results",
            options.json.display()
        )));
    }
    if let Some(target) = &options.csv {
        outputs.write_or_print(target, &csv(&found));
    }
    if let Some(file) = &options.plot {
        let title = format!("Cycles per unit: {} and {}", measured.device.name, options.config);
        if let Some(text) = outputs.note(chart::draw(&title, &found)) {
            outputs.write(file, text);
        }
    }
    outputs.show(&table(&found));
    outputs.finish(None)
}

/// Reads the results of the simulated GPU, or runs the program on it.
#[cfg(target_os = "linux")]
fn simulated(options: &CorrelateOptions) -> Result<Calibration, Failure> {
    let (None, Some(program)) = (&options.simulated, &options.program) else { return kept(options) };
    let file = tempfile::NamedTempFile::new()
        .map_err(|why| Failure::usage(format!("cannot create a temporary file: {why}")))?;
    // A simulated GPU gives the same cycles each time.
    run_silently(&options.config, &[program.clone(), file.path().into(), "1".into()])?;
    let results = format!("results of {}", Path::new(program).display());
    let text = read_text(file.path(), MOST_TEXT_BYTES)
        .map_err(|why| Failure::usage(format!("cannot read the {results}: {why}")))?;
    Calibration::parse(&results, &text).map_err(Failure::usage)
}

#[cfg(not(target_os = "linux"))]
fn simulated(options: &CorrelateOptions) -> Result<Calibration, Failure> {
    kept(options)
}

fn kept(options: &CorrelateOptions) -> Result<Calibration, Failure> {
    let file = options.simulated.as_deref();
    read(file.ok_or_else(|| Failure::usage("must be given --simulated FILE.json or -- PROGRAM"))?)
}

/// Returns the table of the kernels, then the kernels of one GPU alone and the summary.
fn table(found: &Agreement) -> String {
    let mut table = Table::new(&["kernel", "cycles per", "measured", "simulated", "error"]);
    for pair in &found.pairs {
        table.row(vec![
            pair.title.clone(),
            pair.unit.clone(),
            short(pair.measured),
            short(pair.simulated),
            format!("{:+.1}%", 100.0 * pair.error()),
        ]);
    }
    let mut text = table.render_within(width());
    if !found.alone.is_empty() {
        text += &format!("Not compared: {}\n", found.alone.join(", "));
    }
    let (count, mean) = (found.pairs.len(), 100.0 * found.mean_error().unwrap_or_default());
    let correlation = found.correlation().map_or("-".into(), |value| format!("{value:.4}"));
    text + &format!(
        "{count} measurements: mean absolute error {mean:.1}%, correlation of the logarithms {correlation}\n"
    )
}

/// Returns a number with four digits.
fn short(value: f64) -> String {
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 9.0) as usize;
    format!("{value:.digits$}")
}

fn csv(found: &Agreement) -> String {
    let line = |pair: &KernelPair| {
        let (measured, simulated, error) = (pair.measured, pair.simulated, pair.error());
        format!("{},{},{measured},{simulated},{error}\n", pair.title, pair.unit)
    };
    let head = "kernel,unit,measured_cycles,simulated_cycles,error\n".to_owned();
    std::iter::once(head).chain(found.pairs.iter().map(line)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!([0.001_234_5, 4.0, 185.06, 48_016.4].map(short), ["0.001234", "4.000", "185.1", "48016"]);
    }
}
