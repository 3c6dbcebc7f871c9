//! Tests bulk copies between global and shared memory.

use super::super::{Arg, LaunchDims, Module, run_limited};
use super::{kernel_text, note_all, run_words};
use crate::memory::DeviceMemory;

const DECLARATIONS: &str = ".shared .align 8 .b64 bar; .shared .align 128 .b32 tile[128];";

/// Waits in all threads for the bytes that thread 0 has asked for by `copy`.
fn loading(copy: &str, bytes: u32) -> String {
    format!(
        "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; setp.eq.u32 %p1, %r0, 0; mov.u32 %r1, tile; mov.u32 %r2, bar;\n\
         @%p1 mbarrier.init.shared.b64 [bar], 1; fence.mbarrier_init.release.cluster; fence.proxy.async.shared::cta;\n\
         bar.sync 0; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd1, %rd0, %rd1; mad.lo.u32 %r3, %r0, 4, %r1;\n\
         @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {bytes};\n{copy}\n\
         WAIT: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p2, [bar], 0;\n@!%p2 bra WAIT;\n"
    )
}

fn text(body: &str) -> String {
    kernel_text(DECLARATIONS, &format!("{body}\nret;")).replace("sm_60", "sm_90")
}

#[test]
fn a_copy_to_shared_memory_completes_its_bytes() {
    for copy in [
        "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd0], 512, [bar];",
        "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [%r1], [%rd0+0], 512, [%r2], %rd9;",
        // Four threads copy a quarter each.
        "setp.lt.u32 %p3, %r0, 4; mul.lo.u32 %r4, %r0, 128; add.u32 %r4, %r4, %r1; mul.wide.u32 %rd2, %r0, 128;\n\
         add.u64 %rd2, %rd0, %rd2;\n\
         @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r4], [%rd2], 128, [%r2];",
    ] {
        let body = loading(copy, 512)
            + "xor.b32 %r5, %r0, 77; mad.lo.u32 %r5, %r5, 4, %r1; ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd1], %r6;";
        let input: Vec<u32> = (0..128).map(|word| 3 * word + 1).collect();
        let got = run_words(&text(&body), 128, &input).unwrap().0;
        assert_eq!(got, (0..128).map(|word| 3 * (word ^ 77) + 1).collect::<Vec<_>>(), "{copy}");
    }
}

#[test]
fn a_copy_to_global_memory_is_there_after_its_group() {
    for wait in
        ["cp.async.bulk.wait_group 0;", "cp.async.bulk.wait_group.read 0; cp.async.bulk.wait_group 1;"]
    {
        let body = format!(
            "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, tile; mad.lo.u32 %r2, %r0, 4, %r1;\n\
             mad.lo.u32 %r3, %r0, %r0, 5; st.shared.u32 [%r2], %r3; fence.proxy.async; bar.sync 0;\n\
             setp.eq.u32 %p1, %r0, 32; @!%p1 bra DONE;\n\
             cp.async.bulk.global.shared::cta.bulk_group [%rd0+16], [tile+32], 256; cp.async.bulk.commit_group;\n{wait}\n\
             cp.async.bulk.prefetch.L2.global [%rd0], 64;\nDONE:"
        );
        let got = run_words(&text(&body), 128, &vec![9; 80]).unwrap().0;
        let wanted = |word: u32| if (4..68).contains(&word) { (word + 4) * (word + 4) + 5 } else { 9 };
        assert_eq!(got, (0..80).map(wanted).collect::<Vec<_>>(), "{wait}");
    }
}

#[test]
fn an_invalid_copy_is_a_fault_with_its_line() {
    let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    let init = "mbarrier.init.shared.b64 [bar], 1;\n";
    for (statement, says) in [
        (
            format!("{copy} [tile], [%rd0+8], 16, [bar];"),
            "needs a global address that is a multiple of 16, got 0x",
        ),
        (
            format!("{copy} [tile+4], [%rd0], 16, [bar];"),
            "needs a shared address that is a multiple of 16, got 0x",
        ),
        (format!("{copy} [tile], [%rd0], 24, [bar];"), "copies 24 bytes; must be a multiple of 16"),
        (
            format!("{copy} [tile], [%rd0], 528, [bar];"),
            "copies 528 bytes at shared address 0x80, but the shared memory",
        ),
        (format!("{copy} [tile], [%rd0+512], 16, [bar];"), "reads 16 bytes at global address 0x"),
        (format!("{copy} [tile], [%rd0], 16, [bar+4];"), "needs an mbarrier at a multiple of 8, got 0x4"),
        (format!("{copy} [tile], [%rd0], 16, [tile];"), "uses an mbarrier that is not initialized"),
        (
            "cp.async.bulk.global.shared::cta.bulk_group [%rd0+512], [tile], 16;".to_owned(),
            "writes 16 bytes at global address 0x",
        ),
    ] {
        let text = text(&format!("ld.param.u64 %rd0, [out];\n{init}{statement}"));
        note_all(&text);
        let module = Module::parse("k.ptx", &text).expect("PTX");
        let kernel = module.kernel("k").expect("there");
        let mut memory = DeviceMemory::new();
        let buffer = memory.alloc(512, "out").expect("room");
        let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("an address");
        let dims = LaunchDims::new([1, 1, 1], [1, 1, 1]);
        let ended = run_limited(&module, &kernel, &dims, &params, &mut memory, 1 << 24);
        let error = ended.expect_err("it fails").to_string();
        assert!(
            error.starts_with("k.ptx:15: kernel 'k', block (0,0,0), thread (0,0,0): `cp.async.bulk."),
            "{error}"
        );
        assert!(error.contains(says), "{error} does not say {says}");
    }
}

#[test]
fn copies_with_other_spaces_or_operands_are_refused() {
    for (statement, says) in [
        (
            "cp.async.bulk.shared::cluster.shared::cta.bulk_group [tile], [tile], 16",
            "known are copies from .global or .shared to .shared with mbarrier::complete_tx::bytes, and from .shared to .global \
             with bulk_group",
        ),
        (
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [tile], [%rd0], 16, [bar]",
            "it does not take 4 operands",
        ),
        (
            "cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%rd0], [tile], 16, %h1",
            "modifier 'cp_mask' is not known",
        ),
        ("cp.async.bulk.wait_group.write 0", "known are .wait_group and .wait_group.read"),
    ] {
        let error = Module::parse("k.ptx", &text(&format!("{statement};"))).expect_err("refused").to_string();
        assert!(error.starts_with("k.ptx:13: ") && error.ends_with(says), "{error}");
    }
}
