//! Tests the order of host operations: nested loops, sizes by turn, copies and resets, parts of buffers, addresses
//! and structures.
use super::LaunchFile;
use crate::workload::{Arg, Launch};
use selvedge_gpu::config::GpuConfig;
use selvedge_gpu::limits::Limits;
use selvedge_gpu::reach::FileReach;
use selvedge_ptx::memory::DeviceMemory;

const HEAD: &str = ".version 5.0\n.target sm_60\n.address_size 64\n";
const PTX: &str = "\
.const .align 4 .u32 fixed[2];
.visible .entry _Z4stepPii(.param .u64 p, .param .u32 n) { ret; }
.visible .entry pair(.param .align 8 .b8 s[24]) { ret; }
";
const OTHER: &str = "\
.const .align 4 .u32 scale[2] = {7, 8};
.visible .entry other(.param .u64 p) {
    .reg .b32 %r<2>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p]; ld.const.u32 %r1, [scale+4]; st.global.u32 [%rd1], %r1; ret;
}
";

/// Buffers that most launch files of this test have.
const BUFFERS: &str = "\
[[buffer]]
name = \"a\"
type = \"s32\"
values = [1, 2, 3, 4]
[[buffer]]
name = \"b\"
type = \"s32\"
count = 4
";

/// Returns all launches of a launch file. `between` gets the memory at each launch.
fn run(text: &str, mut between: impl FnMut(&mut DeviceMemory, &Launch)) -> Result<Vec<Launch>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, ptx) in [("k.ptx", PTX), ("other.ptx", OTHER)] {
        std::fs::write(folder.path().join(name), format!("{HEAD}{ptx}")).expect("written");
    }
    let path = folder.path().join("my.toml");
    std::fs::write(&path, text).expect("written");
    let short = |error: String| error.replace(&format!("{}/", folder.path().display()), "");
    let limits = Limits { memory: 1 << 20, unpacked: None, reach: FileReach::WritesWithin };
    let file = LaunchFile::load(&path, &limits).map_err(|error| short(error.to_string()))?;
    let mut module = file.module().map_err(|error| short(error.to_string()))?;
    let config = GpuConfig::load("gtx480").expect("built in");
    let mut program = file.start(&mut module, &config).map_err(|error| short(error.to_string()))?;
    let mut memory = DeviceMemory::new();
    module.load(&mut memory).expect("room");
    let mut all = Vec::new();
    while let Some(launch) = program.next(&mut memory).map_err(|error| short(error.to_string()))? {
        between(&mut memory, &launch);
        all.push(launch);
    }
    Ok(all)
}

/// Returns a launch of `_Z4stepPii` on buffer `a`, with these keys and this second argument.
fn step(keys: &str, n: &str) -> String {
    format!("[[launch]]\nkernel = \"step\"\nblock = [1]\n{keys}\narg = [{{ buffer = \"a\" }}, {n}]\n")
}

fn number(launch: &Launch) -> u32 {
    match launch.args[1] {
        Arg::U32(number) => number,
        _ => panic!("a number: {:?}", launch.args),
    }
}

#[test]
fn loops_nest_and_sizes_and_arguments_depend_on_all_their_turns() {
    let text = format!(
        "ptx = \"k.ptx\"\n{BUFFERS}[[loop]]\nname = \"outer\"\nturns = 2\n[[loop]]\nname = \"inner\"\nwithin = \"outer\"\nturns = 3\n{}{}{}",
        step("grid = [\"outer + 1\"]\nloop = \"outer\"", "{ type = \"s32\", value = 100, per_turn = 10 }"),
        step(
            "grid = [\"4 - turn\", \"1 << outer\"]\nloop = \"inner\"",
            "{ type = \"s32\", expression = \"10 * outer + inner\" }"
        ),
        step("grid = [9]", "{ type = \"s32\", value = 7 }"),
    );
    let launches = run(&text, |_, _| {}).expect("valid");
    let seen: Vec<_> = launches.iter().map(|launch| (launch.dims.grid, number(launch))).collect();
    assert_eq!(
        seen,
        [
            ([1, 1, 1], 100),
            ([4, 1, 1], 0),
            ([3, 1, 1], 1),
            ([2, 1, 1], 2),
            ([2, 1, 1], 110),
            ([4, 2, 1], 10),
            ([3, 2, 1], 11),
            ([2, 2, 1], 12),
            ([9, 1, 1], 7),
        ]
    );
    assert!(launches.iter().all(|launch| launch.kernel == "_Z4stepPii"), "the name of the source is enough");
}

#[test]
fn the_host_copies_sets_and_resets_between_launches() {
    let n = "{ type = \"s32\", value = 0 }";
    let launch = step("grid = [1]", n);
    let text = format!(
        "ptx = \"k.ptx\"\n{BUFFERS}{launch}\
         [[host]]\ncopy = {{ from = \"a\", to = \"b\", from_offset = 1, to_offset = 2, count = 2 }}\n{launch}\
         [[host]]\nset = {{ buffer = \"a\", value = -1, offset = 3 }}\n{launch}\
         [[host]]\nreset = \"a\"\n[[host]]\nreset = \"b\"\n{launch}"
    );
    let mut seen = Vec::new();
    let mut b = 0;
    run(&text, |memory, launch| {
        let Arg::Ptr(a) = launch.args[0] else { panic!("an address") };
        b = memory.nearest(a + 300).map_or(0, |(_, base, _)| base);
        seen.push([memory.read_i32s(a, 4).expect("a"), memory.read_i32s(b, 4).expect("b")]);
        // Represents the results of a kernel.
        memory.write_i32s(a, &[10, 20, 30, 40]).expect("room");
    })
    .expect("valid");
    assert_eq!(
        seen,
        [
            [vec![1, 2, 3, 4], vec![0; 4]],
            [vec![10, 20, 30, 40], vec![0, 0, 20, 30]],
            [vec![10, 20, 30, -1], vec![0, 0, 20, 30]],
            [vec![1, 2, 3, 4], vec![0; 4]],
        ]
    );
}

#[test]
fn parts_share_memory_and_addresses_are_written_into_buffers_and_structures() {
    let text = format!(
        "ptx = \"k.ptx\"\n{BUFFERS}\
         [[buffer]]\nname = \"tail\"\nof = \"a\"\noffset = 2\ntype = \"s32\"\ncount = 2\n\
         [[buffer]]\nname = \"nodes\"\nmembers = [\"u8\", \"f32\", \"b64\"]\nvalues = [1, 1.5, 0, 2, 2.5, 0]\n\
         addresses = [{{ at = 8, buffer = \"nodes\", offset = 16 }}, {{ at = 24, buffer = \"tail\", offset = 1 }}]\n\
         [[launch]]\nkernel = \"step\"\ngrid = [1]\nblock = [1]\n\
         arg = [{{ buffer = \"tail\" }}, {{ type = \"s32\", value = 0 }}]\n\
         [[launch]]\nkernel = \"pair\"\ngrid = [1]\nblock = [1]\n\
         arg = [{{ members = [\"s16\", \"b64\", \"f32\"], values = [-2, 0, 0.5], addresses = [{{ at = 8, buffer = \"nodes\" }}] }}]\n"
    );
    let mut nodes = Vec::new();
    let launches = run(&text, |memory, launch| {
        if let Arg::Ptr(tail) = launch.args[0] {
            assert_eq!(memory.read_i32s(tail - 8, 4).expect("a"), [1, 2, 3, 4]);
            return;
        }
        let Arg::Bytes(bytes) = &launch.args[0] else { panic!("a structure") };
        let address = u64::from_le_bytes(bytes[8..16].try_into().expect("eight"));
        nodes = memory.read_u64s(address, 4).expect("two nodes of 16 bytes");
        nodes.push(address);
        assert_eq!(bytes[..2], (-2i16).to_le_bytes());
        assert_eq!(bytes[16..20], 0.5f32.to_le_bytes());
    })
    .expect("valid");
    let Arg::Ptr(tail) = launches[0].args[0] else { panic!("an address") };
    let node = |tag: u64, value: f32| tag | u64::from(value.to_bits()) << 32;
    assert_eq!(nodes, [node(1, 1.5), nodes[4] + 16, node(2, 2.5), tail + 4, nodes[4]]);
}

#[test]
fn kernels_of_several_files_have_their_own_constants() {
    let text = "ptx = [\"k.ptx\", \"other.ptx\"]\n[[symbol]]\nname = \"fixed\"\ntype = \"u32\"\nvalues = [1, 2]\n\
                [[buffer]]\nname = \"a\"\ntype = \"u32\"\ncount = 1\n\
                [[launch]]\nkernel = \"other\"\ngrid = [1]\nblock = [1]\narg = [{ buffer = \"a\" }]\n";
    let launches = run(text, |_, _| {}).expect("valid");
    assert_eq!(launches[0].kernel, "other");
    let files =
        [("k.ptx", PTX), ("other.ptx", OTHER)].map(|(name, ptx)| (name.to_owned(), format!("{HEAD}{ptx}")));
    let mut module = selvedge_ptx::ptx::Module::parse_all(&files).expect("valid");
    module.set_constant("fixed", &[1, 0, 0, 0, 2, 0, 0, 0]).expect("there");
    assert_eq!((module.constant("fixed"), module.constant("scale")), (Some((0, 8)), Some((8, 8))));
    let mut memory = DeviceMemory::new();
    let out = memory.alloc(4, "out").expect("room");
    let kernel = module.kernel("other").expect("there");
    let params = kernel.pack(&[Arg::Ptr(out)]).expect("one address");
    let launch = crate::workload::LaunchDims::new([1; 3], [1; 3]);
    selvedge_ptx::ptx::run_functional(&module, &kernel, &launch, &params, &mut memory).expect("it runs");
    assert_eq!(memory.read_u32s(out, 1), Ok(vec![8]), "the constants of its own file");
    let twice =
        selvedge_ptx::ptx::Module::parse_all(&[files[1].clone(), files[1].clone()]).expect_err("twice");
    assert_eq!(twice.to_string(), "other.ptx:5: kernel 'other' is in other.ptx too");
}

#[test]
fn mistakes_are_one_line_with_their_place() {
    let n = "{ type = \"s32\", value = 0 }";
    let head = format!("ptx = \"k.ptx\"\n{BUFFERS}");
    let launch = step("grid = [1]", n);
    let in_loop = step("grid = [1]\nloop = \"l\"", n);
    let cases = [
        (step("grid = [\"turn\"]", n), "my.toml:13: grid: `turn` is not known: it is in no loop"),
        (step("grid = [0]", n), "my.toml:13: grid = 0: must be 1 to 4294967295"),
        (step("grid = [1.5]", n), "my.toml:13: grid: 1.5 is not an integer"),
        (
            format!("[[loop]]\nname = \"l\"\nturns = 3\n{}", step("grid = [\"1 - l\"]\nloop = \"l\"", n)),
            "my.toml:16: grid = 0 in turn 1: must be 1 to 4294967295",
        ),
        (
            format!("[[loop]]\nname = \"l\"\nwithin = \"m\"\nturns = 3\n{in_loop}"),
            "my.toml:12: no loop `m` before this one: there are none",
        ),
        (
            format!("[[loop]]\nname = \"l\"\nturns = 1\n{in_loop}{launch}{in_loop}"),
            "my.toml:28: the launches of loop `l` do not follow one another",
        ),
        (format!("{launch}[[host]]\nloop = \"x\"\nreset = \"a\""), "my.toml:16: no loop `x`: there are none"),
        (format!("{launch}[[host]]\n"), "my.toml:15: a [[host]] table has one of `copy`, `set` and `reset`"),
        (format!("{launch}[[host]]\nreset = \"x\""), "my.toml:16: no buffer `x`: there are a, b"),
        (
            format!("{launch}[[host]]\ncopy = {{ from = \"a\", to = \"b\", to_offset = 1 }}"),
            "my.toml:15: copy: 4 elements of `a` for 3 of `b`",
        ),
        (
            format!("{launch}[[host]]\nset = {{ buffer = \"a\", value = 1, offset = 2, count = 3 }}"),
            "my.toml:15: `a` has 4 elements: must be a part of them",
        ),
        (
            format!("{launch}[[buffer]]\nname = \"t\"\nof = \"a\"\noffset = 3\ntype = \"s32\"\ncount = 2"),
            "my.toml:15: `t` ends after 20 bytes of `a`, which has 16",
        ),
        (
            format!("{launch}[[buffer]]\nname = \"t\"\nmembers = [\"s32\", \"f32\"]\nvalues = [1, 2, 3]"),
            "my.toml:18: values: must be a multiple of the 2 members, got 3",
        ),
        (
            format!(
                "{launch}[[buffer]]\nname = \"t\"\ntype = \"b64\"\ncount = 1\naddresses = [{{ at = 1, buffer = \"a\" }}]"
            ),
            "my.toml:19: at = 1: an address has 8 bytes, and there are 8",
        ),
        (
            step("grid = [1]", "{ type = \"s32\", expression = \"2 +\" }"),
            "my.toml:14: expression: expected a number, the turn of a loop, min, max or `(`, found the end",
        ),
        (
            launch.replace("\"step\"", "\"steps\""),
            "my.toml:11: no kernel 'steps' in the PTX: there are _Z4stepPii, pair",
        ),
    ];
    let refusals: Vec<String> =
        cases.iter().map(|(text, _)| run(&format!("{head}{text}"), |_, _| {}).expect_err(text)).collect();
    assert_eq!(refusals, cases.map(|(_, says)| says));
    let none = run("ptx = []\nkernel = \"step\"\ngrid = [1]\nblock = [1]\n", |_, _| {});
    assert_eq!(none.expect_err("refused"), "my.toml:1: ptx = []: must be one PTX file or more");
}
