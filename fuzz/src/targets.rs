//! One function for each kind of file that Selvedge reads. For any bytes, the file is read or refused in one line.
//!
//! The programs in `fuzz_targets/` call these functions with inputs that reach new code. A test of `selvedge-sim` calls
//! them with each file of the stored corpus.
use selvedge_sim::config::{GpuConfig, import};
use selvedge_sim::launch_file::LaunchFile;
use selvedge_sim::limits::Limits;
use selvedge_sim::memory::DeviceMemory;
use selvedge_sim::ptx::{Arg, Kernel, LaunchDims, Module, ParamKind, run_limited};
use selvedge_sim::reach::FileReach;
use selvedge_sim::trace::TraceFile;
use selvedge_sim::workload::{Size, find};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Function that reads the bytes of a file.
pub type FuzzTarget = fn(&[u8]);

/// Every target with the name of its program and corpus.
pub const TARGETS: [(&str, FuzzTarget); 10] = [
    ("data_file", data_file),
    ("gpgpusim", gpgpusim),
    ("input_file", input_file),
    ("kernel", kernel),
    ("kernel_trace", kernel_trace),
    ("launch_file", launch_file),
    ("machine", machine),
    ("own_trace", own_trace),
    ("ptx", ptx),
    ("trace_list", trace_list),
];

/// Max warp instructions of a kernel, because its loops may never end.
const MOST_INSTRUCTIONS: u64 = 1000;

/// Limits of a file. They are small, so that many inputs can be tried.
const LIMITS: Limits = Limits { memory: 1 << 24, unpacked: None, reach: FileReach::Anywhere };

/// PTX for the launch files.
const PTX: &str = ".version 5.0\n.target sm_60\n.address_size 64\n.global .align 4 .u32 flag;\n.const .align 4 .f32 scale[2];\n\
                   .global .texref view;\n.visible .entry free() { ret; }\n\
                   .visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 n) { ret; }\n\
                   .visible .entry mixed(.param .f32 x, .param .u16 h, .param .align 4 .b8 pair[8]) { ret; }\n";

/// Separator between the two files of a GPGPU-Sim configuration in one input.
const NETWORK: &str = "\n// network\n";

/// Returns the process's folder for files under test. It contains files that they may name: the data of the end-to-end
/// tests, PTX and numbers.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let fill = || {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // Both the fuzzers and a test in another folder include this file.
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let data = here.ancestors().map(|folder| folder.join("tests/data")).find(|data| data.is_dir());
        let data = std::fs::read_dir(data.expect("the end-to-end tests' folder"));
        for entry in data.expect("a folder that can be read") {
            let entry = entry.expect("an entry");
            std::fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
        }
        let numbers: String = (0..64).map(|number| format!("{number}\n")).collect();
        let floats: Vec<u8> =
            [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|number| number.to_le_bytes()).collect();
        let named = [
            ("k.ptx", PTX.as_bytes()),
            ("a.txt", b"1 2 3 4\n"),
            ("b.raw", &floats),
            ("power_8", numbers.as_bytes()),
        ];
        for (name, bytes) in named {
            std::fs::write(folder.path().join(name), bytes).expect("written");
        }
        folder
    };
    FOLDER.get_or_init(fill).path()
}

/// Writes a file under test. Each target uses its own names, since targets may run at the same time.
fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder().join(name);
    std::fs::write(&path, bytes).expect("written");
    path
}

/// Checks that a refusal is exactly one line.
fn one_line(message: &str) {
    assert_eq!(message.lines().count(), 1, "a refusal of one line, not:\n{message}");
}

/// Parses PTX with the front end.
pub fn ptx(bytes: &[u8]) {
    match Module::parse_bytes("fuzz.ptx", bytes) {
        Ok(module) => module.kernels().iter().for_each(|kernel| drop(kernel.textures())),
        Err(error) => one_line(&error.to_string()),
    }
}

/// Returns a value for each parameter: the buffer for a possible address, else a small number.
fn arguments(kernel: &Kernel, buffer: u64) -> Vec<Arg> {
    let each = kernel.params.iter().map(|param| match (param.kind, param.bytes) {
        (ParamKind::Integer, 8) => Arg::Ptr(buffer),
        (ParamKind::Integer, 4) => Arg::U32(8),
        (ParamKind::Float, 4) => Arg::F32(1.5),
        (ParamKind::Float, 8) => Arg::F64(1.5),
        (_, bytes) => Arg::Bytes(vec![1; bytes as usize]),
    });
    each.collect()
}

/// Parses PTX and executes a limited number of instructions.
pub fn kernel(bytes: &[u8]) {
    let Ok(module) = Module::parse_bytes("fuzz.ptx", bytes) else { return };
    let mut memory = DeviceMemory::with_capacity(1 << 20);
    if module.load(&mut memory).is_err() {
        return;
    }
    let Ok(buffer) = memory.alloc(1 << 14, "buffer") else { return };
    let launch = LaunchDims { dynamic_shared: 256, ..LaunchDims::new([2, 1, 1], [40, 1, 1]) };
    for kernel in module.kernels() {
        if kernel.shared_bytes > 1 << 16 || kernel.local_bytes > 1 << 16 {
            continue;
        }
        let params = kernel.pack(&arguments(kernel, buffer)).expect("they suit the parameters");
        if let Err(error) = run_limited(&module, kernel, &launch, &params, &mut memory, MOST_INSTRUCTIONS) {
            one_line(&error.to_string());
        }
    }
}

/// Parses the TOML of a configuration.
pub fn machine(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Err(found) = GpuConfig::examine("fuzz.toml", text) {
        assert!(!found.is_empty(), "refused without a word");
        found.iter().for_each(|error| one_line(&error.to_string()));
    }
}

/// Translates GPGPU-Sim's options and, after a separator, its network. The result must be a valid configuration.
pub fn gpgpusim(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let (options, network) = text.split_once(NETWORK).unwrap_or((text, ""));
    match import::import("my", &[("my.config", options)], Some(("my.icnt", network))) {
        Ok(import) => drop(GpuConfig::parse("my.toml", &import.toml).expect("a machine")),
        Err(found) => {
            assert!(!found.is_empty(), "refused without a word");
            found.iter().for_each(|error| one_line(&error.to_string()));
        }
    }
}

/// Reads a launch file and the files that it names, up to its first launch.
fn start(path: &Path) {
    let file = match LaunchFile::load(path, &LIMITS) {
        Ok(file) => file,
        Err(error) => return one_line(&error.to_string()),
    };
    let Ok(mut module) = file.module() else { return };
    let config = GpuConfig::load("gtx480").expect("built in");
    if let Err(error) = file.start(&mut module, &config) {
        one_line(&error.to_string());
    }
}

/// Reads a launch file.
pub fn launch_file(bytes: &[u8]) {
    start(&write("launch.toml", bytes));
}

/// Reads a file of numbers, as text and raw, for a buffer and its expected values.
pub fn data_file(bytes: &[u8]) {
    write("data", bytes);
    let head = "ptx = \"k.ptx\"\nkernel = \"free\"\ngrid = [1]\nblock = [1]\n[[buffer]]\nname = \"a\"\nfile = \"data\"\n";
    for element in ["u8", "s64", "f16", "f32", "f64"] {
        let text = format!("{head}type = \"{element}\"\nexpect = {{ file = \"data\" }}\n");
        start(&write("data.toml", text.as_bytes()));
    }
    let text = format!("{head}type = \"u32\"\nformat = \"raw\"\n");
    start(&write("data.toml", text.as_bytes()));
}

/// Reads an input file of a workload, in the format that its first byte selects.
pub fn input_file(bytes: &[u8]) {
    let Some((form, bytes)) = bytes.split_first() else { return };
    let forms = [("bfs", "graph.txt"), ("sssp", "graph.gr"), ("hotspot", "temp_8"), ("kmeans", "points.txt")];
    let (workload, name) = forms[usize::from(*form) % forms.len()];
    let path = write(name, bytes);
    match find(workload).expect("built in").start(Size::Tiny, Some(&path)) {
        // The first launch allocates the buffers.
        Ok(mut program) => drop(program.next(&mut DeviceMemory::with_capacity(1 << 24))),
        Err(error) => one_line(&error.to_string()),
    }
}

/// Reads a trace and counts the work of its launches.
fn read_trace(path: &Path) {
    match TraceFile::load(path, &LIMITS).and_then(|trace| trace.summaries()) {
        Ok(_) => {}
        Err(error) => one_line(&error.to_string()),
    }
}

/// Reads a kernel trace of Accel-Sim, as text and packed.
pub fn kernel_trace(bytes: &[u8]) {
    read_trace(&write("kernel-1.traceg", bytes));
    read_trace(&write("kernel-1.tracez", bytes));
}

/// Reads a list of Accel-Sim's kernel traces.
pub fn trace_list(bytes: &[u8]) {
    read_trace(&write("kernelslist.g", bytes));
}

/// Reads a trace in Selvedge's format, unchanged and with corrected digests of its sections.
pub fn own_trace(bytes: &[u8]) {
    read_trace(&write("own.strace", bytes));
    let mut sealed = bytes.to_vec();
    reseal(&mut sealed);
    read_trace(&write("own.strace", &sealed));
}

/// Corrects the digests. A section is a letter, the length of its bytes, the bytes, and their digest.
fn reseal(bytes: &mut [u8]) {
    let mut at = 8;
    while let Some(length) = bytes.get(at + 1..at + 9) {
        let length = u64::from_le_bytes(length.try_into().expect("eight bytes"));
        let end = usize::try_from(length).ok().and_then(|length| (at + 9).checked_add(length));
        let Some(end) = end.filter(|end| end.checked_add(8).is_some_and(|end| end <= bytes.len())) else {
            return;
        };
        let sum = digest(&bytes[at..end]);
        bytes[end..end + 8].copy_from_slice(&sum.to_le_bytes());
        at = end + 8;
    }
}

/// Returns the digest of a section over eight bytes at a time, then their number, then the remaining bytes.
fn digest(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(29);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(0xcbf2_9ce4_8422_2325, |sum, word| mix(sum, u64::from_le_bytes(*word)));
    rest.iter().fold(mix(sum, bytes.len() as u64), |sum, byte| mix(sum, u64::from(*byte)))
}
