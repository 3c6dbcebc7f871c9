//! Tests that Accel-Sim traces are parsed as their format defines, and that the timing model receives the same accesses.
use super::kernel;
use super::lines::LineFile;
use crate::limits::Limits;
use crate::reach::FileReach;
use crate::trace::launch::TraceLaunch;
use crate::trace::stream::{Cursor, lanes};
use crate::trace::{TraceContents, TraceError, TraceFile};
use selvedge_ptx::ptx::LOCAL_REGION;
use std::io::Cursor as Bytes;

const PLAIN: &[u8] = include_bytes!("../../../../../tests/traces/kernel-1.traceg");
const PACKED: &[u8] = include_bytes!("../../../../../tests/traces/kernel-2.traceg.xz");

fn read(bytes: &[u8], packed: bool) -> Result<TraceLaunch, TraceError> {
    kernel::read(LineFile::new("k.traceg", Bytes::new(bytes.to_vec()), packed))
}

fn refusal(text: &str) -> String {
    read(text.as_bytes(), false).map(|_| ()).expect_err("it is wrong").to_string()
}

/// Returns a trace of a kernel of one warp with the given instructions.
fn kernel(instructions: &[&str]) -> String {
    let header = "-kernel name = k\n-grid dim = (1,1,1)\n-block dim = (32,1,1)\n-shmem = 1024\n-nregs = 8\n\
                  -shmem base_addr = 0x00007f0002000000\n-local mem base_addr = 0x00007f0000000000\n\
                  -accelsim tracer version = 5\n#traces format = ...\n#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\n";
    let count = instructions.len();
    format!("{header}insts = {count}\n{}\n#END_TB\n", instructions.join("\n"))
}

#[test]
fn all_address_modes_give_the_same_addresses() {
    let one = |addresses: &str| {
        let load = format!("0000 0000000f 1 R2 LDG.E.SYS 1 R4 4 {addresses} 0");
        let launch = read(kernel(&[&load, "0010 ffffffff 0 EXIT 0 0 0"]).as_bytes(), false).expect("valid");
        accesses(&launch)[0].clone()
    };
    let wanted = vec![0x100, 0x108, 0x110, 0x118];
    assert_eq!(one("0 0x100 0x108 0x110 0x118"), wanted);
    assert_eq!(one("1 0x100 8"), wanted);
    assert_eq!(one("2 0x100 8 8 8"), wanted);
    assert_eq!(one("1 0x118 -8"), [0x118, 0x110, 0x108, 0x100]);
    assert_eq!(one("2 0x7f2ed4a00100 -4 8 -4"), [0x2ed4a00100, 0x2ed4a000fc, 0x2ed4a00104, 0x2ed4a00100]);
}

/// Returns the addresses of each access of a launch's first warp, in the form for the memory path.
fn accesses(launch: &TraceLaunch) -> Vec<Vec<u64>> {
    let mut from = launch.decoder(&launch.streams[0]);
    let (mut cursor, mut access) = (Cursor::default(), selvedge_ptx::ptx::MemAccess::new());
    let mut all = Vec::new();
    while !from.is_at_end() {
        let head = cursor.head(&mut from, launch.kernel.code.len()).expect("valid");
        if cursor.body(&mut from, &head, &mut access, |_| Ok(())) == Ok(selvedge_ptx::ptx::Step::Memory) {
            all.push(lanes(access.mask).map(|lane| access.address[lane]).collect());
        }
    }
    all
}

#[test]
fn generic_addresses_go_to_the_window_that_they_lie_in() {
    let lines = [
        "0000 00000001 1 R2 LD.E 1 R4 4 1 0x7f0002000040 0 0",
        "0010 00000001 0 ST.E 2 R4 R2 4 1 0x7f0000000010 0 0",
        "0020 00000001 0 ST.E 2 R4 R2 4 1 0x7f0012345678 0 0",
        "0030 00000001 1 R2 LDS 1 R4 4 1 0x44 0 0",
        "0040 ffffffff 0 EXIT 0 0 0",
    ];
    let launch = read(kernel(&lines).as_bytes(), false).expect("valid");
    assert_eq!(accesses(&launch), [[0x40], [0x10], [0x7f00_1234_5678 & 0xff_ffff_ffff], [0x44]]);
    assert_eq!(launch.local_bytes, Some(32), "up to byte 0x14, in steps of 16");
    const { assert!(0xff_ffff_ffff < LOCAL_REGION) };
}

#[test]
fn a_wide_load_writes_registers_that_follow() {
    let lines = ["0000 ffffffff 1 R4 LDG.E.128.SYS 1 R2 16 1 0x100 16 0", "0010 ffffffff 0 EXIT 0 0 0"];
    let launch = read(kernel(&lines).as_bytes(), false).expect("valid");
    assert_eq!(
        (launch.kernel.code[0].dests(), launch.kernel.code[0].sources()),
        (&[4, 5, 6, 7][..], &[2][..])
    );
}

#[test]
fn warps_and_blocks_without_instructions_only_exit() {
    let text = kernel(&["0000 ffffffff 1 R2 LDG.E.SYS 1 R4 4 1 0x100 4 0", "0010 ffffffff 0 EXIT 0 0 0"]);
    // Block 1 has a second warp without instructions, and blocks 0 and 2 are missing.
    let text = text.replace("(1,1,1)", "(3,1,1)").replace("(32,1,1)", "(64,1,1)").replace("0,0,0", "1,0,0");
    let text = text.replace("#END_TB", "warp = 1\ninsts = 0\n\n#END_TB");
    let launch = read(text.as_bytes(), false).expect("valid");
    assert_eq!((launch.empty_ctas, launch.summary.warp_instructions), (2, 2 + 1 + 4));
    assert_eq!(launch.summary.loads, 1);
    // The end of a file with nothing else is no thread block without instructions.
    let nothing = text.split("#BEGIN_TB").next().expect("a header");
    assert!(
        refusal(nothing).contains("the file ends without warp 0 of thread block 0,0,0"),
        "{}",
        refusal(nothing)
    );
}

#[test]
fn clusters_and_the_values_of_version_6_do_not_change_a_launch() {
    let lines = ["0000 ffffffff 1 R2 LDG.E.SYS 1 R4 4 1 0x100 4 0", "0010 ffffffff 0 EXIT 0 0 0"];
    let old = read(kernel(&lines).as_bytes(), false).expect("valid");
    let lines = lines.map(|line| format!("{line} 7 2 0x1 0x2 ffffffff"));
    let text = kernel(&[lines[0].as_str(), lines[1].as_str()]).replace("version = 5", "version = 6");
    let text = text.replace("warp = 0", "cluster id = 0\ncluster cta = 0,0,0\ncluster rank = 0\nwarp = 0");
    let new = read(text.as_bytes(), false).expect("valid");
    assert_eq!((accesses(&old), &old.summary), (accesses(&new), &new.summary));
}

#[test]
fn mistakes_name_the_line() {
    let text = kernel(&["0000 ffffffff 0 EXIT 0 0 0"]);
    for (change, to, says) in [
        ("-shmem = 1024\n", "", "k.traceg:8: the header above has no line `-shmem = ...`"),
        (
            "(32,1,1)",
            "(32,64,1)",
            "k.traceg:3: `-block dim = (32,64,1)`: must be (x,y,z), each from 1 and 1024",
        ),
        ("(1,1,1)", "(1,1)", "k.traceg:2: `-grid dim = (1,1)`: must be (x,y,z), each from 1"),
        ("(32,1,1)", "(64,1,1)", "the file ends without warp 1 of thread block 0,0,0"),
        ("version = 5", "version = 7", "k.traceg:8: `-accelsim tracer version = 7`: must be 1 to 6"),
        (
            "block = 0,0,0",
            "block = 0,1,0",
            "k.traceg:11: `thread block = 0,1,0`: must be a block of the grid",
        ),
        ("warp = 0", "warp = 1", "k.traceg:12: `warp = 1`: must be 0 to 0"),
        ("insts = 1", "insts = 2", "k.traceg:15: the warp has 1 instructions, but 2 are announced"),
        ("EXIT", "NOP", "k.traceg:14: the warp's instructions do not end with EXIT"),
        ("EXIT", "EXXIT", "k.traceg:14: opcode `EXXIT`: must be those of Pascal to Hopper GPUs"),
        ("EXIT 0 0 0", "EXIT 0 0 0 0", "the line goes on after its end: must be one immediate number"),
        ("EXIT 0 0 0", "EXIT 0", "the line ends where the width of the access should follow"),
        (
            "0000 ffff",
            "0000 fffffffff",
            "the active mask = `fffffffffffff`: must be up to 8 hexadecimal digits",
        ),
        ("0 EXIT", "1 R256 EXIT", "destination register `R256`: must be R0 to R255"),
        ("0 EXIT", "99 EXIT", "99 destination registers: must be 0 to 8"),
        ("#END_TB\n", "", "the file ends within a thread block"),
        ("-grid", "grid", "k.traceg:2: no kernel's trace: must be header lines"),
    ] {
        let changed = text.replacen(change, to, 1);
        assert_ne!(changed, text, "{change}");
        let line = refusal(&changed);
        assert!(line.contains(says) && line.lines().count() == 1, "`{line}` should say `{says}`");
    }
    let odd = kernel(&["0000 ffffffff 1 R4 LDG.E.64 1 R2 8 1 0x104 8 0", "0010 ffffffff 0 EXIT 0 0 0"]);
    assert_eq!(refusal(&odd), "k.traceg:14: address 0x104 of `LDG.E.64`: must be multiples of 8");
    let mode = kernel(&["0000 ffffffff 1 R4 LDG.E.64 1 R2 8 3 0x104 8 0", "0010 ffffffff 0 EXIT 0 0 0"]);
    assert_eq!(refusal(&mode), "k.traceg:14: the mode of the addresses = 3: must be 0, 1 or 2");
}

#[test]
fn a_list_names_traces_and_copies_only() {
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("kernelslist.g");
    for (text, says) in [
        ("MemcpyHtoD,0x10,4\n", "the list names no kernel's trace"),
        ("MemcpyHtoD,4\nk.traceg\n", "kernelslist.g:1: `MemcpyHtoD,4`: must be names of kernels' traces"),
        ("\nkernel-1.trace\n", "kernelslist.g:2: `kernel-1.trace`: must be"),
        ("kernel-9.traceg\n", "kernelslist.g:1: there is no file"),
    ] {
        std::fs::write(&list, text).expect("written");
        let refused =
            TraceFile::load(&list, &Limits::default()).map(|_| ()).expect_err("it is wrong").to_string();
        assert!(refused.contains(says), "`{refused}` should say `{says}`");
    }
}

#[test]
fn a_list_within_bounds_names_no_trace_outside_its_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let inside = folder.path().join("inside");
    std::fs::create_dir(&inside).expect("a folder");
    for path in ["out.traceg", "inside/in.traceg"] {
        std::fs::write(folder.path().join(path), PLAIN).expect("written");
    }
    let list = inside.join("kernelslist.g");
    for (text, refused) in [
        ("in.traceg", false),
        ("../inside/in.traceg", false),
        ("../out.traceg", true),
        ("../none.traceg", true),
    ] {
        std::fs::write(&list, text).expect("written");
        match TraceFile::load(&list, &Limits { reach: FileReach::Within, ..Limits::default() }) {
            Ok(_) => assert!(!refused, "{text}"),
            Err(error) => {
                let error = error.to_string();
                assert!(refused && error.contains("kernelslist.g:1: "), "{error}");
                assert!(error.contains("lies outside this file's folder"), "{error}");
            }
        }
    }
}

#[test]
fn a_list_finds_traces_that_were_packed_after_it_was_written() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("kernel-2.traceg.xz"), PACKED).expect("written");
    let list = folder.path().join("kernelslist.g");
    std::fs::write(&list, "kernel-2.traceg\n").expect("written");
    let file = TraceFile::load(&list, &Limits::default()).expect("valid");
    assert!(matches!(file.trace, TraceContents::Accel(_)));
    assert_eq!(file.summaries().expect("valid")[0].warp_instructions, 120);
}

#[test]
fn a_damaged_archive_is_refused_in_one_line() {
    for damaged in [&PACKED[..PACKED.len() / 2], &[PACKED, b"x"].concat(), PLAIN] {
        let line = read(damaged, true).map(|_| ()).expect_err("it is damaged").to_string();
        assert!(line.starts_with("k.traceg:") && line.contains("cannot read on"), "{line}");
    }
}
