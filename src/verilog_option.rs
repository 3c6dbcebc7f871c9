//! `--lockstep` and `--verilog`: which forms of a block run, and Verilog of the user in place of a block.
use crate::error::Failure;
use crate::isolated::caches_of_user;
use crate::output::say;
use clap::Args;
use selvedge_hw::{BlockCompiler, Engine, Side};
use selvedge_sim::best::settled;
use selvedge_sim::config::GpuConfig;
use selvedge_sim::mechanism::MechanismSpec;
use selvedge_sim::run::instances;
use selvedge_testbenches::compiler::VerilogCompiler;
use selvedge_testbenches::own::Own;
use std::path::PathBuf;
use std::sync::Arc;

/// The two options, as clap reads them.
#[derive(Args, Clone, Debug, Default)]
pub struct VerilogOptions {
    /// Run each block in two forms beside each other and compare them in every cycle: two of model, rtl, verilog, such as
    /// rtl,verilog
    #[arg(help_heading = "Verification", long, value_name = "FORM,FORM", value_parser = Engine::lockstep, conflicts_with = "engine")]
    pub lockstep: Option<Engine>,
    /// Put your own Verilog or SystemVerilog in place of a block: a module with the block's ports, TOP or the block's name;
    /// latency=N states that of a codec where it is another one; may be repeated (see docs/cosimulation.md)
    #[arg(help_heading = "Verification", long, value_name = "BLOCK=FILE[,FILE...][:TOP][,latency=N]")]
    pub verilog: Vec<Own>,
}

impl VerilogOptions {
    /// Returns what compiles Verilog in runs under `engine`, where they have any.
    ///
    /// # Errors
    /// A block that does not exist or is named twice; no Verilator.
    pub fn compiler(&self, engine: Engine) -> Result<Option<Arc<dyn BlockCompiler>>, Failure> {
        for (at, own) in self.verilog.iter().enumerate() {
            selvedge_blocks::find(&own.block)
                .map_err(|why| Failure::usage(format!("--verilog {}: {why}", own.text)))?;
            if self.verilog[..at].iter().any(|other| other.block == own.block) {
                let message = format!("--verilog {}: must be given once for a block", own.text);
                return Err(Failure::usage(message));
            }
        }
        if self.verilog.is_empty() && !engine.has(Side::Verilog) {
            return Ok(None);
        }
        let what = if self.verilog.is_empty() { format!("--engine {engine}") } else { "--verilog".into() };
        Ok(Some(Arc::new(compiler(&what, &self.verilog)?)))
    }

    /// Refuses Verilog in place of a block that none of the mechanisms has.
    ///
    /// # Errors
    /// Such a block; a mechanism that does not suit the configuration.
    pub fn check_blocks<'a>(
        &self,
        mechanisms: impl Iterator<Item = &'a MechanismSpec>,
        config: &GpuConfig,
        kernels: usize,
    ) -> Result<(), Failure> {
        if self.verilog.is_empty() {
            return Ok(());
        }
        let (mut blocks, mut names) = (Vec::new(), Vec::new());
        for mechanism in mechanisms {
            let found = instances(&settled(mechanism, config), config, kernels).map_err(Failure::usage)?;
            blocks.extend(found.into_iter().map(|one| one.block));
            names.push(mechanism.text.clone());
        }
        blocks.sort_unstable();
        blocks.dedup();
        match self.verilog.iter().find(|own| !blocks.contains(&own.block.as_str())) {
            None => Ok(()),
            Some(own) => Err(Failure::usage(format!(
                "--verilog {}: {} has no such block: must be {}",
                own.text,
                names.join(", "),
                if blocks.is_empty() { "a mechanism with blocks".into() } else { blocks.join(", ") }
            ))),
        }
    }
}

/// Returns the compiler that the option `what` asks for.
///
/// # Errors
/// No Verilator, or no folder to work in.
pub fn compiler(what: &str, own: &[Own]) -> Result<VerilogCompiler, Failure> {
    let note = |line: &str| say(format!("selvedge: {line}\n"));
    VerilogCompiler::new(&cache(), own.to_vec(), Box::new(note))
        .map_err(|why| Failure::usage(format!("{what}: {why}")))
}

/// The folder that keeps what was compiled: among the user's caches, or else among temporary files.
fn cache() -> PathBuf {
    caches_of_user().unwrap_or_else(std::env::temp_dir).join("selvedge").join("verilated")
}
