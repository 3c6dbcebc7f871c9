//! GTKWave, on a virtual display, shows the content of a save file: the signals, the names of values, and about twenty
//! cycles from the first interesting one.
use crate::command::selvedge_in;
use selvedge_testbenches::skipped::skip;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Width and height of the window.
pub const WIDTH: usize = 1600;
const HEIGHT: usize = 900;
/// First and last column of the waves in the window, right of the names.
const WAVES: (usize, usize) = (450, 1580);
const FIRST_ROW: usize = 140;
/// Height of the title of the window.
const TITLE: usize = 52;

/// Script that reports facts about GTKWave's window once it is drawn, one per line.
pub const SCRIPT: &str = r#"
proc settle {} { for {set i 0} {$i < 50} {incr i} { gtkwave::nop; after 20 } }
settle
puts "window [gtkwave::getWindowStartTime] [gtkwave::getWindowEndTime]"
puts "marker [gtkwave::getMarker]"
for {set i 0} {$i < [gtkwave::getTotalNumTraces]} {incr i} {
    catch { puts "trace [gtkwave::getTraceNameFromIndex $i]=[gtkwave::getTraceValueAtMarkerFromIndex $i]" }
}
puts "signals [gtkwave::getDisplayedSignals]"
puts "done"
flush stdout
"#;

/// Script that opens the folded words of a line, and reports them.
const OPEN_SCRIPT: &str = r#"
proc settle {} { for {set i 0} {$i < 50} {incr i} { gtkwave::nop; after 20 } }
settle
for {set i 0} {$i < 30} {incr i} {
    if {[string match {line_i*1023:0*} [gtkwave::getTraceNameFromIndex $i]]} {
        gtkwave::setTraceHighlightFromIndex $i on
        gtkwave::/Edit/Toggle_Group_Open|Close
    }
}
settle
for {set i 0} {$i < [gtkwave::getTotalNumTraces]} {incr i} {
    catch { puts "trace [gtkwave::getTraceNameFromIndex $i]=[gtkwave::getTraceValueAtMarkerFromIndex $i]" }
}
puts "done"
flush stdout
"#;

/// A child process. Drop kills it.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // The process may already have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Report and screenshot of GTKWave.
pub struct Shown {
    lines: Vec<String>,
    pub screen: Screen,
}

impl Shown {
    /// Returns the rest of the first line that begins with `word`.
    fn fact(&self, word: &str) -> &str {
        let found = self.lines.iter().find_map(|line| line.strip_prefix(word)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("no {word}: {:?}", self.lines))
    }

    /// Returns the value of the signal `name` at the marker.
    fn value(&self, name: &str) -> &str {
        let traces = self.lines.iter().filter_map(|line| line.strip_prefix("trace "));
        let found = traces.filter_map(|line| line.split_once('=')).find(|(trace, _)| *trace == name);
        found.unwrap_or_else(|| panic!("no {name}: {:?}", self.lines)).1
    }
}

/// Returns true for the color of GTKWave's waves.
fn is_wave([red, green, _]: [u8; 3]) -> bool {
    green > 100 && red < 100
}

/// Pixels of a display: red, green, blue.
pub struct Screen(Vec<[u8; 3]>);

impl Screen {
    /// Reads the file of Xvfb's display: a header of big-endian 32-bit words, colors, and pixels.
    fn read(path: &Path) -> Self {
        let bytes = std::fs::read(path).expect("the display");
        let word =
            |at: usize| u32::from_be_bytes(bytes[4 * at..4 * at + 4].try_into().expect("a word")) as usize;
        let (head, width, height, bits, stride, colors) =
            (word(0), word(4), word(5), word(11), word(12), word(19));
        assert_eq!((width, height, bits), (WIDTH, HEIGHT, 32));
        let pixels = &bytes[head + 12 * colors..];
        let row = |y: usize| pixels[y * stride..y * stride + 4 * width].chunks_exact(4);
        Screen((0..height).flat_map(row).map(|pixel| [pixel[2], pixel[1], pixel[0]]).collect())
    }

    /// Returns the rows of pixels from below the title, which has the path, to the end of the last signal.
    pub fn used(&self) -> &[[u8; 3]] {
        let has_wave = |y: &usize| (WAVES.0..WAVES.1).any(|x| is_wave(self.0[y * WIDTH + x]));
        let last = (FIRST_ROW..HEIGHT).rfind(has_wave).expect("a signal");
        &self.0[TITLE * WIDTH..(last + 40).min(HEIGHT) * WIDTH]
    }

    /// Returns the fraction of the waves' pixels for which `is_so` holds, and the fraction of their columns with such a
    /// pixel.
    fn share(&self, is_so: impl Fn([u8; 3]) -> bool) -> (f64, f64) {
        let columns = WAVES.1 - WAVES.0;
        let (mut pixels, mut full) = (0, 0);
        for x in WAVES.0..WAVES.1 {
            let here = (FIRST_ROW..HEIGHT).filter(|y| is_so(self.0[y * WIDTH + x])).count();
            pixels += here;
            full += usize::from(here > 0);
        }
        let area = columns * (HEIGHT - FIRST_ROW);
        (pixels as f64 / area as f64, full as f64 / columns as f64)
    }
}

/// Opens a save file in `folder` with GTKWave. If GTKWave is not installed, skips `test` and returns `None`.
pub fn look(test: &str, folder: &Path, save_file: &str, report: &str) -> Option<Shown> {
    let missing = [("gtkwave", "gtkwave"), ("Xvfb", "xvfb")].into_iter().find(|(program, _)| {
        let paths = std::env::var_os("PATH").unwrap_or_default();
        !std::env::split_paths(&paths).any(|path| path.join(program).is_file())
    });
    if let Some((program, package)) = missing {
        skip(test, &format!("no {program}: the Debian package {package} has it"));
        return None;
    }
    let (display, script) = (folder.join("display"), folder.join("look.tcl"));
    std::fs::create_dir_all(&display).expect("a folder");
    std::fs::write(&script, report).expect("written");
    let size = format!("{WIDTH}x{HEIGHT}x24");
    // Xvfb chooses a free display number and prints it when it is ready.
    let server = Command::new("Xvfb")
        .args(["-displayfd", "1", "-screen", "0", &size, "-nolisten", "tcp", "-nocursor", "-fbdir"])
        .arg(&display)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut server = Running(server.expect("Xvfb starts"));
    let mut number = String::new();
    BufReader::new(server.0.stdout.take().expect("a pipe")).read_line(&mut number).expect("a number");
    let viewer = Command::new("gtkwave")
        .args(["-S", "look.tcl", save_file])
        .current_dir(folder)
        .env("DISPLAY", format!(":{}", number.trim()))
        .env("HOME", folder)
        .env("GTK_THEME", "Adwaita")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    let mut viewer = Running(viewer.expect("GTKWave starts"));
    let output = BufReader::new(viewer.0.stdout.take().expect("a pipe"));
    let lines: Vec<String> = output.lines().map_while(Result::ok).take_while(|line| line != "done").collect();
    // The window is drawn, but the display may receive it a moment later.
    let limit = Instant::now() + Duration::from_secs(20);
    loop {
        let screen = Screen::read(&display.join("Xvfb_screen0"));
        let (green, columns) = screen.share(is_wave);
        if green > 0.001 && columns > 0.5 || Instant::now() > limit {
            return Some(Shown { lines, screen });
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Runs a command that writes a waveform.
fn record(folder: &Path, words: &[&str]) {
    let output = selvedge_in(folder, words);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Checks every window for waves from edge to edge, few unknown values, and twenty cycles of `period` picoseconds.
fn check_window(shown: &Shown, period: f64) {
    let (wave, columns) = shown.screen.share(is_wave);
    assert!(wave > 0.003 && columns > 0.97, "waves on {wave} of the pixels, in {columns} of the columns");
    let (unknown, _) = shown.screen.share(|[red, green, blue]| red > 150 && green < 100 && blue < 100);
    assert!(unknown < 0.003, "unknown values on {unknown} of the pixels");
    let window: Vec<f64> =
        shown.fact("window").split(' ').map(|time| time.parse().expect("a time")).collect();
    let cycles = (window[1] - window[0]) / period;
    assert!((18.0..23.0).contains(&cycles), "{cycles} cycles from {} to {}", window[0], window[1]);
    let marker: f64 = shown.fact("marker").parse().expect("a time");
    let before = (marker - window[0]) / period;
    assert!((0.0..3.1).contains(&before), "{before} cycles before the marker");
}

#[test]
fn a_blocks_window_shows_named_values_of_the_first_accepted_line() {
    for file in ["bdi.vcd", "bdi.fst"] {
        let folder = tempfile::tempdir().expect("a folder");
        record(folder.path(), &["wave", "bdi_compressor", "--inside", "-o", file]);
        let test = "a_blocks_window_shows_named_values_of_the_first_accepted_line";
        let Some(shown) = look(test, folder.path(), "bdi.gtkw", SCRIPT) else { return };
        check_window(&shown, 1e6 / 1400.0);
        assert_eq!([shown.value("valid_i"), shown.value("ready_o"), shown.value("rst_ni")], ["1", "1", "1"]);
        let marker: f64 = shown.fact("marker").parse().expect("a time");
        assert_eq!(shown.value("cycle"), ((marker * 1.4e-3).round() as u64).to_string());
        let line = shown.value("line_i[1023:0]").trim_start_matches('0');
        let low = line[line.len().saturating_sub(8)..].trim_start_matches('0').to_lowercase();
        let row = if file == "bdi.vcd" { "line_in" } else { "line_in[79:0]" };
        assert_eq!(shown.value(row), format!("..{low}"));
        let signals = shown.fact("signals");
        let scope = "selvedge.bdi_compressor";
        for signal in ["line_i[1023:0]", "encoding_o[3:0]", "results.stage_data_q_0[1035:0]"] {
            assert!(
                signals.split(' ').any(|shown| shown == format!("{scope}.{signal}")),
                "{signal} is not among the {} signals",
                signals.split(' ').count()
            );
        }
        assert!(signals.contains("selvedge.cycle"), "{signals}");
        let encoding = shown.value("encoding_o[3:0]");
        assert!(NAMES.contains(&encoding), "{encoding}");
    }
}

#[test]
fn a_controllers_window_opens_on_its_decision() {
    let folder = tempfile::tempdir().expect("a folder");
    record(folder.path(), &["wave", "latte_controller", "--cycles", "3000", "-o", "latte.vcd"]);
    let test = "a_controllers_window_opens_on_its_decision";
    let Some(shown) = look(test, folder.path(), "latte.gtkw", SCRIPT) else { return };
    check_window(&shown, 1e6 / 1400.0);
    assert_eq!(shown.value("decided_o"), "1");
    assert_eq!(shown.value("decision"), shown.value("mode_o[1:0]"));
    let fields = [1, 0].map(|at| shown.value(&format!("warps_{at}[5:0]")).parse::<u64>().expect("a number"));
    let port: u64 = shown.value("warps_i[11:0]").parse().expect("a number");
    assert_eq!(fields[0] << 6 | fields[1], port);
}

#[test]
fn a_line_folds_open_into_its_words() {
    let folder = tempfile::tempdir().expect("a folder");
    record(folder.path(), &["wave", "bdi_compressor", "-o", "bdi.vcd"]);
    let test = "a_line_folds_open_into_its_words";
    let Some(shown) = look(test, folder.path(), "bdi.gtkw", OPEN_SCRIPT) else { return };
    let line = shown.value("line_i[1023:0]");
    assert!(line.len() == 256 && line.bytes().any(|digit| digit != b'0'), "{line}");
    for word in 0..32 {
        let name = format!("line_i[{}:{}]", 32 * word + 31, 32 * word);
        assert_eq!(shown.value(&name), &line[256 - 8 * (word + 1)..256 - 8 * word], "{name}");
    }
}

const NAMES: [&str; 11] =
    ["uncompressed", "zeros", "b8d0", "b8d1", "b8d2", "b8d4", "b4d0", "b4d1", "b4d2", "b2d0", "b2d1"];

#[test]
fn a_runs_window_shows_two_clock_domains() {
    let folder = tempfile::tempdir().expect("a folder");
    let words = "run bfs --mechanism hw-bdi --set clock.l2_mhz=700 --vcd run.vcd --probe sm0.decompressor --probe l2.p0.md_cache \
                 --from 300 --cycles 3000 --inside";
    record(folder.path(), &words.split_whitespace().collect::<Vec<_>>());
    let Some(shown) = look("a_runs_window_shows_two_clock_domains", folder.path(), "run.gtkw", SCRIPT) else {
        return;
    };
    check_window(&shown, 1e6 / 700.0);
    let signals = shown.fact("signals");
    for signal in ["selvedge.core_cycle", "selvedge.l2_cycle", "selvedge.sm0.decompressor.clk_i"] {
        assert!(signals.split(' ').any(|shown| shown == signal), "{signal}: {signals}");
    }
    let (core, l2): (u64, u64) = (
        shown.value("core_cycle").parse().expect("a number"),
        shown.value("l2_cycle").parse().expect("a number"),
    );
    assert!(core.abs_diff(2 * l2) <= 2, "core cycle {core}, L2 cycle {l2} at half the frequency");
}
