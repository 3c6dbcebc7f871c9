//! Tests that Accel-Sim traces are parsed as their format defines, and that the timing model receives the same accesses.
use super::kernel;
use super::lines::{LineFile, Packing};
use crate::limits::Limits;
use crate::reach::FileReach;
use crate::trace::launch::TraceLaunch;
use crate::trace::stream::{Cursor, lanes};
use crate::trace::{TraceContents, TraceError, TraceFile};
use selvedge_ptx::ptx::{LOCAL_REGION, MemAccess, Step};
use std::io::Cursor as Bytes;
use std::num::NonZeroU32;

const PLAIN: &[u8] = include_bytes!("../../../../../tests/traces/kernel-1.traceg");
const PIECES: &[u8] = include_bytes!("../../../../../tests/traces/kernel-1.tracez");
const PACKED: &[u8] = include_bytes!("../../../../../tests/traces/kernel-2.traceg.xz");

fn read(bytes: &[u8], packing: Packing) -> Result<TraceLaunch, TraceError> {
    kernel::read(LineFile::new("k.traceg", Bytes::new(bytes.to_vec()), packing))
}

fn refusal(text: &str) -> String {
    read(text.as_bytes(), Packing::None).map(|_| ()).expect_err("it is wrong").to_string()
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
        let launch =
            read(kernel(&[&load, "0010 ffffffff 0 EXIT 0 0 0"]).as_bytes(), Packing::None).expect("valid");
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
    let launch = read(kernel(&lines).as_bytes(), Packing::None).expect("valid");
    assert_eq!(accesses(&launch), [[0x40], [0x10], [0x7f00_1234_5678 & 0xff_ffff_ffff], [0x44]]);
    assert_eq!(launch.local_bytes, Some(32), "up to byte 0x14, in steps of 16");
    const { assert!(0xff_ffff_ffff < LOCAL_REGION) };
}

#[test]
fn a_wide_load_writes_registers_that_follow() {
    let lines = ["0000 ffffffff 1 R4 LDG.E.128.SYS 1 R2 16 1 0x100 16 0", "0010 ffffffff 0 EXIT 0 0 0"];
    let launch = read(kernel(&lines).as_bytes(), Packing::None).expect("valid");
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
    let launch = read(text.as_bytes(), Packing::None).expect("valid");
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
    let old = read(kernel(&lines).as_bytes(), Packing::None).expect("valid");
    let lines = lines.map(|line| format!("{line} 7 2 0x1 0x2 ffffffff"));
    let text = kernel(&[lines[0].as_str(), lines[1].as_str()]).replace("version = 5", "version = 6");
    let text = text.replace("warp = 0", "cluster id = 0\ncluster cta = 0,0,0\ncluster rank = 0\nwarp = 0");
    let new = read(text.as_bytes(), Packing::None).expect("valid");
    assert_eq!((accesses(&old), &old.summary), (accesses(&new), &new.summary));
}

#[test]
fn pieces_of_accel_sim_2_have_the_launch_of_their_text() {
    let (packed, text) =
        (read(PIECES, Packing::Tracez).expect("valid"), read(PLAIN, Packing::None).expect("valid"));
    assert_eq!(packed.summary, text.summary);
    assert_eq!((packed.streams, &packed.bytes), (text.streams, &text.bytes));
    assert_eq!((packed.dims, &packed.kernel.name), (text.dims, &text.kernel.name));
}

#[test]
fn damaged_pieces_are_refused_in_one_line() {
    let refused =
        |bytes: &[u8]| read(bytes, Packing::Tracez).map(|_| ()).expect_err("it is damaged").to_string();
    let changed = |at: usize, to: &[u8]| {
        let mut bytes = PIECES.to_vec();
        bytes[at..at + to.len()].copy_from_slice(to);
        refused(&bytes)
    };
    let header = PIECES.iter().position(|byte| *byte == 0).expect("a zero byte");
    let first_warp =
        header + 9 + u32::from_le_bytes(*PIECES[header + 1..].first_chunk().expect("a size")) as usize;
    for (line, says) in [
        (refused(b"-grid dim = (1,1,1)"), "no zero byte ends the header"),
        (changed(header + 1, &u32::MAX.to_le_bytes()), "a dictionary of 4294967295 bytes: must be at most"),
        (
            changed(PIECES.len() - 8, &u64::MAX.to_le_bytes()),
            "an index at byte 18446744073709551615: must be in",
        ),
        (changed(first_warp, &99u32.to_le_bytes()), "a warp of 99 instructions in 4 pieces at byte"),
        (changed(first_warp + 8, &u32::MAX.to_le_bytes()), "a piece of 4294967295 bytes at byte"),
        (changed(first_warp + 12, &[0; 4]), "cannot read on: the piece at byte"),
        (refused(&PIECES[8..]), "no kernel's trace: must be header lines"),
        (refused(&PIECES[..PIECES.len() / 2]), "cannot read on: "),
    ] {
        assert!(line.starts_with("k.traceg:") && line.contains(says), "`{line}` should say `{says}`");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
}

/// Returns the records of a launch's first warp, each with the addresses of its access.
fn steps(launch: &TraceLaunch) -> Vec<(Step, Vec<u64>)> {
    let mut from = launch.decoder(&launch.streams[0]);
    let (mut cursor, mut access) = (Cursor::default(), MemAccess::new());
    let mut all = Vec::new();
    while !from.is_at_end() {
        let head = cursor.head(&mut from, launch.kernel.code.len()).expect("valid");
        let step = cursor.body(&mut from, &head, &mut access, |_| Ok(())).expect("valid");
        let mut addresses = Vec::new();
        if matches!(step, Step::Memory | Step::Async) {
            addresses.extend(lanes(access.mask).map(|lane| access.address[lane]));
            for (mask, more) in &access.more {
                addresses.extend(lanes(*mask).map(|lane| more[lane]));
            }
        }
        all.push((step, addresses));
    }
    all
}

#[test]
fn bulk_copies_access_their_addresses_in_pieces() {
    // 40 addresses of 32 bytes, 256 apart, as a base and differences. The second copy names its CTAs and lists two addresses.
    let differences = vec!["256"; 39].join(" ");
    let lines = [
        &*format!(
            "0000 00000001 0 UTMALDG.2D 2 UR4 UR8 32 0x400 0 1280 0 4 0x7f2ed4a00000 40 {differences} 0 0 NoVal"
        ),
        "0010 00000001 0 UBLKCP.G.S 2 UR4 UR8 8 0x0 1 0x3 16 0 3 2 0x100 0x208 0 0 NoVal",
        "0020 00000001 1 P0 UTMASTG.2D 1 UR4 0 0 0 NoVal",
        "0030 00000000 0 UTMALDG.2D 2 UR4 UR8 32 0x400 0 0 0 4 0x0 0 0 0 NoVal",
        // One address is out of bounds. The tracer counts it, but has no difference for it.
        "0038 00000001 0 UTMALDG.1D 2 UR4 UR8 16 0x400 0 32 16 4 0x1000 3 16 0 0 NoVal",
        "0040 ffffffff 0 EXIT 0 0 0",
    ];
    let launch = read(kernel(&lines).as_bytes(), Packing::None).expect("valid");
    let steps = steps(&launch);
    assert_eq!(steps[4], (Step::Async, vec![0x1000, 0x1010]));
    let wanted = (0..80).map(|piece| 0x2ed4a00000 + piece / 2 * 256 + piece % 2 * 16);
    assert_eq!(steps[0], (Step::Async, wanted.collect()));
    assert_eq!(steps[1], (Step::Async, vec![0x100, 0x208]));
    assert_eq!(steps[2].0, Step::Alu { active: 1 }, "old tracers record no addresses");
    assert_eq!(steps[3].0, Step::Alu { active: 0 });
    assert_eq!((launch.summary.loads, launch.summary.stores), (2, 1));
    let long = kernel(&[
        "0000 00000001 0 UBLKCP.S.G 0 4294967280 0x0 0 0 0 3 1 0x0 0",
        "0010 ffffffff 0 EXIT 0 0 0",
    ]);
    assert!(refusal(&long).contains("a bulk copy of 268435455 pieces of 16 bytes: must be at most 16384"));
}

#[test]
fn barriers_of_version_6_have_numbers_and_threads() {
    let barrier = |line: &str| {
        let text =
            kernel(&[line, "0010 ffffffff 0 EXIT 0 0 0 0 NoVal"]).replace("version = 5", "version = 6");
        read(text.as_bytes(), Packing::None)
            .map(|launch| steps(&launch)[0].0)
            .map_err(|error| error.to_string())
    };
    let step =
        |id, threads, arrive_only| Ok(Step::Barrier { id, threads: NonZeroU32::new(threads), arrive_only });
    assert_eq!(barrier("0000 ffffffff 0 BAR.SYNC 0 0 0 0 NoVal"), step(0, 0, false));
    assert_eq!(barrier("0000 ffffffff 0 BAR.ARV 0 0 3 256 NoVal"), step(3, 256, true));
    assert_eq!(barrier("0000 ffffffff 1 R4 BAR.SYNC 1 R2 0 128 0 Val 1 a 1 0"), step(10, 128, false));
    assert_eq!(barrier("0000 ffffffff 0 BAR.ARV 1 R5 0 1 0 Val 1 00000100"), step(1, 256, true));
    let lanes = "40 ".repeat(32);
    let both = format!("0000 ffffffff 1 R4 BAR.SYNC 2 P0 R5 0 0 0 Val 1 3 1 ffffffff 32 {lanes}");
    assert_eq!(barrier(&both), step(3, 64, false));
    assert_eq!(barrier("0000 ffffffff 0 BAR.SYNC 0 0 128 NoVal"), step(0, 0, false), "an early tracer");
    assert_eq!(barrier("0000 00000000 1 R4 BAR.SYNC 0 0 0 0 Val 1 ff"), Ok(Step::Alu { active: 0 }));
    for (line, says) in [
        ("0000 ffffffff 0 BAR.SYNC 0 0 16 0 NoVal", "barrier 16: must be 0 to 15"),
        (
            "0000 ffffffff 0 BAR.SYNC 0 0 1 33 NoVal",
            "threads of a barrier = 33: must be multiples of 32, up to 1024",
        ),
    ] {
        let error = barrier(line).expect_err("it is wrong");
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn a_wait_for_copies_names_those_of_all_groups_but_the_last() {
    let copy = "ffffffff 1 R5 LDGSTS.E.BYPASS.128 1 R2 16 1 0x100 16 0";
    let mut lines = Vec::new();
    for (at, text) in [
        copy,
        copy,
        "ffffffff 0 LDGDEPBAR 0 0 0",
        copy,
        "ffffffff 0 LDGDEPBAR 0 0 0",
        copy,
        "ffffffff 0 DEPBAR.LE 0 0 1",
        "ffffffff 0 DEPBAR.LE 0 0 0",
        "ffffffff 0 EXIT 0 0 0",
    ]
    .into_iter()
    .enumerate()
    {
        lines.push(format!("{:04x} {text}", 16 * at));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let launch = read(kernel(&lines).as_bytes(), Packing::None).expect("valid");
    let code = &launch.kernel.code;
    assert_eq!([0, 1, 3, 5].map(|at: usize| code[at].dests().to_vec()), [[336], [337], [338], [339]]);
    assert_eq!(code[0].sources(), [2, 5], "the address in shared memory is no destination");
    assert_eq!(code[6].sources(), [336, 337], "the first group");
    assert_eq!(code[7].sources(), [338], "the second group; the last copy is in none");
}

#[test]
fn predicates_are_registers_and_a_group_precedes_the_width_of_a_group_product() {
    let lines = [
        "0000 ffffffff 2 P0 UP6 ISETP.GE 3 R2 R255 P7 0 0",
        "0010 ffffffff 1 R24 HGMMA.64x64x16.F32 3 R24 UR4 UP0 1 0 0",
        "0020 ffffffff 2 R4 P1 LDG.E.64 2 R2 P0 8 1 0x100 8 0",
        "0030 ffffffff 0 EXIT 0 0 0",
    ];
    let launch = read(kernel(&lines).as_bytes(), Packing::None).expect("valid");
    let registers = |at: usize| (launch.kernel.code[at].dests(), launch.kernel.code[at].sources());
    assert_eq!(registers(0), (&[320, 334][..], &[2][..]), "P7 is always true");
    assert_eq!(registers(1), (&[24][..], &[24, 260, 328][..]));
    assert_eq!(registers(2), (&[4, 321, 5][..], &[2, 320][..]));
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
        (
            "EXIT 0 0 0",
            "EXIT 0 0 0 0 0",
            "the line goes on after its end: must be one or two immediate numbers",
        ),
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
        let line = read(damaged, Packing::Xz).map(|_| ()).expect_err("it is damaged").to_string();
        assert!(line.starts_with("k.traceg:") && line.contains("cannot read on"), "{line}");
    }
}
