//! Values of a configuration that follow from measurements.
//!
//! A fit inverts the formulas by which the simulator is verified: a key gets the value with which the formula gives the measured
//! cycles. Keys that no kernel measures keep the value of the base.
use super::measured::{Calibration, KernelTime};
use super::predicted;
use crate::fidelity::FidelityError;
use crate::fidelity::bench::FidelityBench;
use crate::fidelity::cores::{address_generation, lines_and_cycles};
use crate::fidelity::tensor::Product;
use selvedge_gpu::cache::SECTOR_BYTES;
use selvedge_gpu::config::{Fetch, GpuConfig, MOST_L1D_BANKS};
use selvedge_gpu::printable::printable;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

/// Max share by which a rate may exceed its peak, because the ends of a run overlap.
const ABOVE_PEAK: f64 = 1.02;
/// Max value of a latency's key.
const MOST_CYCLES: u32 = 1000;
/// Max ways of a cache.
const MOST_WAYS: f64 = 512.0;

/// A key whose value follows from a measurement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FittedKey {
    /// Key with its section, such as `l2.hit_latency`.
    pub key: &'static str,
    /// Value, as written in a file.
    pub value: String,
    /// Measurement that determines the value.
    pub comment: String,
}

/// The values of a configuration that follow from the measurements of a device.
#[derive(Clone, Debug)]
pub struct CalibrationFit {
    /// The keys, by section.
    pub keys: Vec<FittedKey>,
    /// Names of kernels that determine no key.
    pub unused: Vec<String>,
}

/// Function from a configuration to one of its values.
type KeyField = fn(&mut GpuConfig) -> &mut u32;

/// Fits a configuration to the measurements of a device. `base` has the values of all other keys.
///
/// # Errors
/// Fails if `base` cannot run an empty kernel.
pub fn fit(measured: &Calibration, base: &GpuConfig) -> Result<CalibrationFit, FidelityError> {
    let mut fitter = Fitter { measured, base, config: base.clone(), keys: Vec::new(), used: BTreeSet::new() };
    fitter.clocks();
    fitter.arithmetic();
    fitter.tensor();
    fitter.shared();
    fitter.l1d();
    fitter.l2();
    fitter.atomics();
    fitter.launch()?;
    Ok(fitter.end())
}

struct Fitter<'a> {
    measured: &'a Calibration,
    base: &'a GpuConfig,
    /// The base with the values fitted so far.
    config: GpuConfig,
    keys: Vec<FittedKey>,
    /// Names of the kernels that determine a key.
    used: BTreeSet<&'a str>,
}

impl<'a> Fitter<'a> {
    fn note(&mut self, key: &'static str, value: impl ToString, comment: String) {
        self.keys.push(FittedKey { key, value: value.to_string(), comment });
    }

    fn note_kernel(&mut self, key: &'static str, value: impl ToString, kernel: &'a KernelTime, more: &str) {
        self.used.insert(&kernel.name);
        let cycles = kernel.cycles_per_unit();
        let (title, unit, source) = (kernel.title(), &kernel.unit, &kernel.source);
        self.note(key, value, format!("{title}: {cycles:.2} cycles per {unit} by {source}{more}"));
    }

    /// Returns the first measurement of a kernel.
    fn kernel(&self, name: &'a str) -> Option<&'a KernelTime> {
        self.measured.of(name).next()
    }

    /// Sets the value among `allowed` for which `cost` is least. Among equal values, the base's is preferred, then the first.
    fn choose(
        &mut self,
        (key, place): (&'static str, KeyField),
        allowed: impl IntoIterator<Item = u32>,
        kernel: &'a KernelTime,
        formula: impl Fn(&GpuConfig) -> f64,
        cost: impl Fn(f64) -> f64,
    ) {
        let base = *place(&mut self.base.clone());
        let mut best: Option<(f64, u32)> = None;
        for value in allowed {
            *place(&mut self.config) = value;
            let cost = cost(formula(&self.config));
            if best.is_none_or(|(least, _)| cost < least || cost == least && value == base) {
                best = Some((cost, value));
            }
        }
        let Some((_, value)) = best else { return };
        *place(&mut self.config) = value;
        let expected = formula(&self.config);
        self.note_kernel(key, value, kernel, &format!("; formula {expected:.2}; base {base}"));
    }

    /// Sets the value with which the formula comes nearest to the measured cycles.
    fn nearest(
        &mut self,
        of: (&'static str, KeyField),
        allowed: impl IntoIterator<Item = u32>,
        kernel: Option<&'a KernelTime>,
        formula: impl Fn(&GpuConfig) -> f64,
    ) {
        let Some(kernel) = kernel else { return };
        let cycles = kernel.cycles_per_unit();
        self.choose(of, allowed, kernel, formula, |expected| (expected - cycles).abs());
    }

    /// Sets the value of the slowest peak that is not below the measured rate. A kernel may stay below its peak, but not exceed it.
    fn peak(
        &mut self,
        of: (&'static str, KeyField),
        allowed: impl IntoIterator<Item = u32>,
        kernel: Option<&'a KernelTime>,
        formula: impl Fn(&GpuConfig) -> f64,
    ) {
        let Some(kernel) = kernel else { return };
        let most = kernel.cycles_per_unit() * ABOVE_PEAK;
        let cost = |expected: f64| if expected <= most { most - expected } else { 1e9 + expected };
        self.choose(of, allowed, kernel, formula, cost);
    }

    fn clocks(&mut self) {
        let device = &self.measured.device;
        let core = device.core_mhz.round().clamp(1.0, 1e5) as u32;
        self.note("clock.core_mhz", core, format!("clock64 over events: {:.2} MHz", device.core_mhz));
        self.config.clock.core_mhz = core;
        let old = &self.base.clock;
        let follow: [(&'static str, u32, KeyField); 2] = [
            ("clock.interconnect_mhz", old.interconnect_mhz, |config| &mut config.clock.interconnect_mhz),
            ("clock.l2_mhz", old.l2_mhz, |config| &mut config.clock.l2_mhz),
        ];
        for (key, mhz, place) in follow {
            if mhz == old.core_mhz {
                *place(&mut self.config) = core;
                self.note(key, core, "the core clock, as in the base".into());
            }
        }
        if device.memory_khz > 0 {
            // The runtime states the clock with two transfers per cycle.
            let rate = f64::from(self.base.dram.data_rate);
            let mhz = (f64::from(device.memory_khz) * 2.0 / (1000.0 * rate)).round() as u32;
            self.config.clock.dram_mhz = mhz;
            let comment = format!("property memoryClockRate: {} kHz", device.memory_khz);
            self.note("clock.dram_mhz", mhz, comment);
        }
        let channel = 8 * self.base.dram.bus_bytes;
        let partitions = device.bus_bits / channel;
        if device.bus_bits.is_multiple_of(channel)
            && (1..=64).contains(&partitions)
            && partitions != self.base.l2.partitions
        {
            self.config.l2.partitions = partitions;
            let comment = format!(
                "property memoryBusWidth: {} bits; base {}",
                device.bus_bits, self.base.l2.partitions
            );
            self.note("l2.partitions", partitions, comment);
        }
        self.config.sm.count = device.sms;
        self.note("sm.count", device.sms, "property multiProcessorCount".into());
    }

    fn arithmetic(&mut self) {
        let latencies: [(&'static str, &str, KeyField); 8] = [
            ("sm.alu.int_latency", "int_latency", |c| &mut c.sm.alu.int_latency),
            ("sm.alu.int_mul_latency", "int_multiply_latency", |c| &mut c.sm.alu.int_mul_latency),
            ("sm.alu.int_div_latency", "int_divide_latency", |c| &mut c.sm.alu.int_div_latency),
            ("sm.alu.fp32_latency", "fp32_latency", |c| &mut c.sm.alu.fp32_latency),
            ("sm.sfu.latency", "special_latency", |c| &mut c.sm.sfu.latency),
            ("sm.sfu.div_latency", "fp32_divide_latency", |c| &mut c.sm.sfu.div_latency),
            ("sm.fp64.latency", "fp64_latency", |c| &mut c.sm.fp64.latency),
            ("sm.fp64.div_latency", "fp64_divide_latency", |c| &mut c.sm.fp64.div_latency),
        ];
        for (key, kernel, place) in latencies {
            let formula = |config: &GpuConfig| predicted::chain(config, *place(&mut config.clone()));
            self.nearest((key, place), 1..=MOST_CYCLES, self.kernel(kernel), formula);
        }
        // Hardware has powers of two. Other values would fit the loop around the instructions.
        let intervals = || (0..=7).map(|bits| 1 << bits);
        self.peak(
            ("sm.alu.interval", |c| &mut c.sm.alu.interval),
            intervals(),
            self.kernel("fp32_rate"),
            |c| predicted::pipes(c, c.sm.alu.pipes, c.sm.alu.interval),
        );
        let int_pipes = self.base.sm.alu.int_pipes;
        if int_pipes > 0 {
            let of: (_, KeyField) = ("sm.alu.int_interval", |c| &mut c.sm.alu.int_interval);
            self.peak(of, intervals(), self.kernel("int_rate"), |c| {
                predicted::pipes(c, int_pipes, c.sm.alu.int_interval)
            });
        }
        let special = self.kernel("special_rate");
        self.peak(("sm.sfu.interval", |c| &mut c.sm.sfu.interval), intervals(), special, |c| {
            predicted::pipes(c, c.sm.sfu.pipes, c.sm.sfu.interval)
        });
        let double = self.kernel("fp64_rate");
        self.peak(("sm.fp64.interval", |c| &mut c.sm.fp64.interval), intervals(), double, |c| {
            predicted::pipes(c, c.sm.fp64.pipes, c.sm.fp64.interval)
        });
        let lanes = (0..=5).map(|bits| 1 << bits);
        let loads = self.measured.with("l1d_rate", "stride", 4);
        self.peak(("sm.lsu.lanes", |c| &mut c.sm.lsu.lanes), lanes, loads, |c| {
            32.0 / f64::from(c.sm.lsu.lanes)
        });
        let sectors = self.base.l1d.line_bytes / SECTOR_BYTES;
        let banks = (0..=MOST_L1D_BANKS.ilog2())
            .map(|bits| 1 << bits)
            .filter(|banks| *banks == 1 || *banks >= sectors);
        let apart = self.measured.with("l1d_rate", "stride", 160);
        self.peak(("l1d.banks", |c| &mut c.l1d.banks), banks, apart, |c| {
            f64::from(lines_and_cycles(c, 160).1.max(address_generation(c)))
        });
    }

    /// Sets rates before the latency, whose formula depends on them. A product of 16 x 8 x 16 has the least effect of fixed times.
    fn tensor(&mut self) {
        if self.base.sm.tensor.pipes == 0 {
            return;
        }
        let powers = || (0..=16).map(|bits| 1 << bits);
        let f16 = [
            ("m16n8k16", "tensor_m16n8k16_f16_rate", "tensor_m16n8k16_f16_latency"),
            ("m16n8k8", "tensor_m16n8k8_f16_rate", "tensor_m16n8k8_f16_latency"),
        ];
        let is_measured = |(_, rate, _): &&(&str, &'a str, &'a str)| self.kernel(rate).is_some();
        if let Some((shape, rate, latency)) = f16.iter().find(is_measured)
            && let Some(product) = Product::find(shape, "f16")
        {
            self.peak(("sm.tensor.macs", |c| &mut c.sm.tensor.macs), powers(), self.kernel(rate), |c| {
                1.0 / product.peak_rate(c)
            });
            let of: (_, KeyField) = ("sm.tensor.latency", |c| &mut c.sm.tensor.latency);
            self.nearest(of, 1..=MOST_CYCLES, self.kernel(latency), |c| f64::from(product.chain_cycles(c)));
        }
        if let Some(product) = Product::find("m8n8k4", "f64").filter(|_| self.base.sm.tensor.fp64_macs > 0) {
            let rate = self.kernel("tensor_m8n8k4_f64_rate");
            self.peak(("sm.tensor.fp64_macs", |c| &mut c.sm.tensor.fp64_macs), powers(), rate, |c| {
                1.0 / product.peak_rate(c)
            });
        }
    }

    /// Lanes whose words are one row of banks apart meet in one bank. A longer stride is no slower.
    fn shared(&mut self) {
        let all: Vec<&'a KernelTime> = self.measured.of("shared_latency").collect();
        let (Some(first), Some(last)) = (all.first(), all.last()) else { return };
        let step = (last.cycles_per_unit() - first.cycles_per_unit()) / 31.0;
        let is_slowest =
            |kernel: &&&'a KernelTime| kernel.cycles_per_unit() > last.cycles_per_unit() - step / 2.0;
        let slowest =
            all.iter().find(is_slowest).filter(|kernel| step > 0.5 && kernel.title() != last.title());
        if let Some(kernel) = slowest {
            let banks = (kernel.parameter("stride") / 4) as u32;
            self.config.sm.lsu.shared_banks = banks;
            let more = format!("; no more with longer strides; base {}", self.base.sm.lsu.shared_banks);
            self.note_kernel("sm.lsu.shared_banks", banks, kernel, &more);
        }
        let of: (_, KeyField) = ("sm.lsu.shared_latency", |c| &mut c.sm.lsu.shared_latency);
        let kernel = self.measured.with("shared_latency", "stride", 4);
        self.nearest(of, 1..=MOST_CYCLES, kernel, predicted::shared);
    }

    fn l1d(&mut self) {
        // The latency is in front of the tags if the base has a pipeline there.
        let of: (_, KeyField) = match self.base.l1d.front_latency {
            0 => ("l1d.hit_latency", |c| &mut c.l1d.hit_latency),
            _ => ("l1d.front_latency", |c| &mut c.l1d.front_latency),
        };
        self.nearest(of, 1..=MOST_CYCLES, self.kernel("l1d_latency"), predicted::l1d_hit);
        if let Some((kernel, bytes)) =
            self.sector("l1d_sector", "l1d_latency", "l2_latency", self.base.l1d.line_bytes)
        {
            self.config.l1d.sector_bytes = bytes;
            let more = format!("; the first distance that misses; base {}", self.base.l1d.sector_bytes);
            self.note_kernel("l1d.sector_bytes", bytes, kernel, &more);
        }
        let Some((kernel, bytes)) = self.capacity("l1d_capacity", |kernel| kernel.parameter("bytes") as f64)
        else {
            return;
        };
        let l1d = self.base.l1d;
        let way = l1d.sets * l1d.line_bytes;
        let ways = (bytes / f64::from(way)).round().clamp(1.0, MOST_WAYS) as u32;
        let more = |base: u32| format!("; {bytes:.0} bytes hit; base {base}");
        if l1d.unified_bytes == 0 {
            self.note_kernel("l1d.ways", ways, kernel, &more(l1d.ways));
            return;
        }
        // The kernel has no shared memory, so the L1D has all but the least choice.
        let unified = ways * way + l1d.shared_choices[0];
        self.note_kernel("l1d.unified_bytes", unified, kernel, &more(l1d.unified_bytes));
        if l1d.shared_choices.iter().any(|choice| *choice > unified) {
            let mut choices: Vec<u32> =
                l1d.shared_choices.into_iter().filter(|choice| *choice <= unified).collect();
            choices.dedup();
            self.note(
                "l1d.shared_choices",
                format!("{choices:?}"),
                "the base's, up to l1d.unified_bytes".into(),
            );
        }
    }

    fn l2(&mut self) {
        let of: (_, KeyField) = ("l2.hit_latency", |c| &mut c.l2.hit_latency);
        self.nearest(of, 1..=MOST_CYCLES, self.kernel("l2_latency"), predicted::l2_hit);
        if let Some((kernel, bytes)) =
            self.sector("l2_sector", "l2_latency", "dram_latency", self.base.l2.line_bytes)
            && (self.base.l2.fetch == Fetch::Requested
                || self.base.l2.sector_bytes == self.base.l2.line_bytes)
        {
            self.config.l2.sector_bytes = bytes;
            let more = format!("; the first distance that misses; base {}", self.base.l2.sector_bytes);
            self.note_kernel("l2.sector_bytes", bytes, kernel, &more);
        }
        let total = self.measured.device.l2_bytes as f64;
        let footprint = |kernel: &KernelTime| total * kernel.parameter("l2_percent") as f64 / 100.0;
        if let Some((kernel, bytes)) = self.capacity("l2_capacity", footprint) {
            let l2 = &self.config.l2;
            let way = f64::from(l2.all_slices()) * f64::from(l2.sets) * f64::from(l2.line_bytes);
            let ways = (bytes / way).round().clamp(1.0, MOST_WAYS) as u32;
            let more = format!("; {bytes:.0} bytes hit; base {}", self.base.l2.ways);
            self.note_kernel("l2.ways", ways, kernel, &more);
        }
        let of: (_, KeyField) = ("dram.controller_latency", |c| &mut c.dram.controller_latency);
        self.nearest(of, 1..=MOST_CYCLES, self.kernel("dram_latency"), predicted::dram_read);
    }

    fn atomics(&mut self) {
        let [word, line] = [1, 32].map(|words| self.measured.with("atomic_rate", "words", words));
        let of: (_, KeyField) = ("l2.atomic_word_cycles", |c| &mut c.l2.atomic_word_cycles);
        self.peak(of, 1..=MOST_CYCLES, word, predicted::atomic_word);
        let of: (_, KeyField) = ("l2.atomic_operations", |c| &mut c.l2.atomic_operations);
        self.peak(of, 1..=64, line, predicted::atomic_line);
    }

    fn launch(&mut self) -> Result<(), FidelityError> {
        let Some(kernel) = self.kernel("launch") else { return Ok(()) };
        let mut config = self.base.clone();
        config.sm.launch_latency = 0;
        let empty = FidelityBench::new(&Arc::new(config)).run_empty()? as f64;
        let near = (kernel.cycles_per_unit() - empty).clamp(0.0, f64::from(1 << 20)) as u32;
        let of: (_, KeyField) = ("sm.launch_latency", |c| &mut c.sm.launch_latency);
        self.nearest(of, near..=near + 1, Some(kernel), |c| f64::from(c.sm.launch_latency) + empty);
        Ok(())
    }

    /// Returns the min distance of two words in bytes at which both miss.
    fn sector(&self, name: &'a str, hit: &'a str, miss: &'a str, most: u32) -> Option<(&'a KernelTime, u32)> {
        let [hit, miss] = [hit, miss].map(|name| self.kernel(name).map(KernelTime::cycles_per_unit));
        // Half of the loads hit, or none.
        let middle = (hit? + 3.0 * miss?) / 4.0;
        let kernel = self.measured.of(name).find(|kernel| kernel.cycles_per_unit() > middle)?;
        let bytes = (kernel.parameter("distance") as u32).next_power_of_two();
        Some((kernel, bytes.clamp(32, most.max(32))))
    }

    /// Returns the bytes that hit in the smallest footprint with misses in a quarter of its loads.
    fn capacity(&self, name: &'a str, bytes: impl Fn(&KernelTime) -> f64) -> Option<(&'a KernelTime, f64)> {
        let share = |kernel: &KernelTime| Some(kernel.hits? / kernel.count);
        let kernel = self.measured.of(name).find(|kernel| share(kernel).is_some_and(|share| share < 0.75))?;
        Some((kernel, bytes(kernel) * share(kernel)?))
    }

    fn end(mut self) -> CalibrationFit {
        self.keys.sort_by_key(|fitted| fitted.key.rsplit_once('.').map(|(section, _)| section));
        let names: BTreeSet<&str> = self.measured.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
        let unused = names.difference(&self.used).map(|name| (*name).to_owned()).collect();
        CalibrationFit { keys: self.keys, unused }
    }
}

impl CalibrationFit {
    /// Returns the value of a key, if a measurement determines it.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&str> {
        self.keys.iter().find(|fitted| fitted.key == key).map(|fitted| fitted.value.as_str())
    }

    /// Returns the configuration `name` as TOML, on the built-in configuration `base`.
    #[must_use]
    pub fn to_toml(&self, name: &str, base: &str, measured: &Calibration) -> String {
        let device = &measured.device;
        let (driver, runtime) = (device.driver, device.runtime);
        let mut text = format!(
            "# Fitted by `selvedge calibrate fit` to measurements of {}, compute capability {}.{}, CUDA runtime {runtime}, driver {driver}.\n\
             # Keys that are absent here have the values of `base`: no kernel measures them.\n",
            printable(&device.name),
            device.capability / 10,
            device.capability % 10,
        );
        if !self.unused.is_empty() {
            let names = self.unused.join(", ");
            writeln!(text, "# Kernels that determine no key: {}.", printable(&names))
                .expect("a string takes it");
        }
        let quoted = |value: &str| toml::Value::from(value).to_string();
        write!(text, "base = {}\nname = {}\n", quoted(base), quoted(name)).expect("a string takes it");
        let mut section = "";
        for FittedKey { key, value, comment } in &self.keys {
            let Some((of, last)) = key.rsplit_once('.') else { continue };
            if of != section {
                section = of;
                write!(text, "\n[{section}]\n").expect("a string takes it");
            }
            writeln!(text, "{:<24} # {}", format!("{last} = {value}"), printable(comment))
                .expect("a string takes it");
        }
        text
    }
}
