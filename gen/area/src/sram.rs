//! Models memories with CACTI, which the user installs: area, times, energies and leakage of an array with the given words
//! and ports.
//!
//! CACTI models only complete bytes and a power of two of words, with at least 64 bytes in all. Reports list the requested
//! size next to the modelled one. CACTI reads technology files from its working folder, so it is started in the folder of
//! the program.
use crate::error::AreaError;
use crate::figure::Figure;
use crate::memory::CompiledMemory;
use crate::tool::Found;
use schemars::JsonSchema;
use selvedge_hw::file;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Max size of the CACTI program, bytes.
const MOST_BYTES: u64 = 512 << 20;

/// Min size of an array that CACTI models, bytes.
const LEAST_BYTES: usize = 64;

/// Temperature for leakage, kelvin.
const TEMPERATURE: u32 = 360;

/// The CACTI program and the technology node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cacti {
    program: PathBuf,
    /// SHA-256 of the program, because CACTI does not report its version.
    pub sha256: String,
    /// Technology node, nanometres.
    pub node_nm: u32,
}

/// Area, times and energies of a memory.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Price {
    /// Words of the modelled array.
    pub modelled_words: usize,
    /// Bits of a word of the modelled array.
    pub modelled_width: usize,
    /// Area of the modelled array.
    pub area: Figure,
    /// Time from the address to the data.
    pub access_time: Figure,
    /// Time from one access to the next.
    pub cycle_time: Figure,
    /// Energy of a read.
    pub read_energy: Figure,
    /// Energy of a write, if this CACTI reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_energy: Option<Figure>,
    /// Leakage of a bank.
    pub leakage: Figure,
}

impl Cacti {
    /// Finds the program at `path`, or `cacti` in the search path.
    ///
    /// # Errors
    /// [`AreaError::Missing`] if `path` is `None` and the search path has no `cacti`, or [`AreaError::Io`] if the program
    /// cannot be read.
    pub fn find(path: Option<&Path>, node_nm: u32) -> Result<Self, AreaError> {
        let missing = AreaError::Missing {
            program: "cacti",
            package: "CACTI from its source (github.com/HewlettPackard/cacti) and name it by --cacti FILE",
        };
        let program = match path {
            Some(path) => path.to_path_buf(),
            None => {
                let folders = std::env::var_os("PATH").unwrap_or_default();
                let found = std::env::split_paths(&folders).map(|folder| folder.join("cacti"));
                found.into_iter().find(|program| program.is_file()).ok_or(missing)?
            }
        };
        let program = std::fs::canonicalize(&program).map_err(AreaError::at(&program))?;
        let bytes = file::read(&program, MOST_BYTES).map_err(AreaError::at(&program))?;
        let sha256 = Sha256::digest(&bytes).iter().fold(String::new(), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        });
        Ok(Cacti { program, sha256, node_nm })
    }

    /// Returns the method in one line, for reports.
    pub fn method(&self) -> String {
        format!(
            "memories by {} ({}): {} nm, scratch RAM of itrs-hp cells, one bank, {TEMPERATURE} K",
            self.program.display(),
            &self.sha256[..12],
            self.node_nm
        )
    }

    /// Returns area, times, energies and leakage of a memory.
    ///
    /// # Errors
    /// [`AreaError`] if CACTI fails, or if its output lacks a value.
    pub fn price(
        &self,
        memory: &CompiledMemory,
        block: &str,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<Price, AreaError> {
        let work = format!("{block}: CACTI's prices of {}", memory.name);
        let shape = SramArray::of(memory);
        let name = memory.name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let input = folder.join(format!("{name}.cfg"));
        std::fs::write(&input, shape.input(memory, self.node_nm)).map_err(AreaError::at(&input))?;
        let own = self.program.parent().unwrap_or(Path::new("/"));
        let found = Found { program: self.program.display().to_string(), version: String::new() };
        let arguments = ["-infile", &input.display().to_string()];
        let text = found.run_in(own, folder, &arguments, &work, stop)?;
        shape.read(&text).map_err(|missing| AreaError::NoAnswer {
            work,
            message: format!("CACTI does not report `{missing}`; its last line: {}", last_line(&text)),
        })
    }
}

fn last_line(text: &str) -> &str {
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("there is none").trim()
}

/// The array that is modelled for a memory.
struct SramArray {
    words: usize,
    bytes: usize,
}

impl SramArray {
    fn of(memory: &CompiledMemory) -> Self {
        let bytes = memory.width.div_ceil(8);
        let words = memory.words.next_power_of_two().max(LEAST_BYTES.div_ceil(bytes).next_power_of_two());
        SramArray { words, bytes }
    }

    /// Returns CACTI's input file.
    fn input(&self, memory: &CompiledMemory, node_nm: u32) -> String {
        let SramArray { words, bytes } = self;
        let CompiledMemory { read_ports, write_ports, .. } = memory;
        let size = words * bytes;
        format!(
            "-size (bytes) {size}\n-block size (bytes) {bytes}\n-associativity 1\n-read-write port 0\n\
             -exclusive read port {read_ports}\n-exclusive write port {write_ports}\n-single ended read ports 0\n\
             -UCA bank count 1\n-technology (u) {:.3}\n-page size (bits) 8192\n-burst length 8\n\
             -internal prefetch width 8\n-Data array cell type - \"itrs-hp\"\n-Data array peripheral type - \"itrs-hp\"\n\
             -Tag array cell type - \"itrs-hp\"\n-Tag array peripheral type - \"itrs-hp\"\n\
             -output/input bus width {}\n-operating temperature (K) {TEMPERATURE}\n-cache type \"ram\"\n\
             -tag size (b) \"default\"\n-access mode (normal, sequential, fast) - \"normal\"\n\
             -design objective (weight delay, dynamic power, leakage power, cycle time, area) 0:0:0:0:100\n\
             -deviate (delay, dynamic power, leakage power, cycle time, area) 20:100000:100000:100000:100000\n\
             -Optimize ED or ED^2 (ED, ED^2, NONE): \"NONE\"\n-Cache model (NUCA, UCA)  - \"UCA\"\n-NUCA bank count 0\n\
             -Wire signaling (fullswing, lowswing, default) - \"Global_30\"\n-Wire inside mat - \"semi-global\"\n\
             -Wire outside mat - \"semi-global\"\n-Interconnect projection - \"conservative\"\n-Core count 8\n\
             -Cache level (L2/L3) - \"L2\"\n-Add ECC - \"false\"\n-Print level (DETAILED, CONCISE) - \"DETAILED\"\n\
             -Print input parameters - \"false\"\n-Force cache config - \"false\"\n",
            f64::from(node_nm) / 1000.0,
            8 * bytes,
        )
    }

    /// Reads the values from CACTI's output. An error is the label of the missing line.
    fn read(&self, text: &str) -> Result<Price, &'static str> {
        let numbers = |label: &'static str| -> Result<Vec<f64>, &'static str> {
            let line = text.lines().find_map(|line| line.trim_start().strip_prefix(label)).ok_or(label)?;
            let after = line.split_once(':').map_or("", |(_, after)| after);
            let words = after.split([' ', 'x', ';']).filter_map(|word| word.parse::<f64>().ok());
            Ok(words.collect())
        };
        let number = |label: &'static str| numbers(label)?.first().copied().ok_or(label);
        let label = "Cache height x width (mm)";
        let [height, width] = numbers(label)?[..] else { return Err(label) };
        Ok(Price {
            modelled_words: self.words,
            modelled_width: 8 * self.bytes,
            area: Figure::new(height * width * 1e6, "um2"),
            access_time: Figure::new(number("Access time (ns)")?, "ns"),
            cycle_time: Figure::new(number("Cycle time (ns)")?, "ns"),
            read_energy: Figure::new(number("Total dynamic read energy per access (nJ)")?, "nJ"),
            write_energy: number("Total dynamic write energy per access (nJ)")
                .ok()
                .map(|energy| Figure::new(energy, "nJ")),
            leakage: Figure::new(number("Total leakage power of a bank")?, "mW"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(words: usize, width: usize) -> CompiledMemory {
        CompiledMemory {
            name: "table".into(),
            words,
            width,
            address_bits: words.ilog2() as usize,
            read_ports: 1,
            clocked_read_ports: 1,
            write_ports: 2,
        }
    }

    #[test]
    fn arrays_are_whole_bytes_and_powers_of_two_of_64_bytes_at_least() {
        let shape = |words, width| {
            let SramArray { words, bytes } = SramArray::of(&memory(words, width));
            (words, bytes)
        };
        assert_eq!(shape(1024, 36), (1024, 5));
        assert_eq!(shape(48, 64), (64, 8));
        assert_eq!(shape(4, 8), (64, 1));
        assert_eq!(shape(2, 1024), (2, 128));
    }

    #[test]
    fn the_input_has_size_ports_and_node() {
        let memory = memory(256, 20);
        let text = SramArray::of(&memory).input(&memory, 45);
        for line in [
            "-size (bytes) 768",
            "-block size (bytes) 3",
            "-exclusive read port 1",
            "-exclusive write port 2",
            "-technology (u) 0.045",
            "-output/input bus width 24",
            "-cache type \"ram\"",
        ] {
            assert!(text.lines().any(|own| own == line), "{line}");
        }
    }

    #[test]
    fn prices_are_read_with_either_layout_and_what_is_missing_is_named() {
        let shape = SramArray { words: 64, bytes: 4 };
        let text = "  Access time (ns): 0.25\n  Cycle time (ns):  0.5\n\
                    Total dynamic read energy per access (nJ): 0.003\n\
                    Total dynamic write energy per access (nJ): 0.004\n\
                    Total leakage power of a bank (mW): 0.75\nTotal gate leakage power of a bank (mW): 9\n\
                    Cache height x width (mm): 0.02 x 0.05\n";
        let price = shape.read(text).expect("all is there");
        assert_eq!((price.area.value, price.access_time.value, price.leakage.value), (1000.0, 0.25, 0.75));
        assert_eq!(price.write_energy.map(|energy| energy.value), Some(0.004));
        let power_gated = text.replace("a bank (mW): 0.75", "a bank without power gating (mW): 0.75");
        assert_eq!(shape.read(&power_gated).map(|price| price.leakage.value), Ok(0.75));
        let old = text.replace("Total dynamic write energy per access (nJ): 0.004\n", "");
        assert_eq!(shape.read(&old).map(|price| price.write_energy), Ok(None));
        assert_eq!(shape.read("ERROR: no valid organization"), Err("Cache height x width (mm)"));
    }
}
