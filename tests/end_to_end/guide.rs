//! The pages of the documentation, followed as a reader would: the README and each page of `docs/` with `sh` blocks.
//!
//! Each page has a test of its own, which starts in a fresh folder and treats the page's fenced blocks in order:
//!
//! | block | treatment |
//! |---|---|
//! | `sh` | its commands run, with `selvedge` in the search path; each must succeed. Folder and exported variables last until the end of the page |
//! | `sh,exit=N` | the same, but the last command must exit with `N` |
//! | `sh,writes=PATH` | writes a file with the name and the contents of `PATH`, a file of the repository |
//! | `sh,needs=TOOL` | runs only if `TOOL` is installed; `needs=python` is the Python of `target/python` |
//! | `sh,norun` | counted, not run |
//! | `text` after `sh`, without a heading between them | the expected output of the last command: standard output, or standard error if that is empty. A line of `...` is any number of lines |
//! | `text,shown` | only displayed |
//! | `LANG,file=PATH` | is written to `PATH` |
//! | `diff,file=PATH` | lines with ` ` and `-`, which must occur once in `PATH`, become those with ` ` and `+` |
//! | another language | only displayed |
//!
//! The fresh folder is like a clone of the repository: it has copies of the folders that the commands name, and `cargo run
//! --release` in it runs the command under test. Elsewhere, cargo reuses this workspace's builds.
use selvedge_testbenches::skipped::skip;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Root of the repository.
const TREE: &str = env!("CARGO_MANIFEST_DIR");

/// Languages of blocks that are only displayed or written to a file.
const LANGUAGES: &str = "awk bibtex c cpp csv diff html ini javascript json make python rust sdc systemverilog tcl text toml \
                         verilog yaml";

/// Defines a test for each page.
macro_rules! pages {
    ($($test:ident: $page:literal)*) => {
        /// Pages with commands that a test runs.
        const PAGES: &[&str] = &[$($page),*];
        $(#[test]
        fn $test() {
            follow_page(stringify!($test), $page);
        })*
    };
}

// In the order of the book. `mechanism_pages` follows the pages of docs/mechanisms.
pages! {
    // The README and tutorials.
    readme: "README.md"
    first_result: "docs/tutorials/first-result.md"
    own_mechanism: "docs/tutorials/own-mechanism.md"
    cuda_to_figure: "docs/tutorials/cuda-to-figure.md"
    gtkwave: "docs/tutorials/gtkwave.md"
    own_verilog: "docs/tutorials/own-verilog.md"
    // How-to guides.
    run_a_workload: "docs/how-to/run-a-workload.md"
    compare_mechanisms: "docs/how-to/compare-mechanisms.md"
    choose_a_gpu: "docs/how-to/choose-a-gpu.md"
    read_statistics: "docs/how-to/read-statistics.md"
    make_a_report: "docs/how-to/make-a-report.md"
    write_a_study: "docs/how-to/write-a-study.md"
    run_on_a_cluster: "docs/how-to/run-on-a-cluster.md"
    reproduce_the_papers: "docs/how-to/reproduce-the-papers.md"
    classify_workloads: "docs/how-to/classify-workloads.md"
    use_in_scripts: "docs/how-to/use-in-scripts.md"
    write_a_kernel: "docs/how-to/write-a-kernel.md"
    loop_over_kernels: "docs/how-to/loop-over-kernels.md"
    run_a_benchmark_suite: "docs/how-to/run-a-benchmark-suite.md"
    replay_a_trace: "docs/how-to/replay-a-trace.md"
    run_concurrent_kernels: "docs/how-to/run-concurrent-kernels.md"
    checkpoint_and_resume: "docs/how-to/checkpoint-and-resume.md"
    estimate_long_runs: "docs/how-to/estimate-long-runs.md"
    record_waveforms: "docs/how-to/record-waveforms.md"
    view_a_timeline: "docs/how-to/view-a-timeline.md"
    emit_verilog: "docs/how-to/emit-verilog.md"
    measure_area: "docs/how-to/measure-area.md"
    co_simulate_verilog: "docs/how-to/co-simulate-verilog.md"
    verify_a_block: "docs/how-to/verify-a-block.md"
    verify_in_a_testbench: "docs/how-to/verify-in-a-testbench.md"
    prove_properties: "docs/how-to/prove-properties.md"
    add_a_block: "docs/how-to/add-a-block.md"
    add_a_mechanism: "docs/how-to/add-a-mechanism.md"
    // Explanation.
    // Results.
    results: "docs/results.md"
    fidelity: "docs/fidelity.md"
    area: "docs/area.md"
    workloads: "docs/workloads.md"
}

/// A fenced block of a guide, with its language word and text.
pub struct Block {
    pub kind: String,
    pub text: String,
    /// Line of the page on which its text begins, from 1.
    line: usize,
    /// True if a heading is between the previous block and this one.
    begins_section: bool,
}

/// Returns the fenced blocks of a guide, in order. A block in a list is without its indentation.
pub fn blocks(guide: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<(Block, usize)> = None;
    let mut begins_section = false;
    for (number, line) in guide.lines().enumerate() {
        let trimmed = line.trim_start();
        match (&mut open, trimmed.strip_prefix("```")) {
            (None, Some(kind)) => {
                let block = Block {
                    kind: kind.trim().into(),
                    text: String::new(),
                    line: number + 2,
                    begins_section: std::mem::take(&mut begins_section),
                };
                open = Some((block, line.len() - trimmed.len()));
            }
            (Some(_), Some("")) => found.extend(open.take().map(|(block, _)| block)),
            (Some((block, indent)), _) => {
                block.text += line.get(*indent..).unwrap_or(trimmed);
                block.text.push('\n');
            }
            (None, None) => begins_section |= line.starts_with('#'),
        }
    }
    assert!(open.is_none(), "a block is not closed");
    found
}

/// Returns the search path that begins with these folders.
fn search_path(first: &[PathBuf]) -> OsString {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(first.iter().cloned().chain(std::env::split_paths(&paths))).expect("a path")
}

/// Returns the folder of the command under test.
fn command_folder() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_selvedge")).parent().expect("a folder").to_path_buf()
}

/// Runs a line in `folder` as a shell does, with the command under test in the search path.
pub fn shell(folder: &Path, line: &str) -> Output {
    Command::new("sh")
        .args(["-c", line])
        .env("PATH", search_path(&[command_folder()]))
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .current_dir(folder)
        .output()
        .expect("a shell")
}

/// Writes settings with which cargo reuses the workspace's builds of registry packages. Selvedge's crates are not
/// members of the new workspace and are built again, without optimization, which takes a fifth of the time.
pub fn settings(folder: &Path) -> PathBuf {
    let manifest: toml::Table =
        fs::read_to_string(format!("{TREE}/Cargo.toml")).expect("there").parse().expect("TOML");
    let mut profile = manifest["profile"].as_table().expect("profiles").clone();
    profile.remove("release");
    profile.remove("dist");
    // Settings precede the environment, in which `tests/run` leaves out debug information.
    for name in ["dev", "test"] {
        profile[name].as_table_mut().expect("a profile").remove("debug");
    }
    let own: toml::Table = include_str!("../plugin/manifest.toml").parse().expect("TOML");
    let listed = own["profile"]["dev"]["package"].as_table().expect("packages");
    let packages =
        profile["dev"].as_table_mut().expect("a profile")["package"].as_table_mut().expect("packages");
    for package in listed.keys().filter(|package| package.starts_with("selvedge")) {
        packages.insert(package.clone(), toml::Table::from_iter([("opt-level".into(), 0.into())]).into());
    }
    let settings = toml::Table::from_iter([("profile".into(), profile.into())]);
    let file = folder.join("settings.toml");
    fs::write(&file, settings.to_string()).expect("written");
    file
}

/// Use of a block, by its info string.
enum Kind<'a> {
    Run { exit: i32, needs: Option<&'a str>, writes: Option<&'a str> },
    NotRun,
    Expected,
    File(&'a str),
    Edit(&'a str),
    Displayed,
}

/// Reads the info string of a block.
fn kind(info: &str) -> Result<Kind<'_>, String> {
    let mut words = info.split(',');
    let language = words.next().unwrap_or_default();
    let words: Vec<&str> = words.collect();
    if language == "sh" {
        if words == ["norun"] {
            return Ok(Kind::NotRun);
        }
        let (mut exit, mut needs, mut writes) = (0, None, None);
        for word in words {
            match word.split_once('=') {
                Some(("exit", code)) => exit = code.parse().map_err(|_| format!("exit={code}"))?,
                Some(("needs", tool)) => needs = Some(tool),
                Some(("writes", file)) => writes = Some(file),
                _ => return Err(format!("unknown word `{word}` in the info string `{info}`")),
            }
        }
        return Ok(Kind::Run { exit, needs, writes });
    }
    if !LANGUAGES.split_whitespace().any(|known| known == language) {
        return Err(format!("unknown info string `{info}`"));
    }
    match words.as_slice() {
        [] if language == "text" => Ok(Kind::Expected),
        [] => Ok(Kind::Displayed),
        ["shown"] if language == "text" => Ok(Kind::Displayed),
        [word] => {
            let file = word.strip_prefix("file=").filter(|file| !file.is_empty());
            let to_kind = if language == "diff" { Kind::Edit } else { Kind::File };
            file.map(to_kind).ok_or_else(|| format!("unknown word `{word}` in the info string `{info}`"))
        }
        _ => Err(format!("unknown info string `{info}`")),
    }
}

/// Splits the text of a block into commands. A command may continue on the next lines, after a backslash or within
/// quotes or a loop.
fn commands(text: &str) -> Result<Vec<String>, String> {
    let mut found = Vec::new();
    let mut open = String::new();
    for line in text.lines() {
        if open.is_empty() && (line.trim().is_empty() || line.starts_with('#')) {
            continue;
        }
        if line.starts_with("$ ") {
            return Err(format!("a prompt before a command, which readers would copy: {line}"));
        }
        open += line;
        open.push('\n');
        let is_whole = !line.ends_with('\\')
            && Command::new("sh").args(["-n", "-c", &open]).output().is_ok_and(|done| done.status.success());
        if is_whole {
            found.push(std::mem::take(&mut open).trim_end().to_owned());
        }
    }
    if open.is_empty() { Ok(found) } else { Err(format!("a command does not end: {open}")) }
}

/// Returns whether lines are as expected, of which `...` stands for any number.
fn agrees(expected: &[&str], lines: &[&str]) -> bool {
    match expected.split_first() {
        None => lines.is_empty(),
        Some((&"...", rest)) => (0..=lines.len()).any(|skipped| agrees(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.first().is_some_and(|line| line.trim_end() == first.trim_end()) && agrees(rest, &lines[1..])
        }
    }
}

/// Returns a text with the change that `diff` shows.
fn edited(text: &str, diff: &str) -> Result<String, String> {
    let side = |sign: char| -> String {
        let lines = diff.lines().filter(|line| line.is_empty() || line.starts_with([' ', sign]));
        lines.map(|line| format!("{}\n", line.get(1..).unwrap_or_default())).collect()
    };
    if let Some(line) = diff.lines().find(|line| !line.is_empty() && !line.starts_with([' ', '-', '+'])) {
        return Err(format!("a line of the change begins with neither a blank nor a sign: {line}"));
    }
    let (old, new) = (side('-'), side('+'));
    match text.matches(&old).count() {
        1 if old != new => Ok(text.replace(&old, &new)),
        1 => Err("the change changes nothing".into()),
        count => Err(format!("{count} places to change, not 1:\n{old}")),
    }
}

/// A fresh folder in which a page is followed.
struct Reader {
    root: tempfile::TempDir,
    /// Folder of the shell's state and of programs that take the place of others.
    own: tempfile::TempDir,
}

impl Reader {
    /// Prepares the folder for a page: copies the folders of the repository that its blocks name.
    fn new(blocks: &[Block]) -> Self {
        let reader = Self {
            root: tempfile::tempdir().expect("a folder"),
            own: tempfile::tempdir().expect("a folder"),
        };
        let shown: String =
            blocks.iter().filter(|block| block.kind.starts_with("sh")).map(|b| &*b.text).collect();
        let words: Vec<&str> = shown.split(|c: char| !(c.is_alphanumeric() || "_-./".contains(c))).collect();
        for entry in fs::read_dir(TREE).expect("the tree") {
            let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
            let is_named = |word: &&str| {
                word.trim_start_matches("../").split_once('/').map_or(*word, |(first, _)| first) == name
            };
            if name != "target" && !name.starts_with('.') && words.iter().any(is_named) {
                let (from, to) = (Path::new(TREE).join(&name), reader.root.path());
                let copied =
                    Command::new("cp").args(["-RL".as_ref(), from.as_os_str(), to.as_os_str()]).status();
                assert!(copied.expect("cp").success(), "{name} is not copied");
            }
        }
        reader.programs();
        reader
    }

    /// Writes the program that takes the place of cargo, and a cache that shares only the compiled Verilog.
    fn programs(&self) {
        let own = self.own.path();
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("selvedge/verilated");
        fs::create_dir_all(&shared).expect("a folder");
        fs::create_dir_all(own.join("cache/selvedge")).expect("a folder");
        symlink(shared, own.join("cache/selvedge/verilated")).expect("a link");
        let cargo = format!(
            "#!/bin/sh\n\
             if [ \"$PWD\" = '{root}' ] && [ \"$1 $2\" = 'run --release' ]; then\n\
             shift 2; [ \"$1\" != -- ] || shift; exec selvedge \"$@\"\nfi\n\
             PATH=${{PATH#*:}}\n\
             CARGO_TARGET_DIR='{target}' exec cargo --config '{settings}' \"$@\"\n",
            root = self.root.path().canonicalize().expect("it is there").display(),
            target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the target folder").display(),
            settings = settings(own).display(),
        );
        fs::create_dir(own.join("bin")).expect("a folder");
        fs::write(own.join("bin/cargo"), cargo).expect("written");
        fs::set_permissions(own.join("bin/cargo"), fs::Permissions::from_mode(0o755)).expect("set");
    }

    /// Runs a command in the folder, and with the variables, in which the one before it ended.
    fn run(&self, command: &str) -> Output {
        let own = self.own.path();
        let state = own.join("state");
        let script = format!(
            "[ ! -e '{0}' ] || . '{0}'\n\
             trap 'selvedge_exit=$?; {{ export -p; printf \"cd \\\"%s\\\"\\n\" \"$PWD\"; }} > \"{0}\"; exit $selvedge_exit' EXIT\n\
             {command}",
            state.display()
        );
        let python = Path::new(TREE).join("target/python/bin");
        Command::new("sh")
            .args(["-c", &script])
            .env("PATH", search_path(&[own.join("bin"), command_folder(), python]))
            .env("XDG_CACHE_HOME", own.join("cache"))
            .current_dir(self.root.path().canonicalize().expect("it is there"))
            .output()
            .expect("a shell")
    }

    /// Returns the folder in which the last command ended.
    fn folder(&self) -> PathBuf {
        PathBuf::from(String::from_utf8_lossy(&self.run("pwd").stdout).trim_end())
    }

    /// Returns whether a tool of `needs=TOOL` is installed.
    fn has(&self, tool: &str) -> bool {
        if tool == "python" {
            return Path::new(TREE).join("target/python/bin/python3").is_file();
        }
        self.run(&format!("command -v {tool}")).status.success()
    }
}

/// Numbers of blocks of a page with `sh` that ran, were left out by `norun`, and lack a tool.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    run: usize,
    not_run: usize,
    lacking: usize,
}

/// Follows a page. `lacks` is called with each tool that is not installed.
fn follow(page: &str, lacks: &mut dyn FnMut(&str)) -> Result<Counts, String> {
    let blocks = blocks(page);
    let reader = Reader::new(&blocks);
    let mut counts = Counts::default();
    let mut printed: Option<String> = None;
    for block in &blocks {
        let at = |text: String| format!("line {}: {text}", block.line);
        let before = printed.take().filter(|_| !block.begins_section);
        match kind(&block.kind).map_err(at)? {
            Kind::Displayed => {}
            Kind::NotRun => counts.not_run += 1,
            Kind::Edit(name) => {
                let path = reader.folder().join(name);
                let old = fs::read_to_string(&path).map_err(|error| at(format!("{name}: {error}")))?;
                let new = edited(&old, &block.text).map_err(|error| at(format!("{name}: {error}")))?;
                fs::write(&path, new).map_err(|error| at(format!("{name}: {error}")))?;
            }
            Kind::File(name) => {
                let path = reader.folder().join(name);
                fs::create_dir_all(path.parent().expect("a folder"))
                    .map_err(|error| at(error.to_string()))?;
                fs::write(&path, &block.text).map_err(|error| at(format!("{name}: {error}")))?;
            }
            Kind::Expected => {
                let Some(printed) = before else { continue };
                let (expected, lines) = (block.text.trim_end(), printed.trim_end());
                if !agrees(&expected.lines().collect::<Vec<_>>(), &lines.lines().collect::<Vec<_>>()) {
                    return Err(at(format!("the page shows\n{expected}\nand the command prints\n{lines}")));
                }
            }
            Kind::Run { needs: Some(tool), .. } if !reader.has(tool) => {
                lacks(tool);
                counts.lacking += 1;
            }
            Kind::Run { exit, writes, .. } => {
                counts.run += 1;
                let commands = commands(&block.text).map_err(at)?;
                for (index, command) in commands.iter().enumerate() {
                    let output = reader.run(command);
                    let wanted = if index + 1 == commands.len() { exit } else { 0 };
                    let [out, error] = [&output.stdout, &output.stderr]
                        .map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                    if output.status.code() != Some(wanted) {
                        let status = output.status;
                        return Err(at(format!("`{command}`: {status}, not {wanted}\n{out}{error}")));
                    }
                    printed = Some(if out.trim().is_empty() { error } else { out });
                }
                if let Some(file) = writes {
                    let kept = fs::read(Path::new(TREE).join(file))
                        .map_err(|error| at(format!("{file}: {error}")))?;
                    let written = reader.folder().join(Path::new(file).file_name().expect("a file"));
                    if fs::read(written).ok() != Some(kept) {
                        return Err(at(format!("{file} is not what the commands write")));
                    }
                }
            }
        }
    }
    Ok(counts)
}

/// Follows a page of the repository.
pub fn follow_page(test: &str, page: &str) {
    let text =
        fs::read_to_string(Path::new(TREE).join(page)).unwrap_or_else(|error| panic!("{page}: {error}"));
    let mut lacking = Vec::new();
    let counts = follow(&text, &mut |tool| lacking.push(tool.to_owned()));
    let counts = counts.unwrap_or_else(|error| panic!("{page}, {error}"));
    println!("{page}: {counts:?}");
    if !lacking.is_empty() {
        skip(test, &format!("{} blocks of {page} need {}", counts.lacking, lacking.join(", ")));
    }
    assert!(counts.run + counts.lacking > 0, "{page} has no command that runs");
}

#[test]
fn every_page_with_commands_has_a_test() {
    let docs = Path::new(TREE).join("docs");
    let is_excluded = |page: &PathBuf| {
        ["reference", "decisions", "mechanisms"].iter().any(|name| page.starts_with(docs.join(name)))
    };
    let mut found = vec![Path::new(TREE).join("README.md")];
    found.extend(crate::pages::pages(&docs).into_iter().filter(|page| !is_excluded(page)));
    let has_commands = |page: &PathBuf| {
        let text = fs::read_to_string(page).expect("a page");
        blocks(&text)
            .iter()
            .any(|block| block.kind == "sh" || block.kind.starts_with("sh,") && block.kind != "sh,norun")
    };
    let name = |page: &PathBuf| page.strip_prefix(TREE).expect("in the tree").display().to_string();
    let mut with_commands: Vec<String> = found.iter().filter(|page| has_commands(page)).map(name).collect();
    with_commands.sort();
    let mut listed: Vec<String> = PAGES.iter().map(|page| (*page).into()).collect();
    listed.sort();
    assert_eq!(
        with_commands, listed,
        "left: pages with `sh` blocks; right: `pages!` in tests/end_to_end/guide.rs"
    );
}

#[test]
fn a_page_is_followed_in_order_and_its_faults_are_found() {
    let follow = |page: &str| follow(page, &mut |_| {});
    let fence = "```";
    let page = format!(
        "# A page\n\n1. Write a file:\n\n   {fence}toml,file=made/my.toml\n   size = \"small\"\n     x = 1\n   {fence}\n\n\
         {fence}diff,file=made/my.toml\n-size = \"small\"\n+size = \"tiny\"\n   x = 1\n{fence}\n\
         {fence}sh\nexport WORD=three\n\ncd made\nfor i in 1 2; do\n  echo $i\ndone\n{fence}\n\n{fence}text\n1\n2\n{fence}\n\n\
         {fence}sh,norun\nsudo apt install it\n{fence}\n\n\
         {fence}sh\ncat my.toml; echo $WORD \\\n  four\n{fence}\nprints\n{fence}text\nsize = \"tiny\"\n...\nthree four\n{fence}\n\
         {fence}sh,exit=2\ntrue\nselvedge run nosuch\n{fence}\n{fence}text\nselvedge: ...\n{fence}\n"
    );
    let wrong = follow(&page).expect_err("`...` is no line of its own");
    assert!(wrong.contains("selvedge: ...") && wrong.contains("nosuch"), "{wrong}");
    let page = page.replace("selvedge: ...", "...");
    assert_eq!(follow(&page), Ok(Counts { run: 3, not_run: 1, lacking: 0 }));
    for (old, new, message) in [
        ("1\n2\n", "1\n3\n", "the page shows\n1\n3\nand the command prints\n1\n2"),
        ("1\n2\n", "1\n", "the page shows\n1\nand the command prints\n1\n2"),
        ("...\nthree four", "...\nthree", "and the command prints"),
        ("cd made", "cd maid", "`cd maid`: exit status: "),
        ("exit=2", "exit=3", "`selvedge run nosuch`: exit status: 2, not 3"),
        ("true\n", "false\n", "`false`: exit status: 1, not 0"),
        ("sh,norun", "bash,norun", "unknown info string `bash,norun`"),
        ("sh,norun", "console", "unknown info string `console`"),
        ("sh,exit=2", "sh,exit=2,writes=README.md", "README.md is not what the commands write"),
        ("sh,norun", "sh,never", "unknown word `never`"),
        ("toml,file=", "toml,name=", "unknown word `name=made/my.toml`"),
        ("-size", "-sizes", "0 places to change, not 1"),
        ("+size = \"tiny\"", "+size = \"small\"", "the change changes nothing"),
        ("cat my", "$ cat my", "a prompt"),
        ("done\n", "\n", "a command does not end"),
    ] {
        let damaged = page.replace(old, new);
        assert_ne!(damaged, page, "{old}");
        let error = follow(&damaged).expect_err(new);
        assert!(error.contains(message), "{new}: {error}");
    }
}

#[test]
fn a_block_that_lacks_its_tool_is_reported_and_its_output_not_compared() {
    let mut lacking = Vec::new();
    let page = "```sh,needs=no-such-tool\nno-such-tool\n```\n```text\n1\n```\n```sh,needs=cat\ntrue\n```\n## Next\n```text\nshown\n```\n";
    let counts = follow(page, &mut |tool| lacking.push(tool.to_owned()));
    assert_eq!(counts, Ok(Counts { run: 1, not_run: 0, lacking: 1 }));
    assert_eq!(lacking, ["no-such-tool"]);
}

#[test]
fn the_fresh_folder_is_like_a_clone_and_leaves_the_repository_alone() {
    let page = "```sh\ncd docs/own-kernels\nselvedge new mine.toml --ptx jacobi.ptx --kernel jacobi\ncd ../..\n\
                cargo run --release -- run docs/own-kernels/mine.toml --functional\n```\n";
    assert_eq!(follow(page, &mut |_| {}), Ok(Counts { run: 1, not_run: 0, lacking: 0 }));
    assert!(!Path::new(TREE).join("docs/own-kernels/mine.toml").exists());
}
