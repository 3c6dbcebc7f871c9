//! Reads the energy data of a liberty file: leakage, capacitances, and tables of internal power.
use crate::liberty::{head, without_comments};
use std::collections::BTreeMap;

/// A cell's leakage and pins.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PowerCell {
    /// Leakage, watts: the cell's figure, or the mean over its states.
    pub leakage_w: f64,
    /// Its pins by name.
    pub pins: BTreeMap<String, PowerPin>,
}

/// Energy data of a pin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PowerPin {
    /// `true` for an output of the cell.
    pub output: bool,
    /// `true` for the clock pin of a flip-flop or latch.
    pub clock: bool,
    /// Load on its net, picofarads.
    pub capacitance_pf: f64,
    /// Energy inside the cell for each change of the pin.
    pub internal: Vec<Internal>,
}

/// A group of internal power.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Internal {
    /// The inputs whose change causes the change of this pin; empty if the energy belongs to the pin alone.
    pub related: Vec<String>,
    /// Name of the supply, if the file distinguishes supplies.
    pub supply: String,
    rise: Option<PowerTable>,
    fall: Option<PowerTable>,
}

impl Internal {
    /// Returns the energy of one change, picojoules: the mean of rise and fall, because a net rises as often as it falls.
    pub(crate) fn energy_pj(&self, slew: f64, load_pf: f64) -> f64 {
        let look_up =
            |table: &Option<PowerTable>| table.as_ref().map_or(0.0, |table| table.at(slew, load_pf));
        (look_up(&self.rise) + look_up(&self.fall)) / 2.0
    }
}

/// The variable of a table's axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableAxis {
    Slew,
    Load,
}

/// A table over up to two variables, in picojoules. The last axis varies fastest.
#[derive(Clone, Debug, Default, PartialEq)]
struct PowerTable {
    axes: Vec<(TableAxis, Vec<f64>)>,
    values: Vec<f64>,
}

impl PowerTable {
    /// Interpolates linearly between points. Values beyond an axis are those at its end.
    fn at(&self, slew: f64, load_pf: f64) -> f64 {
        let mut values = self.values.clone();
        // Reduces one axis at a time, the slowest first: interpolates between the two rows around the value.
        for (variable, axis) in &self.axes {
            let at = if *variable == TableAxis::Slew { slew } else { load_pf };
            let (low, share) = place(axis, at);
            let row = values.len() / axis.len();
            let high = (low + 1).min(axis.len() - 1);
            values = (0..row)
                .map(|i| values[low * row + i] * (1.0 - share) + values[high * row + i] * share)
                .collect();
        }
        values[0]
    }
}

/// Returns the index of the last point of an axis at or below `at`, and the fraction of the distance to the next point.
fn place(axis: &[f64], at: f64) -> (usize, f64) {
    let low = axis.partition_point(|point| *point <= at).saturating_sub(1);
    match axis.get(low + 1) {
        Some(next) if at > axis[low] => (low, (at - axis[low]) / (next - axis[low])),
        _ => (low, 0.0),
    }
}

/// Energy data of a library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PowerLibrary {
    /// Supply voltage, V.
    pub voltage: f64,
    /// Cells by name.
    pub cells: BTreeMap<String, PowerCell>,
}

/// Missing or invalid energy data in a liberty file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoPower(pub String);

impl PowerLibrary {
    /// Reads a liberty file's text.
    ///
    /// # Errors
    /// [`NoPower`] with the missing or invalid entry.
    pub fn parse(text: &str) -> Result<Self, NoPower> {
        Self::read(text).map_err(NoPower)
    }

    fn read(text: &str) -> Result<Self, String> {
        let root = tree(&without_comments(text))?;
        let library = root.groups.first().ok_or("not a liberty file: no library in it")?;
        let units = FileUnits::of(library)?;
        let voltage = library
            .number("nom_voltage")?
            .or(library.of("operating_conditions").find_map(|one| one.number("voltage").ok().flatten()))
            .ok_or("it states no nom_voltage, without which there is no energy")?;
        let templates: BTreeMap<&str, &LibertyGroup> =
            library.of("power_lut_template").map(|one| (one.argument.as_str(), one)).collect();
        let mut cells = BTreeMap::new();
        for one in library.of("cell") {
            cells.insert(one.argument.clone(), cell(one, library, &templates, &units)?);
        }
        let has_tables = |cell: &PowerCell| cell.pins.values().any(|pin: &PowerPin| !pin.internal.is_empty());
        if !cells.values().any(has_tables) {
            return Err("it has no tables of internal_power, without which there is no energy".into());
        }
        Ok(PowerLibrary { voltage, cells })
    }
}

/// The units of a file.
struct FileUnits {
    picofarads: f64,
    watts: f64,
    /// Unit of a table's values: the unit of capacitance times the square of the unit of voltage.
    picojoules: f64,
}

impl FileUnits {
    fn of(library: &LibertyGroup) -> Result<Self, String> {
        let volts = match library.text("voltage_unit") {
            None | Some("1V") => 1.0,
            Some("1mV") => 1e-3,
            Some("10mV") => 1e-2,
            Some("100mV") => 1e-1,
            Some(other) => return Err(format!("voltage_unit {other}: must be 1V, 100mV, 10mV or 1mV")),
        };
        let picofarads = match library.text("capacitive_load_unit") {
            None => 1.0,
            Some(text) => {
                let (count, unit) = text.split_once(',').unwrap_or(("", ""));
                let unit = match unit.trim().trim_matches('"').to_ascii_lowercase().as_str() {
                    "ff" => 1e-3,
                    "pf" => 1.0,
                    _ => return Err(format!("capacitive_load_unit ({text}): must be ff or pf")),
                };
                number(count)? * unit
            }
        };
        Ok(FileUnits { picofarads, watts: power_unit(library)?, picojoules: picofarads * volts * volts })
    }
}

/// Returns the watts of a unit such as `leakage_power_unit : "1nW"`.
fn power_unit(library: &LibertyGroup) -> Result<f64, String> {
    let Some(text) = library.text("leakage_power_unit") else { return Ok(1e-9) };
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match &text[digits.len()..] {
        "mW" => 1e-3,
        "uW" => 1e-6,
        "nW" => 1e-9,
        "pW" => 1e-12,
        _ => return Err(format!("leakage_power_unit {text}: must be mW, uW, nW or pW")),
    };
    Ok(number(digits)? * unit)
}

fn cell(
    group: &LibertyGroup,
    library: &LibertyGroup,
    templates: &BTreeMap<&str, &LibertyGroup>,
    units: &FileUnits,
) -> Result<PowerCell, String> {
    let states: Vec<f64> =
        group.of("leakage_power").filter_map(|one| one.number("value").ok().flatten()).collect();
    let mean = (!states.is_empty()).then(|| states.iter().sum::<f64>() / states.len() as f64);
    let leakage = match group.number("cell_leakage_power")? {
        Some(leakage) => leakage,
        None => mean.or(library.number("default_cell_leakage_power")?).unwrap_or(0.0),
    };
    let mut pins = BTreeMap::new();
    for one in group.of("pin") {
        let capacitance = one.number("capacitance")?.unwrap_or(0.0);
        let internal: Result<Vec<Internal>, String> =
            one.of("internal_power").map(|power| internal(power, templates, units)).collect();
        let pin = PowerPin {
            output: one.text("direction") == Some("output"),
            clock: one.text("clock") == Some("true"),
            capacitance_pf: capacitance * units.picofarads,
            internal: internal?,
        };
        pins.insert(one.argument.clone(), pin);
    }
    Ok(PowerCell { leakage_w: leakage * units.watts, pins })
}

fn internal(
    group: &LibertyGroup,
    templates: &BTreeMap<&str, &LibertyGroup>,
    units: &FileUnits,
) -> Result<Internal, String> {
    let table = |kind: &str| {
        let one = group.of(kind).next().or_else(|| group.of("power").next());
        one.map(|one| table(one, templates, units)).transpose()
    };
    let words = |key| group.text(key).unwrap_or_default();
    Ok(Internal {
        related: words("related_pin").split_whitespace().map(String::from).collect(),
        supply: words("related_pg_pin").into(),
        rise: table("rise_power")?,
        fall: table("fall_power")?,
    })
}

fn table(
    group: &LibertyGroup,
    templates: &BTreeMap<&str, &LibertyGroup>,
    units: &FileUnits,
) -> Result<PowerTable, String> {
    let template = templates.get(group.argument.as_str());
    let values = numbers(group.text("values").unwrap_or_default())?;
    let mut axes = Vec::new();
    for (variable, index) in [("variable_1", "index_1"), ("variable_2", "index_2")] {
        let Some(of) = template.and_then(|one| one.text(variable)) else { continue };
        let own = group.text(index).or_else(|| template.and_then(|one| one.text(index)));
        let axis = numbers(own.unwrap_or_default())?;
        let kind = match of {
            "input_transition_time" | "input_net_transition" => TableAxis::Slew,
            "total_output_net_capacitance" => TableAxis::Load,
            _ => return Err(format!("{of}: allowed in tables of power are slew and load of one output")),
        };
        let scale = if kind == TableAxis::Load { units.picofarads } else { 1.0 };
        axes.push((kind, axis.into_iter().map(|point| point * scale).collect::<Vec<f64>>()));
    }
    let points: usize = axes.iter().map(|(_, axis)| axis.len()).product();
    if values.len() != points || values.is_empty() {
        let name = &group.argument;
        return Err(format!(
            "a table of `{name}` has {} values, its axes have {points} points",
            values.len()
        ));
    }
    Ok(PowerTable { axes, values: values.into_iter().map(|value| value * units.picojoules).collect() })
}

fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    text.parse().map_err(|_| format!("`{}` is no number", text.chars().take(20).collect::<String>()))
}

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let words = text.split(|c: char| c == ',' || c == '"' || c.is_whitespace());
    words.filter(|word| !word.is_empty()).map(number).collect()
}

/// `kind (argument) { attributes and groups }`. The value of an attribute `name (words)` is its words.
#[derive(Clone, Debug, Default)]
struct LibertyGroup {
    kind: String,
    argument: String,
    attributes: BTreeMap<String, String>,
    groups: Vec<LibertyGroup>,
}

impl LibertyGroup {
    fn of<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a LibertyGroup> {
        self.groups.iter().filter(move |one| one.kind == kind)
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.attributes.get(key).map(String::as_str)
    }

    fn number(&self, key: &str) -> Result<Option<f64>, String> {
        self.text(key).map(number).transpose()
    }

    fn attribute(&mut self, statement: &str) {
        let colon = statement.split_once(':').filter(|(key, _)| !key.contains('('));
        let (key, value) = colon.or_else(|| statement.split_once('(')).unwrap_or((statement, ""));
        let value = value.trim().trim_end_matches(')').trim().trim_matches('"');
        self.attributes.insert(key.trim().into(), value.into());
    }
}

/// Returns all groups of a file without comments, below a nameless root.
fn tree(text: &str) -> Result<LibertyGroup, String> {
    let mut open = vec![LibertyGroup::default()];
    let mut statement = String::new();
    let mut in_string = false;
    for c in text.chars() {
        match c {
            '{' if !in_string => {
                let (kind, argument) = head(&statement);
                statement.clear();
                let argument = argument.trim_matches('"').into();
                open.push(LibertyGroup { kind, argument, ..LibertyGroup::default() });
            }
            '}' if !in_string => {
                statement.clear();
                let group = open.pop().ok_or("a `}` too many")?;
                open.last_mut().ok_or("a `}` too many")?.groups.push(group);
            }
            ';' if !in_string => {
                if let Some(group) = open.last_mut() {
                    group.attribute(&statement);
                }
                statement.clear();
            }
            '\\' => {}
            _ => {
                in_string ^= c == '"';
                statement.push(c);
            }
        }
    }
    match open.pop() {
        Some(root) if open.is_empty() => Ok(root),
        _ => Err("cut off: a group has no end".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "library (small) { nom_voltage : 2; capacitive_load_unit (10,ff); leakage_power_unit : \"1uW\";
        power_lut_template (p2) { variable_1 : total_output_net_capacitance; variable_2 : input_transition_time;
          index_1 (\"1, 3\"); index_2 (\"0.1, 0.3\"); }
        cell (INV) { leakage_power () { value : 1; } leakage_power () { value : 3; }
          pin(A) { direction : input; capacitance : 2; }
          pin(Y) { direction : output; internal_power () { related_pin : \"A\";
            rise_power(p2) { values ( \\\n \"1, 2\", \\\n \"3, 4\"); } fall_power(scalar) { values (\"10\"); } } } } }";

    #[test]
    fn tables_are_read_in_their_units_and_looked_up_between_their_points() {
        let library = PowerLibrary::parse(SMALL).expect("a library");
        let cell = &library.cells["INV"];
        assert_eq!(library.voltage, 2.0);
        assert!((cell.leakage_w - 2e-6).abs() < 1e-18, "the mean of the states");
        assert!((cell.pins["A"].capacitance_pf - 0.02).abs() < 1e-12);
        let internal = &cell.pins["Y"].internal[0];
        assert_eq!(internal.related, ["A"]);
        // The unit is 10 fF x 1 V2. The rise table is 2.5 in the middle, and constant beyond its corners: 1 and 4.
        for (slew, load, rise) in [(0.2, 0.02, 2.5), (0.0, 0.0, 1.0), (9.0, 9.0, 4.0), (0.3, 0.01, 2.0)] {
            let expected = 0.01 * (rise + 10.0) / 2.0;
            assert!((internal.energy_pj(slew, load) - expected).abs() < 1e-12, "at {slew}, {load}");
        }
    }

    #[test]
    fn a_unit_of_capacitance_may_have_quotes() {
        let quoted = PowerLibrary::parse(&SMALL.replace("(10,ff)", "(10.0, \"ff\")")).expect("a library");
        let plain = PowerLibrary::parse(SMALL).expect("a library");
        assert_eq!(quoted.cells["INV"].pins["A"].capacitance_pf, plain.cells["INV"].pins["A"].capacitance_pf);
    }

    #[test]
    fn a_library_without_energies_is_refused() {
        let cases = [
            (SMALL.replace("internal_power", "timing"), "no tables of internal_power"),
            (SMALL.replace("nom_voltage : 2;", ""), "no nom_voltage"),
            (SMALL.replace("\"3, 4\"", "\"3\""), "has 3 values, its axes have 4 points"),
            (SMALL.replace("\"10\"", "\"ten\""), "`ten` is no number"),
            (SMALL[..SMALL.len() - 1].to_string(), "has no end"),
        ];
        for (text, says) in cases {
            let error = PowerLibrary::parse(&text).expect_err(says).to_string();
            assert!(error.contains(says), "`{error}` should say `{says}`");
        }
    }
}
