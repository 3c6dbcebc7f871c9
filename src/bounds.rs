//! `--max-cycles`, `--max-instructions` and `--timeout`: limits of a run.
use clap::Args;
use selvedge_sim::gpu::Bounds;
use std::time::Duration;

/// The limits, as clap reads them.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct BoundOptions {
    /// End a run after N core cycles, write its report, and exit with 3
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_cycles: Option<u64>,
    /// End a run after the core cycle in which it has issued N thread instructions
    #[arg(help_heading = "Limits", long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_instructions: Option<u64>,
    /// End a run after this time on the host, such as 90s, 10m or 2h; the last simulated cycle depends on the host
    #[arg(help_heading = "Limits", long, value_name = "DURATION", value_parser = duration)]
    pub timeout: Option<Duration>,
}

impl BoundOptions {
    /// Returns the limits that end a run in the same cycle on every host.
    pub fn bounds(&self) -> Bounds {
        Bounds { cycles: self.max_cycles, instructions: self.max_instructions }
    }
}

/// Parses a number of seconds, minutes or hours.
pub fn duration(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("m", 60), ("h", 3600)];
    let seconds = units.into_iter().find_map(|(unit, seconds)| {
        let number = text.strip_suffix(unit)?.parse::<u64>().ok()?;
        number.checked_mul(seconds).filter(|seconds| *seconds > 0)
    });
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| "must be an integer with s, m or h, such as 90s, 10m or 2h".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit() {
        for (text, seconds) in [("90s", 90), ("10m", 600), ("2h", 7200)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "s", "90", "0s", "-1s", "1.5h", "1d", "18446744073709551615h"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
