//! Runs the tools for a block's energy: writes netlists for the simulator, and collects all data except the activity.
use crate::asic::Goal;
use crate::energy::{self, CELL_MODELS, Netlist, RecordedActivity, SimulatedEnergy};
use crate::error::AreaError;
use crate::liberty::MOST_BYTES;
use crate::memory;
use crate::power_table::{NoPower, PowerLibrary};
use crate::study::{AsicSetup, get, put};
use selvedge_hw::file::read_text;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// A mapped block, ready to be simulated.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The files in the study's folder that the simulator reads.
    pub files: [String; 2],
    netlist: Netlist,
    slews: BTreeMap<String, f64>,
    load_pf: f64,
    work: String,
}

/// Reads the library's energy tables.
///
/// # Errors
/// [`AreaError`] if the file cannot be read, or if it has no tables or no supply voltage.
pub fn tables(setup: &AsicSetup) -> Result<PowerLibrary, AreaError> {
    let path = &setup.library.path;
    let text = read_text(path, MOST_BYTES).map_err(AreaError::at(path))?;
    PowerLibrary::parse(&text).map_err(|NoPower(problem)| AreaError::BadFile { path: path.clone(), problem })
}

/// Writes the netlists of a block that [`asic`](crate::study::asic) has left in `folder`, and reads the slews of their pins.
///
/// # Errors
/// [`AreaError`] if a tool fails, or if `stop` is set.
pub fn prepare(
    top: &str,
    reset: Option<&str>,
    goal: Goal,
    setup: &AsicSetup,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<Prepared, AreaError> {
    let work = format!("{top}: energy");
    let fail = |e: serde_json::Error| AreaError::NoAnswer {
        work: work.clone(),
        message: format!("coarse.json: {e}"),
    };
    let design: Value = serde_json::from_str(&get(folder, "coarse.json")?).map_err(fail)?;
    let memories = memory::find(&design, top);
    let name = goal.name();
    put(folder, "energy.ys", &energy::netlists(goal, top, &memories, setup.memories))?;
    setup.yosys.run(folder, &["-q", "energy.ys"], &work, stop)?;
    put(folder, "cells.ys", CELL_MODELS)?;
    setup.yosys.run(folder, &["-q", "cells.ys"], &work, stop)?;
    put(folder, "cells_sim.v", &energy::with_power_up(&get(folder, "cells_sim.v")?))?;
    let netlist = format!("{name}_power.v");
    put(folder, &netlist, &crate::timing::plain_names(&get(folder, &netlist)?))?;
    let ideal: Vec<&str> = std::iter::once("clk_i").chain(reset).collect();
    let library = &setup.library;
    let script = energy::slews(goal, top, &ideal, library.driver(), library.output_load());
    put(folder, "energy.tcl", &script)?;
    let said = setup.sta.run(folder, &["-exit", "energy.tcl"], &work, stop)?;
    Ok(Prepared {
        files: [format!("{name}_sim.v"), "cells_sim.v".into()],
        netlist: Netlist::parse(&get(folder, &format!("{name}_power.json"))?, top, &work)?,
        slews: energy::parse_slews(&said, &work)?,
        load_pf: library.output_load_pf(),
        work,
    })
}

impl Prepared {
    /// Returns the pins of gated clocks, whose pulses [`measure`](crate::activity::measure) counts.
    pub fn clock_network(&self, library: &PowerLibrary) -> BTreeSet<String> {
        self.netlist.clock_network(library)
    }

    /// Returns the energy of the simulated clocks, for a clock with a period of `period_ns`.
    ///
    /// # Errors
    /// [`AreaError::NoAnswer`] if the activity lacks a pin, or if the library lacks a cell.
    pub fn energy(
        &self,
        library: &PowerLibrary,
        activity: &RecordedActivity,
        period_ns: f64,
    ) -> Result<SimulatedEnergy, AreaError> {
        let surroundings = (period_ns, self.load_pf);
        energy::energy(&self.netlist, library, &self.slews, activity, surroundings, &self.work)
    }
}
