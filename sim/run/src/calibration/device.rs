//! Description of a device that the microbenchmarks measured.
use serde::Deserialize;

/// Properties of the device, as the CUDA runtime states them, and its measured clock.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredDevice {
    /// Name of the device.
    pub name: String,
    /// Compute capability, such as 90 for 9.0.
    pub capability: u32,
    /// Number of SMs.
    pub sms: u32,
    /// Stated max core clock, kHz.
    pub core_khz: u32,
    /// Stated memory clock, kHz; two transfers per cycle.
    pub memory_khz: u32,
    /// Width of the memory bus, bits.
    pub bus_bits: u32,
    /// Stated size of the L2, bytes.
    pub l2_bytes: u64,
    /// Version of the CUDA runtime, such as 13000.
    pub runtime: u32,
    /// Version of CUDA that the driver supports.
    pub driver: u32,
    /// Measured core clock, MHz.
    pub core_mhz: f64,
}
