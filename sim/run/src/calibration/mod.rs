//! Results of the microbenchmarks in `calibrate/`: the values of a configuration that they determine, and the error of a simulated GPU
//! against a measured one.
mod agreement;
mod device;
mod fit;
mod measured;
mod predicted;
#[cfg(test)]
mod tests;

pub use agreement::{Agreement, KernelPair, agreement};
pub use device::MeasuredDevice;
pub use fit::{CalibrationFit, FittedKey, fit};
pub use measured::{Calibration, CalibrationError, KernelTime};
