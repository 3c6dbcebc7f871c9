//! Measures the tensor cores: latency and rate of matrix products, by shape and type.
use super::bench::FidelityBench;
use super::cores::{chain_step, result_after, shortfall};
use super::measurement::{FidelityError, Measurement};
use selvedge_gpu::config::GpuConfig;
use std::sync::Arc;

/// A product of an m x k and a k x 8 matrix.
pub struct Product {
    /// Shape and types as in PTX.
    form: &'static str,
    /// Rows and inner size.
    m: u32,
    k: u32,
    /// Bits of a factor's element.
    bits: u32,
    /// Registers of the sum, of the first and of the second factor, and the type of the sum's registers.
    registers: [u32; 3],
    sum: &'static str,
}

const PRODUCTS: [Product; 9] = [
    product("m16n8k8.row.col.f32.f16.f16.f32", (16, 8, 16), [4, 2, 1], "f32"),
    product("m16n8k16.row.col.f32.f16.f16.f32", (16, 16, 16), [4, 4, 2], "f32"),
    product("m16n8k4.row.col.f32.tf32.tf32.f32", (16, 4, 32), [4, 2, 1], "f32"),
    product("m16n8k8.row.col.f32.tf32.tf32.f32", (16, 8, 32), [4, 4, 2], "f32"),
    product("m8n8k16.row.col.s32.s8.s8.s32", (8, 16, 8), [2, 1, 1], "b32"),
    product("m16n8k32.row.col.s32.s8.s8.s32", (16, 32, 8), [4, 4, 2], "b32"),
    product("m16n8k64.row.col.s32.s4.s4.s32", (16, 64, 4), [4, 4, 2], "b32"),
    product("m16n8k256.row.col.s32.b1.b1.s32.and.popc", (16, 256, 1), [4, 4, 2], "b32"),
    product("m8n8k4.row.col.f64.f64.f64.f64", (8, 4, 64), [2, 1, 1], "f64"),
];

const fn product(
    form: &'static str,
    (m, k, bits): (u32, u32, u32),
    registers: [u32; 3],
    sum: &'static str,
) -> Product {
    Product { form, m, k, bits, registers, sum }
}

/// Sums that do not depend on each other in the measurement of a rate.
const SUMS: u32 = 4;

impl Product {
    /// Returns the product with this shape and this type of factors, such as `m16n8k16` and `f16`.
    pub fn find(shape: &str, factors: &str) -> Option<&'static Self> {
        let name = format!("matrix product {shape} of {factors}");
        PRODUCTS.iter().find(|product| product.name() == name)
    }

    fn multiply_adds(&self) -> u32 {
        self.m * 8 * self.k
    }

    /// Returns the cycles for which it occupies a tensor core: multiply-adds over the rate, in proportion to the factors' bits.
    fn interval(&self, config: &GpuConfig) -> u32 {
        let tensor = &config.sm.tensor;
        match self.bits {
            64 => self.multiply_adds().div_ceil(tensor.fp64_macs),
            bits => (self.multiply_adds() * bits).div_ceil(16 * tensor.macs),
        }
    }

    /// Returns the cycles by which operand collection takes longer than for operands in different banks.
    fn late_reads(&self, config: &GpuConfig) -> u32 {
        let collector = &config.sm.collector;
        if !collector.is_there() {
            return 0;
        }
        let banks = collector.banks / if collector.sub_cores { config.sm.schedulers } else { 1 };
        let reads = self.registers.iter().sum::<u32>().div_ceil(banks);
        reads.div_ceil(collector.steps) - 1
    }

    /// Returns the cycles from the issue of a product to that of the next one that adds to its sum: the latency of a product of one
    /// cycle, the further cycles in the tensor core, and the cycles in which register banks read more operands than one each.
    pub fn chain_cycles(&self, config: &GpuConfig) -> u32 {
        result_after(config, config.sm.tensor.latency + self.interval(config) - 1) + self.late_reads(config)
    }

    /// Returns the max products per cycle of an SM.
    pub fn peak_rate(&self, config: &GpuConfig) -> f64 {
        let sm = &config.sm;
        f64::from(sm.schedulers).min(f64::from(sm.tensor.pipes) / f64::from(self.interval(config)))
    }

    /// Returns the name in a table, such as `m16n8k16 of f16`.
    fn name(&self) -> String {
        let words: Vec<&str> = self.form.split('.').collect();
        format!("matrix product {} of {}", words[0], words[4])
    }

    /// Declares the registers.
    fn head(&self) -> String {
        let [sum, first, second] = self.registers;
        let factor = if self.bits == 64 { "f64" } else { "b32" };
        format!(".reg .{} %sum<{}>;\n.reg .{factor} %fac<{}>;\n", self.sum, sum * SUMS, first + second)
    }

    /// Returns the product whose sum is number `place`.
    fn text(&self, place: u32) -> String {
        let list = |name: &str, from: u32, count: u32| {
            let all: Vec<String> = (from..from + count).map(|n| format!("%{name}{n}")).collect();
            format!("{{{}}}", all.join(", "))
        };
        let [sum, first, second] = self.registers;
        let sums = list("sum", place * sum, sum);
        let (a, b) = (list("fac", 0, first), list("fac", first, second));
        format!("mma.sync.aligned.{} {sums}, {a}, {b}, {sums};\n", self.form)
    }
}

/// Measures nothing without tensor cores.
pub fn measure(config: &Arc<GpuConfig>) -> Result<Vec<Measurement>, FidelityError> {
    let tensor = &config.sm.tensor;
    let executes = |product: &&Product| tensor.pipes > 0 && (product.bits < 64 || tensor.fp64_macs > 0);
    let mut found = Vec::new();
    for product in PRODUCTS.iter().filter(executes) {
        found.push(latency(config, product)?);
        found.push(rate(config, product)?);
    }
    Ok(found)
}

/// Adds to one sum again and again.
fn latency(config: &Arc<GpuConfig>, product: &Product) -> Result<Measurement, FidelityError> {
    let mut bench = FidelityBench::new(config);
    let step = chain_step(&mut bench, &product.head(), &product.text(0), (32, 0), (8, 24))?;
    let expected = f64::from(product.chain_cycles(config));
    Ok(Measurement::exact(product.name(), "cycles", expected, step))
}

/// Runs independent products of many warps. Expects that they keep all tensor cores busy, up to the issue rate.
fn rate(config: &Arc<GpuConfig>, product: &Product) -> Result<Measurement, FidelityError> {
    let sm = &config.sm;
    let mut bench = FidelityBench::new(config);
    let body: String = (0..SUMS).map(|place| product.text(place)).collect();
    let (warps, ctas) = (8, 4);
    let (grid, block) = (sm.count * ctas, 32 * warps);
    let head = product.head();
    let mut time = |repeat: usize| bench.run(&format!("{head}{}", body.repeat(repeat)), grid, block, 0);
    let (short, long) = (time(4)?, time(20)?);
    let products = f64::from(ctas * warps * SUMS * 16) / (long - short) as f64;
    let work = f64::from(product.multiply_adds());
    Ok(Measurement::below(
        format!("{}, rate", product.name()),
        "multiply-adds per cycle and SM",
        (product.peak_rate(config) * work, shortfall(config, 0.01, 0.2)),
        products * work,
    ))
}
