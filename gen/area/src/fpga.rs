//! Studies a block on FPGAs: Yosys reports the resources, nextpnr the clock of the placed block.
use crate::error::AreaError;
use crate::figure::Figure;
use crate::tool::{ExternalTool, Found, NEXTPNR_ECP5, NEXTPNR_ICE40};
use schemars::JsonSchema;
use selvedge_gen::{Design, VerilogModule};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use strum::{EnumString, IntoStaticStr, VariantNames};

/// A family of FPGAs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownFamily, parse_err_fn = UnknownFamily::new)]
pub enum FpgaFamily {
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
#[error("unknown family of FPGAs '{0}': must be {names}", names = FpgaFamily::VARIANTS.join(", "))]
pub struct UnknownFamily(pub String);

impl UnknownFamily {
    fn new(text: &str) -> Self {
        UnknownFamily(text.into())
    }
}

/// The resource as which a Yosys cell counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FpgaResource {
    Lut,
    FlipFlop,
    BlockRam,
    LutRam,
    Carry,
    Wide,
}

impl FpgaFamily {
    /// Returns its lower-case name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the place-and-route program, if the family has one.
    pub fn placer(self) -> Option<ExternalTool> {
        match self {
            FpgaFamily::Ice40 => Some(NEXTPNR_ICE40),
            FpgaFamily::Ecp5 => Some(NEXTPNR_ECP5),
            FpgaFamily::Xilinx | FpgaFamily::Gowin => None,
        }
    }

    fn script(self, files: &[String], top: &str) -> String {
        let synth = match self {
            FpgaFamily::Ice40 => "synth_ice40 -json fpga.net.json",
            FpgaFamily::Ecp5 => "synth_ecp5 -json fpga.net.json",
            FpgaFamily::Xilinx => "synth_xilinx -flatten -noiopad",
            FpgaFamily::Gowin => "synth_gowin -noiopads",
        };
        format!("read_verilog {}\n{synth} -top {top}\ntee -q -o fpga.json stat -json\n", files.join(" "))
    }

    fn kind(self, cell: &str) -> Option<FpgaResource> {
        let begins = |any: &[&str]| any.iter().any(|prefix| cell.starts_with(prefix));
        let kind = match self {
            FpgaFamily::Ice40 if cell == "SB_LUT4" => FpgaResource::Lut,
            FpgaFamily::Ice40 if begins(&["SB_DFF"]) => FpgaResource::FlipFlop,
            FpgaFamily::Ice40 if begins(&["SB_RAM"]) => FpgaResource::BlockRam,
            FpgaFamily::Ice40 if cell == "SB_CARRY" => FpgaResource::Carry,
            FpgaFamily::Ecp5 if cell == "LUT4" => FpgaResource::Lut,
            FpgaFamily::Ecp5 if begins(&["TRELLIS_FF"]) => FpgaResource::FlipFlop,
            FpgaFamily::Ecp5 if begins(&["DP16KD", "PDPW16KD"]) => FpgaResource::BlockRam,
            FpgaFamily::Ecp5 if begins(&["TRELLIS_DPR"]) => FpgaResource::LutRam,
            FpgaFamily::Ecp5 if cell == "CCU2C" => FpgaResource::Carry,
            FpgaFamily::Ecp5 if begins(&["PFUMX", "L6MUX"]) => FpgaResource::Wide,
            FpgaFamily::Xilinx if begins(&["LUT"]) => FpgaResource::Lut,
            FpgaFamily::Xilinx if begins(&["FD", "LD"]) => FpgaResource::FlipFlop,
            FpgaFamily::Xilinx if begins(&["RAMB"]) => FpgaResource::BlockRam,
            FpgaFamily::Xilinx if begins(&["RAM", "SRL"]) => FpgaResource::LutRam,
            FpgaFamily::Xilinx if begins(&["CARRY"]) => FpgaResource::Carry,
            FpgaFamily::Xilinx if begins(&["MUXF"]) => FpgaResource::Wide,
            FpgaFamily::Gowin if begins(&["LUT"]) => FpgaResource::Lut,
            FpgaFamily::Gowin if begins(&["DFF"]) => FpgaResource::FlipFlop,
            FpgaFamily::Gowin if begins(&["SDP", "DP", "SP"]) => FpgaResource::BlockRam,
            FpgaFamily::Gowin if begins(&["RAM16"]) => FpgaResource::LutRam,
            FpgaFamily::Gowin if cell == "ALU" => FpgaResource::Carry,
            FpgaFamily::Gowin if begins(&["MUX2"]) => FpgaResource::Wide,
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
    family: FpgaFamily,
    placer: Option<&Found>,
    folder: &Path,
    stop: &AtomicBool,
) -> Result<FpgaReport, AreaError> {
    let top = &design.top().name;
    let work = format!("{top}: synthesis for {}", family.name());
    let files: Vec<String> = design.modules.iter().map(VerilogModule::file).collect();
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

fn count(statistics: &str, family: FpgaFamily, work: &str) -> Result<FpgaReport, AreaError> {
    let fail = |message: String| AreaError::NoAnswer { work: work.into(), message };
    let value: Value = serde_json::from_str(statistics)
        .map_err(|e| fail(format!("Yosys' statistics cannot be read: {e}")))?;
    let types: BTreeMap<String, usize> = serde_json::from_value(value["design"]["num_cells_by_type"].clone())
        .map_err(|e| fail(format!("Yosys' statistics have no count of cells: {e}")))?;
    let of = |kind: FpgaResource, unit| {
        let fits = types.iter().filter(|(name, _)| family.kind(name) == Some(kind));
        Figure::count(fits.map(|(_, number)| number).sum(), unit)
    };
    Ok(FpgaReport {
        luts: of(FpgaResource::Lut, "LUTs"),
        flip_flops: of(FpgaResource::FlipFlop, "flip-flops"),
        block_rams: of(FpgaResource::BlockRam, "block RAMs"),
        lut_rams: of(FpgaResource::LutRam, "cells"),
        carries: of(FpgaResource::Carry, "cells"),
        fmax: None,
    })
}

/// Seed of the placer, for reproducible results.
const SEED: &str = "1";

fn place(
    placer: &Found,
    family: FpgaFamily,
    folder: &Path,
    work: &str,
    stop: &AtomicBool,
) -> Result<Figure, AreaError> {
    let part: &[&str] = match family {
        FpgaFamily::Ice40 => &["--hx8k", "--package", "ct256", "--pcf-allow-unconstrained"],
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
