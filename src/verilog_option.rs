//! `--lockstep` and `--verilog`: the forms of a block that run, and the user's Verilog for a block.
use crate::error::Failure;
use crate::isolated::caches_of_user;
use crate::output::say;
use clap::Args;
use selvedge_hw::{BlockCompiler, BlockForm, Engine};
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
    /// Run each block in two forms and compare them in every cycle: two of model, rtl, verilog, such as rtl,verilog
    #[arg(help_heading = "Verification", long, value_name = "FORM,FORM", value_parser = Engine::lockstep, conflicts_with = "engine")]
    pub lockstep: Option<Engine>,
    /// Replace a block by custom Verilog or SystemVerilog: a module with the block's ports, named TOP or like the block;
    /// latency=N states the latency of a codec if it differs; may be repeated (see docs/how-to/co-simulate-verilog.md)
    #[arg(help_heading = "Verification", long, value_name = "BLOCK=FILE[,FILE...][:TOP][,latency=N]")]
    pub verilog: Vec<Own>,
}

impl VerilogOptions {
    /// Returns the compiler of Verilog for runs under `engine`, if they need one.
    ///
    /// # Errors
    /// Fails if a block does not exist or is named twice, or if Verilator is absent.
    pub fn compiler(&self, engine: Engine) -> Result<Option<Arc<dyn BlockCompiler>>, Failure> {
        for (at, own) in self.verilog.iter().enumerate() {
            selvedge_blocks::find(&own.block)
                .map_err(|why| Failure::usage(format!("--verilog {}: {why}", own.text)))?;
            if self.verilog[..at].iter().any(|other| other.block == own.block) {
                let message = format!("--verilog {}: must be given once for a block", own.text);
                return Err(Failure::usage(message));
            }
        }
        if self.verilog.is_empty() && !engine.has(BlockForm::Verilog) {
            return Ok(None);
        }
        let what = if self.verilog.is_empty() { format!("--engine {engine}") } else { "--verilog".into() };
        Ok(Some(Arc::new(compiler(&what, &self.verilog)?)))
    }

    /// Refuses Verilog for a block that no mechanism has.
    ///
    /// # Errors
    /// Fails for such a block, or if a mechanism does not support the configuration.
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

/// Returns the compiler for the option `what`.
///
/// # Errors
/// Fails if Verilator is absent or no cache folder exists.
pub fn compiler(what: &str, own: &[Own]) -> Result<VerilogCompiler, Failure> {
    let note = |line: &str| say(format!("selvedge: {line}\n"));
    VerilogCompiler::new(&cache(what)?, own.to_vec(), Box::new(note))
        .map_err(|why| Failure::usage(format!("{what}: {why}")))
}

/// Returns the folder of compiled Verilog for the option `what`.
///
/// # Errors
/// Fails if no cache folder exists.
pub fn cache(what: &str) -> Result<PathBuf, Failure> {
    let cache = caches_of_user().map(|caches| caches.join("selvedge").join("verilated"));
    // The folder for temporary files may hold files of another user, which must not be loaded.
    cache.ok_or_else(|| {
        let problem = "XDG_CACHE_HOME or HOME must be set: compiled Verilog is kept and loaded there";
        Failure::usage(format!("{what}: {problem}"))
    })
}
