//! Tests of `#[hdl_gen]`: a body becomes rust-hdl's syntax tree, and the signals that it drives are marked.

use rust_hdl_core::ast::{
    VerilogBlockOrConditional as Otherwise, VerilogCase, VerilogConditional, VerilogExpression as Value,
    VerilogLoop, VerilogMatch, VerilogOp, VerilogOpUnary, VerilogStatement as Statement,
};
use selvedge_hw::rtl::prelude::*;
use selvedge_hw::rtl::source::{self, verilog};

fn signal(name: &str) -> Value {
    Value::Signal(name.into())
}

fn assign(name: &str, value: Value) -> Statement {
    Statement::Assignment(signal(name), value)
}

#[derive(LogicBlock, Default)]
struct Mixed<const N: usize> {
    clk_i: Signal<In, Clock>,
    rst_ni: Signal<In, Bit>,
    x_i: Signal<In, U<N>>,
    choice: Signal<Local, Bit>,
    t: [Signal<Local, U<N>>; 2],
    a: Reg<U<N>>,
    b: [Reg<U<N>>; 1],
    y_o: Signal<Out, U<8>>,
}

impl<const N: usize> Logic for Mixed<N> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk_i, a, b[0]);
        comment!("a comment");
        if self.x_i.val().any() {
            self.choice.next = false;
        } else if self.x_i.val() == 3 {
            self.choice.next = true;
        } else {
            self.choice.next = !self.a.q.val().get_bit(N - 1);
        }
        match self.choice.val() {
            true => self.y_o.next = 1.into(),
            _ => self.y_o.next = bit_cast::<8, N>(self.x_i.val()),
        }
        for i in 0..N {
            self.t[0].next = self.t[0].val().replace_bit(i, (self.x_i.val() + i.to_bits()).get_bits::<1>(i));
        }
    }
}

/// Returns the hand-written tree.
fn expected(n: usize) -> Vec<Statement> {
    let boxed = |value: Value| Box::new(value);
    let literal = |value: i32| Value::Literal(value.into());
    vec![
        Statement::Macro(vec![
            assign("a$clock$next", signal("clk_i")),
            assign("b[0]$clock$next", signal("clk_i")),
            assign("a$d$next", signal("a$q")),
            assign("b[0]$d$next", signal("b[0]$q")),
        ]),
        Statement::Comment("a comment".into()),
        Statement::If(VerilogConditional {
            test: Value::Unary(VerilogOpUnary::Any, boxed(signal("x_i"))),
            then: vec![assign("choice$next", Value::Literal(false.into()))],
            otherwise: Otherwise::Conditional(Box::new(Statement::If(VerilogConditional {
                test: Value::Binary(boxed(signal("x_i")), VerilogOp::Eq, boxed(literal(3))),
                then: vec![assign("choice$next", Value::Literal(true.into()))],
                otherwise: Otherwise::Block(vec![assign(
                    "choice$next",
                    Value::Unary(
                        VerilogOpUnary::Not,
                        boxed(Value::Index(
                            boxed(signal("a$q")),
                            boxed(Value::Binary(boxed(signal("N")), VerilogOp::Sub, boxed(literal(1)))),
                        )),
                    ),
                )]),
            }))),
        }),
        Statement::Match(VerilogMatch {
            test: signal("choice"),
            cases: vec![
                VerilogCase { condition: "true".into(), block: vec![assign("y_o$next", literal(1))] },
                VerilogCase {
                    condition: "default".into(),
                    block: vec![assign("y_o$next", Value::Cast(boxed(signal("x_i")), 8))],
                },
            ],
        }),
        Statement::Loop(VerilogLoop {
            index: "i".into(),
            from: 0.into(),
            to: n.into(),
            block: vec![assign(
                "t[0]$next",
                Value::IndexReplace(
                    boxed(signal("t[0]")),
                    boxed(signal("i")),
                    boxed(Value::Slice(
                        boxed(Value::Paren(boxed(Value::Binary(
                            boxed(signal("x_i")),
                            VerilogOp::Add,
                            boxed(signal("i")),
                        )))),
                        1,
                        boxed(signal("i")),
                    )),
                ),
            )],
        }),
    ]
}

#[test]
fn a_body_becomes_the_tree_of_rust_hdl() {
    let text = |verilog: Verilog| format!("{verilog:#?}");
    assert_eq!(text(Mixed::<5>::default().hdl()), text(Verilog::Combinatorial(expected(5))));
    assert_eq!(text(Mixed::<9>::default().hdl()), text(Verilog::Combinatorial(expected(9))));
}

#[test]
fn literals_have_the_width_of_their_type() {
    use source::{Expression, Literal, Statement as Data};
    macro_rules! shown {
        ($value:literal, $bits:literal) => {
            format!(
                "{:?}",
                verilog(
                    &[Data::Assign("y", Expression::Literal(Literal { value: $value, bits: $bits }))],
                    &[]
                )
            )
        };
    }
    let expected = |literal: ast::VerilogLiteral| {
        format!("{:?}", Verilog::Combinatorial(vec![assign("y", Value::Literal(literal))]))
    };
    assert_eq!(shown!(1, 1), expected(true.into()));
    assert_eq!(shown!(200, 8), expected(200u8.into()));
    assert_eq!(shown!(300, 16), expected(300u16.into()));
    assert_eq!(shown!(70_000, 32), expected(70_000i32.into()));
    assert_eq!(shown!(0xffff_ffff_ffff_ffff, 64), expected(u64::MAX.into()));
    assert_eq!(shown!(0x1_0000_0000_0000_0000, 128), expected((1u128 << 64).into()));
}

#[test]
fn driven_signals_are_marked() {
    let mut block = Mixed::<5>::default();
    block.connect();
    let connected = |atom: &dyn rust_hdl_core::prelude::Atom| atom.connected();
    assert!(connected(&block.choice) && connected(&block.t[0]) && connected(&block.y_o));
    assert!(connected(&block.a.d) && connected(&block.b[0].clock));
    assert!(!connected(&block.t[1]) && !connected(&block.x_i));
}
