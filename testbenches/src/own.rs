//! Verilog of the user that replaces a block: its option, the comparison of its ports with the block's, and its latency.
use crate::vectors::{side, stimulus};
use selvedge_hw::{BlockEntry, Direction, ParamError, Port, PortBits};
use serde_json::Value;
use std::path::PathBuf;
use std::str::FromStr;

/// Max number of cycles in which a circuit must accept an item and return it.
const MOST_CYCLES: u32 = 2000;

/// Files that replace a block: `BLOCK=FILE[,FILE...][:TOP][,latency=N]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Own {
    /// The text of the option.
    pub text: String,
    /// The replaced block.
    pub block: String,
    /// The files, Verilog or SystemVerilog.
    pub files: Vec<PathBuf>,
    /// The top module.
    pub top: String,
    /// The stated latency in cycles, if it differs from the block's.
    pub latency: Option<u32>,
}

/// A text that is not a valid option.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{text}': must be BLOCK=FILE[,FILE...][:TOP][,latency=N], as in bdi_decompressor=my.v:my_top,latency=3"
)]
pub struct BadOwn {
    text: String,
}

impl FromStr for Own {
    type Err = BadOwn;

    fn from_str(text: &str) -> Result<Self, BadOwn> {
        let parse = || {
            let (block, words) = text.split_once('=')?;
            let (mut files, mut top, mut latency) = (Vec::new(), None, None);
            for word in words.split(',').map(str::trim) {
                if let Some(cycles) = word.strip_prefix("latency=") {
                    latency = Some(cycles.parse().ok()?);
                    continue;
                }
                let (file, module) =
                    word.rsplit_once(':').map_or((word, None), |(file, top)| (file, Some(top)));
                if file.is_empty() || module.is_some_and(|module| !is_identifier(module)) {
                    return None;
                }
                top = module.or(top);
                files.push(PathBuf::from(file));
            }
            let block = block.trim().to_string();
            let top = top.map_or_else(|| block.clone(), str::to_string);
            (!files.is_empty()).then_some(Own { text: text.into(), block, files, top, latency })
        };
        parse().ok_or_else(|| BadOwn { text: text.into() })
    }
}

fn is_identifier(text: &str) -> bool {
    let rest = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && text.chars().all(rest)
}

/// A port that a tool has found in the user's Verilog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundPort {
    name: String,
    bits: usize,
    /// `None` for an inout.
    direction: Option<Direction>,
}

/// Returns the ports of the class that Verilator writes for a top module, from lines such as `VL_IN8(&valid_i,0,0);`.
pub(crate) fn ports_of_header(header: &str) -> Vec<FoundPort> {
    let port = |line: &str| {
        let line = line.trim().strip_prefix("VL_")?;
        let (kind, rest) = line.split_once('(')?;
        let direction = match kind.trim_end_matches(|c: char| c.is_ascii_digit() || c == 'W') {
            "IN" => Some(Direction::Input),
            "OUT" => Some(Direction::Output),
            "INOUT" => None,
            _ => return None,
        };
        // For an array, `(&name)[4]` replaces the name.
        let mut words = rest.trim_start_matches(['(', '&']).split([',', ')', ';']);
        let name = words.next()?.to_string();
        let bounds: Vec<usize> = words.filter_map(|word| word.trim().parse().ok()).collect();
        let (left, right) = (*bounds.first()?, *bounds.get(1)?);
        Some(FoundPort { name, bits: left.abs_diff(right) + 1, direction })
    };
    header.lines().filter_map(port).collect()
}

/// Returns the differences between the ports of a user's module and the block's ports, including clock and reset. Each
/// difference is a phrase.
pub(crate) fn differences(found: &[FoundPort], ports: &[Port]) -> Vec<String> {
    let clocking = ["clk_i", "rst_ni"].map(|name| Port {
        name,
        bits: 1,
        direction: Direction::Input,
        doc: "",
        valid: None,
    });
    let wanted: Vec<&Port> = clocking.iter().chain(ports).collect();
    let mut differences = Vec::new();
    for port in &wanted {
        let Some(one) = found.iter().find(|one| one.name == port.name) else {
            differences.push(format!(
                "{} '{}' of {} bits is missing",
                word(port.direction),
                port.name,
                port.bits
            ));
            continue;
        };
        if one.direction != Some(port.direction) {
            let is = one.direction.map_or("inout", word);
            differences.push(format!("'{}' is an {is}, must be an {}", port.name, word(port.direction)));
        }
        if one.bits != port.bits {
            differences.push(format!("'{}' has {} bits, must be {}", port.name, one.bits, port.bits));
        }
    }
    let is_known = |one: &&FoundPort| wanted.iter().any(|port| port.name == one.name);
    let others = found.iter().filter(|one| !is_known(one));
    differences.extend(others.map(|one| format!("'{}' is no port of the block", one.name)));
    differences
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Input => "input",
        Direction::Output => "output",
    }
}

/// Returns the cycles between the cycle in which a stream accepts an item and the cycle in which it returns it. The stream
/// must be in its reset state. The item is the first one of the block's stimulus. Returns `None` if the stream does not
/// accept or return it.
///
/// # Errors
/// [`ParamError`] if the parameters are invalid.
pub(crate) fn latency(
    entry: &dyn BlockEntry,
    params: &Value,
    mut step: impl FnMut(&PortBits) -> PortBits,
) -> Result<Option<u32>, ParamError> {
    let ports = entry.ports(params)?;
    let place = |direction, name| side(&ports, direction).position(|port| port.name == name);
    let places = [
        place(Direction::Input, "valid_i"),
        place(Direction::Input, "ready_i"),
        place(Direction::Output, "valid_o"),
        place(Direction::Output, "ready_o"),
    ];
    let [Some(valid_i), Some(ready_i), Some(valid_o), Some(ready_o)] = places else { return Ok(None) };
    let mut items = stimulus(entry, params, 1)?.map(|clock| clock.inputs);
    let Some(mut inputs) = items.find(|inputs| inputs[valid_i][0] == 1) else { return Ok(None) };
    inputs[ready_i][0] = 1;
    let mut taken = None;
    for cycle in 0..MOST_CYCLES {
        let outputs = step(&inputs);
        if taken.is_none() && outputs[ready_o][0] == 1 {
            taken = Some(cycle);
            inputs[valid_i][0] = 0;
        }
        if outputs[valid_o][0] == 1 {
            return Ok(taken.map(|taken| cycle - taken));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accumulator::Accumulator;

    #[test]
    fn files_top_and_latency_are_read() {
        let own: Own = "fpc_compressor=a/x.v,y.sv:my_top,latency=3".parse().unwrap();
        assert_eq!(own.files, [PathBuf::from("a/x.v"), PathBuf::from("y.sv")]);
        assert_eq!(
            (own.block.as_str(), own.top.as_str(), own.latency),
            ("fpc_compressor", "my_top", Some(3))
        );
        assert_eq!(
            "milg=m.v".parse::<Own>().unwrap().top,
            "milg",
            "the block's name, unless another is given"
        );
        for wrong in ["milg", "milg=", "milg=,x.v", "milg=x.v:3top", "milg=x.v,latency=two", "milg=latency=2"]
        {
            let error = wrong.parse::<Own>().unwrap_err().to_string();
            assert!(error.contains(wrong) && error.contains("BLOCK=FILE"), "{error}");
        }
    }

    #[test]
    fn every_difference_of_ports_is_listed() {
        let header = "class Vdut {\n    VL_IN8(&clk_i,0,0);\n    VL_IN8(&enable_i,1,0);\n    VL_OUTW(&addend_i,99,0,4);\n    \
                      VL_OUT8(&parity_o,0,0);\n    VL_INOUT(&pad,31,0);\n    VL_IN8((&extra)[2],7,0);\n";
        let ports = Accumulator.ports(&Value::Null).unwrap();
        assert_eq!(
            differences(&ports_of_header(header), &ports),
            [
                "input 'rst_ni' of 1 bits is missing",
                "'enable_i' has 2 bits, must be 1",
                "'addend_i' is an output, must be an input",
                "output 'sum_o' of 100 bits is missing",
                "'pad' is no port of the block",
                "'extra' is no port of the block",
            ]
        );
    }
}
