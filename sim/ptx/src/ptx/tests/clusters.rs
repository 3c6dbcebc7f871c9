//! Tests clusters: special registers, addresses of other CTAs, the cluster's barrier, and messages to other CTAs.

use super::super::{Arg, FunctionalError, LaunchDims, Module, run_functional};
use super::{kernel_text, note_all};
use crate::memory::DeviceMemory;

const DECLARATIONS: &str =
    ".shared .align 8 .b64 bar; .shared .align 128 .b32 tile[64]; .shared .align 16 .b32 other[64];";

/// `%rd0` is the address of the thread's first word of `words`, `%r0` the thread, `%r1` the rank.
fn own_words(words: u32) -> String {
    format!(
        "ld.param.u64 %rd0, [out]; mov.u32 %r0, %tid.x; mov.u32 %r1, %cluster_ctarank;\n\
         mov.u32 %r2, %ctaid.y; mov.u32 %r3, %nctaid.x; mov.u32 %r4, %ctaid.x; mad.lo.u32 %r2, %r2, %r3, %r4;\n\
         mov.u32 %r3, %ntid.x; mad.lo.u32 %r2, %r2, %r3, %r0; mul.wide.u32 %rd1, %r2, {};\n\
         add.u64 %rd0, %rd0, %rd1;\n",
        4 * words
    )
}

const SYNC: &str = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;\n";

fn text(body: &str) -> String {
    kernel_text(DECLARATIONS, &format!("{body}\nret;")).replace("sm_60", "sm_90")
}

/// Runs a kernel on a zeroed buffer of `words` words, and returns the buffer.
fn run_in(
    (grid, threads, cluster): ([u32; 3], u32, [u32; 3]),
    words: usize,
    body: &str,
) -> Result<Vec<u32>, FunctionalError> {
    let text = text(body);
    note_all(&text);
    let module = Module::parse("k.ptx", &text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut memory = DeviceMemory::new();
    let buffer = memory.alloc(4 * words as u64, "out").expect("the buffer fits");
    let kernel = module.kernel("k").expect("the text has kernel k");
    let params = kernel.pack(&[Arg::Ptr(buffer)]).expect("k takes one address");
    let launch = LaunchDims { cluster, ..LaunchDims::new(grid, [threads, 1, 1]) };
    run_functional(&module, &kernel, &launch, &params, &mut memory)?;
    Ok(memory.read_u32s(buffer, words).expect("the buffer is there"))
}

#[test]
fn special_registers_tell_the_place_in_the_cluster_and_of_the_cluster() {
    let body = own_words(8)
        + "mov.u32 %r5, %cluster_ctaid.x; st.global.u32 [%rd0], %r5; mov.u32 %r5, %cluster_ctaid.y;\n\
           st.global.u32 [%rd0+4], %r5; mov.u32 %r5, %clusterid.x; st.global.u32 [%rd0+8], %r5;\n\
           mov.u32 %r5, %clusterid.y; st.global.u32 [%rd0+12], %r5; mov.u32 %r5, %cluster_nctaid.y;\n\
           mov.u32 %r6, %nclusterid.x; mad.lo.u32 %r5, %r5, 10, %r6; st.global.u32 [%rd0+16], %r5;\n\
           st.global.u32 [%rd0+20], %r1; mov.u32 %r5, %cluster_nctarank; st.global.u32 [%rd0+24], %r5;\n\
           mov.pred %p1, %is_explicit_cluster; selp.u32 %r5, 1, 0, %p1; st.global.u32 [%rd0+28], %r5;";
    let got = run_in(([4, 4, 1], 1, [2, 2, 1]), 128, &body).unwrap();
    for (cta, facts) in (0..).zip(got.chunks_exact(8)) {
        let (x, y) = (cta % 4, cta / 4);
        assert_eq!(facts, [x % 2, y % 2, x / 2, y / 2, 22, x % 2 + y % 2 * 2, 4, 1], "CTA {x},{y}");
    }
    let alone = run_in(([2, 1, 1], 1, [1; 3]), 16, &body).unwrap();
    assert_eq!(alone, [0, 0, 0, 0, 12, 0, 1, 0, 0, 0, 1, 0, 12, 0, 1, 0]);
}

#[test]
fn a_load_a_store_and_an_atomic_reach_every_block_of_the_cluster() {
    // The thread stores in block rank + 1, adds in block rank + 2, and reads the words of other blocks.
    let body = own_words(1)
        + "mov.u32 %r5, tile; mad.lo.u32 %r6, %r0, 4, %r5; add.u32 %r7, %r1, 1; and.b32 %r7, %r7, 3;\n\
           mapa.shared::cluster.u32 %r8, %r6, %r7; mov.u32 %r15, other; mad.lo.u32 %r16, %r0, 4, %r15;\n\
           st.shared.u32 [%r16], 0;\n"
        + SYNC
        + "mad.lo.u32 %r9, %r1, 100, %r0; st.shared::cluster.u32 [%r8], %r9;\n\
           add.u32 %r7, %r7, 1; and.b32 %r7, %r7, 3; cvt.u64.u32 %rd2, %r16;\n\
           mapa.shared::cluster.u64 %rd3, %rd2, %r7; atom.shared::cluster.add.u32 %r10, [%rd3], %r9;\n\
           red.shared::cluster.add.u32 [%rd3], %r9;\n"
        + SYNC
        + "add.u32 %r7, %r1, 1; and.b32 %r7, %r7, 3; cvta.shared::cluster.u64 %rd4, %rd2;\n\
           mapa.u64 %rd5, %rd4, %r7; ld.u32 %r11, [%rd5]; ld.shared.u32 %r12, [%r6]; add.u32 %r11, %r11, %r12;\n\
           st.global.u32 [%rd0], %r11;\n"
        + SYNC;
    let got = run_in(([8, 1, 1], 64, [4, 1, 1]), 512, &body).unwrap();
    for (at, value) in (0..).zip(got) {
        let (rank, thread): (u32, u32) = (at / 64 % 4, at % 64);
        // `other` of block rank + 1 has twice the number of block rank - 1; `tile` has the number of block rank - 1.
        let from = (rank + 3) % 4 * 100 + thread;
        assert_eq!(value, 3 * from, "block {}, thread {thread}", at / 64);
    }
}

#[test]
fn an_address_tells_its_space_and_block() {
    let body = own_words(8)
        + "mov.u64 %rd2, tile; cvta.shared.u64 %rd3, %rd2; xor.b32 %r5, %r1, 1; mapa.u64 %rd4, %rd3, %r5;\n\
           mapa.u64 %rd5, %rd3, %r1; mov.u32 %r6, tile; mapa.shared::cluster.u32 %r7, %r6, %r5;\n\
           getctarank.u64 %r8, %rd4; st.global.u32 [%rd0], %r8; getctarank.u64 %r8, %rd3; st.global.u32 [%rd0+4], %r8;\n\
           getctarank.shared::cluster.u32 %r8, %r7; st.global.u32 [%rd0+8], %r8; mov.u64 %rd6, tile;\n\
           mapa.shared::cluster.u64 %rd6, %rd6, %r5; getctarank.shared::cluster.u64 %r8, %rd6;\n\
           st.global.u32 [%rd0+12], %r8;\n\
           isspacep.shared::cta %p1, %rd4; selp.u32 %r8, 1, 0, %p1; isspacep.shared %p1, %rd5;\n\
           selp.u32 %r9, 10, 0, %p1; isspacep.shared::cluster %p1, %rd4; selp.u32 %r10, 100, 0, %p1;\n\
           isspacep.global %p1, %rd4; selp.u32 %r11, 1000, 0, %p1; add.u32 %r8, %r8, %r9; add.u32 %r8, %r8, %r10;\n\
           add.u32 %r8, %r8, %r11; st.global.u32 [%rd0+16], %r8; setp.eq.u64 %p1, %rd5, %rd3;\n\
           selp.u32 %r8, 1, 0, %p1; st.global.u32 [%rd0+20], %r8; cvta.to.shared::cluster.u64 %rd7, %rd4;\n\
           setp.eq.u64 %p1, %rd6, %rd7; selp.u32 %r8, 1, 0, %p1; st.global.u32 [%rd0+24], %r8;";
    let got = run_in(([2, 1, 1], 1, [2, 1, 1]), 16, &body).unwrap();
    for (rank, facts) in (0..).zip(got.chunks_exact(8)) {
        assert_eq!(facts[..7], [1 - rank, rank, 1 - rank, 1 - rank, 110, 1, 1], "rank {rank}");
    }
}

#[test]
fn a_block_waits_for_bytes_that_others_send_it() {
    // Block 0 expects 8 bytes of each other block, with a store and a reduction of 4 bytes each.
    let begin = own_words(1)
        + "setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r1, 0; and.pred %p3, %p1, %p2; mov.u32 %r5, tile; mov.u32 %r6, bar;\n\
           @%p3 mbarrier.init.shared.b64 [bar], 1; @%p3 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 24;\n\
           @%p3 st.shared.u32 [tile], 1000;\n"
        + SYNC
        + "not.pred %p4, %p2; and.pred %p4, %p4, %p1; mapa.shared::cluster.u32 %r7, %r6, 0;\n\
           mad.lo.u32 %r8, %r1, 4, %r5; mapa.shared::cluster.u32 %r8, %r8, 0; mapa.shared::cluster.u32 %r9, %r5, 0;\n";
    let body = begin
        + "@%p4 st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r8], %r1, [%r7];\n\
           @%p4 red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r9], %r1, [%r7];\n\
           @!%p2 bra DONE;\n\
           WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [bar], 0; @!%p5 bra WAIT;\n\
           mad.lo.u32 %r10, %r0, 4, %r5; ld.shared.u32 %r11, [%r10]; st.global.u32 [%rd0], %r11;\nDONE:\n"
        + SYNC;
    let got = run_in(([4, 1, 1], 4, [4, 1, 1]), 16, &body).unwrap();
    assert_eq!(got[..4], [1006, 1, 2, 3]);
}

#[test]
fn a_message_arrives_at_the_mbarrier_of_another_block() {
    // One thread of each block arrives at the mbarrier of the next block, with a count, and with bytes that the block completes.
    let body = own_words(1)
        + "setp.eq.u32 %p1, %r0, 0; mov.u32 %r6, bar; xor.b32 %r5, %r1, 1;\n\
           @%p1 mbarrier.init.shared.b64 [bar], 3;\n"
        + SYNC
        + "mapa.shared::cluster.u32 %r7, %r6, %r5;\n\
           @%p1 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r7], 2;\n\
           @%p1 mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%r7], 16;\n\
           @%p1 mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%r7], 16;\n\
           WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p5, [bar], 0; @!%p5 bra WAIT;\n\
           st.global.u32 [%rd0], 7;\n"
        + SYNC;
    assert_eq!(run_in(([2, 1, 1], 32, [2, 1, 1]), 64, &body).unwrap(), [7; 64]);
}

#[test]
fn a_bulk_copy_reaches_the_shared_memory_of_one_or_several_blocks() {
    let begin = own_words(1)
        + "setp.eq.u32 %p1, %r0, 0; setp.eq.u32 %p2, %r1, 0; and.pred %p3, %p1, %p2; mov.u32 %r5, tile; mov.u32 %r6, bar;\n\
           @%p1 mbarrier.init.shared.b64 [bar], 1; @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n\
           mad.lo.u32 %r7, %r0, 4, %r5; mov.u32 %r15, other; mad.lo.u32 %r16, %r0, 4, %r15;\n\
           mad.lo.u32 %r8, %r1, 100, %r0; st.shared.u32 [%r7], %r8; add.u32 %r9, %r1, 1; and.b32 %r9, %r9, 3;\n\
           mapa.shared::cluster.u32 %r10, %r15, %r9; mapa.shared::cluster.u32 %r11, %r6, %r9;\n\
           ld.param.u64 %rd3, [out]; fence.mbarrier_init.release.cluster; fence.proxy.async;\n"
        + SYNC;
    let end = "WAIT: mbarrier.try_wait.parity.shared.b64 %p5, [bar], 0; @!%p5 bra WAIT;\n\
               ld.shared.u32 %r12, [%r16]; st.global.u32 [%rd0+64], %r12;\n"
        .to_owned()
        + SYNC;
    let copy = "@%p1 cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r10], [%r5], 64, [%r11];\n";
    let got = run_in(([4, 1, 1], 16, [4, 1, 1]), 80, &format!("{begin}{copy}{end}")).unwrap();
    for (at, value) in (0..).zip(&got[16..]) {
        assert_eq!(*value, (at / 16 + 3) % 4 * 100 + at % 16, "block {}", at / 16);
    }
    // Blocks 0, 1 and 3 get the first 64 bytes of the buffer, which block 0 has written.
    let multicast = format!(
        "{begin}@%p2 st.global.u32 [%rd0], %r8; {SYNC} mov.u16 %h1, 11;\n\
         @%p3 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [other], [%rd3], 64, [bar], %h1;\n\
         setp.eq.u32 %p6, %r1, 2; @%p6 st.shared.u32 [%r16], 5; and.pred %p7, %p6, %p1;\n\
         @%p7 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 64;\n{end}"
    );
    let got = run_in(([4, 1, 1], 16, [4, 1, 1]), 80, &multicast).unwrap();
    for (at, value) in (0..).zip(&got[16..]) {
        assert_eq!(*value, if at / 16 == 2 { 5 } else { at % 16 }, "block {}", at / 16);
    }
}

#[test]
fn the_barrier_of_a_cluster_does_not_wait_for_threads_that_have_exited() {
    let body = own_words(1)
        + "setp.lt.u32 %p1, %r0, 40; @%p1 bra GO; ret;\nGO: st.shared.u32 [tile], 1;\n"
        + SYNC
        + "st.global.u32 [%rd0], 1;";
    let got = run_in(([2, 1, 1], 64, [2, 1, 1]), 128, &body).unwrap();
    assert_eq!(got, (0..128).map(|thread| u32::from(thread % 64 < 40)).collect::<Vec<_>>());
    // A launch without clusters has clusters of one block.
    assert_eq!(run_in(([2, 1, 1], 32, [1; 3]), 64, &body).unwrap(), [1; 64]);
}

#[test]
fn wrong_uses_of_a_cluster_are_faults() {
    let begin =
        own_words(1) + "mov.u32 %r5, tile; mov.u32 %r6, bar; xor.b32 %r7, %r1, 1; setp.eq.u32 %p2, %r1, 0;\n";
    for (rest, says) in [
        (
            "mapa.shared::cluster.u32 %r8, %r5, 7; ld.shared::cluster.u32 %r9, [%r8];",
            "needs the shared memory of block 7 of a cluster of 2",
        ),
        (
            "mapa.shared::cluster.u32 %r8, %r5, %r7; ld.shared::cluster.u32 %r9, [%r8+8192];",
            "needs 4 bytes at shared address 0x2080, but the shared memory has 384 bytes",
        ),
        (
            "@!%p2 bra OVER; barrier.cluster.arrive; barrier.cluster.wait; mapa.shared::cluster.u32 %r8, %r5, 1;\n\
             ld.shared::cluster.u32 %r9, [%r8]; OVER:",
            "needs the shared memory of the cluster's block 1, which has ended",
        ),
        (
            "mapa.shared::cluster.u32 %r8, %r6, %r7; mbarrier.init.shared::cluster.b64 [%r8], 1;",
            "is only defined for an mbarrier of the own block",
        ),
        (
            "mapa.shared::cluster.u32 %r8, %r6, %r7; mbarrier.arrive.shared::cluster.b64 _, [%r8];",
            "uses an mbarrier that is not initialized",
        ),
    ] {
        let error =
            run_in(([2, 1, 1], 32, [2, 1, 1]), 64, &format!("{begin}{rest}")).expect_err(rest).to_string();
        assert!(error.starts_with("k.ptx:") && error.ends_with(says), "{error} does not say {says}");
    }
}

#[test]
fn a_barrier_that_not_all_threads_reach_is_reported() {
    let body = own_words(1)
        + "setp.eq.u32 %p1, %r1, 0; @%p1 bra STAY;\nSPIN: bra SPIN;\nSTAY: barrier.cluster.arrive; barrier.cluster.wait;";
    let error = run_in(([2, 1, 1], 32, [2, 1, 1]), 64, &body).expect_err("it never ends").to_string();
    assert!(error.contains("livelock"), "{error}");
    assert!(error.contains("CTA 0,0,0 warp 0 repeats PTX line 19"), "{error}");
    assert!(error.contains("CTA 1,0,0 warp 0 repeats PTX line 18"), "{error}");
}

#[test]
fn clusters_that_do_not_fit_the_grid_or_the_kernel_are_refused() {
    let demanding = text("ret;").replace(")\n{", ")\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n{");
    let module = Module::parse("k.ptx", &demanding).expect("valid");
    let kernel = module.kernel("k").expect("the text has kernel k");
    assert_eq!(kernel.cluster, Some([2, 1, 1]));
    for (grid, cluster, says) in [
        ([4, 1, 1], [4, 1, 1], "it demands clusters of [2, 1, 1] blocks (.reqnctapercluster), got [4, 1, 1]"),
        ([3, 1, 1], [1, 1, 1], "grid [3, 1, 1]: must be a multiple of the clusters of [2, 1, 1] blocks"),
    ] {
        let launch = LaunchDims { cluster, ..LaunchDims::new(grid, [32, 1, 1]) };
        let ran = run_functional(&module, &kernel, &launch, &[0; 8], &mut DeviceMemory::new());
        let error = ran.expect_err("refused").to_string();
        assert!(error.ends_with(says), "{error}");
    }
    for (cluster, says) in [
        ([32, 1, 1], "clusters of [32, 1, 1] blocks: must have 1 to 16 blocks"),
        ([0, 1, 1], "clusters of [0, 1, 1] blocks: must have 1 to 16 blocks"),
    ] {
        let error = run_in(([32, 1, 1], 1, cluster), 1, "ret;").expect_err("refused").to_string();
        assert!(error.ends_with(says), "{error}");
    }
}

#[test]
fn forms_without_a_meaning_are_refused() {
    for (statement, says) in [
        ("barrier.cluster.sync;", "only 'arrive' and 'wait' are known of a cluster"),
        ("barrier.cluster.arrive.sys;", "modifier 'sys' is not known"),
        (
            "st.async.shared::cluster.u32 [tile], %r1, [bar];",
            "only forms with mbarrier::complete_tx::bytes are known",
        ),
        ("mapa.u32 %r1, %r2, 0;", "it is not known"),
        (
            "st.async.shared::cluster.mbarrier::complete_tx::bytes.v8.u32 [tile], {%r1, %r1, %r1, %r1, %r1, %r1, %r1, %r1}, [bar];",
            "it moves at most 4 elements",
        ),
    ] {
        let error = Module::parse("k.ptx", &text(statement)).expect_err("refused").to_string();
        assert!(error.ends_with(says), "{error}");
    }
}
