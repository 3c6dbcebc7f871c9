//! Orders evaluation within a body: chooses the statement before which each sub-block is evaluated.
//!
//! A sub-block is evaluated before a statement that reads it, if an earlier statement drives it. If evaluation changes a
//! value that the same pass has already read, the generated code notes this, and the pass is repeated. If the statements are
//! not in dataflow order, some sub-blocks stay unevaluated. `circuit::settle` evaluates these after the pass, and repeats
//! it.

use crate::connect::driven;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Block, Expr, ExprAssign, ExprForLoop, ExprIf, ExprMatch, Member, Stmt};

/// A signal of a sub-block: `self.part[i].signal`.
struct SubBlockSignal {
    /// The block's field that holds the sub-block.
    field: String,
    /// The index or indices of `field`, as text.
    index: Option<String>,
    /// `self.part[i]`
    part: TokenStream,
    /// `signal`
    signal: TokenStream,
}

/// A sub-block that a statement may have driven since its last evaluation.
#[derive(Clone)]
struct Driven {
    /// The block's field that holds the sub-block.
    field: String,
    /// `self.part[i]`
    part: TokenStream,
    /// The loops around the statement that drives it, innermost last; `None` if several statements in different loops do.
    loops: Option<Vec<usize>>,
    /// `true` if the body may have read the sub-block before driving it.
    is_read: bool,
    /// `true` if the sub-block was evaluated since, in case it has state.
    is_done: bool,
}

/// A signal of a sub-block that was read.
#[derive(Clone)]
struct SignalRead {
    /// `self.part[i]`
    part: TokenStream,
    /// `signal`
    signal: TokenStream,
}

/// The facts known at one statement.
#[derive(Clone, Default)]
struct StatementFacts {
    /// Sub-blocks that may have been driven since their last evaluation, by their text.
    driven: BTreeMap<String, Driven>,
    /// The signals read so far: by field, then by the text of sub-block and signal.
    read: BTreeMap<String, BTreeMap<(String, String), SignalRead>>,
}

impl StatementFacts {
    /// Records that a sub-block is driven. Equal texts in different loops may name several elements, and no single loop
    /// evaluates all of them.
    fn drive(&mut self, driven: Driven) {
        let text = driven.part.to_string();
        let before = self.driven.get(&text);
        let is_elsewhere = before.is_some_and(|before| before.loops != driven.loops);
        let is_read = driven.is_read || before.is_some_and(|before| before.is_read);
        let is_done = driven.is_done && before.is_none_or(|before| before.is_done);
        let loops = if is_elsewhere { None } else { driven.loops };
        self.driven.insert(text, Driven { loops, is_read, is_done, ..driven });
    }

    fn read(&mut self, wire: &SubBlockSignal) {
        let signals = self.read.entry(wire.field.clone()).or_default();
        let read = SignalRead { part: wire.part.clone(), signal: wire.signal.clone() };
        signals.insert((wire.part.to_string(), wire.signal.to_string()), read);
    }

    /// Merges the facts of another branch into these.
    fn join(&mut self, other: StatementFacts) {
        other.driven.into_values().for_each(|driven| self.drive(driven));
        for (field, signals) in other.read {
            self.read.entry(field).or_default().extend(signals);
        }
    }
}

/// Rewrites a body so that it evaluates its sub-blocks.
#[derive(Default)]
struct Order {
    known: StatementFacts,
    /// The loops around the current statement, as indices into `variables`.
    scope: Vec<usize>,
    /// The variables of all loops so far.
    variables: Vec<String>,
}

/// Returns the body with code that evaluates its sub-blocks.
pub fn ordered(body: &Block) -> TokenStream {
    let body = early_first(body);
    let mut order = Order::default();
    let statements = order.block(&body);
    let code = &statements.code;
    let rest: Vec<_> = order.known.driven.values().cloned().collect();
    let rest: Vec<_> = rest.iter().map(|driven| order.rest(driven)).collect();
    if !statements.has_evaluations && rest.is_empty() {
        return quote!({ #code });
    }
    quote!({
        let in_order = self._activity.begin_in_order();
        #code
        if in_order {
            #(#rest)*
        }
    })
}

/// Statements, and a flag for whether they evaluate a sub-block.
#[derive(Default)]
struct Statements {
    code: TokenStream,
    has_evaluations: bool,
}

impl Order {
    fn block(&mut self, block: &Block) -> Statements {
        let mut statements = Statements::default();
        for statement in &block.stmts {
            self.statement(statement, &mut statements);
        }
        statements
    }

    fn statement(&mut self, statement: &Stmt, out: &mut Statements) {
        match statement {
            Stmt::Expr(Expr::Assign(assignment), _) => {
                self.reads(&[&assignment.left, &assignment.right], out);
                if let Some(wire) = driven(&assignment.left).and_then(wire)
                    && wire.signal.to_string() != "d"
                {
                    let SubBlockSignal { field, part, .. } = wire;
                    let driven = Driven {
                        loops: Some(self.scope.clone()),
                        is_read: self.known.read.contains_key(&field),
                        is_done: false,
                        field,
                        part,
                    };
                    self.known.drive(driven);
                }
                match in_place(assignment) {
                    Some(code) => out.code.extend(code),
                    None => statement.to_tokens(&mut out.code),
                }
            }
            Stmt::Expr(Expr::If(branches), _) => {
                self.reads(&conditions(branches), out);
                let code = self.branches(branches, out);
                out.code.extend(code);
            }
            Stmt::Expr(Expr::Match(choice), end) => {
                self.reads(&[&choice.expr], out);
                let code = self.choice(choice, out);
                out.code.extend(quote!(#code #end));
            }
            Stmt::Expr(Expr::ForLoop(turns), _) => {
                let code = self.turns(turns, out);
                out.code.extend(code);
            }
            other => other.to_tokens(&mut out.code),
        }
    }

    /// Evaluates the sub-blocks that the expressions read, if earlier statements drove them.
    fn reads(&mut self, expressions: &[&Expr], out: &mut Statements) {
        let mut wires = vec![];
        expressions.iter().for_each(|expression| collect(expression, &mut wires));
        wires.iter().for_each(|wire| self.evaluated(wire, out));
        wires.iter().for_each(|wire| self.known.read(wire));
    }

    /// Evaluates the sub-block of a wire if it was driven before.
    fn evaluated(&mut self, wire: &SubBlockSignal, out: &mut Statements) {
        let text = wire.part.to_string();
        let may_be_driven =
            |driven: &&Driven| driven.field == wire.field && may_be_same(&driven.part, &wire.part);
        // Another index expression may name the same element.
        let mut candidates = self.known.driven.values().filter(may_be_driven).peekable();
        if candidates.peek().is_none() {
            return;
        }
        let is_done = candidates.all(|driven| driven.is_done);
        if let Some(driven) = self.known.driven.get(&text)
            && (!mentions(&wire.part, &self.variables) || self.is_same_element(driven))
        {
            self.known.driven.remove(&text);
        }
        let code = self.evaluation(&wire.field, &wire.part);
        let part = &wire.part;
        out.code.extend(match is_done {
            false => quote!(if in_order { #code }),
            true => quote! {
                if in_order && {
                    #[allow(unused_imports)]
                    use ::selvedge_hw::rtl::circuit::{Field, Foreign as _};
                    !Field(&mut #part).has_state()
                } { #code }
            },
        });
        out.has_evaluations = true;
    }

    /// Evaluates all elements of a driven field before a loop that reads but does not drive them, if they have state. The
    /// loop may read each element in many iterations.
    fn evaluated_before(&mut self, field: &str, out: &mut Statements) {
        let mut driven = self.known.driven.values_mut().filter(|driven| driven.field == field).peekable();
        let Some(one) = driven.peek().map(|driven| (**driven).clone()) else { return };
        let mut was_done = true;
        for driven in driven {
            was_done &= std::mem::replace(&mut driven.is_done, true);
        }
        if was_done {
            return;
        }
        let (field, code) = (format_ident!("{}", field), self.evaluation_of_all(&one));
        out.code.extend(quote! {
            if in_order {
                #[allow(unused_imports)]
                use ::selvedge_hw::rtl::circuit::{Field, Foreign as _};
                if Field(&mut self.#field).has_state() {
                    #code
                }
            }
        });
        out.has_evaluations = true;
    }

    /// Returns whether the text of a driven element names the same element here. In another loop with the same variable, the
    /// text may name any element.
    fn is_same_element(&self, driven: &Driven) -> bool {
        let further = driven.loops.as_ref().and_then(|loops| self.scope.strip_prefix(&loops[..]));
        let further =
            further.map(|loops| loops.iter().map(|at| self.variables[*at].clone()).collect::<Vec<_>>());
        further.is_some_and(|variables| !mentions(&driven.part, &variables))
    }

    /// Returns code that runs after the body, for a sub-block that is still unevaluated. It evaluates a sub-block with
    /// state, because an edge may change it, and one that the body read before driving it. Any other is evaluated when it is
    /// read.
    fn rest(&self, driven: &Driven) -> TokenStream {
        let (is_read, is_done) = (driven.is_read, driven.is_done);
        let (part, code) = if mentions(&driven.part, &self.variables) {
            let field = format_ident!("{}", driven.field);
            (quote!(self.#field), self.evaluation_of_all(driven))
        } else {
            (driven.part.clone(), self.evaluation(&driven.field, &driven.part))
        };
        quote! {{
            #[allow(unused_imports)]
            use ::selvedge_hw::rtl::circuit::{Field, Foreign as _};
            let has_state = Field(&mut #part).has_state();
            if (has_state && !#is_done) || (#is_read && !has_state) {
                #code
            }
        }}
    }

    /// Returns code that evaluates all elements of a field. The code notes whether this changes a signal that was already
    /// read.
    fn evaluation_of_all(&self, driven: &Driven) -> TokenStream {
        let field = format_ident!("{}", driven.field);
        let read = self.known.read.get(&driven.field).into_iter().flat_map(BTreeMap::values);
        let read: BTreeMap<_, _> = read.map(|read| (read.signal.to_string(), &read.signal)).collect();
        let read: Vec<_> = read.into_values().collect();
        let is_array = |token: &TokenTree| matches!(token, TokenTree::Group(_));
        let dimensions = driven.part.clone().into_iter().filter(is_array).count();
        if dimensions != 1 || read.iter().any(|signal| mentions(signal, &self.variables)) {
            let is_stale = !read.is_empty();
            return quote! {
                if Field(&mut self.#field).is_due() {
                    Field(&mut self.#field).evaluate();
                    self._activity.note_stale(#is_stale);
                }
            };
        }
        quote! {
            for element in self.#field.iter_mut() {
                if Field(&mut *element).is_due() {
                    let before = (#(element.#read.val(),)*);
                    Field(&mut *element).evaluate();
                    self._activity.note_stale(before != (#(element.#read.val(),)*));
                }
            }
        }
    }

    /// Returns code that evaluates a sub-block. The code notes whether this changes a signal that was already read.
    fn evaluation(&self, field: &str, part: &TokenStream) -> TokenStream {
        let is_in_scope = |variable: &String| self.scope.iter().any(|at| self.variables[*at] == *variable);
        let out_of_scope: Vec<_> =
            self.variables.iter().filter(|variable| !is_in_scope(variable)).cloned().collect();
        let read = self.known.read.get(field).into_iter().flat_map(BTreeMap::values);
        let read = read.filter(|read| may_be_same(&read.part, part)).map(|read| &read.signal);
        let read: BTreeMap<_, _> = read.map(|signal| (signal.to_string(), signal)).collect();
        let read: Vec<_> = read.into_values().collect();
        let evaluate = quote!(Field(&mut #part).evaluate(););
        let body = if read.is_empty() {
            evaluate
        } else if read.iter().any(|signal| mentions(signal, &out_of_scope)) {
            quote!(#evaluate self._activity.note_stale(true);)
        } else {
            quote! {
                let before = (#(#part.#read.val(),)*);
                #evaluate
                self._activity.note_stale(before != (#(#part.#read.val(),)*));
            }
        };
        quote! {{
            #[allow(unused_imports)]
            use ::selvedge_hw::rtl::circuit::{Field, Foreign as _};
            if Field(&mut #part).is_due() {
                #body
            }
        }}
    }

    fn branches(&mut self, branches: &ExprIf, out: &mut Statements) -> TokenStream {
        let before = self.known.clone();
        let test = &branches.cond;
        let then = self.inner(&branches.then_branch, out);
        let after = std::mem::replace(&mut self.known, before);
        let otherwise = match &branches.else_branch {
            None => TokenStream::new(),
            Some((_, otherwise)) => {
                let code = match &**otherwise {
                    Expr::If(next) => self.branches(next, out),
                    Expr::Block(block) => {
                        let code = self.inner(&block.block, out);
                        quote!({ #code })
                    }
                    other => other.to_token_stream(),
                };
                quote!(else #code)
            }
        };
        self.known.join(after);
        quote!(if #test { #then } #otherwise)
    }

    fn choice(&mut self, choice: &ExprMatch, out: &mut Statements) -> TokenStream {
        let before = self.known.clone();
        let test = &choice.expr;
        let mut after = before.clone();
        let mut arms = vec![];
        for arm in &choice.arms {
            self.known = before.clone();
            let pattern = &arm.pat;
            let mut code = Statements::default();
            match &*arm.body {
                Expr::Block(body) => code = self.block(&body.block),
                body => self.statement(&Stmt::Expr(body.clone(), Some(Default::default())), &mut code),
            }
            out.has_evaluations |= code.has_evaluations;
            let code = code.code;
            arms.push(quote!(#pattern => { #code }));
            after.join(self.known.clone());
        }
        self.known = after;
        quote!(match #test { #(#arms)* })
    }

    fn turns(&mut self, turns: &ExprForLoop, out: &mut Statements) -> TokenStream {
        let (variable, range) = (&turns.pat, &turns.expr);
        let text = variable.to_token_stream().to_string();
        let mut wires = vec![];
        collect_block(&turns.body, &mut wires);
        self.scope.push(self.variables.len());
        self.variables.push(text.clone());
        let inner = variables(&turns.body, vec![text.clone()]);
        wires.iter().filter(|wire| !mentions(&wire.part, &inner)).for_each(|wire| self.evaluated(wire, out));
        let mut uses = Uses::default();
        uses.block(&turns.body, Nesting::Inside);
        let is_element =
            |wire: &&SubBlockSignal| mentions(&wire.part, &inner) && !uses.early.contains_key(&wire.field);
        let elements: BTreeSet<_> = wires.iter().filter(is_element).map(|wire| wire.field.clone()).collect();
        elements.iter().for_each(|field| self.evaluated_before(field, out));
        // An earlier iteration may have read these. A wire indexed by the loop variable is another element in each
        // iteration.
        wires.iter().filter(|wire| wire.index.as_ref() != Some(&text)).for_each(|wire| self.known.read(wire));
        let code = self.inner(&turns.body, out);
        // The loop may have no iterations.
        let again = self.known.driven.values_mut().filter(|driven| uses.early.contains_key(&driven.field));
        again.for_each(|driven| driven.is_done = false);
        self.scope.pop();
        quote!(for #variable in #range { #code })
    }

    fn inner(&mut self, block: &Block, out: &mut Statements) -> TokenStream {
        let statements = self.block(block);
        out.has_evaluations |= statements.has_evaluations;
        statements.code
    }
}

/// Moves statements to the front of the body if they drive a sub-block that the body reads earlier. All values that drive
/// this sub-block must be known when a pass begins: registers, inputs and constants. Without the move, every change of a
/// register would repeat the pass.
fn early_first(body: &Block) -> Block {
    let mut uses = Uses::default();
    uses.block(body, Nesting::Body);
    let is_early = |statement: &Stmt| match statement {
        Stmt::Expr(Expr::Assign(assignment), _) => {
            let wire = driven(&assignment.left).and_then(wire);
            wire.is_some_and(|wire| uses.is_early(&wire))
        }
        _ => false,
    };
    let (mut first, mut rest) = (vec![], vec![]);
    for statement in &body.stmts {
        match statement {
            Stmt::Expr(Expr::ForLoop(turns), end) => {
                let (early, late): (Vec<_>, Vec<_>) = turns.body.stmts.iter().cloned().partition(&is_early);
                for (statements, to) in [(early, &mut first), (late, &mut rest)] {
                    if !statements.is_empty() {
                        let mut turns = turns.clone();
                        turns.body.stmts = statements;
                        to.push(Stmt::Expr(Expr::ForLoop(turns), *end));
                    }
                }
            }
            statement if is_early(statement) => first.push(statement.clone()),
            statement => rest.push(statement.clone()),
        }
    }
    first.extend(rest);
    Block { stmts: first, ..body.clone() }
}

/// The nesting of a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nesting {
    /// Directly in the body.
    Body,
    /// Directly in a loop of the body.
    Loop,
    /// In a nested loop or in a branch.
    Inside,
}

/// The uses of sub-blocks in a body.
#[derive(Default)]
struct Uses {
    /// The block's own signals that the body assigns.
    assigned: BTreeSet<String>,
    /// The fields of sub-blocks read so far.
    read: BTreeSet<String>,
    /// The drivers of each field. The statements of a field may move to the front of the body.
    early: BTreeMap<String, Drives>,
    /// All driven values with their fields.
    values: Vec<(String, Expr)>,
}

/// The drivers of a sub-block.
#[derive(Default)]
struct Drives {
    signals: BTreeSet<String>,
    /// `true` if a signal is driven in several statements, in a branch, or in one element only.
    is_late: bool,
    /// `true` if a signal is driven after the sub-block was read.
    after_read: bool,
}

impl Uses {
    fn block(&mut self, block: &Block, place: Nesting) {
        for statement in &block.stmts {
            if let Stmt::Expr(expr, _) = statement {
                self.statement(expr, place);
            }
        }
    }

    fn statement(&mut self, expr: &Expr, place: Nesting) {
        match expr {
            Expr::Assign(assignment) => self.assignment(assignment, place),
            Expr::If(branches) => {
                conditions(branches).iter().for_each(|condition| self.reads(condition));
                self.block(&branches.then_branch, Nesting::Inside);
                if let Some((_, otherwise)) = &branches.else_branch {
                    self.statement(otherwise, Nesting::Inside);
                }
            }
            Expr::Match(choice) => {
                self.reads(&choice.expr);
                choice.arms.iter().for_each(|arm| self.statement(&arm.body, Nesting::Inside));
            }
            Expr::Block(inner) => self.block(&inner.block, Nesting::Inside),
            Expr::ForLoop(turns) => {
                let inner = if place == Nesting::Body { Nesting::Loop } else { Nesting::Inside };
                self.block(&turns.body, inner);
            }
            _ => {}
        }
    }

    fn assignment(&mut self, assignment: &ExprAssign, place: Nesting) {
        self.reads(&assignment.left);
        self.reads(&assignment.right);
        let Some(target) = driven(&assignment.left) else { return };
        match (wire(target), part(target)) {
            (Some(wire), _) if wire.signal.to_string() != "d" => {
                let drives = self.early.entry(wire.field.clone()).or_default();
                // An element of an array of signals counts as the whole array.
                let signal =
                    wire.signal.into_iter().take_while(|token| !matches!(token, TokenTree::Group(_)));
                let is_new = drives.signals.insert(signal.collect::<TokenStream>().to_string());
                drives.is_late |= place == Nesting::Inside || wire.index.is_some() || !is_new;
                drives.after_read |= self.read.contains(&wire.field);
                self.values.push((wire.field, (*assignment.right).clone()));
            }
            (None, Some((field, _))) => {
                self.assigned.insert(field);
            }
            _ => {}
        }
    }

    fn reads(&mut self, expr: &Expr) {
        let mut wires = vec![];
        collect(expr, &mut wires);
        self.read.extend(wires.into_iter().map(|wire| wire.field));
    }

    fn is_early(&self, wire: &SubBlockSignal) -> bool {
        let can_be = |drives: &Drives| drives.after_read && !drives.is_late;
        wire.signal.to_string() != "d"
            && self.early.get(&wire.field).is_some_and(can_be)
            && self.values.iter().all(|(field, value)| *field != wire.field || self.is_known(value))
    }

    /// Returns whether a value is known when a pass begins: it reads no wires of sub-blocks and no signals that the body
    /// assigns.
    fn is_known(&self, value: &Expr) -> bool {
        match value {
            Expr::MethodCall(call) if call.method == "val" => {
                match (wire(&call.receiver), part(&call.receiver)) {
                    (Some(wire), _) => wire.signal.to_string() == "q",
                    (None, Some((field, _))) => !self.assigned.contains(&field),
                    (None, None) => false,
                }
            }
            Expr::MethodCall(call) => {
                self.is_known(&call.receiver) && call.args.iter().all(|argument| self.is_known(argument))
            }
            Expr::Binary(binary) => self.is_known(&binary.left) && self.is_known(&binary.right),
            Expr::Unary(unary) => self.is_known(&unary.expr),
            Expr::Paren(paren) => self.is_known(&paren.expr),
            Expr::Group(group) => self.is_known(&group.expr),
            Expr::Call(call) => call.args.iter().all(|argument| self.is_known(argument)),
            Expr::Lit(_) | Expr::Path(_) => true,
            _ => false,
        }
    }
}

/// Writes `self.a.next = self.a.val().replace_bit(i, x)` without a copy of `a`, which may be wide. This is correct for a
/// signal of the block itself: reading it returns the value assigned last.
fn in_place(assignment: &ExprAssign) -> Option<TokenStream> {
    let Expr::MethodCall(replace) = &*assignment.right else { return None };
    let Expr::MethodCall(value) = &*replace.receiver else { return None };
    let target = driven(&assignment.left)?;
    let Expr::Field(own) = target else { return None };
    let is_own = matches!(&*own.base, Expr::Path(me) if me.path.is_ident("self"));
    let same = value.receiver.to_token_stream().to_string() == target.to_token_stream().to_string();
    if !is_own || !same || replace.method != "replace_bit" || value.method != "val" || replace.args.len() != 2
    {
        return None;
    }
    let (place, field) = (&replace.args[0], &replace.args[1]);
    let of = replace.turbofish.as_ref().and_then(|turbofish| turbofish.args.first());
    let of = of.map_or(quote!(_), |field| quote!(#field));
    Some(quote! {{
        let (place, field): (usize, #of) = (#place, #field);
        ::selvedge_hw::rtl::bits::Replace::replace(&mut #target.next, place, field);
    }})
}

/// Returns the conditions of an `if` and of all its `else if`.
fn conditions(branches: &ExprIf) -> Vec<&Expr> {
    let mut all = vec![&*branches.cond];
    if let Some((_, otherwise)) = &branches.else_branch
        && let Expr::If(next) = &**otherwise
    {
        all.extend(conditions(next));
    }
    all
}

/// Returns the signal of a sub-block that a path names. Returns `None` for a signal of the block itself.
fn wire(path: &Expr) -> Option<SubBlockSignal> {
    let Expr::Field(outer) = path else { return wire_of_element(path) };
    let (base, member) = (&*outer.base, &outer.member);
    if let Some((field, index)) = part(base) {
        return Some(SubBlockSignal { field, index, part: quote!(#base), signal: quote!(#member) });
    }
    let mut wire = wire(base)?;
    let inner = wire.signal;
    wire.signal = quote!(#inner.#member);
    Some(wire)
}

/// Returns the signal in `signal[i]`.
fn wire_of_element(path: &Expr) -> Option<SubBlockSignal> {
    let Expr::Index(element) = path else { return None };
    let mut wire = wire(&element.expr)?;
    let (inner, index) = (wire.signal, &element.index);
    wire.signal = quote!(#inner[#index]);
    Some(wire)
}

/// Returns the field and the index of `self.field` or `self.field[i]`.
fn part(path: &Expr) -> Option<(String, Option<String>)> {
    match path {
        Expr::Field(field) => match (&*field.base, &field.member) {
            (Expr::Path(me), Member::Named(member)) if me.path.is_ident("self") => {
                Some((member.to_string(), None))
            }
            _ => None,
        },
        Expr::Index(element) => {
            let (field, inner) = part(&element.expr)?;
            let index = element.index.to_token_stream().to_string();
            Some((field, Some(inner.map_or(index.clone(), |inner| format!("{inner}, {index}")))))
        }
        _ => None,
    }
}

/// Adds the signals of sub-blocks that an expression reads. Omits outputs of registers: they do not depend on the inputs.
fn collect(expr: &Expr, wires: &mut Vec<SubBlockSignal>) {
    match expr {
        Expr::MethodCall(call) => {
            if call.method == "val"
                && let Some(wire) = wire(&call.receiver)
                && wire.signal.to_string() != "q"
            {
                wires.push(wire);
            }
            collect(&call.receiver, wires);
            call.args.iter().for_each(|argument| collect(argument, wires));
        }
        Expr::Binary(binary) => {
            collect(&binary.left, wires);
            collect(&binary.right, wires);
        }
        Expr::Unary(unary) => collect(&unary.expr, wires),
        Expr::Paren(paren) => collect(&paren.expr, wires),
        Expr::Group(group) => collect(&group.expr, wires),
        Expr::Call(call) => call.args.iter().for_each(|argument| collect(argument, wires)),
        Expr::Field(field) => collect(&field.base, wires),
        Expr::Index(element) => {
            collect(&element.expr, wires);
            collect(&element.index, wires);
        }
        _ => {}
    }
}

/// Adds the signals of sub-blocks that the statements of a block read.
fn collect_block(block: &Block, wires: &mut Vec<SubBlockSignal>) {
    for statement in &block.stmts {
        if let Stmt::Expr(expr, _) = statement {
            collect_statement(expr, wires);
        }
    }
}

fn collect_statement(expr: &Expr, wires: &mut Vec<SubBlockSignal>) {
    match expr {
        Expr::Assign(assignment) => {
            collect(&assignment.left, wires);
            collect(&assignment.right, wires);
        }
        Expr::If(branches) => {
            collect(&branches.cond, wires);
            collect_block(&branches.then_branch, wires);
            if let Some((_, otherwise)) = &branches.else_branch {
                collect_statement(otherwise, wires);
            }
        }
        Expr::Match(choice) => {
            collect(&choice.expr, wires);
            choice.arms.iter().for_each(|arm| collect_statement(&arm.body, wires));
        }
        Expr::Block(inner) => collect_block(&inner.block, wires),
        Expr::ForLoop(turns) => collect_block(&turns.body, wires),
        _ => {}
    }
}

/// Returns `outer` and the variables of all loops in a block.
fn variables(block: &Block, mut outer: Vec<String>) -> Vec<String> {
    for statement in &block.stmts {
        match statement {
            Stmt::Expr(Expr::ForLoop(turns), _) => {
                outer.push(turns.pat.to_token_stream().to_string());
                outer = variables(&turns.body, outer);
            }
            Stmt::Expr(Expr::If(branches), _) => {
                outer = variables(&branches.then_branch, outer);
                if let Some((_, otherwise)) = &branches.else_branch {
                    outer = variables_of(otherwise, outer);
                }
            }
            Stmt::Expr(Expr::Match(choice), _) => {
                outer = choice.arms.iter().fold(outer, |outer, arm| variables_of(&arm.body, outer));
            }
            _ => {}
        }
    }
    outer
}

/// Returns `outer` and the variables of all loops in an `else` or in an arm of a `match`.
fn variables_of(expr: &Expr, outer: Vec<String>) -> Vec<String> {
    match expr {
        Expr::Block(inner) => variables(&inner.block, outer),
        Expr::If(branches) => {
            let outer = variables(&branches.then_branch, outer);
            match &branches.else_branch {
                Some((_, otherwise)) => variables_of(otherwise, outer),
                None => outer,
            }
        }
        _ => outer,
    }
}

/// Returns whether two sub-blocks of one field may be the same element: their texts are equal, or an index is not a number.
fn may_be_same(a: &TokenStream, b: &TokenStream) -> bool {
    a.to_string() == b.to_string() || !is_numbered(a) || !is_numbered(b)
}

/// Returns whether all indices of `self.part[1][2]` are numbers.
fn is_numbered(part: &TokenStream) -> bool {
    let is_number = |token| matches!(token, TokenTree::Literal(_));
    part.clone().into_iter().all(|token| match token {
        TokenTree::Group(index) => index.stream().into_iter().all(is_number),
        _ => true,
    })
}

/// Returns whether `code` contains one of the variables.
fn mentions(code: &TokenStream, variables: &[String]) -> bool {
    code.clone().into_iter().any(|token| match token {
        TokenTree::Ident(ident) => variables.contains(&ident.to_string()),
        TokenTree::Group(group) => mentions(&group.stream(), variables),
        _ => false,
    })
}
