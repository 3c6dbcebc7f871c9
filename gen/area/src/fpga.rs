//! Studies a block on FPGAs: Yosys reports the resources, nextpnr the clock of the placed block.
use crate::error::AreaError;
use crate::figure::Figure;
use crate::tool::{Found, NEXTPNR_ECP5, NEXTPNR_ICE40, Tool};
use schemars::JsonSchema;
use selvedge_gen::{Design, Module};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A family of FPGAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownFamily, parse_err_fn = UnknownFamily::new)]
pub enum Family {
    /// Lattice ECP5.
    Ecp5,
    /// Lattice iCE40.
    Ice40,
    /// Xilinx 7 series.
    Xilinx,
    /// Gowin.
    Gowin,
}

/// A name that is not an FPGA family.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown family of FPGAs '{0}': must be {names}", names = Family::VARIANTS.join(", "))]
pub struct UnknownFamily(pub String);

impl UnknownFamily {
    fn new(text: &str) -> Self {
        UnknownFamily(text.into())
    }
}

/// The resource as which a Yosys cell counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Lut,
    FlipFlop,
    BlockRam,
    LutRam,
    Carry,
    Wide,
}

impl Family {
    /// Returns its lower-case name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the place-and-route program, if the family has one.
    pub fn placer(self) -> Option<Tool> {
        match self {
            Family::Ice40 => Some(NEXTPNR_ICE40),
            Family::Ecp5 => Some(NEXTPNR_ECP5),
            Family::Xilinx | Family::Gowin => None,
        }
    }

    fn script(self, files: &[String], top: &str) -> String {
        let synth = match self {
            Family::Ice40 => "synth_ice40 -json fpga.net.json",
            Family::Ecp5 => "synth_ecp5 -json fpga.net.json",
            Family::Xilinx => "synth_xilinx -flatten -noiopad",
            Family::Gowin => "synth_gowin -noiopads",
        };
        format!("read_verilog {}\n{synth} -top {top}\ntee -q -o fpga.json stat -json\n", files.join(" "))
    }

    fn kind(self, cell: &str) -> Option<Kind> {
        let begins = |any: &[&str]| any.iter().any(|prefix| cell.starts_with(prefix));
        let kind = match self {
            Family::Ice40 if cell == "SB_LUT4" => Kind::Lut,
            Family::Ice40 if begins(&["SB_DFF"]) => Kind::FlipFlop,
            Family::Ice40 if begins(&["SB_RAM"]) => Kind::BlockRam,
            Family::Ice40 if cell == "SB_CARRY" => Kind::Carry,
            Family::Ecp5 if cell == "LUT4" => Kind::Lut,
            Family::Ecp5 if begins(&["TRELLIS_FF"]) => Kind::FlipFlop,
            Family::Ecp5 if begins(&["DP16KD", "PDPW16KD"]) => Kind::BlockRam,
            Family::Ecp5 if begins(&["TRELLIS_DPR"]) => Kind::LutRam,
            Family::Ecp5 if cell == "CCU2C" => Kind::Carry,
            Family::Ecp5 if begins(&["PFUMX", "L6MUX"]) => Kind::Wide,
            Family::Xilinx if begins(&["LUT"]) => Kind::Lut,
            Family::Xilinx if begins(&["FD", "LD"]) => Kind::FlipFlop,
            Family::Xilinx if begins(&["RAMB"]) => Kind::BlockRam,
            Family::Xilinx if begins(&["RAM", "SRL"]) => Kind::LutRam,
            Family::Xilinx if begins(&["CARRY"]) => Kind::Carry,
            Family::Xilinx if begins(&["MUXF"]) => Kind::Wide,
            Family::Gowin if begins(&["LUT"]) => Kind::Lut,
            Family::Gowin if begins(&["DFF"]) => Kind::FlipFlop,
            Family::Gowin if begins(&["SDP", "DP", "SP"]) => Kind::BlockRam,
            Family::Gowin if begins(&["RAM16"]) => Kind::LutRam,
            Family::Gowin if cell == "ALU" => Kind::Carry,
            Family::Gowin if begins(&["MUX2"]) => Kind::Wide,
            _ => return None,
        };
        Some(kind)
    }
}

/// FPGA resources of a block, before placement. Multiplexers that join LUTs are not counted.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct FpgaReport {
    /// Look-up tables of four inputs, or of up to six on Xilinx, without memories in LUTs.
    pub luts: Figure,
    /// Flip-flops.
    pub flip_flops: Figure,
    /// Block RAMs.
    pub block_rams: Figure,
    /// Memory cells made of LUTs.
    pub lut_rams: Figure,
    /// Carry cells.
    pub carries: Figure,
    /// Clock that the placed and routed block reaches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fmax: Option<Figure>,
}

/// Synthesizes the design for the family, and places it if `placer` is given.
pub(crate) fn study(
    design: &Design,
    yosys: &Found,
    family: Family,
    placer: Option<&Found>,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<FpgaReport, AreaError> {
    let top = &design.top().name;
    let work = format!("{top}: synthesis for {}", family.name());
    let files: Vec<String> = design.modules.iter().map(Module::file).collect();
    let path = folder.join("fpga.ys");
    std::fs::write(&path, family.script(&files, top)).map_err(AreaError::at(&path))?;
    yosys.run(folder, &["-q", "fpga.ys"], &work, stop)?;
    let path = folder.join("fpga.json");
    let text = std::fs::read_to_string(&path).map_err(AreaError::at(&path))?;
    let mut report = count(&text, family, &work)?;
    if let Some(placer) = placer {
        report.fmax = Some(place(placer, family, folder, &format!("{top}: placement"), stop)?);
    }
    Ok(report)
}

fn count(statistics: &str, family: Family, work: &str) -> Result<FpgaReport, AreaError> {
    let fail = |message: String| AreaError::NoAnswer { work: work.into(), message };
    let value: Value = serde_json::from_str(statistics)
        .map_err(|e| fail(format!("Yosys' statistics cannot be read: {e}")))?;
    let types: BTreeMap<String, usize> = serde_json::from_value(value["design"]["num_cells_by_type"].clone())
        .map_err(|e| fail(format!("Yosys' statistics have no count of cells: {e}")))?;
    let of = |kind: Kind, unit| {
        let fits = types.iter().filter(|(name, _)| family.kind(name) == Some(kind));
        Figure::count(fits.map(|(_, number)| number).sum(), unit)
    };
    Ok(FpgaReport {
        luts: of(Kind::Lut, "LUTs"),
        flip_flops: of(Kind::FlipFlop, "flip-flops"),
        block_rams: of(Kind::BlockRam, "block RAMs"),
        lut_rams: of(Kind::LutRam, "cells"),
        carries: of(Kind::Carry, "cells"),
        fmax: None,
    })
}

/// Seed of the placer, for reproducible results.
const SEED: &str = "1";

fn place(
    placer: &Found,
    family: Family,
    folder: &Path,
    work: &str,
    stop: &AtomicBool,
) -> Result<Figure, AreaError> {
    let part: &[&str] = match family {
        Family::Ice40 => &["--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"],
        _ => &["--85k", "--package", "CABGA756", "--out-of-context"],
    };
    let common = ["--json", "fpga.net.json", "--report", "place.json", "-q", "--freq", "100", "--seed", SEED];
    let arguments = [part, &common[..], &["--timing-allow-fail"]].concat();
    placer.run(folder, &arguments, work, stop)?;
    let path = folder.join("place.json");
    let text = std::fs::read_to_string(&path).map_err(AreaError::at(&path))?;
    let fail = |message: String| AreaError::NoAnswer { work: work.into(), message };
    let value: Value = serde_json::from_str(&text).map_err(|e| fail(format!("nextpnr's report: {e}")))?;
    let clocks = value["fmax"].as_object().cloned().unwrap_or_default();
    let fastest = clocks.values().filter_map(|clock| clock["achieved"].as_f64()).fold(f64::NAN, f64::min);
    if fastest.is_nan() {
        return Err(fail("nextpnr reports no clock: the block has no path between registers".into()));
    }
    Ok(Figure::new(fastest, "MHz"))
}
