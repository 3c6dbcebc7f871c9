//! Reads a standard-cell library from a liberty file. Keeps only the data that a study needs.
use crate::error::AreaError;
use crate::function::truth_table;
use selvedge_hw::file;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Path of the default library.
pub const OSU018: &str = LIBRARIES[0].path;

/// Libraries that Debian packages install, the default first.
pub const LIBRARIES: [PackagedLibrary; 3] = [
    PackagedLibrary {
        path: "/usr/share/qflow/tech/osu018/osu018_stdcells.lib",
        nanometers: 180,
        package: "the Debian package `qflow-tech-osu018`",
    },
    PackagedLibrary {
        path: "/usr/share/qflow/tech/osu035/osu035_stdcells.lib",
        nanometers: 350,
        package: "the Debian package `qflow-tech-osu035`",
    },
    PackagedLibrary {
        path: "/usr/share/qflow/tech/osu050/osu05_stdcells.lib",
        nanometers: 500,
        package: "the Debian package `qflow-tech-osu050`",
    },
];

/// A standard-cell library that a Debian package installs.
#[derive(Clone, Copy, Debug)]
pub struct PackagedLibrary {
    /// Path of the file.
    pub path: &'static str,
    /// Feature size of the process.
    pub nanometers: u32,
    /// The package.
    pub package: &'static str,
}

/// Max size of a library file, bytes.
pub(crate) const MOST_BYTES: u64 = 512 << 20;

/// A standard cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StandardCell {
    /// Area, um2. All known files use this unit.
    pub area: f64,
    /// `true` for a flip-flop or a latch.
    pub sequential: bool,
    /// `true` if synthesis must not use the cell.
    pub dont_use: bool,
    /// Input pins with their capacitance in the file's unit, by name.
    inputs: BTreeMap<String, f64>,
    /// Names and functions of the output pins.
    functions: Vec<(String, String)>,
    /// The latch in the cell.
    latch: Option<LatchGroup>,
}

/// The latch of a cell, as its group in the file describes it.
#[derive(Clone, Debug, Default, PartialEq)]
struct LatchGroup {
    /// Name of the state.
    state: String,
    /// Values of attributes by name: `data_in`, `enable`, `clear`, `preset`.
    attributes: BTreeMap<String, String>,
}

impl StandardCell {
    /// Returns the number of inputs and the truth table of the only output. The inputs are in alphabetical order.
    fn truth_table(&self) -> Option<(usize, u16)> {
        let pins: Vec<&str> = self.inputs.keys().map(String::as_str).collect();
        match self.functions.as_slice() {
            [(_, function)] if !self.sequential => Some((pins.len(), truth_table(function, &pins)?)),
            _ => None,
        }
    }
}

/// A standard-cell library.
#[derive(Clone, Debug)]
pub struct Liberty {
    /// Path of the file.
    pub path: PathBuf,
    /// Name of the library in the file.
    pub name: String,
    /// SHA-256 of the file in hexadecimal.
    pub sha256: String,
    /// Its cells by name.
    pub cells: BTreeMap<String, StandardCell>,
    /// The file's unit of capacitance, femtofarads.
    capacitance_ff: f64,
}

impl Liberty {
    /// Reads a liberty file.
    ///
    /// # Errors
    /// [`AreaError`] if the file cannot be read, is not a liberty file, or lacks a cell that mapping needs: a flip-flop, an
    /// inverter, a NAND gate.
    pub fn load(path: &Path) -> Result<Self, AreaError> {
        let bytes = file::read(path, MOST_BYTES).map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound if path == Path::new(OSU018) => AreaError::Missing {
                program: OSU018,
                package: "the Debian package `qflow-tech-osu018`, or give --liberty",
            },
            _ => AreaError::Io { path: path.into(), source },
        })?;
        let bad = |problem: String| AreaError::BadFile { path: path.into(), problem };
        let text = String::from_utf8(bytes).map_err(|_| bad("not a liberty file: it is not text".into()))?;
        let sha256 = Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
        let (name, cells, capacitance_ff) = parse(&text).map_err(bad)?;
        let library = Liberty { path: path.into(), name, sha256, cells, capacitance_ff };
        library.check().map_err(bad)?;
        Ok(library)
    }

    fn check(&self) -> Result<(), String> {
        if !self.cells.values().any(|cell| cell.sequential && !cell.dont_use) {
            return Err("the library has no flip-flop".into());
        }
        self.gate(2, NAND2).ok_or("the library has no NAND gate with two inputs")?;
        self.gate(1, INVERTER).ok_or("the library has no inverter")?;
        Ok(())
    }

    /// Returns the smallest usable cell with that function.
    fn gate(&self, inputs: usize, table: u16) -> Option<(&str, &StandardCell)> {
        let fits = |cell: &StandardCell| !cell.dont_use && cell.truth_table() == Some((inputs, table));
        let cells = self.cells.iter().filter(|(_, cell)| fits(cell));
        cells.min_by(|a, b| a.1.area.total_cmp(&b.1.area)).map(|(name, cell)| (name.as_str(), cell))
    }

    /// Returns the area of its smallest NAND gate with two inputs, um2: one gate equivalent.
    pub fn nand2_um2(&self) -> f64 {
        self.gate(2, NAND2).map_or(f64::NAN, |(_, cell)| cell.area)
    }

    /// Returns the name of the cell that drives inputs: the largest inverter of at most twice the smallest one's area.
    pub fn driver(&self) -> &str {
        let smallest = self.gate(1, INVERTER).map_or(0.0, |(_, cell)| cell.area);
        let inverters = self.cells.iter().filter(|(_, cell)| {
            !cell.dont_use && cell.area <= 2.0 * smallest && cell.truth_table() == Some((1, INVERTER))
        });
        inverters.max_by(|a, b| a.1.area.total_cmp(&b.1.area)).map_or("", |(name, _)| name)
    }

    /// Returns the load of an output, in the file's unit of capacitance: four NAND inputs.
    pub(crate) fn output_load(&self) -> f64 {
        4.0 * self.gate(2, NAND2).map_or(0.0, |(_, cell)| cell.inputs.values().sum::<f64>() / 2.0)
    }

    /// Returns the load of an output, picofarads.
    pub fn output_load_pf(&self) -> f64 {
        self.output_load() * self.capacitance_ff / 1000.0
    }

    /// Returns a Yosys module that maps latches without set and reset to the library's smallest such cell. Returns `None` if
    /// the library has no such cell.
    pub fn latch_map(&self) -> Option<String> {
        let of = |name: &String, cell: &StandardCell| {
            let LatchGroup { state, attributes } = cell.latch.as_ref()?;
            let is_plain = !cell.dont_use && attributes.keys().all(|key| key == "data_in" || key == "enable");
            let (data, enable) = (attributes.get("data_in")?, attributes.get("enable")?);
            let (is_low, enable) =
                enable.strip_prefix('!').map_or((false, enable.as_str()), |pin| (true, pin));
            let output = cell.functions.iter().find(|(_, function)| function == state).map(|(pin, _)| pin)?;
            let is_known =
                is_plain && [data.as_str(), enable].iter().all(|pin| cell.inputs.contains_key(*pin));
            let module = |kind: char, invert: bool| {
                let level = if invert { "~E" } else { "E" };
                format!(
                    "module \\$_DLATCH_{kind}_ (input E, input D, output Q);\n  {name} _TECHMAP_REPLACE_ \
                     (.{enable}({level}), .{data}(D), .{output}(Q));\nendmodule\n"
                )
            };
            is_known.then(|| (cell.area, module('P', is_low) + &module('N', !is_low)))
        };
        let cells = self.cells.iter().filter_map(|(name, cell)| of(name, cell));
        cells.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, map)| map)
    }

    /// Returns ABC's constraint file: the driver of inputs and the load of outputs.
    pub fn constraints(&self) -> String {
        let (driver, load) = (self.driver(), self.output_load() * self.capacitance_ff);
        format!("set_driving_cell {driver}\nset_load {load:.3}\n")
    }
}

/// Truth table of an inverter.
const INVERTER: u16 = 0b01;
/// Truth table of a NAND gate with two inputs.
const NAND2: u16 = 0b0111;

/// Name, cells, and the unit of capacitance in femtofarads.
type Parsed = (String, BTreeMap<String, StandardCell>, f64);

/// Parses `group (name) { attribute : value; ... }`. Keeps only the library, its cells and their pins.
fn parse(text: &str) -> Result<Parsed, String> {
    let text = without_comments(text);
    let mut name = String::new();
    let mut cells: BTreeMap<String, StandardCell> = BTreeMap::new();
    let mut capacitance_ff = 1000.0;
    let mut groups: Vec<(String, String)> = Vec::new();
    // The current pin: name, direction, capacitance, function.
    let mut pin = (String::new(), String::new(), 0.0, None);
    let mut statement = String::new();
    let mut in_string = false;
    for c in text.chars() {
        match c {
            '"' => in_string = !in_string,
            '{' if !in_string => {
                let (kind, argument) = head(&statement);
                statement.clear();
                match (kind.as_str(), groups.as_slice()) {
                    ("library", []) => name.clone_from(&argument),
                    (_, []) => return Err(format!("not a liberty file: it begins with `{}`", first(&kind))),
                    ("cell", [_]) => drop(cells.insert(argument.clone(), StandardCell::default())),
                    ("ff" | "latch" | "ff_bank" | "latch_bank" | "statetable", [_, (_, cell)]) => {
                        let cell = cells.entry(cell.clone()).or_default();
                        cell.sequential = true;
                        if kind == "latch" {
                            let state = argument.split(',').next().unwrap_or_default().trim().to_string();
                            cell.latch = Some(LatchGroup { state, ..LatchGroup::default() });
                        }
                    }
                    ("pin", [_, _]) => pin = (argument.clone(), String::new(), 0.0, None),
                    _ => {}
                }
                groups.push((kind, argument));
            }
            '}' if !in_string => {
                statement.clear();
                let Some((kind, _)) = groups.pop() else { return Err("a `}` too many".into()) };
                if let ("pin", [_, (_, cell)]) = (kind.as_str(), groups.as_slice()) {
                    let cell = cells.entry(cell.clone()).or_default();
                    let (name, direction, capacitance, function) = std::mem::take(&mut pin);
                    match direction.as_str() {
                        "input" => drop(cell.inputs.insert(name, capacitance)),
                        "output" => cell.functions.extend(function.map(|function| (name, function))),
                        _ => {}
                    }
                }
            }
            ';' if !in_string => {
                if groups.len() == 1 && statement.trim_start().starts_with("capacitive_load_unit") {
                    capacitance_ff = unit_of_capacitance(&statement).unwrap_or(capacitance_ff);
                }
                if let Some((key, value)) = statement.split_once(':') {
                    let (key, value) = (key.trim(), value.trim());
                    match groups.as_slice() {
                        [_, (kind, cell)] if kind == "cell" => {
                            let cell = cells.entry(cell.clone()).or_default();
                            match key {
                                "area" => cell.area = number(value)?,
                                "dont_use" => cell.dont_use = value == "true",
                                _ => {}
                            }
                        }
                        [_, (_, cell), (kind, _)] if kind == "latch" => {
                            let latch = cells.get_mut(cell).and_then(|cell| cell.latch.as_mut());
                            latch.map(|latch| latch.attributes.insert(key.into(), value.into()));
                        }
                        [_, _, (kind, _)] if kind == "pin" => match key {
                            "direction" => pin.1 = value.into(),
                            "capacitance" => pin.2 = number(value)?,
                            "function" => pin.3 = Some(value.into()),
                            _ => {}
                        },
                        _ => {}
                    }
                }
                statement.clear();
            }
            // A newline may end an attribute. An attribute that continues ends its line with a backslash or has an open
            // bracket.
            '\n' if !in_string && statement.trim().is_empty() => statement.clear(),
            '\\' => {}
            _ => statement.push(c),
        }
    }
    match (groups.is_empty(), name.is_empty()) {
        (true, false) => Ok((name, cells, capacitance_ff)),
        (true, true) => Err("not a liberty file: no library in it".into()),
        (false, _) => Err(format!("cut off: the group `{}` has no end", groups[groups.len() - 1].0)),
    }
}

fn first(word: &str) -> String {
    word.chars().take(20).collect()
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| format!("`{}` is no number", first(text)))
}

/// Returns kind and argument of a group, such as `cell (NAND2X1)`.
pub(crate) fn head(statement: &str) -> (String, String) {
    let (kind, argument) = statement.split_once('(').unwrap_or((statement, ""));
    (kind.trim().to_string(), argument.trim().trim_end_matches(')').trim().to_string())
}

/// Returns the femtofarads of a unit such as `capacitive_load_unit (1, pf)`.
fn unit_of_capacitance(statement: &str) -> Option<f64> {
    let inner = statement.split_once('(')?.1.trim_end().trim_end_matches(')');
    let (count, unit) = inner.split_once(',')?;
    let unit = match unit.trim().to_ascii_lowercase().as_str() {
        "ff" => 1.0,
        "pf" => 1000.0,
        _ => return None,
    };
    Some(count.trim().parse::<f64>().ok()? * unit)
}

pub(crate) fn without_comments(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("/*") {
        kept.push_str(&rest[..start]);
        rest = rest[start..].find("*/").map_or("", |end| &rest[start + end + 2..]);
    }
    kept.push_str(rest);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "/* a comment { */ library (small) {\n capacitive_load_unit (1,pf);\n\
        cell (NAND2X2) { area : 32; pin(A) { direction : input; capacitance : 0.025; }\n\
        pin(B) { direction : input; capacitance : 0.025; } pin(Y) { direction : output; function : \"(!(A B))\"; } }\n\
        cell (NAND2X1) { area : 24; pin(A) { direction : input; capacitance : 0.0125; }\n\
        pin(B) { direction : input; capacitance : 0.0127; } pin(Y) { direction : output; function : \"(!(A B))\";\n\
        timing() { related_pin : \"A\"; cell_fall(t) { values ( \\\n \"0.1, 0.2\", \\\n \"0.3, 0.4\"); } } } }\n\
        cell (INVX1) { area : 16; pin(A) { direction : input; capacitance : 0.01; } pin(Y) { direction : output;\n\
        function : \"(!A)\"; } }\n\
        cell (DFF) { area : 96; ff (IQ, IQN) { next_state : \"D\"; } pin(D) { direction : input; } } }";

    #[cfg(unix)]
    #[test]
    fn a_library_without_an_end_is_refused() {
        let refused = Liberty::load(Path::new("/dev/zero")).expect_err("it never ends").to_string();
        assert_eq!(refused, "/dev/zero: more than 536870912 bytes: must be at most 536870912");
    }

    #[test]
    fn a_latch_without_set_and_reset_becomes_a_map() {
        assert_eq!(load(SMALL).expect("a library").latch_map(), None);
        let cell = |name: &str, area: u32, latch: &str| {
            format!(
                " cell ({name}) {{ area : {area}; latch (IQ, IQN) {{ data_in : \"D\"; {latch} }} pin(D) {{ direction : input; }}\n\
                 pin(G) {{ direction : input; }} pin(Q) {{ direction : output; function : \"IQ\"; }} }}"
            )
        };
        let cells = [
            cell("CLEARED", 10, "enable : \"G\"; clear : \"!D\";"),
            cell("LOW", 20, "enable : \"!G\";"),
            cell("LARGE", 30, "enable : \"G\";"),
        ];
        let library =
            load(&format!("{}{} }}", &SMALL[..SMALL.len() - 1], cells.concat())).expect("a library");
        let map = library.latch_map().expect("a map");
        let low = "  LOW _TECHMAP_REPLACE_ (.G(E), .D(D), .Q(Q));\n";
        assert!(map.contains(&format!("module \\$_DLATCH_N_ (input E, input D, output Q);\n{low}")), "{map}");
        assert!(map.contains(&low.replace("(E)", "(~E)")), "{map}");
    }

    fn load(text: &str) -> Result<Liberty, AreaError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("written");
        Liberty::load(file.path())
    }

    #[test]
    fn a_library_gives_its_cells_and_its_unit_of_area() {
        let library = load(SMALL).expect("a library");
        assert_eq!(library.name, "small");
        assert_eq!(library.nand2_um2(), 24.0);
        assert!(library.cells["DFF"].sequential && !library.cells["INVX1"].sequential);
        assert_eq!(library.constraints(), "set_driving_cell INVX1\nset_load 50.400\n");
        assert_eq!(library.sha256.len(), 64);
    }

    #[test]
    fn a_file_that_is_no_library_is_refused() {
        let cases = [
            ("", "no library"),
            ("hello { }", "begins with `hello`"),
            (&SMALL[..SMALL.len() - 1], "`library` has no end"),
            (&SMALL.replace("ff (IQ, IQN)", "foo ()"), "no flip-flop"),
            (&SMALL.replace("(A B)", "A"), "no NAND"),
            (&SMALL.replace("area : 24", "area : big"), "`big` is no number"),
        ];
        for (text, says) in cases {
            let error = load(text).expect_err(says).to_string();
            assert!(error.contains(says), "`{error}` should say `{says}`");
        }
    }
}
