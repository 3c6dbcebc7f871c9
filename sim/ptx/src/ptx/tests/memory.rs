//! Tests the bytes that loads, stores and atomics move, in every space and width.

use super::super::{AccessKind, CacheOp, Env, LaunchDims, MemAccess, Module, OpClass, Space, Step, Warp};
use super::{kernel_text, own_element, run_words};
use crate::memory::DeviceMemory;

fn one_lane(declarations: &str, body: &str, input: &[u32]) -> Vec<u32> {
    run_words(&kernel_text(declarations, &(own_element(4) + body)), 1, input).unwrap().0
}

#[test]
fn narrow_loads_extend_and_narrow_stores_truncate() {
    let body = "ld.global.u8 %r1, [%rd0]; ld.global.s8 %r2, [%rd0]; ld.global.s16 %r3, [%rd0]; ld.global.u16 %h1, [%rd0];\n\
                ld.global.s8 %h2, [%rd0]; ld.global.s32 %rd5, [%rd0]; cvt.u32.u16 %r4, %h2; shr.u64 %rd5, %rd5, 32;\n\
                st.global.u32 [%rd0+4], %r1; st.global.u32 [%rd0+8], %r2; st.global.u32 [%rd0+12], %r3; st.global.u16 [%rd0+16], %h1;\n\
                st.global.u32 [%rd0+20], %r4; st.global.u32 [%rd0+24], %rd5; st.global.u8 [%rd0+28], %r3; ret;";
    let out = one_lane("", body, &[0x8182_8384, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(out[1..], [0x84, 0xffff_ff84, 0xffff_8384, 0x8384, 0xff84, 0xffff_ffff, 0x84]);
}

#[test]
fn vectors_move_all_their_elements() {
    let body = "ld.global.v4.u32 {%r1, %r2, _, %r4}, [%rd0]; st.global.v2.u32 [%rd0+16], {%r4, %r2}; ld.global.v2.u64 {%rd4, %rd5}, [%rd0];\n\
                st.global.v2.f64 [%rd0+32], {%rd5, %rd4}; ld.global.v4.u8 {%h1, %h2, %h3, %h4}, [%rd0];\n\
                st.global.v4.u8 [%rd0+24], {%h4, %h3, %h2, %h1}; ret;";
    let out = one_lane("", body, &[0x0403_0201, 20, 30, 40, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(out[4..], [40, 20, 0x0102_0304, 0, 30, 40, 0x0403_0201, 20]);
}

#[test]
fn registers_are_packed_and_unpacked() {
    let body = "ld.global.u32 %r1, [%rd0]; mov.b32 {%h1, %h2}, %r1; mov.b32 %r2, {%h2, %h1}; mov.b64 %rd4, {%r1, %r2}; mov.b64 {%r3, %r4}, %rd4;\n\
                st.global.u32 [%rd0], %r3; st.global.u32 [%rd0+4], %r4; ret;";
    assert_eq!(one_lane("", body, &[0x1234_5678, 0]), [0x1234_5678, 0x5678_1234]);
}

#[test]
fn every_atomic_leaves_its_result_and_returns_the_old_value() {
    let cases = [
        ("add.u32", 5u32, 0xffff_ffffu32, 4u32),
        ("min.u32", 5, 3, 3),
        ("min.s32", 5, 0xffff_fffe, 0xffff_fffe),
        ("max.u32", 5, 0xffff_fffe, 0xffff_fffe),
        ("max.s32", 5, 0xffff_fffe, 5),
        ("and.b32", 0b1100, 0b1010, 0b1000),
        ("or.b32", 0b1100, 0b1010, 0b1110),
        ("xor.b32", 0b1100, 0b1010, 0b0110),
        ("exch.b32", 5, 9, 9),
        ("inc.u32", 5, 5, 0),
        ("inc.u32", 5, 6, 6),
        ("dec.u32", 0, 7, 7),
        ("dec.u32", 5, 7, 4),
        ("dec.u32", 9, 7, 7),
        ("add.f32", 0x3f80_0000, 0x4000_0000, 0x4040_0000),
    ];
    for (form, old, operand, new) in cases {
        let body = format!(
            "ld.global.u32 %r1, [%rd0+8]; atom.global.{form} %r2, [%rd0], %r1; st.global.u32 [%rd0+4], %r2; ret;"
        );
        assert_eq!(one_lane("", &body, &[old, 0, operand]), [new, old, operand], "{form}");
        let body = format!("ld.global.u32 %r1, [%rd0+8]; red.{form} [%rd0], %r1; ret;");
        assert_eq!(one_lane("", &body, &[old, 0, operand])[0], new, "red.{form}");
    }
    let cas = "atom.global.cas.b32 %r1, [%rd0], 5, 6; atom.cas.b32 %r2, [%rd0+4], 5, 6; st.global.u32 [%rd0+8], %r1; ret;";
    assert_eq!(one_lane("", cas, &[5, 4, 0]), [6, 4, 5]);
    let wide = "mov.b64 %rd3, 0x100000001; atom.global.add.u64 %rd4, [%rd0], %rd3; ret;";
    assert_eq!(one_lane("", wide, &[0xffff_ffff, 1]), [0, 3]);
}

#[test]
fn atomics_of_a_warp_to_one_word_all_count() {
    let body = "ld.param.u64 %rd0, [out]; atom.global.add.u32 %r1, [%rd0], 1; mul.wide.u32 %rd1, %r1, 4; add.s64 %rd1, %rd0, %rd1;\n\
                st.global.u32 [%rd1+4], %r1; ret;";
    let (out, _) = run_words(&kernel_text("", body), 64, &[0; 65]).unwrap();
    assert_eq!(out, [&[64], &(0..64).collect::<Vec<u32>>()[..]].concat());
}

#[test]
fn local_memory_belongs_to_each_thread() {
    let body = ".local .align 8 .b8 frame[16];\n".to_owned()
        + &own_element(4)
        + "mov.u64 %rd4, frame; cvta.local.u64 %rd5, %rd4; st.local.u32 [frame+4], %r0; ld.u32 %r1, [%rd5+4]; add.s32 %r1, %r1, 1;\n\
           st.u32 [%rd5+8], %r1; ld.local.u32 %r2, [frame+8]; st.global.u32 [%rd0], %r2; ret;";
    let (out, _) = run_words(&kernel_text("", &body), 64, &[0; 64]).unwrap();
    assert_eq!(out, (1..=64).collect::<Vec<_>>());
}

/// Returns the words that 32 threads load from `space` at `addresses`. Only the lanes in `active` load. The words of
/// the space are 100, 101, ....
fn load_from(space: &str, addresses: [u32; 32], active: u32) -> Result<Vec<u32>, String> {
    let words: Vec<String> = (100..164).map(|word| word.to_string()).collect();
    let constants = format!(".const .align 4 .b32 words[64] = {{{}}};", words.join(", "));
    let body = own_element(8)
        + "ld.global.u32 %r1, [%rd0]; ld.global.u32 %r2, [%rd0+4]; setp.ne.u32 %p1, %r2, 0;\n\
           .shared .align 4 .b32 room[64]; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; add.u32 %r5, %r3, 100;\n\
           mov.u32 %r7, room; add.u32 %r7, %r7, %r4; st.shared.u32 [%r7], %r5; add.u32 %r5, %r5, 32; st.shared.u32 [%r7+128], %r5;\n"
        + &format!(
            "mov.u32 %r8, 7; {} add.u32 %r6, %r6, %r1; @%p1 ld.{space}.u32 %r8, [%r6];\n",
            if space == "shared" { "mov.u32 %r6, room;" } else { "mov.u32 %r6, words;" }
        )
        + "st.global.u32 [%rd0], %r8; ret;";
    let input: Vec<u32> =
        (0..).zip(addresses).flat_map(|(lane, address)| [address, active >> lane & 1]).collect();
    let (out, _) =
        run_words(&kernel_text(&constants, &body), 32, &input).map_err(|error| error.to_string())?;
    Ok(out.into_iter().step_by(2).collect())
}

#[test]
fn the_lanes_that_load_get_their_words_and_the_others_access_nothing() {
    let word = |pattern: &str, lane: u32| match pattern {
        "one word" => 5,
        "neighbors" => lane,
        _ => lane * 37 % 64,
    };
    for space in ["shared", "const"] {
        for name in ["one word", "neighbors", "scattered"] {
            let address = |lane| 4 * word(name, lane);
            for active in [u32::MAX, 1, 0x8000_0000, 0x00ff_ff00, 0xaaaa_aaaa] {
                // The other lanes' addresses are in no memory, or misaligned.
                let of = |lane: u32| if active >> lane & 1 == 1 { address(lane) } else { 1_000_001 };
                let out =
                    load_from(space, std::array::from_fn(|lane| of(lane as u32)), active).expect("no fault");
                let expected =
                    (0..32).map(|lane| if active >> lane & 1 == 1 { 100 + address(lane) / 4 } else { 7 });
                assert!(out.into_iter().eq(expected), "{space}, {name}, lanes {active:#x}");
            }
        }
        for wrong in [256, 2] {
            let addresses = std::array::from_fn(|lane| if lane == 9 { wrong } else { 4 * lane as u32 });
            assert!(load_from(space, addresses, u32::MAX).is_err(), "{space}, address {wrong}");
        }
    }
}

#[test]
fn lanes_of_a_generic_access_may_be_in_different_spaces() {
    let body = own_element(4)
        + "mov.u64 %rd4, box; cvta.shared.u64 %rd5, %rd4; setp.lt.u32 %p1, %r0, 4; selp.b64 %rd6, %rd0, %rd5, %p1;\n\
           st.shared.u32 [box], 77; ld.u32 %r1, [%rd6]; st.global.u32 [%rd0], %r1; ret;";
    let (out, _) = run_words(&kernel_text(".shared .u32 box;", &body), 8, &[9; 8]).unwrap();
    assert_eq!(out, [9, 9, 9, 9, 77, 77, 77, 77]);
}

#[test]
fn constants_and_globals_start_with_their_values() {
    let declarations = ".const .align 4 .u32 table[3] = {10, 20, 30}; .global .align 8 .u64 pointer = numbers;\n\
                        .global .s16 numbers[4] = {1, -2, 3};\n.const .f32 half = 0.5; .global .f32 quarter = 0f3E800000;";
    let body = "ld.const.u32 %r1, [table+8]; st.global.u32 [%rd0], %r1; ld.global.u64 %rd4, [pointer]; ld.global.s16 %r2, [%rd4+2];\n\
                st.global.u32 [%rd0+4], %r2; ld.const.f32 %f1, [half]; ld.global.f32 %f2, [quarter]; add.f32 %f3, %f1, %f2;\n\
                st.global.f32 [%rd0+8], %f3; mov.u64 %rd5, table; cvta.const.u64 %rd5, %rd5; ld.u32 %r3, [%rd5+4]; st.global.u32 [%rd0+12], %r3; ret;";
    let out = one_lane(declarations, body, &[0; 4]);
    assert_eq!(out, [30, 0xffff_fffe, 0.75f32.to_bits(), 20]);
}

#[test]
fn the_access_tells_the_timing_model_what_was_touched() {
    let body = own_element(4)
        + ".local .b8 frame[8]; setp.lt.u32 %p1, %r0, 8; @%p1 ld.global.cg.u32 %r1, [%rd0+4]; st.shared.v2.u32 [box+8], {%r1, %r1};\n\
           st.local.u32 [frame+4], %r1; ret;";
    let text = kernel_text(".shared .align 8 .b8 box[16];", &body);
    let module = Module::parse("test.ptx", &text).unwrap();
    let kernel = module.kernel("k").unwrap();
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(36, "out").unwrap();
    let launch = LaunchDims::new([1, 1, 1], [32, 1, 1]);
    let mut shared = [0; 16];
    let params = buffer.to_le_bytes();
    let constants = module.constants();
    let mut env = Env {
        memory: &mut memory,
        shared: &mut shared,
        params: &params,
        constants,
        launch: &launch,
        slot: 0,
        clock: 0,
        core_mhz: 1000,
        sm: 0,
        sms: 1,
    };
    let mut warp = Warp::new(&kernel, &launch, [0; 3], 0);
    let mut seen = Vec::new();
    let mut access = MemAccess::new();
    while let Some(pc) = warp.pc() {
        if warp.step(&kernel, &mut env, &mut access).unwrap() == Step::Memory {
            assert!(matches!(kernel.code[pc as usize].class, OpClass::Load | OpClass::Store));
            seen.push(access.clone());
        }
    }
    let summary: Vec<_> = seen.iter().map(|a| (a.space, a.kind, a.bytes, a.mask, a.address[3])).collect();
    assert_eq!(summary[0], (Space::Param, AccessKind::Load, 8, u32::MAX, 0));
    assert_eq!(summary[1], (Space::Global, AccessKind::Load, 4, 0xff, buffer + 16));
    assert_eq!(seen[1].cache, CacheOp::Global);
    assert_eq!(summary[2], (Space::Shared, AccessKind::Store, 8, u32::MAX, 8));
    // Word 1 of 32 interleaved threads, in thread 3.
    assert_eq!(
        summary[3],
        (Space::Local, AccessKind::Store, 4, u32::MAX, super::super::LOCAL_REGION + 128 + 12)
    );
}

#[test]
fn the_scoreboard_sees_guards_addresses_and_both_results() {
    let text = kernel_text(
        "",
        "@!%p1 ld.global.v2.u32 {%r1, %r2}, [%rd1]; setp.lt.and.s32 %p2|%p3, %r1, 5, %p1; ret;",
    );
    let kernel = Module::parse("test.ptx", &text).unwrap().kernel("k").unwrap();
    let [load, compare] = [&kernel.code[0], &kernel.code[1]];
    // Scoreboard numbers: words first, then 64-bit registers, then predicates, each in order of first use.
    assert_eq!((load.dests(), load.sources()), ([0, 1].as_slice(), [3, 2].as_slice()));
    assert_eq!((compare.dests().len(), compare.sources()), (2, [0, 3].as_slice()));
    assert_eq!(kernel.register_count, 6);
}
