//! The JSON that the microbenchmarks write.
use super::device::MeasuredDevice;
use selvedge_gpu::printable::printable;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Max cycles, count and clock of a measurement. Larger values have no use, and would overflow.
const MOST: f64 = 1e15;

/// Reasons for which a file cannot be read as results of the microbenchmarks.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum CalibrationError {
    /// The file cannot be read.
    #[error("cannot read {file}: {why}")]
    Unreadable {
        /// Name of the file.
        file: String,
        /// Error of the operating system.
        why: String,
    },
    /// The text is not the JSON of the microbenchmarks.
    #[error("{file}:{line}: {message}")]
    Json {
        /// Name of the file.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Error of the parser.
        message: String,
    },
    /// A value is outside of its range.
    #[error("{file}: {what} = {value}: must be {allowed}")]
    Value {
        /// Name of the file.
        file: String,
        /// Kernel and field.
        what: String,
        /// The value.
        value: String,
        /// Allowed values.
        allowed: &'static str,
    },
}

/// A measurement: cycles for a number of units of work.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelTime {
    /// Name of the kernel.
    pub name: String,
    /// Parameters of the kernel, such as a stride in bytes.
    pub parameters: BTreeMap<String, u64>,
    /// Core cycles for all units.
    pub cycles: f64,
    /// Number of units.
    pub count: f64,
    /// Unit of work, such as `load` or `byte`.
    pub unit: String,
    /// Source of the cycles: `clock64` or `event`.
    pub source: String,
    /// Loads that hit, for kernels that count them.
    #[serde(default)]
    pub hits: Option<f64>,
}

impl KernelTime {
    /// Returns the cycles per unit.
    #[must_use]
    pub fn cycles_per_unit(&self) -> f64 {
        self.cycles / self.count
    }

    /// Returns the kernel with its parameters, such as `l1d_rate stride=4`.
    #[must_use]
    pub fn title(&self) -> String {
        let parameters = self.parameters.iter().map(|(name, value)| format!(" {name}={value}"));
        std::iter::once(self.name.clone()).chain(parameters).collect()
    }

    /// Returns the value of a parameter; 0 if the kernel lacks it.
    #[must_use]
    pub fn parameter(&self, name: &str) -> u64 {
        self.parameters.get(name).copied().unwrap_or(0)
    }
}

/// The measurements of one device.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// The device.
    pub device: MeasuredDevice,
    /// The measurements.
    pub kernels: Vec<KernelTime>,
}

impl Calibration {
    /// Reads the JSON that the microbenchmarks have written to a file.
    ///
    /// # Errors
    /// Returns a [`CalibrationError`] if the file cannot be read or contains anything else.
    pub fn read(path: &Path) -> Result<Self, CalibrationError> {
        let file = path.display().to_string();
        match selvedge_hw::file::read_text(path, selvedge_hw::file::MOST_TEXT_BYTES) {
            Ok(text) => Self::parse(&file, &text),
            Err(why) => Err(CalibrationError::Unreadable { file, why: why.to_string() }),
        }
    }

    /// Parses the JSON of the microbenchmarks. `file` names it in errors.
    ///
    /// # Errors
    /// Returns a [`CalibrationError`] if the text is anything else.
    pub fn parse(file: &str, text: &str) -> Result<Self, CalibrationError> {
        let found: Self = serde_json::from_str(text).map_err(|error| CalibrationError::Json {
            file: file.into(),
            line: error.line(),
            message: error.to_string(),
        })?;
        found.check(file).map(|()| found)
    }

    fn check(&self, file: &str) -> Result<(), CalibrationError> {
        let is_plain = |word: &str| word.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
        for kernel in &self.kernels {
            let words =
                [&kernel.name, &kernel.unit, &kernel.source].into_iter().chain(kernel.parameters.keys());
            if let Some(word) = words.into_iter().find(|word| !is_plain(word)) {
                return Err(CalibrationError::Value {
                    file: file.into(),
                    what: "a word of a kernel".into(),
                    value: printable(word).to_string(),
                    allowed: "letters, digits and `_`",
                });
            }
        }
        let device = std::iter::once(("device".into(), "core_mhz", self.device.core_mhz));
        let kernels = self.kernels.iter().flat_map(|kernel| {
            let title = kernel.title();
            [(title.clone(), "cycles", kernel.cycles), (title, "count", kernel.count)]
        });
        for (owner, field, value) in device.chain(kernels) {
            if !(value > 0.0 && value <= MOST) {
                return Err(CalibrationError::Value {
                    file: file.into(),
                    what: format!("{owner}: {field}"),
                    value: value.to_string(),
                    allowed: "above 0 and at most 1e15",
                });
            }
        }
        let is_wrong =
            |kernel: &&KernelTime| kernel.hits.is_some_and(|hits| !(0.0..=kernel.count).contains(&hits));
        match self.kernels.iter().find(is_wrong) {
            None => Ok(()),
            Some(kernel) => Err(CalibrationError::Value {
                file: file.into(),
                what: format!("{}: hits", kernel.title()),
                value: kernel.hits.unwrap_or_default().to_string(),
                allowed: "0 to the count",
            }),
        }
    }

    /// Returns the measurements of a kernel.
    pub fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a KernelTime> {
        self.kernels.iter().filter(move |kernel| kernel.name == name)
    }

    /// Returns the measurement of a kernel that has this value of a parameter.
    #[must_use]
    pub fn with(&self, name: &str, parameter: &str, value: u64) -> Option<&KernelTime> {
        self.kernels
            .iter()
            .find(|kernel| kernel.name == name && kernel.parameters.get(parameter) == Some(&value))
    }
}
