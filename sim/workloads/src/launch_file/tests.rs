//! Tests whole launch files: every error has its line, and no file makes the reader panic.
use super::*;
use crate::workload::Launch;
use proptest::prelude::*;
use selvedge_ptx::memory::DeviceMemory;
use selvedge_ptx::ptx::LaunchDims;
use selvedge_testing::{fuzz, one_line};

const PTX: &str = "\
.version 5.0
.target sm_60
.address_size 64
.global .align 4 .u32 flag;
.const .align 4 .f32 scale[2];
.global .texref view;
.visible .entry free() { ret; }
.visible .entry copy(.param .u64 from, .param .u64 to, .param .u32 n) { ret; }
.visible .entry mixed(.param .f32 x, .param .u16 h, .param .align 4 .b8 pair[8]) { ret; }
";

/// Every kind of table and key, without an error. The numbers are the lines.
const WHOLE: &[(usize, &str)] = &[
    (1, "ptx = \"k.ptx\""),
    (2, "[[buffer]]"),
    (3, "name = \"a\""),
    (4, "type = \"f32\""),
    (5, "file = \"a.txt\""),
    (6, "[[buffer]]"),
    (7, "name = \"b\""),
    (8, "type = \"f32\""),
    (9, "count = 4"),
    (10, "init = \"random\""),
    (11, "low = -1.0"),
    (12, "high = 1.0"),
    (13, "expect = { file = \"b.raw\", format = \"raw\", absolute = 0.5, relative = 0.5 }"),
    (14, "save = { file = \"out.txt\" }"),
    (15, "[[symbol]]"),
    (16, "name = \"scale\""),
    (17, "type = \"f32\""),
    (18, "values = [1.5, 2.5]"),
    (19, "[[symbol]]"),
    (20, "name = \"flag\""),
    (21, "type = \"u32\""),
    (22, "[[loop]]"),
    (23, "name = \"l\""),
    (24, "turns = 3"),
    (25, "until = { buffer = \"flag\", index = 0, is = \"nonzero\", reset = 0 }"),
    (26, "swap = [[\"a\", \"b\"]]"),
    (27, "[[launch]]"),
    (28, "kernel = \"copy\""),
    (29, "grid = [2]"),
    (30, "block = [8, 4]"),
    (31, "loop = \"l\""),
    (32, "[[launch.arg]]"),
    (33, "buffer = \"a\""),
    (34, "offset = 1"),
    (35, "[[launch.arg]]"),
    (36, "buffer = \"b\""),
    (37, "[[launch.arg]]"),
    (38, "type = \"s32\""),
    (39, "value = 7"),
    (40, "per_turn = 2"),
    (41, "[[launch]]"),
    (42, "kernel = \"mixed\""),
    (43, "grid = [1]"),
    (44, "block = [1]"),
    (45, "[[launch.arg]]"),
    (46, "type = \"f32\""),
    (47, "value = 1"),
    (48, "[[launch.arg]]"),
    (49, "type = \"f16\""),
    (50, "value = 1.0"),
    (51, "[[launch.arg]]"),
    (52, "type = \"s32\""),
    (53, "values = [1, -1]"),
    (54, "[[texture]]"),
    (55, "name = \"t\""),
    (56, "buffer = \"a\""),
    (57, "size = [2, 2]"),
    (58, "reference = \"view\""),
];

fn whole() -> String {
    WHOLE.iter().map(|(_, line)| format!("{line}\n")).collect()
}

/// Returns [`WHOLE`] with the text of some lines replaced.
fn with(changes: &[(usize, &str)]) -> String {
    let line = |(number, line): &(usize, &str)| {
        let changed = changes.iter().find(|(at, _)| at == number).map(|(_, text)| *text);
        format!("{}\n", changed.unwrap_or(line))
    };
    WHOLE.iter().map(line).collect()
}

/// Limits of the tests.
const LIMITS: Limits = Limits { memory: 1 << 20, unpacked: None, reach: FileReach::WritesWithin };

/// Creates a folder with the files that [`WHOLE`] names.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let floats: Vec<u8> = [1.0f32, 2.0, 3.0, 4.0].iter().flat_map(|f| f.to_le_bytes()).collect();
    for (name, bytes) in
        [("k.ptx", PTX.as_bytes()), ("a.txt", b"1 2 3 4\n"), ("b.raw", &floats), ("odd", b"123")]
    {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    folder
}

/// Reads `text` as my.toml in `folder`, and checks it against its PTX. Errors omit the folder's name.
fn start(folder: &Path, text: &[u8]) -> Result<(LaunchFile, Module, Box<dyn HostProgram>), String> {
    let path = folder.join("my.toml");
    std::fs::write(&path, text).expect("written");
    let said = |error: LaunchFileError| error.to_string().replace(&format!("{}/", folder.display()), "");
    let file = LaunchFile::load(&path, &LIMITS).map_err(said)?;
    let mut module = file.module().map_err(|error| error.to_string())?;
    let config = GpuConfig::load("gtx480").expect("built in");
    let program = file.start(&mut module, &config).map_err(said)?;
    Ok((file, module, program))
}

fn refused(text: &str) -> String {
    start(folder().path(), text.as_bytes()).err().expect("refused")
}

#[test]
fn every_key_in_its_place_is_accepted() {
    let folder = folder();
    let (file, module, _) = start(folder.path(), whole().as_bytes()).expect("valid");
    assert_eq!(file.outputs().collect::<Vec<_>>(), [&folder.path().join("out.txt")]);
    let scale: Vec<u8> = [1.5f32, 2.5].iter().flat_map(|f| f.to_le_bytes()).collect();
    assert_eq!(*module.kernel("copy").expect("there").constants, scale, "the constants are the file's");
}

#[test]
fn a_texture_has_the_address_mode_that_its_file_states() {
    use selvedge_ptx::texture::AddressMode;
    for (word, mode) in [
        ("clamp", AddressMode::Clamp),
        ("border", AddressMode::Border),
        ("wrap", AddressMode::Wrap),
        ("mirror", AddressMode::Mirror),
    ] {
        let lines = format!("size = [2, 2]\ncoordinates = \"normalized\"\naddress = \"{word}\"");
        let mut seen = None;
        launches(&with(&[(57, &lines)]), |memory, _| {
            seen = memory.texture(DeviceMemory::texture_handle(0)).map(|texture| texture.address_mode);
        });
        assert_eq!(seen, Some(mode), "{word}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_out_of_reach_is_refused_with_its_line() {
    let root = tempfile::tempdir().expect("a folder");
    let inside = root.path().join("inside");
    std::fs::rename(folder().keep(), &inside).expect("renamed");
    std::os::unix::fs::symlink("../out.txt", inside.join("link")).expect("a link");
    let reads =
        [(1, "ptx = \"../k.ptx\""), (5, "file = \"../a.txt\""), (13, "expect = { file = \"../b.raw\" }")];
    let saves = [
        (14, "save = { file = \"../out.txt\" }"),
        (14, "save = { file = \"/out.txt\" }"),
        (14, "save = { file = \"link\" }"),
    ];
    let path = inside.join("my.toml");
    let load = |change: (usize, &str), reach: FileReach| {
        std::fs::write(&path, with(&[change])).expect("written");
        LaunchFile::load(&path, &Limits { reach, ..LIMITS }).map(|_| ()).map_err(|error| error.to_string())
    };
    let refused = |change: (usize, &str), reach: FileReach, unless: &str| {
        let error = load(change, reach).expect_err(change.1);
        let place = format!("my.toml:{}: ", change.0);
        assert!(error.contains(&place) && error.contains("outside this file's folder"), "{error}");
        assert!(error.contains(unless), "{error}");
    };
    for save in saves {
        refused(save, FileReach::Within, "--sandbox");
        refused(save, FileReach::WritesWithin, "--allow-outside");
        assert_eq!(load(save, FileReach::Anywhere), Ok(()), "{save:?}");
    }
    for read in reads {
        refused(read, FileReach::Within, "--sandbox");
        let error = load(read, FileReach::WritesWithin).expect_err("there is no such file");
        assert!(error.contains("cannot read it"), "{error}");
    }
    assert_eq!(load((14, "save = { file = \"../inside/new/out.txt\" }"), FileReach::Within), Ok(()));
}

#[test]
fn every_mistake_is_one_line_with_its_place() {
    let cases: &[(&[(usize, &str)], &str)] = &[
        (&[(1, "ptx = \"none.ptx\"")], "my.toml:1: none.ptx: cannot read it: "),
        (&[(1, "ptx = 3")], "my.toml:1: expected the name of a PTX file, or a list of them"),
        (&[(1, "")], "my.toml:1: missing field `ptx`"),
        (
            &[(1, "ptx = \"k.ptx\"\nkernel = \"copy\"")],
            "my.toml:2: `kernel`: allowed at the top of the file or in [[launch]]",
        ),
        (&[(3, "nam = \"a\"")], "my.toml:3: unknown field `nam`, expected one of `name`"),
        (&[(3, "")], "my.toml:2: missing key `name`"),
        (&[(3, "name = \"b\"")], "my.toml:6: there is another buffer `b`"),
        (&[(4, "type = \"float\"")], "my.toml:4: unknown variant `float`, expected one of `b8`"),
        (&[(5, "file = \"none.txt\"")], "my.toml:5: none.txt: cannot read it: "),
        (&[(5, "file = \"a.txt\"\ncount = 5")], "my.toml:6: count = 5: its values are 4"),
        (
            &[(5, "file = \"odd\"\nformat = \"raw\"")],
            "my.toml:5: odd: cannot read it: 3 bytes are no multiple of 4",
        ),
        (&[(5, "file = \"k.ptx\"")], "k.ptx:1: '.version': must be a number, inf or nan"),
        (&[(5, "")], "my.toml:2: missing key `count` of buffer `a`"),
        (&[(9, "count = 0")], "my.toml:9: buffer `b` has 0 elements: must be 1 or more"),
        (
            &[(5, "file = \"odd\"\nformat = \"raw\"\ncount = 9223372036854775807")],
            "my.toml:5: odd: cannot read it: 3 bytes are no multiple of 4",
        ),
        (
            &[(9, "count = 262141")],
            "my.toml:9: buffer `b` has 1048564 bytes: must be at most 1048560, which the buffers before it leave of --max-memory",
        ),
        (
            &[(9, "count = 9223372036854775807")],
            "my.toml:9: buffer `b` has 9223372036854775807 elements: must",
        ),
        (
            &[(5, "file = \"a.txt\"\ncount = 3")],
            "a.txt:1: more than 3 numbers: must be at most 3, the buffer's count",
        ),
        (&[(9, "count = -1")], "my.toml:9: invalid value: integer `-1`, expected u64"),
        (&[(9, "count = 5")], "my.toml:13: `b.raw` holds 4 values, the buffer has 5"),
        (&[(10, "init = \"ones\"")], "my.toml:10: unknown variant `ones`, expected one of `zeros`"),
        (&[(10, "init = \"iota\"")], "my.toml:11: unknown field `low` for a buffer of iota values"),
        (&[(13, "expect = { file = \"b.raw\" }")], "b.raw:1: not text: give format = \"raw\""),
        (&[(13, "expect = { format = \"raw\" }")], "my.toml:13: missing key `file`"),
        (&[(13, "expect = { file = \"a.txt\", absolute = -1.0 }")], "my.toml:13: absolute = -1: must be"),
        (&[(13, "offset = 3")], "my.toml:13: unknown field `offset` for a buffer"),
        (&[(14, "save = \"out.txt\"")], "my.toml:14: invalid type: string \"out.txt\""),
        (
            &[(5, "file = \"a.txt\"\nsave = { file = \"./x/../out.txt\" }")],
            "my.toml:7: `a` and `b` are saved to the same file",
        ),
        (
            &[(16, "name = \"scales\"")],
            "my.toml:15: no variable `scales` in the PTX: there are flag, view, scale",
        ),
        (&[(18, "values = [1, 2, 3]")], "my.toml:15: symbol `scale` has 8 bytes: must be 1 to 2 elements"),
        (
            &[(17, "type = \"f32\"\ncount = 9223372036854775807"), (18, "")],
            "my.toml:15: symbol `scale` has 8 bytes: must be 1 to 2 elements",
        ),
        (
            &[(18, "save = { file = \"s\" }")],
            "my.toml:15: symbol `scale` is constant: it cannot have `expect` or `save`",
        ),
        (&[(23, "name = \"m\"")], "my.toml:31: no loop `l`: there are m"),
        (&[(24, "turns = 0")], "my.toml:24: turns = 0: must be 1 or more"),
        (&[(24, ""), (25, "")], "my.toml:22: loop `l` needs `turns` or `until`"),
        (
            &[(25, "until = { buffer = \"c\", is = \"zero\" }")],
            "my.toml:25: no buffer `c`: there are scale, flag, a, b",
        ),
        (
            &[(25, "until = { buffer = \"flag\", index = 1, is = \"zero\" }")],
            "my.toml:25: flag[1] is no element",
        ),
        (&[(25, "until = { buffer = \"scale\", is = \"zero\" }")], "my.toml:25: scale[0] is no element"),
        (&[(25, "until = { buffer = \"flag\" }")], "my.toml:25: missing key `is`"),
        (
            &[(26, "swap = [[\"a\", \"flag\"]]")],
            "my.toml:26: swap = [[\"a\", \"flag\"]]: must be two different buffers of the same type and count",
        ),
        (
            &[(26, "swap = [[\"a\", \"a\"]]")],
            "my.toml:26: swap = [[\"a\", \"a\"]]: must be two different buffers",
        ),
        (
            &[(28, "kernel = \"kopy\"")],
            "my.toml:28: no kernel 'kopy' in the PTX: there are free, copy, mixed",
        ),
        (&[(29, "grid = []")], "my.toml:29: grid: must be one to three numbers"),
        (&[(29, "grid = [0]")], "my.toml:29: grid = 0 in turn 0: must be 1 to 4294967295"),
        (&[(30, "block = [4096]")], "my.toml:28: "),
        (&[(30, "block = [4]\ndynamic_shared = 100000")], "my.toml:28: "),
        (&[(31, "")], "my.toml:40: `per_turn` is for launches in a loop"),
        (&[(33, "buffer = \"c\"")], "my.toml:33: no buffer `c`: there are scale, flag, a, b"),
        (
            &[(33, "buffer = \"scale\""), (34, "")],
            "my.toml:32: symbol `scale` is constant: it has no address to pass",
        ),
        (&[(34, "offset = 4")], "my.toml:34: offset = 4: must be 0 to 3"),
        (
            &[(36, "buffer = \"b\"\nvalue = 1")],
            "my.toml:37: unknown field `value` for an argument that is a buffer",
        ),
        (
            &[(38, "type = \"u8\"")],
            "my.toml:37: argument 2 of kernel 'copy' ('n') is an integer of 4 bytes, got 1 bytes;",
        ),
        (&[(39, "value = \"seven\"")], "my.toml:39: value = seven: must be integers from -2147483648"),
        (&[(39, "value = 7\nvalues = [7]")], "my.toml:37: an argument has one of `buffer`"),
        (
            &[(49, "type = \"f32\"")],
            "my.toml:48: argument 1 of kernel 'mixed' ('h') is an integer of 2 bytes",
        ),
        (
            &[(53, "values = [1]")],
            "my.toml:51: argument 2 of kernel 'mixed' ('pair') is a structure of 8 bytes, got 4",
        ),
        (
            &[(51, ""), (52, ""), (53, "")],
            "my.toml:42: kernel 'mixed' takes 3 arguments, got 2; its parameters are x (",
        ),
        (&[(55, "")], "my.toml:54: missing key `name`"),
        (&[(56, "buffer = \"c\"")], "my.toml:56: no buffer `c`: there are scale, flag, a, b"),
        (&[(56, "buffer = \"scale\""), (57, "size = [2]")], "my.toml:54: symbol `scale` is constant"),
        (&[(57, "size = [2, 3]")], "my.toml:54: texture `t` ends after 24 bytes: buffer `a` has 16"),
        (&[(57, "size = [2]\noffset = 3")], "my.toml:54: texture `t` ends after 20 bytes: buffer `a` has 16"),
        (&[(57, "size = []")], "my.toml:54: texture `t`: size []: must be one to three numbers from 1"),
        (&[(57, "size = [2, 2]\nchannels = 3")], "my.toml:58: channels = 3: must be 1, 2 or 4"),
        (&[(57, "size = [2, 2]\npitch = 4")], "my.toml:54: texture `t`: pitch 4: must be at least 8 bytes"),
        (&[(57, "size = [2, 2]\nread = \"normalized\"")], "my.toml:58: a texture of f32: must be u8"),
        (
            &[(57, "size = [2, 2]\nfilter = \"cubic\"")],
            "my.toml:58: unknown variant `cubic`, expected `point`",
        ),
        (
            &[(57, "size = [2, 2]\naddress = \"wrap\"")],
            "my.toml:58: address = \"wrap\": must be \"clamp\" or \"border\" unless coordinates = \"normalized\"",
        ),
        (&[(58, "reference = \"scale\"")], "my.toml:58: no global variable `scale` in the PTX"),
        (&[(58, "reference = \"flag\"")], "my.toml:58: variable `flag` has 4 bytes: must be one of 8"),
        (&[(33, "texture = \"u\""), (34, "")], "my.toml:33: no texture `u`: there are t"),
        (&[(33, "texture = \"t\"")], "my.toml:34: unknown field `offset` for an argument that is a texture"),
    ];
    for (changes, says) in cases {
        let error = refused(&with(changes));
        assert!(error.starts_with(says), "{changes:?} gives\n`{error}`, should begin with\n`{says}`");
        assert_eq!(error.lines().count(), 1, "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_count_beyond_all_memory_lets_no_more_be_read() {
    let error = refused(&with(&[(5, "file = \"/dev/zero\"\nformat = \"raw\"\ncount = 9223372036854775807")]));
    let says =
        "my.toml:5: /dev/zero: cannot read it: more than 262144 numbers: must be at most 262144, what is";
    assert!(error.starts_with(says), "{error}");
}

/// Returns the launches of a program, as a GPU receives them. `between` may change memory after each.
fn launches(text: &str, mut between: impl FnMut(&mut DeviceMemory, &Launch)) -> Vec<Launch> {
    let folder = folder();
    let (_, module, mut program) = start(folder.path(), text.as_bytes()).expect("valid");
    let mut memory = DeviceMemory::new();
    module.load(&mut memory).expect("room");
    let mut all = Vec::new();
    while let Some(launch) = program.next(&mut memory).expect("it goes on") {
        between(&mut memory, &launch);
        all.push(launch);
    }
    all
}

#[test]
fn a_loop_swaps_between_turns_counts_up_its_arguments_and_ends_after_its_turns() {
    let launches = launches(&whole(), |_, _| {});
    let names: Vec<&str> = launches.iter().map(|launch| launch.kernel.as_str()).collect();
    assert_eq!(names, ["copy", "copy", "copy", "mixed"]);
    assert_eq!(launches[0].dims, LaunchDims::new([2, 1, 1], [8, 4, 1]));
    let Arg::Ptr(b) = launches[0].args[1] else { panic!("an address: {:?}", launches[0].args) };
    let Arg::Ptr(a) = launches[1].args[1] else { panic!("an address: {:?}", launches[1].args) };
    for (launch, from, to, n) in [(0, a, b, 7), (1, b, a, 9), (2, a, b, 11)] {
        assert_eq!(launches[launch].args, [Arg::Ptr(from + 4), Arg::Ptr(to), Arg::U32(n)], "turn {launch}");
    }
    let pair: Vec<u8> = [1i32, -1].iter().flat_map(|i| i.to_le_bytes()).collect();
    assert_eq!(launches[3].args, [Arg::F32(1.0), Arg::Bytes(vec![0, 0x3c]), Arg::Bytes(pair)]);
}

#[test]
fn a_flag_ends_its_loop_and_is_reset_before_every_turn() {
    let flag = selvedge_ptx::ptx::GLOBALS_BASE;
    let text = with(&[(25, "until = { buffer = \"flag\", is = \"zero\", reset = 9 }")]);
    let mut seen = Vec::new();
    let turns = launches(&text, |memory, launch| {
        if launch.kernel == "copy" {
            seen.push(memory.read_u32s(flag, 1).expect("there")[0]);
            memory.write_u32s(flag, &[u32::from(seen.len() < 2)]).expect("there");
        }
    });
    assert_eq!((turns.len(), seen), (3, vec![9, 9]), "two turns, then the other kernel");
}

/// Returns launch files of every form, as users write them.
fn real_files() -> Vec<String> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data"));
    let read = |name| std::fs::read_to_string(folder.join(name)).expect(name);
    let simple = "ptx = \"k.ptx\"\nkernel = \"copy\"\ngrid = [1]\nblock = [32]\n[[arg]]\ntype = \"u32\"\ncount = 8\n\
                  init = \"iota\"\n[[arg]]\ntype = \"u32\"\ncount = 8\n[[arg]]\ntype = \"u32\"\nvalue = 8\n";
    let module = Module::parse("k.ptx", PTX).expect("valid");
    let template = template::template("k.ptx", "k.ptx", &module, None).expect("kernels");
    vec![
        whole(),
        simple.into(),
        template,
        read("reach.toml"),
        read("reverse.toml"),
        read("stack.toml"),
        read("shrink.toml"),
    ]
}

#[test]
fn the_real_files_are_accepted() {
    for text in &real_files() {
        if let Err(error) = start(folder_with_data().path(), text.as_bytes()) {
            panic!("{error} in\n{text}");
        }
    }
}

/// Creates [`folder`] with the files that the end-to-end tests' launch files name.
fn folder_with_data() -> tempfile::TempDir {
    let folder = folder();
    let data = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/data"));
    for entry in std::fs::read_dir(data).expect("the folder is there") {
        let entry = entry.expect("an entry");
        std::fs::copy(entry.path(), folder.path().join(entry.file_name())).expect("copied");
    }
    folder
}

#[test]
fn fuzz_launch_files_are_accepted_or_refused_in_one_line() {
    let folder = folder_with_data();
    let files: Vec<Vec<u8>> = real_files().into_iter().map(String::into_bytes).collect();
    fuzz("launch-files", &files, 1000, |text| match start(folder.path(), text) {
        Ok(_) => Ok(()),
        // Errors in a named file carry that file's name. The test only damages the launch file itself.
        Err(error) if error.contains(".toml:") => one_line(&error, "my.toml", true),
        Err(error) => {
            prop_assert!([".ptx", ".raw", ".txt"].iter().any(|end| error.contains(end)), "{}", error);
            prop_assert_eq!(error.lines().count(), 1, "{}", error);
            Ok(())
        }
    });
}

#[test]
fn fuzz_data_files_are_read_or_refused_in_one_line() {
    let folder = folder_with_data();
    let read = |name: &str| std::fs::read(folder.path().join(name)).expect(name);
    let files = [
        read("stack.out.txt"),
        read("reach.start.txt"),
        read("shrink.small.txt"),
        b"0x7f, -3 # six\n1e-45 nan\n-inf, 0.1\n".to_vec(),
    ];
    let path = folder.path().join("data");
    fuzz("data-files", &files, 1000, |bytes| {
        std::fs::write(&path, bytes).expect("written");
        let texts = ["u8", "s64", "f16", "f32", "f64"].map(|element| {
            format!("name = \"a\"\ntype = \"{element}\"\nfile = \"data\"\nexpect = {{ file = \"data\" }}\n")
        });
        let raw = "name = \"a\"\ntype = \"u32\"\nfile = \"data\"\nformat = \"raw\"\n".to_owned();
        for buffer in texts.into_iter().chain([raw]) {
            let text =
                format!("ptx = \"k.ptx\"\nkernel = \"free\"\ngrid = [1]\nblock = [1]\n[[buffer]]\n{buffer}");
            if let Err(error) = start(folder.path(), text.as_bytes()) {
                let place = if error.contains("my.toml:") { "my.toml" } else { "data" };
                one_line(&error, place, true)?;
            }
        }
        Ok(())
    });
}
