//! Tests that an invalid access stops the run with one clear line.

use super::super::{Arg, LaunchDims, Module, run_functional};
use super::{kernel_text, own_element, run_words};
use crate::memory::DeviceMemory;

fn fault(declarations: &str, body: &str, threads: u32, words: usize) -> String {
    let error = run_words(&kernel_text(declarations, &(own_element(4) + body)), threads, &vec![0; words])
        .unwrap_err();
    let line = error.to_string();
    assert!(!line.contains('\n'), "{line}");
    line
}

#[test]
fn reading_behind_a_buffer_names_instruction_thread_and_buffer() {
    let line = fault("", "ld.global.u32 %r1,\n\t[%rd0+8]; ret;", 32, 32);
    assert_eq!(
        line,
        "test.ptx:14: kernel 'k', block (0,0,0), thread (30,0,0): `ld.global.u32 %r1, [%rd0+8]` reads 4 bytes at global \
         address 0x10000080, outside every buffer (nearest buffer 'out' is 0x10000000..0x10000080, 128 bytes); a configuration with \
         `memory.out_of_bounds = \"zero\"` allows it"
    );
}

#[test]
fn other_bad_accesses_are_told_apart() {
    assert!(
        fault("", "st.global.u32 [%rd0+2], %r0;", 32, 33)
            .contains("needs an address that is a multiple of 4, got 0x10000002")
    );
    assert!(
        fault("", "atom.global.add.u32 %r1, [%rd0+-4], 1;", 1, 1)
            .contains("updates 4 bytes at global address 0xffffffc")
    );
    let shared = fault(
        ".shared .b8 box[64];",
        "mov.u64 %rd2, box; add.s64 %rd2, %rd2, %rd1; ld.shared.u32 %r2, [%rd2];",
        32,
        32,
    );
    assert!(
        shared.contains("thread (16,0,0)")
            && shared.contains("shared address 0x40, but the shared memory has 64 bytes"),
        "{shared}"
    );
    assert!(fault("", "ld.u64 %rd2, [0]; ret;", 1, 1).contains("reads 8 bytes at global address 0x0"));
    assert!(
        fault(".const .u32 c = 1;", "mov.u64 %rd2, c; cvta.const.u64 %rd2, %rd2; st.u32 [%rd2], 1;", 1, 1)
            .contains("read-only")
    );
    assert!(
        fault("", ".local .b8 f[16]; ld.local.u32 %r1, [f+16];", 1, 1).contains("local memory has 16 bytes")
    );
}

#[test]
fn a_disabled_lane_may_hold_any_address() {
    let body = own_element(4) + "setp.lt.u32 %p1, %r0, 8; @%p1 st.global.u32 [%rd0], 1; ret;";
    assert_eq!(run_words(&kernel_text("", &body), 32, &[0; 8]).unwrap().0, [1; 8]);
}

#[test]
fn a_barrier_that_never_completes_is_a_deadlock() {
    let crossed = "setp.lt.u32 %p1, %r0, 32; @%p1 bra LEFT; bar.sync 1; bar.sync 0; ret;\n LEFT: bar.sync 0; bar.sync 1; ret;";
    let line = fault("", crossed, 64, 64);
    assert_eq!(
        line,
        "test.ptx:15: kernel 'k', block (0,0,0): barrier 0 never completes: 32 of 64 threads arrived, no other warp can run"
    );
    assert!(fault("", "bar.sync 0, 96; ret;", 64, 64).contains("64 of 96 threads"));
    assert!(
        fault("", "bar.sync 16; ret;", 32, 32)
            .contains("`bar.sync 16` names barrier 16, which does not exist")
    );
    assert!(fault("", "bar.sync 0, 33; ret;", 32, 32).contains("whole warps"));
}

#[test]
fn arguments_and_launches_that_do_not_fit_are_refused() {
    let text = ".version 6.0\n.target sm_60\n.address_size 64\n.entry k(.param .u64 p, .param .f32 x, .param .align 8 .b8 s[12]) .reqntid 64 { ret; }";
    let module = Module::parse("a.ptx", text).unwrap();
    let kernel = module.kernel("k").unwrap();
    let good = [Arg::Ptr(0x1122), Arg::F32(1.0), Arg::Bytes(vec![7; 12])];
    let params = kernel.pack(&good).unwrap();
    assert_eq!(params.len(), 28);
    assert_eq!((params[0], &params[8..12], params[16]), (0x22, 1f32.to_le_bytes().as_slice(), 7));
    assert_eq!(kernel.pack(&good[..2]).unwrap_err().to_string(), "kernel 'k' takes 3 arguments, got 2");
    let wrong = kernel.pack(&[Arg::U32(4), Arg::F32(1.0), Arg::Bytes(vec![7; 12])]).unwrap_err().to_string();
    assert_eq!(wrong, "argument 0 of kernel 'k' ('p') is an integer of 8 bytes, got the 32-bit integer 4");
    assert!(kernel.pack(&[Arg::Ptr(0), Arg::U32(1), Arg::Bytes(vec![7; 12])]).is_err());
    assert!(kernel.pack(&[Arg::Ptr(0), Arg::F32(1.0), Arg::Bytes(vec![7; 11])]).is_err());
    let run = |grid, block| {
        run_functional(&module, &kernel, &LaunchDims::new(grid, block), &params, &mut DeviceMemory::new())
    };
    assert!(run([1, 1, 1], [64, 1, 1]).is_ok());
    for (grid, block) in [
        ([0, 1, 1], [64, 1, 1]),
        ([1, 1, 1], [0, 1, 1]),
        ([1, 1, 1], [32, 1, 1]),
        ([1, 1, 1], [u32::MAX, u32::MAX, 2]),
        ([1 << 31, 1, 1], [64, 1, 1]),
        ([1, 1 << 16, 1], [64, 1, 1]),
    ] {
        assert!(run(grid, block).unwrap_err().to_string().starts_with("kernel 'k' cannot be launched: "));
    }
}

#[test]
fn an_access_outside_every_buffer_reads_zero_and_changes_nothing_where_the_memory_says_so() {
    let body = own_element(8)
        + "mov.u32 %r1, 9; ld.global.u32 %r1, [%rd0-128]; ld.global.v2.u32 {%r4, %r5}, [%rd0+8];\n\
           st.global.v2.u32 [%rd0], {%r1, %r5}; ret;";
    let run = |text: &str| {
        let module = Module::parse("test.ptx", text).unwrap();
        let mut memory = DeviceMemory::new();
        memory.set_zero_outside(true);
        let out = memory.alloc(32 * 8, "out").unwrap();
        memory.write_u32s(out, &[7; 64]).unwrap();
        let kernel = module.kernel("k").unwrap();
        let params = kernel.pack(&[Arg::Ptr(out)]).unwrap();
        run_functional(&module, &kernel, &LaunchDims::new([1; 3], [32, 1, 1]), &params, &mut memory)
            .map_err(|error| error.to_string())?;
        Ok::<_, String>(memory.read_u32s(out, 64).unwrap())
    };
    let text = kernel_text("", &body);
    let out = run(&text).unwrap();
    // The first 16 lanes read before the buffer, and the last lane reads after it.
    assert_eq!(out[..4], [0, 7, 0, 7]);
    assert_eq!(out[62..], [7, 0]);
    // A store shifted by 16 elements. The first 16 lanes store before the buffer, without effect.
    let shifted = run(&text.replace("st.global.v2.u32 [%rd0]", "st.global.v2.u32 [%rd0-128]")).unwrap();
    assert_eq!((&shifted[..2], &shifted[30..34]), (&[7, 7][..], &[7, 0, 7, 7][..]));
    let atomic = text.replace("ld.global.u32 %r1, [%rd0-128]", "atom.global.add.u32 %r1, [%rd0-128], 5");
    let out = run(&atomic).unwrap();
    assert_eq!((&out[..2], &out[32..34]), (&[0, 7][..], &[7, 7][..]));
    let null = run(&text.replace("st.global.v2.u32 [%rd0]", "st.global.v2.u32 [8]")).unwrap_err();
    assert!(
        null.ends_with(
            "writes 8 bytes at global address 0x8, outside every buffer (nearest buffer 'out' is \
        0x10000000..0x10000100, 256 bytes)"
        ),
        "{null}"
    );
    let null = run(&text.replace("[%rd0-128]", "[0]")).unwrap_err();
    assert!(null.contains("reads 4 bytes at global address 0x0"), "{null}");
}
