//! Tests of the code that a body becomes, and of the refusals.

use crate::body::BodyTranslator;
use crate::generate::{companions, functions, generated, written};
use crate::read::in_place;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// Returns the statements of a body as data, and its values.
fn data(body: TokenStream) -> (String, Vec<String>) {
    let block = syn::parse2(quote!({ #body })).unwrap();
    let mut body = BodyTranslator::default();
    let statements = body.block(&block).unwrap();
    (statements.to_string(), body.values.code.iter().map(|code| code.to_string()).collect())
}

/// Returns the data of the expression `code`.
fn value(code: TokenStream) -> String {
    let (statements, _) = data(quote!(self.y_o.next = #code;));
    let rest = statements.strip_prefix("& [Statement :: Assign (\"y_o$next\" , ").unwrap();
    rest.strip_suffix(")]").unwrap().trim().to_string()
}

/// Returns all messages that refuse a body.
fn refusals(body: TokenStream) -> Vec<String> {
    let update = written(quote!(fn update(&mut self) { #body }));
    let errors = update.and_then(|update| companions(TokenStream::new(), &update)).unwrap_err();
    errors.into_iter().map(|error| error.to_string()).collect()
}

#[track_caller]
fn refused(body: TokenStream, because: &str) {
    let text = body.to_string();
    let messages = refusals(body);
    assert!(matches!(&messages[..], [message] if message.contains(because)), "{text}: {messages:?}");
}

#[test]
fn an_assignment_names_its_target() {
    let (statements, values) = data(quote!(self.unit[i + 1].x_i.next = self.a_i.val();));
    let expected = quote!(&[Statement::Assign("unit[i+1]$x_i$next", Expression::Signal("a_i"))]);
    assert_eq!((statements, values), (expected.to_string(), vec![]));
}

#[test]
fn signals_are_read_in_place() {
    let reads = quote!(if self.a[i + self.n].b.val().get_bit(self.i.val()) {
        f(x, self.c.d.val(), self.e.val(1), y.val())
    });
    let held = |signal: TokenStream| quote!((*::selvedge_hw::rtl::circuit::Readable::held(&#signal)));
    let (b, i, d) = (held(quote!(self.a[i + self.n].b)), held(quote!(self.i)), held(quote!(self.c.d)));
    let expected = quote!(if #b.get_bit(#i) { f(x, #d, self.e.val(1), y.val()) });
    assert_eq!(in_place(reads).to_string(), expected.to_string());
}

#[test]
fn operators_keep_order_and_parentheses() {
    let expected = quote!(Expression::Binary(
        &Expression::Paren(&Expression::Binary(
            &Expression::Signal("a"),
            VerilogOp::BitAnd,
            &Expression::Signal("b")
        )),
        VerilogOp::Eq,
        &Expression::Unary(VerilogOpUnary::Not, &Expression::Signal("c"))
    ));
    assert_eq!(value(quote!((self.a.val() & self.b.val()) == !self.c.val())), expected.to_string());
}

#[test]
fn numbers_have_the_width_of_their_type() {
    let literal = |value: u128, bits: u8| {
        quote!(Expression::Literal(Literal { value: #value, bits: #bits })).to_string()
    };
    assert_eq!(value(quote!(0.into())), literal(0, 32));
    assert_eq!(value(quote!(0x7fff_ffff)), literal(0x7fff_ffff, 32));
    assert_eq!(value(quote!(300u16)), literal(300, 16));
    assert_eq!(value(quote!(0x1_0000_0000u64)), literal(1 << 32, 64));
    assert_eq!(value(quote!(true)), literal(1, 1));
}

#[test]
fn widths_that_depend_on_parameters_are_values() {
    let (_, values) = data(quote! {
        self.a.next = self.x.val().get_bits::<4>(0);
        self.b.next = self.x.val().get_bits::<N>(OFFSET);
        self.c.next = bit_cast::<{ N + 1 }, N>(self.x.val());
        self.d.next = bit_cast_to::<W<N, K>>(self.x.val());
        self.e.next = bit_cast::<N, 8>(self.x.val());
        for i in 1..self._stages {
            self.f.next = self.x.val().get_bit(i);
        }
    });
    let expected = [
        quote!(N).to_string(),
        quote!({ N + 1 }).to_string(),
        quote!(<W<N, K> as ::selvedge_hw::rtl::source::Synth>::BITS).to_string(),
        quote!(self._stages).to_string(),
    ];
    assert_eq!(values, expected, "each once, and none for the widths that are written down");
}

#[test]
fn bits_are_read_and_replaced() {
    let (a, b) = (quote!(&Expression::Signal("a")), quote!(&Expression::Signal("b")));
    let bit = value(quote!(self.a.val().get_bit(self.b.val().index())));
    assert_eq!(bit, quote!(Expression::Bit(#a, #b)).to_string());
    let slice = value(quote!(self.a.val().get_bits::<8>(self.b.val().index())));
    assert_eq!(slice, quote!(Expression::Slice(#a, WidthSource::Known(8usize), #b)).to_string());
    let replaced = value(quote!(self.a.val().replace_bit(K, self.b.val())));
    assert_eq!(replaced, quote!(Expression::Replace(#a, &Expression::Signal("K"), #b)).to_string());
}

#[test]
fn statements_nest() {
    let (statements, _) = data(quote! {
        comment!("text");
        dff_setup!(self, clk_i, a, b[i]);
        if self.x.val() { self.y.next = true; } else if self.z.val() { self.y.next = false; } else {}
        match self.m.val() { Mode::Idle => self.y.next = true, SEVEN => {} _ => {} }
        for i in 0..N { self.y.next = false; }
    });
    let yes = quote!(Statement::Assign("y$next", Expression::Literal(Literal { value: 1u128, bits: 1u8 })));
    let no = quote!(Statement::Assign("y$next", Expression::Literal(Literal { value: 0u128, bits: 1u8 })));
    let expected = quote!(&[
        Statement::Comment("text"),
        Statement::Registers { clock: "clk_i", registers: &["a", "b[i]"] },
        Statement::If {
            test: Expression::Signal("x"),
            then: &[#yes],
            otherwise: Else::If(&Statement::If {
                test: Expression::Signal("z"), then: &[#no], otherwise: Else::Block(&[])
            })
        },
        Statement::Match(Expression::Signal("m"), &[("Mode$Idle", &[#yes]), ("SEVEN", &[]), ("default", &[])]),
        Statement::Loop {
            variable: "i",
            from: Bound::Literal(Literal { value: 0u128, bits: 32u8 }),
            to: Bound::Value(0usize),
            block: &[#no]
        }
    ]);
    assert_eq!(statements, expected.to_string());
}

#[test]
fn fields_of_a_struct_have_width_and_offset_as_values() {
    let (statements, values) = data(quote!(self.pair.next.low = self.other.val().high;));
    let expected = quote!(&[Statement::AssignField {
        signal: "pair",
        width: 0usize,
        offset: 1usize,
        value: Expression::Slice(
            &Expression::Signal("other"),
            WidthSource::Value(2usize),
            &Expression::Value(3usize)
        )
    }]);
    assert_eq!(statements, expected.to_string());
    assert_eq!(values[0], quote!(self.pair.next.get_my_width_low()).to_string());
    assert_eq!(values[3], quote!(self.other.val().get_my_offset_high()).to_string());
}

#[test]
fn connect_marks_each_driven_signal_once() {
    let update = quote! {
        fn update(&mut self) {
            dff_setup!(self, clk_i, count);
            self.y.next = 0.into();
            if self.x.val() { self.y.next = 1.into(); } else { self.z.next = 1.into(); }
            for i in 0..N { self.t[i].next = true; self.t[i].next = false; self.y.next = 2.into(); }
            self.pair.next.low = true;
        }
    };
    let generated = companions(TokenStream::new(), &written(update).unwrap()).unwrap().to_string();
    let mark = |signal: TokenStream| quote!(::selvedge_hw::rtl::source::Logic::connect(&mut #signal););
    let (clock, d) = (mark(quote!(self.count.clock)), mark(quote!(self.count.d)));
    let (y, z, t, pair) =
        (mark(quote!(self.y)), mark(quote!(self.z)), mark(quote!(self.t[i])), mark(quote!(self.pair)));
    let expected = quote!(fn connect(&mut self) { #clock #d #y #z for i in 0..N { #t } #pair });
    assert!(generated.contains(&expected.to_string()), "{generated}");
}

#[test]
fn update_stays_as_it_is_even_if_it_is_refused() {
    let update = quote!(
        fn update(&mut self) {
            let x = 3;
        }
    );
    let generated = functions(TokenStream::new(), update.clone()).to_string();
    assert!(generated.contains(&update.to_string()), "{generated}");
    assert!(generated.contains("compile_error"), "{generated}");
}

#[test]
fn what_would_lose_its_meaning_is_refused() {
    refused(
        quote!(for i in 0..=7 {
            self.y.next = true;
        }),
        "a loop's range is exclusive",
    );
    refused(
        quote!(match self.m.val() {
            Mode::Idle if self.x.val() => {}
            _ => {}
        }),
        "cannot have a condition",
    );
    refused(
        quote!(match self.m.val() {
            other => {}
        }),
        "the pattern of a case is",
    );
    refused(
        quote!(match self.m.val() {
            1 | 2 => {}
            _ => {}
        }),
        "the pattern of a case is",
    );
    refused(
        quote!('outer: for i in 0..7 {
            self.y.next = true;
        }),
        "cannot have a label",
    );
    refused(
        quote!(
            #[cfg(test)]
            if self.x.val() {
                self.y.next = true;
            }
        ),
        "an attribute has no meaning",
    );
    refused(quote!(self.y.next = #[cfg(test)] (3);), "an attribute has no meaning");
    refused(
        quote!(for i in 0..4 {
            for j in 0..i {
                self.y.next = true;
            }
        }),
        "variable `i` of an outer loop",
    );
    refused(quote!(self.y.next = 0x1_0000_0000.into();), "does not fit into its type");
    refused(quote!(self.y.next = 1.5;), "integers");
}

#[test]
fn rust_beyond_the_language_is_refused() {
    refused(quote!(let x = 3;), "there is no `let`");
    refused(
        quote!(
            const X: usize = 3;
        ),
        "cannot have items",
    );
    refused(quote!(println!("x");), "the only macros");
    refused(quote!(self.step();), "a statement is");
    refused(quote!(Port::join(&mut self.a, &mut self.b);), "a statement is");
    refused(
        quote!(while self.x.val() {
            self.y.next = true;
        }),
        "a statement is",
    );
    refused(quote!(self.y = 3;), "assign to `.next`");
    refused(quote!(y = 3;), "assign to `.next`");
    refused(quote!(self.y.next += 3;), "a statement is");
    refused(
        quote!(if let Some(x) = self.x.val() {
            self.y.next = x;
        }),
        "`if let`",
    );
    refused(
        quote!(for (i, j) in 0..3 {
            self.y.next = true;
        }),
        "`for name in from..to`",
    );
    refused(
        quote!(for i in self.list {
            self.y.next = true;
        }),
        "`for name in from..to`",
    );
    refused(
        quote!(for i in 0.. {
            self.y.next = true;
        }),
        "`for name in from..to`",
    );
}

#[test]
fn expressions_beyond_the_language_are_refused() {
    let refused = |code: TokenStream, because: &str| refused(quote!(self.y.next = #code;), because);
    refused(quote!(self.x.next), "read a signal by `.val()`");
    refused(quote!(self.x.val() / 3), "this operator");
    refused(quote!(self.x.val() as u8), "`as` has no meaning");
    refused(quote!(if self.x.val() { 1 } else { 2 }), "`if` and `match` are statements");
    refused(quote!(self.x.val().min(3)), "`min` has no meaning");
    refused(quote!(self.x.val().get_bits(3)), "get_bits::<N>(i)");
    refused(quote!(self.x.val().get_bit(3, 4)), "takes 1 arguments");
    refused(quote!(bit_cast(self.x.val())), "write the width");
    refused(quote!(compute(self.x.val())), "the only functions");
    refused(quote!((self.f)(3)), "the only functions");
    refused(quote!([1, 2]), "this expression");
    refused(quote!(self.input.val()), "is a word of Verilog");
}

#[test]
fn every_mistake_is_told() {
    let messages = refusals(quote!(let x = 3; self.y.next = 1.into(); if true { self.y = 2; let z = 4; }));
    assert_eq!(messages.len(), 3, "{messages:?}");
}

#[test]
fn only_update_has_companions() {
    let refusal =
        |item: TokenStream| companions(TokenStream::new(), &written(item).unwrap()).unwrap_err().to_string();
    for item in [
        quote!(
            fn update(&self) {}
        ),
        quote!(
            fn update(&mut self, x: u8) {}
        ),
        quote!(
            fn update(&mut self) -> u8 {}
        ),
    ] {
        assert!(refusal(item).contains("fn update(&mut self)"));
    }
}

/// Returns the body. Assignments replace the short forms.
fn plain(body: TokenStream) -> String {
    written(quote!(fn update(&mut self) { #body })).unwrap().block.to_token_stream().to_string()
}

#[test]
fn a_part_is_driven_by_signals_and_constants() {
    let short = quote! {
        if self.x.val() { drive!(self.unit[i]; clk_i, a_i: b.q, c_i[1]: d[i + 1], n_i: 3, m_i: Mode::Idle, on_i: true); }
    };
    let long = quote!({
        if self.x.val() {
            self.unit[i].clk_i.next = self.clk_i.val();
            self.unit[i].a_i.next = self.b.q.val();
            self.unit[i].c_i[1].next = self.d[i + 1].val();
            self.unit[i].n_i.next = 3.into();
            self.unit[i].m_i.next = Mode::Idle;
            self.unit[i].on_i.next = true;
        }
    });
    assert_eq!(plain(short), long.to_string());
}

#[test]
fn signals_of_the_block_itself_are_driven() {
    let short = quote!(drive!(self; unit.sum_o, count_o: count.q, count.d: 0););
    let long = quote!({
        self.sum_o.next = self.unit.sum_o.val();
        self.count_o.next = self.count.q.val();
        self.count.d.next = 0.into();
    });
    assert_eq!(plain(short), long.to_string());
}

#[test]
fn some_bits_are_assigned() {
    let short = quote! {
        for i in 0..4 { self.a.next[i] = self.b.val(); }
        match self.m.val() { _ => { self.u[2].a.next[N + 1..] = self.c.val(); } }
    };
    let long = quote!({
        for i in 0..4 {
            self.a.next = self.a.val().replace_bit::<bool>(i, self.b.val());
        }
        match self.m.val() {
            _ => {
                self.u[2].a.next = self.u[2].a.val().replace_bit::<_>(N + 1, self.c.val());
            }
        }
    });
    assert_eq!(plain(short), long.to_string());
}

#[test]
fn malformed_short_forms_are_refused() {
    refused(quote!(drive!(self; a: b.val());), "`drive!` takes signals and constants");
    refused(quote!(drive!(self; a: b + 1);), "`drive!` takes signals and constants");
    refused(quote!(drive!(self; 0);), "write the name of the driven signal");
    refused(quote!(drive!(self; a[0]);), "write the name of the driven signal");
    refused(quote!(drive!(unit; a);), "`drive!` begins with `self`");
    refused(
        quote!(
            #[cfg(test)]
            drive!(self; a: b);
        ),
        "an attribute has no meaning",
    );
    refused(quote!(self.a.next[1..3] = self.b.val();), "write `[i..]`");
}

#[test]
fn records_among_the_arguments_follow_the_description() {
    let update = quote!(
        fn update(&mut self) {}
    );
    let records = quote!(sizes(&[("N", 1)]), layouts! { a: { low: 1 } });
    let generated = companions(records.clone(), &written(update).unwrap()).unwrap().to_string();
    let expected = quote!([self.describe(), #records].concat());
    assert!(generated.contains(&expected.to_string()), "{generated}");
}

#[test]
fn an_implementation_gets_the_generics_from_the_macro_of_its_block() {
    let update = quote!(
        fn update(&mut self) {
            self.y.next = self.x.val();
        }
    );
    let code = generated(TokenStream::new(), quote!(impl Logic for Unit { #update })).to_string();
    let functions = functions(TokenStream::new(), update.clone());
    assert_eq!(code, quote!(Unit! { #functions }).to_string());
    for item in [
        quote!(impl<const N: usize> Logic for Unit<N> { #update }),
        quote!(impl Logic for Unit { #update fn timing(&self) -> Vec<TimingInfo> { vec![] } }),
    ] {
        let code = generated(TokenStream::new(), item).to_string();
        assert!(code.contains("is for `impl Logic for Block`"), "{code}");
    }
}

#[test]
fn update_loses_its_body_if_a_short_form_is_malformed() {
    let update = quote!(
        fn update(&mut self) {
            drive!(self);
        }
    );
    let code = functions(TokenStream::new(), update).to_string();
    assert!(code.starts_with("fn update (& mut self) { }"), "{code}");
    assert!(code.contains("expected `;`"), "{code}");
}
