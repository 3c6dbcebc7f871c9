//! Tests that votes, matches and reductions only use the lanes that take part.

use super::{kernel_text, own_element, run_words};

/// Returns `%r2` of every lane after `statement`. `%r1` is a tenth of the lane's number; `%p1` is true in odd lanes.
fn lanes(threads: u32, statement: &str) -> Vec<u32> {
    let body = own_element(4)
        + &format!(
            "div.u32 %r1, %r0, 10; and.b32 %r3, %r0, 1; setp.ne.u32 %p1, %r3, 0; mov.u32 %r2, 999;\n\
             setp.lt.u32 %p3, %r0, 16; selp.b32 %r4, 0xffff, 0xffff0000, %p3;\n{statement}\nst.global.u32 [%rd0], %r2; ret;"
        );
    run_words(&kernel_text("", &body), threads, &vec![0; threads as usize]).unwrap().0
}

fn all(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(f).collect()
}

#[test]
fn a_vote_counts_the_members_alone() {
    let half = |t: u32| if t < 16 { 0xaaaa } else { 0xaaaa_0000 };
    assert_eq!(lanes(32, "vote.sync.ballot.b32 %r2, %p1, %r4;"), all(half));
    assert_eq!(lanes(20, "vote.sync.ballot.b32 %r2, %p1, -1;"), [0xa_aaaa; 20]);
    let flag = "selp.u32 %r2, 1, 0, %p2;";
    // All lanes of the lower half are true, and no lane of the upper half.
    let split = format!("vote.sync.all.pred %p2, %p3, %r4; {flag}");
    assert_eq!(lanes(32, &split), all(|t| u32::from(t < 16)));
    assert_eq!(lanes(32, &split.replace("all", "any")), all(|t| u32::from(t < 16)));
    assert_eq!(lanes(32, &split.replace("all", "uni")), [1; 32]);
    assert_eq!(lanes(32, &split.replace("all", "uni").replace("%r4", "-1")), [0; 32]);
    let odd = lanes(32, "@%p1 vote.sync.ballot.b32 %r2, %p3, 0xaaaaaaaa;");
    assert_eq!(odd, all(|t| if t % 2 == 1 { 0xaaaa } else { 999 }));
}

#[test]
fn a_match_finds_the_lanes_with_the_same_value() {
    let tens = |t: u32| [0x3ff, 0xf_fc00, 0x3ff0_0000, 0xc000_0000][(t / 10) as usize];
    assert_eq!(lanes(32, "match.any.sync.b32 %r2, %r1, -1;"), all(tens));
    let wide = "mul.wide.u32 %rd5, %r1, 0x80000000; match.any.sync.b64 %r2, %rd5, -1;";
    assert_eq!(lanes(32, wide), all(tens));
    let members = |t: u32| if t < 16 { tens(t) & 0xffff } else { tens(t) & 0xffff_0000 };
    assert_eq!(lanes(32, "match.any.sync.b32 %r2, %r1, %r4;"), all(members));
    let unanimous =
        "match.all.sync.b32 %r2|%p2, %r3, 0x55555555; selp.u32 %r5, 1, 0, %p2; mad.lo.u32 %r2, %r5, 2, %r2;";
    assert_eq!(
        lanes(32, &format!("@!%p1 bra EVEN; bra DONE;\nEVEN: {unanimous}\nDONE:"))[..2],
        [0x5555_5557, 999]
    );
    assert_eq!(lanes(32, "match.all.sync.b32 %r2, %r1, -1;"), [0; 32]);
}

#[test]
fn a_reduction_takes_every_member_once() {
    assert_eq!(lanes(32, "redux.sync.add.u32 %r2, %r0, -1;"), [496; 32]);
    assert_eq!(lanes(20, "redux.sync.add.s32 %r2, %r0, -1;"), [190; 20]);
    assert_eq!(lanes(32, "redux.sync.max.u32 %r2, %r0, %r4;"), all(|t| if t < 16 { 15 } else { 31 }));
    let signed = "sub.s32 %r5, %r0, 7; redux.sync.min.s32 %r2, %r5, -1;";
    assert_eq!(lanes(32, signed), [(-7i32) as u32; 32]);
    assert_eq!(lanes(32, &signed.replace("min.s32", "min.u32")), [0; 32]);
    assert_eq!(lanes(32, &signed.replace("min.s32", "max.s32")), [24; 32]);
    assert_eq!(lanes(32, "redux.sync.or.b32 %r2, %r0, -1;"), [31; 32]);
    assert_eq!(lanes(32, "or.b32 %r5, %r0, 64; redux.sync.and.b32 %r2, %r5, -1;"), [64; 32]);
    assert_eq!(lanes(8, "redux.sync.xor.b32 %r2, %r0, -1;"), [0; 8]);
}
