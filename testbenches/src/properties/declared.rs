//! The properties of each block: its function, written a second time for one cycle or one interval.
use super::claim::{Properties, Reach, any, claim, kept, seen, stored, watched, wire};
use super::cpack::{cpack_compressor, cpack_decompressor};
use super::first_item::first_item;
use super::sc_compressor::sc_compressor;
use super::sc_decompressor::sc_decompressor;
use serde_json::Value;

/// Blocks that have properties.
pub const BLOCKS: [&str; 28] = [
    "awb",
    "awc",
    "aws",
    "awt",
    "bgp",
    "bpc_compressor",
    "bpc_decompressor",
    "bpg",
    "cpack_compressor",
    "cpack_decompressor",
    "decompression_queue",
    "fpc_compressor",
    "fpc_decompressor",
    "latte_controller",
    "md_cache",
    "milg",
    "qbmi",
    "sc_code_builder",
    "sc_compressor",
    "sc_decompressor",
    "sc_vft",
    "set_index_a_prime",
    "set_index_bmod",
    "set_index_bxor",
    "set_index_d_prime",
    "set_index_i_poly",
    "set_index_pmod",
    "spp",
];

/// Returns the properties of a block, or `None` if it has none. `params` must be complete.
pub fn of(block: &str, params: &Value) -> Option<Properties> {
    let number = |name: &str| params[name].as_u64().expect("the parameters are complete");
    Some(match block {
        "awb" => awb(),
        "awc" => awc(),
        "aws" => aws(number("instructions"), number("instruction_bits")),
        "awt" => awt(number("entries")),
        "bgp" => {
            let window = number("skew_window");
            bgp(window, window * number("skew_percent") / 100, number("fg_threshold"), number("sectors"))
        }
        "bpc_compressor" => bpc_compressor(number("line_bytes")),
        "bpc_decompressor" => bpc_decompressor(number("line_bytes")),
        "bpg" => bpg(number("interval")),
        "cpack_compressor" | "cpack_decompressor" if params["dictionary"] != 16 => return None,
        "cpack_compressor" => cpack_compressor(number("line_bytes")),
        "cpack_decompressor" => cpack_decompressor(number("line_bytes")),
        "decompression_queue" => decompression_queue(number("depth")),
        "fpc_compressor" | "fpc_decompressor" if params["segmented"] != true => return None,
        "fpc_compressor" => fpc_compressor(number("line_bytes"), number("pipeline_depth")),
        "fpc_decompressor" => fpc_decompressor(number("line_bytes"), number("pipeline_depth")),
        "latte_controller" => latte_controller(number("ep_accesses"), number("period_eps")),
        "md_cache" => md_cache(number("kilobytes"), number("entry_bits")),
        "milg" => milg(number("inflight_bits"), number("rsfail_bits"), number("request_bits")),
        "qbmi" => qbmi(number("kernels")),
        "set_index_bmod" => {
            let sets = number("sets");
            set_index(sets, "the index is the line's lowest bits", format!("line_i & 32'd{}", sets - 1))
        }
        "set_index_bxor" => {
            let sets = number("sets");
            let index = format!("(line_i ^ (line_i >> {})) & 32'd{}", sets.ilog2(), sets - 1);
            set_index(sets, "the index is the exclusive-or of the line's two lowest parts", index)
        }
        "set_index_d_prime" => {
            let (sets, prime) = (number("sets"), number("prime"));
            let index = format!("((line_i >> {}) * 32'd{prime} + line_i) & 32'd{}", sets.ilog2(), sets - 1);
            set_index(
                sets,
                "the index is the sum of the line's lowest bits and the multiple of its tag",
                index,
            )
        }
        "set_index_i_poly" => {
            let sets = number("sets");
            set_index(
                sets,
                "the index is the remainder of the division by the polynomial",
                remainder(sets.ilog2()),
            )
        }
        "set_index_a_prime" => {
            let sets = number("sets");
            let mersenne = params["mersenne"].as_bool().expect("the parameters are complete");
            let suits = |number: &u64| is_prime(*number) && (!mersenne || (number + 1).is_power_of_two());
            let prime = (sets + 1..).find(suits).expect("primes do not end");
            prime_index(
                sets,
                prime,
                "the index is the lowest bits of the line's remainder by the prime above the sets",
            )
        }
        "set_index_pmod" => {
            let sets = number("sets");
            let prime = (2..sets).rev().find(|number| is_prime(*number)).expect("at least 4 sets");
            prime_index(sets, prime, "the index is the line's remainder by the prime below the sets")
        }
        "sc_code_builder" => sc_code_builder(number("entries"), number("max_code_bits")),
        "sc_compressor" => sc_compressor(number("symbols_per_cycle")),
        "sc_decompressor" => sc_decompressor(number("symbols_per_cycle")),
        "sc_vft" => sc_vft(number("entries")),
        "spp" => spp(number("sectors")),
        _ => return None,
    })
}

/// A time limit that is much longer than any proof of these properties.
const ALL_STATES: Reach = Reach::AllStates { seconds: 100 };

/// Returns the properties that define the MILG: its counters, and the formula of its limit.
fn milg(bits: u64, failure_bits: u64, request_bits: u64) -> Properties {
    let wide = bits + 2;
    let top = (1_u64 << bits) - 1;
    let per_request = failure_bits - request_bits;
    let divisor = match bits - per_request {
        0 => "per_request".into(),
        upper => format!("{{{upper}'d0, per_request}}"),
    };
    Properties {
        inside: vec!["max_inflight_q", "rsfails_q", "requests_q"],
        wires: vec![
            wire("raised", wide, format!("{{2'd0, inflight}} + {{{bits}'d0, issued_i}}")),
            wire("completed", wide, format!("{{{bits}'d0, completed_i}}")),
            wire("balance", wide, format!("(raised < completed) ? {wide}'d0 : raised - completed")),
            wire("now", bits, format!("(balance > {wide}'d{top}) ? {bits}'d{top} : balance[{}:0]", bits - 1)),
            wire("ends", 1, "request_i & (&requests)"),
            wire("per_request", per_request, format!("failures[{}:{request_bits}]", failure_bits - 1)),
            wire("most", bits, "(maximum < limit) ? maximum : limit"),
            wire("quotient", bits, format!("most / {divisor}")),
        ],
        registers: vec![
            stored("inflight", bits, 0, "now"),
            stored("maximum", bits, 0, "(ends | (now > maximum)) ? now : maximum"),
            stored(
                "failures",
                failure_bits,
                0,
                format!(
                    "ends ? {{{}'d0, rsfail_i}} : failures + {{{0}'d0, rsfail_i & !(&failures)}}",
                    failure_bits - 1
                ),
            ),
            stored("requests", request_bits, 0, format!("requests + {{{}'d0, request_i}}", request_bits - 1)),
            stored(
                "limit",
                bits,
                top,
                format!("!(ends & (|per_request)) ? limit : (|quotient) ? quotient : {bits}'d1"),
            ),
        ],
        claims: vec![
            claim(
                "counts",
                "the count in flight is that of issues and completions, without wrapping",
                "inflight_o == inflight",
            ),
            claim(
                "interval",
                "maximum, failures and requests are those of the interval",
                "(max_inflight_q == maximum) & (rsfails_q == failures) & (requests_q == requests)",
            ),
            claim(
                "limits",
                "the limit is max(1, min(maximum, limit) / failures per request) of the last interval",
                "limit_o == limit",
            ),
            claim("allows", "the limit is not 0", format!("limit_o != {bits}'d0")),
            claim(
                "issues",
                "an instruction may issue exactly below the limit",
                "may_issue_o == (inflight_o < limit_o)",
            ),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of the BGP's default: the counts of its window, and its flips.
fn bgp(window: u64, limit: u64, threshold: u64, sectors: u64) -> Properties {
    let used: Vec<String> = (0..sectors).map(|sector| format!("{{3'd0, used_i[{sector}]}}")).collect();
    Properties {
        inside: vec!["evictions_q", "insertions_q"],
        wires: vec![
            wire("used", 4, used.join(" + ")),
            wire("inserts", 1, format!("evict_i & ((used < 4'd{threshold}) == default_coarse_o)")),
            wire("total", 10, "insertions + {9'd0, inserts}"),
            wire("ends", 1, format!("evict_i & (evictions == 10'd{})", window - 1)),
            wire("skewed", 1, format!("ends & (total > 10'd{limit})")),
        ],
        registers: vec![
            stored("evictions", 10, 0, "ends ? 10'd0 : evictions + {9'd0, evict_i}"),
            stored("insertions", 10, 0, "ends ? 10'd0 : total"),
            stored("flipped", 1, 0, "skewed"),
            stored("coarse", 1, 1, "coarse ^ skewed"),
            stored("asked", 1, 0, "query_i & !evict_i"),
        ],
        claims: vec![
            claim(
                "window",
                "the evictions that are counted are inside their window",
                format!("evictions_q < 10'd{window}"),
            ),
            claim(
                "counts",
                "evictions, and among them those against the default, are counted",
                "(evictions_q == evictions) & (insertions_q == insertions)",
            ),
            claim(
                "insertions",
                "no more insertions than evictions are counted",
                "insertions_q <= evictions_q",
            ),
            claim(
                "flips",
                "the default flips exactly after a window with more insertions than the limit",
                "(flip_o == flipped) & (default_coarse_o == coarse)",
            ),
            claim("replies", "a query without an eviction gets a reply", "valid_o == asked"),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of the QBMI's ranks and of its quotas, for any set that is added.
fn qbmi(kernels: u64) -> Properties {
    let rank_bits = if kernels == 2 { 1 } else { 2 };
    let set_bits = match kernels {
        2 => 6,
        3 => 10,
        _ => 15,
    };
    let bits = set_bits + 1;
    let part =
        |name: &str, kernel: u64, bits: u64| format!("{name}[{}:{}]", (kernel + 1) * bits - 1, kernel * bits);
    let joined = |of: &dyn Fn(u64) -> String| {
        format!("{{{}}}", (0..kernels).rev().map(of).collect::<Vec<_>>().join(", "))
    };
    let issued = |kernel: u64| format!("issue_i & (issue_kernel_i == {rank_bits}'d{kernel})");
    let rank = |kernel: u64| {
        let others = (0..kernels).filter(|other| *other != kernel).map(|other| {
            let compare = if other < kernel { ">=" } else { ">" };
            let (quota, own) = (part("quotas_o", other, bits), part("quotas_o", kernel, bits));
            format!("(({quota} {compare} {own}) ? {rank_bits}'d1 : {rank_bits}'d0)")
        });
        format!("({})", others.collect::<Vec<_>>().join(" + "))
    };
    let left =
        |kernel: u64| format!("({} - {{{}'d0, issued[{kernel}]}})", part("quotas", kernel, bits), bits - 1);
    let sum = |kernel: u64| {
        format!("({{1'd0, {}}} + {{2'd0, {}}})", part("left", kernel, bits), part("set", kernel, set_bits))
    };
    let filled = |kernel: u64| {
        let (low, carry) = (kernel * (bits + 1), (kernel + 1) * (bits + 1) - 1);
        format!("(sum[{carry}] ? {{{bits}{{1'b1}}}} : sum[{}:{low}])", carry - 1)
    };
    let empty: Vec<String> = (0..kernels)
        .map(|kernel| format!("({} & ({} == {bits}'d1))", issued(kernel), part("quotas_o", kernel, bits)))
        .collect();
    let ones = (0..kernels).fold(0, |ones, kernel| ones | 1 << (kernel * bits));
    Properties {
        inside: vec!["set_quota"],
        wires: vec![
            wire("ranks", rank_bits * kernels, joined(&rank)),
            wire("left", bits * kernels, joined(&left)),
            wire("sum", (bits + 1) * kernels, joined(&sum)),
            wire("filled", bits * kernels, joined(&filled)),
        ],
        registers: vec![
            stored("quotas", bits * kernels, ones, "quotas_o"),
            stored("issued", kernels, 0, joined(&issued)),
            stored("emptied", 1, 0, empty.join(" | ")),
            stored("set", set_bits * kernels, 0, "set_quota"),
        ],
        claims: vec![
            claim("ranks", "kernels rank by quota, those with equal quotas by number", "rank_o == ranks"),
            claim("replenishes", "a set is added when a quota reaches 0", "replenish_o == emptied"),
            claim(
                "quotas",
                "an issue takes one from its kernel's quota, and a set adds to all up to the maximum",
                "quotas_o == (replenish_o ? filled : left)",
            ),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of LATTE-CC's schedule: EPs, the learning EP and the modes of lookups.
fn latte_controller(accesses: u64, period: u64) -> Properties {
    let last_ep = period - 1;
    Properties {
        inside: vec!["ep_q", "accesses_q"],
        wires: vec![wire("ends", 1, format!("access_i & (accesses == 8'd{})", accesses - 1))],
        registers: vec![
            stored("accesses", 8, 0, "ends ? 8'd0 : accesses + {7'd0, access_i}"),
            stored("ep", 4, 0, format!("!ends ? ep : (ep == 4'd{last_ep}) ? 4'd0 : ep + 4'd1")),
            stored("first_period", 1, 1, format!("first_period & !(ends & (ep == 4'd{last_ep}))")),
            stored("ended", 1, 0, "ends"),
            stored("mode", 2, 0, "mode_o"),
            stored("learned", 1, 0, "learning_o"),
            stored("built", 1, 0, "ends & build_o"),
        ],
        claims: vec![
            claim("modes", "the mode is one of three", "mode_o != 2'd3"),
            claim("lookup_modes", "the mode of a lookup is one of three", "lookup_mode_o != 2'd3"),
            claim("period", "the EP is inside its period", format!("ep_q < 4'd{period}")),
            claim(
                "eps",
                "an EP ends with its last access",
                "(ep_q == ep) & (accesses_q == accesses) & (ep_end_o == ended)",
            ),
            claim("learns", "the first EP of a period learns", "learning_o == (ep == 4'd0)"),
            claim(
                "builds",
                "codes are built in the last EP of a period and in the first EP of all, and are new at its end",
                format!(
                    "(build_o == ((ep == 4'd{last_ep}) | (learning_o & first_period))) & (new_codes_o == built)"
                ),
            ),
            claim("keeps", "the mode changes only by a decision", "decided_o | (mode_o == mode)"),
            claim(
                "lookups",
                "a set is dedicated only in the learning EP, other lookups have the decided mode",
                "lookup_dedicated_o ? learned : lookup_mode_o == mode",
            ),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of the assist warp buffer: no instruction is lost if instructions are staged only when there was room
/// in the last cycle, and any warp `warp` has the number of instructions that were staged, popped and flushed.
fn awb() -> Properties {
    let popped = "(|held) & (warp[0] ? issue1_pop_i & (issue1_index_i == warp[5:1]) : issue0_pop_i & (issue0_index_i == warp[5:1]))";
    Properties {
        inside: vec!["two_q"],
        wires: vec![
            wire(
                "allowed",
                1,
                "!stage_valid_i | (stage_high_i ? (stage_warp_i < 6'd48) & room[stage_warp_i] : low_room)",
            ),
            wire("comes", 1, "stage_valid_i & stage_high_i & (stage_warp_i == warp)"),
            wire("flushed", 1, "flush_high_i & (flush_warp_i == warp)"),
            wire("popped", 1, popped),
        ],
        registers: vec![
            kept("room", 48, "high_room_o"),
            kept("low_room", 1, "low_room_o"),
            stored("kept", 1, 1, "kept & allowed"),
            kept("warp", 6, "warp"),
            stored("held", 2, 0, "flushed ? 2'd0 : held - {1'd0, popped} + {1'd0, comes & !held[1]}"),
        ],
        claims: vec![
            claim(
                "overflow",
                "who stages only where there was room loses no instruction",
                "!kept | !overflow_o",
            ),
            claim(
                "holds",
                "a warp has the instructions that were staged and neither popped nor flushed",
                "(warp > 6'd47) | ((high_valid_o[warp] == (|held)) & (two_q[warp] == held[1]))",
            ),
            claim(
                "rooms",
                "a warp has room for an instruction exactly if it has fewer than two",
                "(warp > 6'd47) | (high_room_o[warp] == !(held[1] | (held[0] & comes)))",
            ),
        ],
        reach: ALL_STATES,
        ..Properties::default()
    }
}

/// Returns the properties of the assist warp controller: the map of any event `chosen`, and its priorities.
fn awc() -> Properties {
    Properties {
        inside: vec!["control_stage_high", "control_stage_valid"],
        seen: vec![seen("known_events", "control.known_q", 32)],
        constants: vec![any("chosen", 5, "5'd0")],
        memories: vec![watched("control.routes", ("chosen", 5), "route", 13)],
        wires: vec![
            wire("writes", 1, "map_write_i & (map_event_i == chosen)"),
            wire("asks", 1, "trigger_event_i == chosen"),
        ],
        registers: vec![
            stored("known", 1, 0, "writes ? map_enable_i : known"),
            stored("high", 1, 0, "writes ? map_high_i : high"),
            stored("routine", 12, 0, "writes ? {map_sr_i, map_end_i} : routine"),
            stored("throttled", 1, 0, "throttled_o"),
            stored("fetched", 1, 0, "fetch_o"),
        ],
        claims: vec![
            claim(
                "map",
                "an event is known, with its priority, from the write that enables it to the one that removes it",
                "!asks | ((trigger_known_o == known) & (!known | (trigger_high_o == high)))",
            ),
            claim(
                "unknown",
                "a trigger of an unknown event is not taken",
                "trigger_known_o | !trigger_ready_o",
            ),
            claim("full", "a full table has no free entry", "full_o == (&active_o)"),
            claim("fetches", "each fetched instruction goes to the buffer", "control_stage_valid == fetched"),
            claim(
                "throttles",
                "no instruction of low priority is fetched while low priority is throttled",
                "!(fetched & throttled) | control_stage_high",
            ),
        ],
        lemmas: vec![claim(
            "route",
            "the map has the event's routine and priority",
            "(known_events[chosen] == known) & (!known | (route == {high, routine}))",
        )],
        ..Properties::default()
    }
}

/// Returns the properties of the metadata cache for any line `line` and any way `way`: the entry of the line, from the fetch of
/// its block to the write-back.
fn md_cache(kilobytes: u64, entry_bits: u64) -> Properties {
    let set_bits = u64::from((kilobytes * 1024 / 32 / 4).ilog2());
    let offset_bits = u64::from((256 / entry_bits).ilog2());
    let tags_low = offset_bits + set_bits;
    let tag_bits = 32 - tags_low;
    let entry = |block: &str| {
        format!("{block}[{{line[{}:0], {}'d0}} +: {entry_bits}]", offset_bits - 1, 8 - offset_bits)
    };
    let block = format!("line[31:{offset_bits}]");
    let tag = format!("line[31:{tags_low}]");
    let holds = |way: u64| {
        let (low, high) = (way * tag_bits, (way + 1) * tag_bits - 1);
        format!("(used & state_word[{}] & (tags_word[{high}:{low}] == {tag}))", 10 + way)
    };
    let [zero, one, two, three] = [holds(0), holds(1), holds(2), holds(3)];
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let tag_word = |way: u64| format!("tags_word[{}:{}]", (way + 1) * tag_bits - 1, way * tag_bits);
    let equal_tags = pairs.map(|(one, other)| {
        format!(
            "(state_word[{}] & state_word[{}] & ({} == {}))",
            10 + one,
            10 + other,
            tag_word(one),
            tag_word(other)
        )
    });
    // bits of the pairs of three ways
    let cycles = [(0, 3, 1), (0, 4, 2), (1, 5, 2), (3, 5, 4)].map(|(near, far, both)| {
        let [near, far, both] = [near, far, both].map(|pair| format!("state_word[{pair}]"));
        format!("(({near} == {far}) & ({near} != {both}))")
    });
    let dirty = [0, 1, 2, 3].map(|way| format!("({} & state_word[{}])", holds(way), 6 + way)).join(" | ");
    let any_way = format!("({zero} | {one} | {two} | {three})");
    let way_of_word = format!("tags_word[way * 8'd{tag_bits} +: {tag_bits}]");
    let this_way = format!("(used & state_word[4'd10 + {{2'd0, way}}] & ({way_of_word} == {tag}))");
    Properties {
        inside: vec![
            "looking_q",
            "reading_q",
            "evicting_q",
            "asking_q",
            "awaiting_q",
            "line_q",
            "updates_q",
            "new_entry_q",
            "way_q",
            "evicts_dirty_q",
            "victim_tag_q",
            "buffer_free",
            "filled",
        ],
        seen: vec![
            seen("data_read", "data_read_data", 256),
            seen("tags_read", "tags_read_data", 4 * tag_bits),
            seen("states_read", "states_read_data", 14),
        ],
        constants: vec![any("line", 32, "32'd0"), any("way", 2, "2'd0")],
        memories: vec![
            watched("tags", ("line_set", set_bits), "tags_word", 4 * tag_bits),
            watched("states", ("line_set", set_bits), "state_word", 14),
            watched("data", ("{line_set, way}", set_bits + 2), "data_word", 256),
            watched("used", ("line_set", set_bits), "used", 1),
        ],
        wires: vec![
            wire("line_set", set_bits, format!("line[{}:{offset_bits}]", tags_low - 1)),
            wire("same_set", 1, format!("line_q[{}:{offset_bits}] == line_set", tags_low - 1)),
            wire("same_block", 1, format!("line_q[31:{offset_bits}] == {block}")),
            wire("own", 1, "same_set & (way_q == way)"),
            wire("departs", 1, format!("evicting_q & evicts_dirty_q & same_set & (victim_tag_q == {tag})")),
            wire("fetches", 1, "filled & same_block"),
            wire("updates", 1, "(filled | reading_q) & (line_q == line) & updates_q"),
        ],
        registers: vec![
            stored("known", 1, 0, "known | fetches"),
            stored(
                "value",
                entry_bits,
                0,
                format!("updates ? new_entry_q : fetches ? {} : value", entry("fill_data_i")),
            ),
            // the entry differs from that in DRAM
            stored("changed", 1, 0, "updates | (changed & !fetches & !(departs & buffer_free))"),
            stored("replies", 1, 0, "(reading_q | filled) & (line_q == line)"),
            stored(
                "leaves",
                1,
                0,
                format!(
                    "(evicting_q & evicts_dirty_q & buffer_free) ? own & (victim_tag_q == {tag}) : leaves"
                ),
            ),
        ],
        claims: vec![
            claim(
                "phases",
                "one request is in one phase at a time",
                "({2'd0, looking_q} + {2'd0, reading_q} + {2'd0, evicting_q} + {2'd0, asking_q} + {2'd0, awaiting_q}) < 3'd2",
            ),
            claim(
                "hits",
                "only a line whose block was fetched hits",
                "!(valid_o & hit_o & replies & (way_q == way)) | known",
            ),
            claim(
                "entries",
                "a reply gives the entry that was last written, by an update or by the fetch of its block",
                "!(valid_o & replies & (way_q == way)) | (entry_o == value)",
            ),
            claim(
                "writes_back",
                "a write-back has the entry that was last written",
                format!(
                    "!(writeback_valid_o & leaves) | ((writeback_block_o == {block}) & ({} == value))",
                    entry("writeback_data_o")
                ),
            ),
        ],
        lemmas: vec![
            claim("distinct", "the tags of a set differ", format!("!used | !({})", equal_tags.join(" | "))),
            claim("order", "the ways of a set have an order", format!("!used | !({})", cycles.join(" | "))),
            claim(
                "lookups",
                "a look-up sees the words of its set",
                "!(looking_q & same_set) | ((tags_read == tags_word) & (states_read == state_word))",
            ),
            claim(
                "ways",
                "the way of a request has its tag after the look-up",
                format!(
                    "!((reading_q | evicting_q | asking_q | awaiting_q) & same_set) | (used & state_word[4'd10 + {{2'd0, way_q}}] & (tags_word[way_q * 8'd{tag_bits} +: {tag_bits}] == line_q[31:{tags_low}]))"
                ),
            ),
            claim(
                "content",
                "the way with the tag has the entry, except during a miss",
                format!(
                    "!{this_way} | ((evicting_q | asking_q | awaiting_q) & own) | (known & ({} == value))",
                    entry("data_word")
                ),
            ),
            claim(
                "reads",
                "a hit reads the entry",
                format!("!(reading_q & own & same_block) | (known & ({} == value))", entry("data_read")),
            ),
            claim(
                "victims",
                "a victim is not the missing block, and has the entry",
                format!(
                    "!(evicting_q & own & evicts_dirty_q & (victim_tag_q == {tag})) | (!{any_way} & known & ({} == value) & ({} == value))",
                    entry("data_word"),
                    entry("data_read")
                ),
            ),
            claim(
                "marks",
                "an update makes the way of its request dirty",
                "!((reading_q | evicting_q | asking_q | awaiting_q) & same_set & updates_q) | state_word[4'd6 + {2'd0, way_q}]",
            ),
            claim(
                "changed",
                "an entry that was updated is in a dirty way, or departs to DRAM",
                format!("!changed | {dirty} | departs"),
            ),
            claim(
                "pending",
                "a block that leaves is not in the cache, unless it was just missed",
                format!("!(writeback_valid_o & leaves) | !{any_way} | (evicting_q & same_block)"),
            ),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of the code builder's stream: each canonical code follows from the one before.
fn sc_code_builder(entries: u64, max: u64) -> Properties {
    let index_bits = u64::from(entries.ilog2());
    // the next code without growth
    let least = "(code_valid_o ? code_code_o + 16'd1 : due)";
    let length = "(code_valid_o ? code_length_o : due_length)";
    Properties {
        inside: vec!["emitter_start"],
        seen: vec![
            seen("stage", "stage_q", 3),
            seen("entering", "entering_q", 1),
            seen("emits", "emitter.busy_q", 1),
            seen("more", "emitter.more_q", 1),
            seen("waits", "emitter.waiting_q", 1),
            seen("next_code", "emitter.code_q", 16),
            seen("next_length", "emitter.length_q", 5),
            seen("escape_left", "emitter.escape_left_q", 1),
        ],
        wires: vec![
            wire("taken", 1, "code_valid_o & code_ready_i"),
            wire("share", 16, "16'd1 << (5'd16 - code_length_o)"),
        ],
        registers: vec![
            stored("due", 16, 0, "emitter_start ? 16'd0 : taken ? code_code_o + 16'd1 : due"),
            stored("due_length", 5, 1, "emitter_start ? 5'd1 : taken ? code_length_o : due_length"),
            stored("escaped", 1, 0, "!emitter_start & (escaped | (taken & code_escape_o))"),
            // in units of 2 to the power of -16
            stored("kraft", 16, 0, "emitter_start ? 16'd0 : taken ? kraft + share : kraft"),
            stored("waiting", 1, 0, "code_valid_o & !code_ready_i"),
            kept("code", 16, "code_code_o"),
            kept("length", 5, "code_length_o"),
            kept("index", index_bits, "code_index_o"),
        ],
        claims: vec![
            claim("builds", "codes are offered only during a build", "!code_valid_o | busy_o"),
            claim(
                "lengths",
                "codes have 1 bit or more, up to the maximum, and never become shorter",
                format!(
                    "!code_valid_o | ((code_length_o >= due_length) & (code_length_o >= 5'd1) & (code_length_o <= 5'd{max}))"
                ),
            ),
            claim(
                "canonical",
                "a code is the one before plus 1, extended by zeros to its length",
                "!code_valid_o | (code_code_o == due << (code_length_o - due_length))",
            ),
            claim(
                "kraft",
                "Kraft's sum of the codes before a code is the code as a fraction",
                "!code_valid_o | (kraft == code_code_o << (5'd16 - code_length_o))",
            ),
            claim(
                "escapes",
                "the escape has one code, with index and value 0",
                format!(
                    "!(code_valid_o & code_escape_o) | (!escaped & (code_index_o == {index_bits}'d0) & (code_value_o == 32'd0))"
                ),
            ),
            claim(
                "stays",
                "a code stays until it is taken",
                "!waiting | (code_valid_o & (code_code_o == code) & (code_length_o == length) & (code_index_o == index))",
            ),
        ],
        lemmas: vec![
            claim(
                "stages",
                "only the last stage emits",
                "((stage == 3'd5) & !entering) ? emits : !(emits | code_valid_o | waits)",
            ),
            claim("last", "nothing is read behind the last code", "!(emits & waits) | more"),
            claim("reads", "a value is read when the code before is taken", "!(waits & code_valid_o)"),
            claim(
                "grows",
                "the next code is the one before plus 1, extended by zeros",
                format!(
                    "!emits | ((next_length >= {length}) & ({length} >= 5'd1) & (next_length <= 5'd{max}) & (next_code == {least} << (next_length - {length})))"
                ),
            ),
            claim(
                "sum",
                "Kraft's sum of the codes before the next code is that code as a fraction",
                "!emits | (kraft + (code_valid_o ? share : 16'd0) == next_code << (5'd16 - next_length))",
            ),
            claim(
                "escape",
                "the escape is left until it is given",
                "!emits | (escape_left == !(escaped | (code_valid_o & code_escape_o)))",
            ),
            claim(
                "due",
                "the due length is that of a code",
                format!("(due_length >= 5'd1) & (due_length <= 5'd{max})"),
            ),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of BPC's compressor: its cycles, the size of its result, and a line that stays as it is.
fn bpc_compressor(line_bytes: u64) -> Properties {
    let bits = 8 * line_bytes;
    let size_bits = u64::from(line_bytes.ilog2()) + 1;
    Properties {
        inside: vec!["cycle_q", "line_q"],
        wires: vec![wire("accepts", 1, "valid_i & ready_o")],
        registers: vec![
            stored("age", 4, 0, "accepts ? 4'd1 : ((age == 4'd0) | (age == 4'd11)) ? 4'd0 : age + 4'd1"),
            kept("line", bits, "accepts ? line_i : line"),
            stored("waiting", 1, 0, "valid_o & !ready_i"),
            kept("result", bits + size_bits + 1, "{compressed_o, size_o, payload_o}"),
        ],
        claims: vec![
            claim(
                "cycles",
                "a line takes 11 cycles",
                "(cycle_q == ((age == 4'd11) ? 4'd0 : age)) & ((age == 4'd0) | (valid_o == (age == 4'd11)))",
            ),
            claim(
                "ready",
                "a line is taken exactly if none is in progress and the result is taken",
                "ready_o == (((age == 4'd0) | (age == 4'd11)) & (!valid_o | ready_i))",
            ),
            claim(
                "stays",
                "a result stays until it is taken",
                "!waiting | (valid_o & (result == {compressed_o, size_o, payload_o}))",
            ),
            claim(
                "sizes",
                "codes take at least a byte less than the line",
                format!("!(valid_o & compressed_o) | (size_o < {size_bits}'d{line_bytes})"),
            ),
            claim(
                "raw",
                "without codes, the payload is the line",
                format!(
                    "!(valid_o & !compressed_o) | ((size_o == {size_bits}'d{line_bytes}) & (payload_o == line))"
                ),
            ),
            claim("lines", "the line in progress is kept", "(cycle_q == 4'd0) | (line_q == line)"),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of BPC's decompressor: its cycles, errors, and a line that comes as it is.
fn bpc_decompressor(line_bytes: u64) -> Properties {
    let bits = 8 * line_bytes;
    Properties {
        inside: vec!["busy_q", "decoded_q", "coded_q", "halfway_q", "next_plane_q", "line_q"],
        wires: vec![wire("accepts", 1, "valid_i & ready_o"), wire("reads", 1, "busy_q & !decoded_q")],
        registers: vec![
            stored("age", 4, 0, "accepts ? 4'd1 : ((age == 4'd0) | valid_o) ? 4'd0 : age + 4'd1"),
            kept("coded", 1, "accepts ? compressed_i : coded"),
            kept("payload", bits, "accepts ? payload_i : payload"),
            stored("waiting", 1, 0, "valid_o & !ready_i"),
            kept("result", bits + 1, "{error_o, line_o}"),
        ],
        claims: vec![
            claim(
                "cycles",
                "a payload takes 4 to 11 cycles, an uncompressed one 2",
                "(busy_q == ((age != 4'd0) & !valid_o)) & ((age == 4'd0) | (coded ? (age >= 4'd4) | busy_q : valid_o == (age == 4'd2))) & (age <= 4'd11)",
            ),
            claim(
                "reads",
                "at least four planes are read per cycle",
                "!reads | (coded & !halfway_q & (age <= 4'd8) & (next_plane_q < 6'd32) & (next_plane_q >= {age, 2'd0} - 6'd4))",
            ),
            claim(
                "halves",
                "the line takes two cycles behind the last plane",
                "!(busy_q & decoded_q) | (coded_q ? (halfway_q ? (age >= 4'd3) & (age <= 4'd10) : (age >= 4'd2) & (age <= 4'd9)) : age == 4'd1)",
            ),
            claim("errors", "an error gives a line of zeros", "!(valid_o & error_o) | !(|line_o)"),
            claim(
                "raw",
                "an uncompressed payload is the line, without an error",
                "!(valid_o & !coded) | (!error_o & (line_o == payload))",
            ),
            claim(
                "stays",
                "a result stays until it is taken",
                "!waiting | (valid_o & (result == {error_o, line_o}))",
            ),
            claim(
                "payloads",
                "an uncompressed payload is kept",
                "!busy_q | ((coded_q == coded) & (coded | (decoded_q & (line_q == payload))))",
            ),
        ],
        ..Properties::default()
    }
}

/// Returns the number of lanes of 16 bits, with `bits` bits, that the data of a segment with this prefix take.
fn fpc_lanes(prefix: &str, bits: u64) -> String {
    format!(
        "(({prefix} == 3'd0) ? {bits}'d0 : ({prefix} == 3'd1) ? {bits}'d1 : (({prefix} == 3'd2) | ({prefix} == 3'd6)) ? {bits}'d2 : ({prefix} == 3'd7) ? {bits}'d8 : {bits}'d4)"
    )
}

/// Returns the definition of FPC's segments for the first line after a reset: its patterns, size and payload.
fn fpc_compressor(line_bytes: u64, depth: u64) -> Properties {
    let (bits, groups) = (8 * line_bytes, line_bytes / 16);
    let head = 3 * groups;
    let lane_bits = u64::from(line_bytes.ilog2());
    let size_bits = lane_bits + 4;
    let mut wires = Vec::new();
    let all = |group: u64, of: &dyn Fn(u64) -> String| {
        let words: Vec<String> = (0..4).map(|word| of(128 * group + 32 * word)).collect();
        format!("({})", words.join(" & "))
    };
    let equal = |high: u64, low: u64| format!("((&line[{high}:{low}]) | !(|line[{high}:{low}]))");
    for g in 0..groups {
        let zero = all(g, &|at| format!("!(|line[{}:{at}])", at + 31));
        let sign = |bits: u64| all(g, &|at| equal(at + 31, at + bits - 1));
        let repeated = all(g, &|at| format!("(line[{}:{}] == line[{}:{at}])", at + 31, at + 8, at + 23));
        let upper = all(g, &|at| format!("!(|line[{}:{at}])", at + 15));
        let bytes = all(g, &|at| format!("{} & {}", equal(at + 31, at + 23), equal(at + 15, at + 7)));
        wires.push(wire(
            format!("prefix_{g}"),
            3,
            format!(
                "{zero} ? 3'd0 : {} ? 3'd1 : {} ? 3'd2 : {repeated} ? 3'd6 : {} ? 3'd3 : {upper} ? 3'd4 : {bytes} ? 3'd5 : 3'd7",
                sign(4),
                sign(8),
                sign(16)
            ),
        ));
        let kept = |of: &dyn Fn(u64) -> String| {
            let words: Vec<String> = (0..4).rev().map(|word| of(128 * g + 32 * word)).collect();
            format!("{{{}}}", words.join(", "))
        };
        wires.push(wire(
            format!("data_{g}"),
            bits,
            format!(
                "(prefix_{g} == 3'd0) ? {bits}'d0 : (prefix_{g} == 3'd1) ? {{{}'d0, {}}} : ((prefix_{g} == 3'd2) | (prefix_{g} == 3'd6)) ? {{{}'d0, {}}} : (prefix_{g} == 3'd3) ? {{{}'d0, {}}} : (prefix_{g} == 3'd4) ? {{{}'d0, {}}} : (prefix_{g} == 3'd5) ? {{{}'d0, {}}} : {{{}'d0, line[{}:{}]}}",
                bits - 16,
                kept(&|at| format!("line[{}:{at}]", at + 3)),
                bits - 32,
                kept(&|at| format!("line[{}:{at}]", at + 7)),
                bits - 64,
                kept(&|at| format!("line[{}:{at}]", at + 15)),
                bits - 64,
                kept(&|at| format!("line[{}:{}]", at + 31, at + 16)),
                bits - 64,
                kept(&|at| format!("line[{}:{}], line[{}:{at}]", at + 23, at + 16, at + 7)),
                bits - 128,
                128 * g + 127,
                128 * g
            ),
        ));
        let before = if g == 0 { format!("{lane_bits}'d0") } else { format!("end_{}", g - 1) };
        wires.push(wire(
            format!("end_{g}"),
            lane_bits,
            format!("{before} + {}", fpc_lanes(&format!("prefix_{g}"), lane_bits)),
        ));
    }
    let prefixes: Vec<String> = (0..groups).rev().map(|g| format!("prefix_{g}")).collect();
    let data: Vec<String> = (1..groups)
        .map(|g| format!("(data_{g} << {{end_{}, 4'd0}})", g - 1))
        .chain(["data_0".to_string()])
        .collect();
    wires.push(wire("prefixes", head, format!("{{{}}}", prefixes.join(", "))));
    wires.push(wire("raw", 1, "&prefixes"));
    wires.push(wire(
        "payload",
        bits,
        format!("raw ? line : (({}) << {head}) | {{{}'d0, prefixes}}", data.join(" | "), bits - head),
    ));
    wires.push(wire(
        "size",
        size_bits,
        format!("raw ? {size_bits}'d{bits} : {{end_{}, 4'd0}} + {size_bits}'d{head}", groups - 1),
    ));
    let (registers, mut claims) = first_item(depth, &[("line", bits, "taken ? line : line_i")]);
    claims.push(claim(
        "payload",
        "the payload of the first line consists of the prefixes and the data that they keep, without gaps",
        "!(valid_o & !given) | (payload_o == payload)",
    ));
    claims.push(claim(
        "size",
        "the size of the first line is that of its prefixes and data, or of the line",
        "!(valid_o & !given) | ((encoding_o == !raw) & (size_o == size))",
    ));
    Properties { wires, registers, claims, reach: Reach::Cycles(depth as u32 + 3), ..Properties::default() }
}

/// Returns the definition of FPC's segments for the first payload after a reset: the words of each segment.
fn fpc_decompressor(line_bytes: u64, depth: u64) -> Properties {
    let (bits, groups) = (8 * line_bytes, line_bytes / 16);
    let head = 3 * groups;
    // bits after the payload read as zeros
    let mut wires = vec![wire("padded", bits + 128, "{128'd0, payload}")];
    let mut words = Vec::new();
    for g in 0..groups {
        wires.push(wire(format!("prefix_{g}"), 3, format!("payload[{}:{}]", 3 * g + 2, 3 * g)));
        let before = if g == 0 { "7'd0".to_string() } else { format!("end_{}", g - 1) };
        let lanes = fpc_lanes(&format!("prefix_{g}"), 7);
        wires.push(wire(
            format!("data_{g}"),
            128,
            format!("padded[({{{before}, 4'd0}} + 11'd{head}) +: 128]"),
        ));
        if g + 1 < groups {
            wires.push(wire(format!("end_{g}"), 7, format!("{before} + {lanes}")));
        }
        for word in 0..4 {
            let field = |bits: u64| format!("data_{g}[{}:{}]", (word + 1) * bits - 1, word * bits);
            let signed = |bits: u64| {
                format!("{{{{{}{{data_{g}[{}]}}}}, {}}}", 32 - bits, (word + 1) * bits - 1, field(bits))
            };
            let byte = |at: u64| format!("{{8{{data_{g}[{}]}}}}, data_{g}[{}:{at}]", at + 7, at + 7);
            words.push(format!(
                "((prefix_{g} == 3'd0) ? 32'd0 : (prefix_{g} == 3'd1) ? {} : (prefix_{g} == 3'd2) ? {} : (prefix_{g} == 3'd3) ? {} : (prefix_{g} == 3'd4) ? {{{}, 16'd0}} : (prefix_{g} == 3'd5) ? {{{}, {}}} : (prefix_{g} == 3'd6) ? {{4{{{}}}}} : {})",
                signed(4),
                signed(8),
                signed(16),
                field(16),
                byte(16 * word + 8),
                byte(16 * word),
                field(8),
                field(32)
            ));
        }
    }
    words.reverse();
    wires.push(wire("line", bits, format!("encoding ? {{{}}} : payload", words.join(", "))));
    let inputs =
        [("payload", bits, "taken ? payload : payload_i"), ("encoding", 1, "taken ? encoding : encoding_i")];
    let (registers, mut claims) = first_item(depth, &inputs);
    claims.push(claim(
        "line",
        "each word of the first line has the bits that the prefix of its segment keeps",
        "!(valid_o & !given) | (line_o == line)",
    ));
    claims.push(claim("errors", "every payload is a line", "!error_o"));
    Properties { wires, registers, claims, reach: Reach::Cycles(depth as u32 + 3), ..Properties::default() }
}

/// Returns the properties of the assist warp store, for any address `place`.
fn aws(instructions: u64, bits: u64) -> Properties {
    let address_bits = u64::from(instructions.ilog2());
    let address =
        format!("({{sr_i, {}'d0}} + {{{}'d0, inst_i}} == place)", address_bits - 5, address_bits - 7);
    Properties {
        constants: vec![any("place", address_bits, format!("{address_bits}'d0"))],
        memories: vec![watched("memory", ("place", address_bits), "word", bits)],
        wires: vec![wire("writes", 1, "write_i & (write_address_i == place)")],
        registers: vec![
            stored("asked", 1, 0, "fetch_i"),
            stored("written", 1, 0, "written | writes"),
            stored("stored", bits, 0, "writes ? write_data_i : stored"),
            stored("fetched", 1, 0, format!("fetch_i & written & {address}")),
            stored("expected", bits, 0, "stored"),
        ],
        claims: vec![
            claim("replies", "an instruction follows each fetch", "valid_o == asked"),
            claim(
                "instructions",
                "a fetch gives the word that was last written at slot of SR.ID + Inst.ID",
                "!fetched | (instruction_o == expected)",
            ),
        ],
        lemmas: vec![claim(
            "stored",
            "the memory has the word that was last written",
            "!written | (word == stored)",
        )],
        ..Properties::default()
    }
}

/// Returns the properties of the assist warp table: the life of the routine `key`, a pair of warp and SR.ID, and the rules for
/// each cycle.
fn awt(entries: u64) -> Properties {
    let index_bits = u64::from(entries.ilog2() + u32::from(!entries.is_power_of_two()));
    let holders: Vec<String> = (0..entries)
        .rev()
        .map(|entry| format!("valid_q[{entry}] & (keys_q[{}:{}] == key)", 11 * entry + 10, 11 * entry))
        .collect();
    let distance = |index: &str| {
        format!(
            "(({index} > last_entry) ? {index} - last_entry - {index_bits}'d1 : {index} + {index_bits}'d{} - last_entry)",
            entries - 1
        )
    };
    let room =
        |high: &str, warp: &str| format!("({high} ? ({warp} < 6'd48) & high_room_i[{warp}] : low_room_i)");
    let quarter = entries / 4;
    Properties {
        inside: vec![
            "valid_q",
            "high_q",
            "keys_q",
            "next_entry_index",
            "free_entry_index",
            "last_row_q",
            "behind_last_q",
        ],
        seen: vec![seen("started_q", "started_q", entries)],
        constants: vec![any("key", 11, "11'd33"), any("entry", index_bits, "next_entry_index")],
        memories: vec![
            watched("contexts", ("entry", index_bits), "context_word", 71),
            watched("insts", ("entry", index_bits), "inst_word", 7),
        ],
        wires: vec![
            wire("same", 1, "{trigger_warp_i, trigger_sr_i} == key"),
            wire("starts", 1, "trigger_valid_i & trigger_ready_o & same"),
            wire("stopped", 1, "(kill_warp_i == key[10:5]) & (high ? kill_high_i : kill_low_i)"),
            wire("runs", 1, "active & !stopped"),
            wire("deployed", 1, "deploy_valid_o & ({deploy_warp_o, deploy_sr_o} == key)"),
            wire("warp", 6, "key[10:5]"),
            wire(
                "free",
                1,
                format!("trigger_high_i ? !(&active_o) : !(&active_o[{}:{quarter}])", entries - 1),
            ),
            wire("holders", entries, format!("{{{}}}", holders.join(", "))),
            wire("deployed_distance", index_bits, distance("next_entry_index")),
            wire("own_distance", index_bits, distance("place")),
        ],
        registers: vec![
            stored("active", 1, 0, "starts | (runs & !(deployed & deploy_last_o))"),
            stored("high", 1, 0, "starts ? trigger_high_i : high"),
            stored("end_id", 7, 0, "starts ? trigger_end_i : end_id"),
            stored("live", 64, 0, "starts ? {trigger_live_out_i, trigger_live_in_i, trigger_mask_i} : live"),
            stored("inst", 7, 0, "starts ? 7'd0 : inst + {6'd0, deployed}"),
            stored("place", index_bits, 0, "starts ? free_entry_index : place"),
            stored("last_entry", index_bits, entries - 1, "deploy_valid_o ? next_entry_index : last_entry"),
        ],
        claims: vec![
            claim(
                "takes",
                "a trigger is taken exactly if an entry is free for its priority and its warp does not run the routine",
                "!same | (trigger_ready_o == (free & !active))",
            ),
            claim("full", "the table is full exactly if all entries are active", "full_o == &active_o"),
            claim(
                "entries",
                "an active routine has exactly one entry, from its trigger to its last instruction or kill",
                format!(
                    "(holders == (active ? {entries}'d1 << place : {entries}'d0)) & (!active | ((|holders) & (high_q[place] == high)))"
                ),
            ),
            claim(
                "deploys",
                "only active routines deploy, instruction after instruction, until SR.End",
                "!deployed | (runs & (deploy_high_o == high) & (next_entry_index == place) & ((next_entry_index != entry) | ((deploy_inst_o == inst) & (deploy_last_o == (inst == end_id)))))",
            ),
            claim(
                "contexts",
                "an instruction has the lanes and live registers of its trigger",
                "!deployed | (next_entry_index != entry) | ({deploy_live_out_o, deploy_live_in_o, deploy_mask_o} == live)",
            ),
            claim(
                "room",
                "an instruction deploys only where there is room",
                format!("!deploy_valid_o | {}", room("deploy_high_o", "deploy_warp_o")),
            ),
            claim(
                "kills",
                "nothing that is killed deploys",
                "!deploy_valid_o | (deploy_warp_o != kill_warp_i) | !(deploy_high_o ? kill_high_i : kill_low_i)",
            ),
            claim(
                "order",
                "a routine that can deploy waits only for entries between the last deployed one and its own",
                format!(
                    "!(runs & {}) | (deploy_valid_o & (deployed_distance <= own_distance))",
                    room("high", "warp")
                ),
            ),
            claim(
                "last",
                "the search starts after the entry that was deployed last",
                if entries == 8 {
                    "last_row_q & (behind_last_q == 8'd254 << last_entry)".to_string()
                } else {
                    format!(
                        "(last_entry < {index_bits}'d{entries}) & (last_row_q == {}'d1 << last_entry[{}:3]) & (behind_last_q == 8'd254 << last_entry[2:0])",
                        entries / 8,
                        index_bits - 1
                    )
                },
            ),
        ],
        lemmas: vec![claim(
            "words",
            "the memories have the routine's context and its next instruction",
            "!(active & (place == entry)) | ((context_word == {end_id, live}) & ((started_q[entry] ? inst_word : 7'd0) == inst))",
        )],
        // an induction over more rows of entries takes minutes
        reach: if entries == 8 { Reach::Induction { steps: 2 } } else { Reach::Cycles(5) },
    }
}

/// Returns the properties of the BPG's interval and of its mask.
fn bpg(interval: u64) -> Properties {
    Properties {
        inside: vec!["accesses_q", "ended_q"],
        wires: vec![
            wire("ends", 1, format!("access_i & (accesses == 10'd{})", interval - 1)),
            wire("above", 8, "8'd255 << l_max_o"),
        ],
        registers: vec![
            stored("accesses", 10, 0, "ends ? 10'd0 : accesses + {9'd0, access_i}"),
            stored("ended", 1, 0, "ends"),
            stored("updated", 1, 0, "ended"),
            stored("level", 4, 8, "l_max_o"),
        ],
        claims: vec![
            claim("bypasses", "the warps from the level on bypass", "bypass_o == above"),
            claim("levels", "the level is at most 8", "l_max_o <= 4'd8"),
            claim(
                "intervals",
                "an update follows every interval of accesses",
                "(accesses_q == accesses) & (ended_q == ended) & (update_o == updated)",
            ),
            claim("keeps", "the level changes only by an update", "update_o | (l_max_o == level)"),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of the decompression queue: its places, and the position and latency that it states.
fn decompression_queue(depth: u64) -> Properties {
    let bits = u64::from(depth.ilog2()) + 1;
    let latency_bits = (15 * (depth + 1)).ilog2() + 1;
    Properties {
        inside: vec!["waiting_q", "busy_q", "remaining_q"],
        wires: vec![wire("free", 1, "!busy_q | ((remaining_q == 4'd1) & ready_i)")],
        registers: vec![
            stored("entered", 1, 0, "valid_i & ready_o"),
            stored("ahead", bits, 0, format!("waiting_q + {{{}'d0, !free}}", bits - 1)),
            stored("latency", 4, 0, "(latency_i == 4'd0) ? 4'd1 : latency_i"),
        ],
        claims: vec![
            claim(
                "places",
                "no more lines wait than there are places",
                format!("waiting_q <= {bits}'d{depth}"),
            ),
            claim(
                "waits",
                "lines wait only for a decompressor that is busy",
                format!("busy_q | (waiting_q == {bits}'d0)"),
            ),
            claim("busy", "a busy decompressor has cycles left", "!busy_q | (remaining_q != 4'd0)"),
            claim("accepts", "a line with room is accepted", "accepted_o == entered"),
            claim(
                "position",
                "the position of a line is the number of lines ahead of it",
                "!accepted_o | (position_o == ahead)",
            ),
            claim(
                "estimate",
                "the latency of a hit is the decompressor's, times the lines up to and with it",
                format!(
                    "!accepted_o | ({{{}'d0, hit_latency_o}} == {{6'd0, latency}} * ({{{}'d0, position_o}} + 10'd1))",
                    10 - latency_bits,
                    10 - bits
                ),
            ),
        ],
        reach: ALL_STATES,
        ..Properties::default()
    }
}

/// Returns the properties of the SPP's replies, for any recorded pattern.
fn spp(sectors: u64) -> Properties {
    Properties {
        registers: vec![
            stored("asked", 1, 0, "query_i"),
            stored("requested", sectors, 0, "query_i ? requested_i : requested"),
        ],
        claims: vec![
            claim("replies", "a reply follows each query", "valid_o == asked"),
            claim(
                "includes",
                "a prediction has the requested sectors",
                "!valid_o | ((sectors_o & requested) == requested)",
            ),
            claim(
                "whole",
                "without a pattern, all sectors are predicted",
                "!valid_o | known_o | (&sectors_o)",
            ),
        ],
        ..Properties::default()
    }
}

/// Returns the properties of the value-frequency table: the four entries of any set, and the words since the last clear.
fn sc_vft(entries: u64) -> Properties {
    let set_bits = u64::from((entries / 4).ilog2());
    let tag_bits = 32 - set_bits;
    let entry = 12 + tag_bits;
    let joined =
        |of: &dyn Fn(u64) -> String| format!("{{{}}}", (0..4).rev().map(of).collect::<Vec<_>>().join(", "));
    let part = |name: &str, way: u64, bits: u64| format!("{name}[{}:{}]", (way + 1) * bits - 1, way * bits);
    let count = |way| part("counts", way, 12);
    let hit = |way| format!("(|{}) & ({} == tag)", count(way), part("tags", way, tag_bits));
    let least = |way: u64| {
        let others = (0..4).filter(|other| *other != way).map(|other| {
            format!("({} {} {})", count(way), if other < way { "<" } else { "<=" }, count(other))
        });
        others.collect::<Vec<_>>().join(" & ")
    };
    let victim = |way| format!("!(|hits) & {}", least(way));
    let next_count = |way: u64| {
        let kept = format!("(full ? {} >> 1 : {})", count(way), count(way));
        format!("(victims[{way}] ? 12'd1 : {kept} + {{11'd0, hits[{way}]}})")
    };
    let next_tag = |way: u64| format!("(victims[{way}] ? tag : {})", part("tags", way, tag_bits));
    let lost: Vec<String> = (0..4).map(|way| format!("(victims[{way}] ? {} : 12'd0)", count(way))).collect();
    let full: Vec<String> = (0..4).map(|way| format!("(hits[{way}] & (&{}))", count(way))).collect();
    let slices = |value: &str| {
        let slices = (0..32 / set_bits)
            .map(|slice| format!("{value}[{}:{}]", (slice + 1) * set_bits - 1, slice * set_bits));
        slices.collect::<Vec<_>>().join(" ^ ")
    };
    let upper = |name: &str| {
        let slices = (0..32 / set_bits - 1)
            .map(|slice| format!("{name}[{}:{}]", (slice + 1) * set_bits - 1, slice * set_bits));
        slices.collect::<Vec<_>>().join(" ^ ")
    };
    let picked = |name: &str, bits: u64| {
        let of = |way: u64| part(name, way, bits);
        format!("(way[1] ? (way[0] ? {} : {}) : (way[0] ? {} : {}))", of(3), of(2), of(1), of(0))
    };
    // an entry that does not exist has no tag
    let same = |set: &str, valid: &str, counts: &str, tags: &str| {
        let ways = (0..4).map(|way| {
            let stored = format!("{set}[{}:{}]", way * entry + 11, way * entry);
            let tag = format!("{set}[{}:{}]", (way + 1) * entry - 1, way * entry + 12);
            let count = part(counts, way, 12);
            format!(
                "(({valid} ? {stored} : 12'd0) == {count}) & (({count} == 12'd0) | ({tag} == {}))",
                part(tags, way, tag_bits)
            )
        });
        ways.collect::<Vec<_>>().join(" & ")
    };
    Properties {
        inside: vec![
            "training_q",
            "reading_q",
            "set_q",
            "content",
            "update_set",
            "update_lost",
            "valid_bit",
            "words_q",
            "way_q",
        ],
        constants: vec![any("set", set_bits, format!("{set_bits}'d0"))],
        memories: vec![
            watched("memory", ("set", set_bits), "set_word", 4 * entry),
            watched("valid", ("set", set_bits), "set_valid", 1),
        ],
        wires: vec![
            wire("takes", 1, "train_valid_i & train_ready_o"),
            wire("counted", 1, format!("takes & (({}) == set)", slices("train_value_i"))),
            wire("tag", tag_bits, format!("train_value_i[31:{set_bits}]")),
            wire("hits", 4, joined(&hit)),
            wire("victims", 4, joined(&victim)),
            wire("full", 1, full.join(" | ")),
            wire("next_counts", 48, joined(&next_count)),
            wire("next_tags", 4 * tag_bits, joined(&next_tag)),
            wire("asks", 1, format!("read_i & (read_index_i[{}:2] == set)", set_bits + 1)),
            wire("picked_count", 12, picked("seen_counts", 12)),
            wire("picked_tag", tag_bits, picked("seen_tags", tag_bits)),
            wire("picked_low", set_bits, format!("set ^ {}", upper("picked_tag"))),
            wire("sum_now", 15, "{1'd0, lost_o} + {3'd0, loss}"),
        ],
        registers: vec![
            stored("counts", 48, 0, "clear_i ? 48'd0 : counted ? next_counts : counts"),
            stored("tags", 4 * tag_bits, 0, "counted ? next_tags : tags"),
            stored("seen_counts", 48, 0, "clear_i ? 48'd0 : counts"),
            stored("seen_tags", 4 * tag_bits, 0, "tags"),
            stored("counting", 1, 0, "counted"),
            stored("loss", 12, 0, lost.join(" | ")),
            stored("asking", 1, 0, "asks"),
            stored("way", 2, 0, "read_index_i[1:0]"),
            stored("asked", 1, 0, "asking"),
            stored("due_count", 12, 0, "picked_count"),
            stored("due_value", 32, 0, "(|picked_count) ? {picked_tag, picked_low} : 32'd0"),
            stored("reads", 2, 0, "{reads[0], read_i}"),
            stored("taken", 1, 0, "takes"),
            stored("follows", 1, 0, "clear_i | counting | !taken"),
            stored(
                "lost_before",
                14,
                0,
                "clear_i ? 14'd0 : !counting ? lost_o : sum_now[14] ? {14{1'b1}} : sum_now[13:0]",
            ),
            stored(
                "words",
                set_bits + 1,
                0,
                format!(
                    "clear_i ? {0}'d0 : words + {{{set_bits}'d0, taken & !words[{set_bits}]}}",
                    set_bits + 1
                ),
            ),
        ],
        claims: vec![
            claim(
                "ready",
                "a word is taken unless an entry is read or the table is cleared",
                "train_ready_o == !(read_i | clear_i)",
            ),
            claim("replies", "a reply follows each read after two cycles", "read_valid_o == reads[1]"),
            claim(
                "counts",
                "a read gives value and count of its entry: hits count, a full count halves its set, a miss replaces the smallest",
                "!asked | ((read_count_o == due_count) & (read_value_o == due_value))",
            ),
            claim(
                "lost",
                "the lost count grows by the count of each replaced entry, up to its maximum, and only a clear resets it",
                "!follows | (lost_o == lost_before)",
            ),
            claim(
                "enough",
                "there are enough words once there was one per set since the last clear",
                format!("(enough_o == words[{set_bits}]) & (words_q == words[{}:0])", set_bits - 1),
            ),
            claim(
                "stages",
                "a word or a read is in the second stage in the cycle after it was taken",
                "(training_q == taken) & (reading_q == reads[0]) & (!counting | (training_q & (set_q == set))) & (!asking | ((set_q == set) & (way_q == way))) & ((set_q != set) | (counting == taken))",
            ),
            claim(
                "second_stage",
                "an operation in the second stage has the current content of its set",
                format!(
                    "!(counting | asking) | ({})",
                    same("content", "valid_bit", "seen_counts", "seen_tags")
                ),
            ),
            claim(
                "update",
                "a word in the second stage leaves its set as counted",
                format!(
                    "!counting | ((update_lost == loss) & {})",
                    same("update_set", "1'b1", "counts", "tags")
                ),
            ),
        ],
        lemmas: vec![claim(
            "content",
            "the memory has the counted entries of the set",
            format!("counting | ({})", same("set_word", "set_valid", "counts", "tags")),
        )],
        reach: Reach::Induction { steps: 3 },
        ..Properties::default()
    }
}

/// Returns the property that the index follows from the line, by an expression of 32 bits.
fn set_index(sets: u64, what: &'static str, index: String) -> Properties {
    let upper = 32 - sets.ilog2();
    Properties {
        wires: vec![wire("of_line", 32, index)],
        registers: vec![
            stored("valid", 1, 0, "valid_i"),
            stored("index", 32, 0, "valid_i ? of_line : index"),
        ],
        claims: vec![
            claim("replies", "an index follows each line", "valid_o == valid"),
            claim("indexes", what, format!("!valid_o | ({{{upper}'d0, index_o}} == index)")),
        ],
        ..Properties::default()
    }
}

/// Returns the property that the index is the lowest bits of the line's remainder by a prime. A long division gives the
/// remainder.
fn prime_index(sets: u64, prime: u64, what: &'static str) -> Properties {
    let bits = u64::from(prime.ilog2()) + 1;
    let mut wires = Vec::new();
    for place in (0..32).rev() {
        let upper = if place == 31 { format!("{bits}'d0") } else { format!("rest_{}", place + 1) };
        wires.push(wire(format!("next_{place}"), bits + 1, format!("{{{upper}, line_i[{place}]}}")));
        let low = format!("next_{place}[{}:0]", bits - 1);
        let fits = format!("next_{place} < {}'d{prime}", bits + 1);
        wires.push(wire(
            format!("rest_{place}"),
            bits,
            format!("({fits}) ? {low} : {low} - {bits}'d{prime}"),
        ));
    }
    let rest = format!("{{{}'d0, rest_0}} & 32'd{}", 32 - bits, sets - 1);
    let mut properties = set_index(sets, what, rest);
    wires.append(&mut properties.wires);
    // a line goes in after a reset and comes out, and a second line behind it
    Properties { wires, reach: Reach::Diagrams { cycles: 4 }, ..properties }
}

fn is_prime(number: u64) -> bool {
    number > 1
        && (2..number)
            .take_while(|divisor| divisor * divisor <= number)
            .all(|divisor| !number.is_multiple_of(divisor))
}

/// Returns the remainder of a line by the irreducible polynomial of this degree: for each bit, the parity of some line bits.
fn remainder(degree: u32) -> String {
    let polynomial: u64 = match degree {
        4 => 19,
        5 => 37,
        6 => 67,
        _ => 131,
    };
    let mut masks = vec![0_u32; degree as usize];
    let mut power = 1_u64;
    for place in 0..32 {
        masks
            .iter_mut()
            .enumerate()
            .for_each(|(bit, mask)| *mask |= u32::from(power >> bit & 1 == 1) << place);
        power <<= 1;
        if power >> degree == 1 {
            power ^= polynomial;
        }
    }
    let bits: Vec<String> = masks.iter().rev().map(|mask| format!("^(line_i & 32'd{mask})")).collect();
    format!("{{{}'d0, {}}}", 32 - degree, bits.join(", "))
}
