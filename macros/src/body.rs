//! Translates statements into data: constructors of `selvedge_hw::rtl::source::Statement`.

use crate::calls::{MacroCall, call};
use crate::expression::{BodyValues, expression, field_place, literal};
use crate::name::name;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    Attribute, Block, Error, Expr, ExprAssign, ExprForLoop, ExprIf, ExprMatch, Lit, Member, Pat, RangeLimits,
    Result, Stmt,
};

/// Translates a body into data.
#[derive(Default)]
pub struct BodyTranslator {
    /// The body's numbers that depend on the block's parameters.
    pub values: BodyValues,
    /// The variables of the loops around the current statement.
    loops: Vec<String>,
}

impl BodyTranslator {
    /// Returns the block as an array of statements.
    ///
    /// # Errors
    /// The combined errors of all statements that have no meaning in hardware.
    pub fn block(&mut self, block: &Block) -> Result<TokenStream> {
        let (mut statements, mut errors) = (vec![], None::<Error>);
        for statement in &block.stmts {
            match self.statement(statement) {
                Ok(data) => statements.push(data),
                Err(error) => match &mut errors {
                    Some(errors) => errors.combine(error),
                    None => errors = Some(error),
                },
            }
        }
        match errors {
            Some(errors) => Err(errors),
            None => Ok(quote!(&[#(#statements),*])),
        }
    }

    fn statement(&mut self, statement: &Stmt) -> Result<TokenStream> {
        match statement {
            Stmt::Expr(expr, _) => self.expression_statement(expr),
            Stmt::Macro(statement) => {
                no_attributes(&statement.attrs)?;
                match call(&statement.mac)? {
                    MacroCall::Comment(text) => Ok(quote!(Statement::Comment(#text))),
                    MacroCall::Registers(wired) => {
                        let (clock, registers) = wired.names()?;
                        Ok(quote!(Statement::Registers { clock: #clock, registers: &[#(#registers),*] }))
                    }
                }
            }
            Stmt::Local(_) => Err(Error::new_spanned(
                statement,
                "there is no `let` in a block's body; a `Signal<Local, _>` takes its place",
            )),
            Stmt::Item(_) => {
                Err(Error::new_spanned(statement, "a block's body cannot have items of its own"))
            }
        }
    }

    fn expression_statement(&mut self, expr: &Expr) -> Result<TokenStream> {
        match expr {
            Expr::Assign(assignment) => self.assignment(assignment),
            Expr::If(branches) => self.branches(branches),
            Expr::Match(choice) => self.choice(choice),
            Expr::ForLoop(turns) => self.turns(turns),
            _ => Err(Error::new_spanned(
                expr,
                "a statement is an assignment to `.next`, `if`, `match`, `for`, `dff_setup!` or `comment!`",
            )),
        }
    }

    fn assignment(&mut self, assignment: &ExprAssign) -> Result<TokenStream> {
        const ALLOWED: &str = "assign to `.next` of a signal: `self.a.b[i].next = ...`";
        no_attributes(&assignment.attrs)?;
        let Expr::Field(target) = &*assignment.left else {
            return Err(Error::new_spanned(&assignment.left, ALLOWED));
        };
        if is_next(&target.member) {
            let (signal, value) = (name(target)?, expression(&assignment.right, &mut self.values)?);
            return Ok(quote!(Statement::Assign(#signal, #value)));
        }
        match &*target.base {
            Expr::Field(whole) if is_next(&whole.member) => {
                let signal = name(&whole.base)?;
                let (width, offset) = field_place(&target.base, &target.member, &mut self.values)?;
                let value = expression(&assignment.right, &mut self.values)?;
                Ok(quote!(Statement::AssignField {
                    signal: #signal, width: #width, offset: #offset, value: #value
                }))
            }
            _ => Err(Error::new_spanned(target, ALLOWED)),
        }
    }

    fn branches(&mut self, branches: &ExprIf) -> Result<TokenStream> {
        no_attributes(&branches.attrs)?;
        let test = expression(&branches.cond, &mut self.values)?;
        let then = self.block(&branches.then_branch)?;
        let otherwise = match &branches.else_branch {
            None => quote!(Else::Nothing),
            Some((_, otherwise)) => match &**otherwise {
                Expr::If(next) => {
                    let next = self.branches(next)?;
                    quote!(Else::If(&#next))
                }
                Expr::Block(block) => {
                    let block = self.block(&block.block)?;
                    quote!(Else::Block(#block))
                }
                other => return Err(Error::new_spanned(other, "`else` is followed by a block or by `if`")),
            },
        };
        Ok(quote!(Statement::If { test: #test, then: #then, otherwise: #otherwise }))
    }

    fn choice(&mut self, choice: &ExprMatch) -> Result<TokenStream> {
        no_attributes(&choice.attrs)?;
        let test = expression(&choice.expr, &mut self.values)?;
        let mut cases = vec![];
        for arm in &choice.arms {
            no_attributes(&arm.attrs)?;
            if let Some((_, guard)) = &arm.guard {
                return Err(Error::new_spanned(
                    guard,
                    "a case cannot have a condition; use `if` inside of it",
                ));
            }
            let condition = pattern(&arm.pat)?;
            let block = match &*arm.body {
                Expr::Block(body) => self.block(&body.block)?,
                body => {
                    let statement = self.expression_statement(body)?;
                    quote!(&[#statement])
                }
            };
            cases.push(quote!((#condition, #block)));
        }
        Ok(quote!(Statement::Match(#test, &[#(#cases),*])))
    }

    fn turns(&mut self, turns: &ExprForLoop) -> Result<TokenStream> {
        const ALLOWED: &str =
            "a loop is `for name in from..to`, with bounds that are known when the block is built";
        no_attributes(&turns.attrs)?;
        if let Some(label) = &turns.label {
            return Err(Error::new_spanned(label, "a loop cannot have a label: nothing can leave it early"));
        }
        let Pat::Ident(variable) = &*turns.pat else { return Err(Error::new_spanned(&turns.pat, ALLOWED)) };
        let Expr::Range(range) = &*turns.expr else { return Err(Error::new_spanned(&turns.expr, ALLOWED)) };
        if let RangeLimits::Closed(limits) = &range.limits {
            return Err(Error::new_spanned(limits, "a loop's range is exclusive: write `from..to + 1`"));
        }
        let (Some(from), Some(to)) = (&range.start, &range.end) else {
            return Err(Error::new_spanned(range, ALLOWED));
        };
        let (from, to) = (self.bound(from)?, self.bound(to)?);
        let variable = variable.ident.to_string();
        self.loops.push(variable.clone());
        let block = self.block(&turns.body);
        self.loops.pop();
        let block = block?;
        Ok(quote!(Statement::Loop { variable: #variable, from: #from, to: #to, block: #block }))
    }

    /// Returns a loop bound as data.
    fn bound(&mut self, bound: &Expr) -> Result<TokenStream> {
        if let Expr::Lit(constant) = bound
            && matches!(constant.lit, Lit::Int(_))
        {
            let literal = literal(&constant.lit)?;
            return Ok(quote!(Bound::Literal(#literal)));
        }
        if let Some(variable) = mentions(bound.to_token_stream(), &self.loops) {
            let text =
                format!("the bound of a loop cannot depend on the variable `{variable}` of an outer loop");
            return Err(Error::new_spanned(bound, text));
        }
        let place = self.values.place(bound.to_token_stream());
        Ok(quote!(Bound::Value(#place)))
    }
}

/// Returns the first identifier in `code` that is one of `names`.
fn mentions(code: TokenStream, names: &[String]) -> Option<String> {
    code.into_iter().find_map(|token| match token {
        TokenTree::Ident(ident) => Some(ident.to_string()).filter(|name| names.contains(name)),
        TokenTree::Group(group) => mentions(group.stream(), names),
        _ => None,
    })
}

fn is_next(member: &Member) -> bool {
    matches!(member, Member::Named(member) if member == "next")
}

/// Refuses attributes, such as `#[cfg(test)]`.
pub fn no_attributes(attributes: &[Attribute]) -> Result<()> {
    match attributes.first() {
        Some(attribute) => Err(Error::new_spanned(attribute, "an attribute has no meaning in hardware")),
        None => Ok(()),
    }
}

/// Returns the text of a `match` pattern: `default` for `_`.
fn pattern(pattern: &Pat) -> Result<String> {
    match pattern {
        Pat::Wild(_) => Ok("default".to_string()),
        Pat::Lit(constant) => Ok(constant.to_token_stream().to_string()),
        Pat::Path(path) => name(path),
        // The compiler takes a lower-case name for a new variable, which matches every value.
        Pat::Ident(constant)
            if constant.by_ref.is_none()
                && constant.mutability.is_none()
                && constant.subpat.is_none()
                && constant.ident.to_string().starts_with(|c: char| c.is_uppercase()) =>
        {
            name(&constant.ident)
        }
        _ => Err(Error::new_spanned(
            pattern,
            "the pattern of a case is a number, `true`, `false`, a constant, a variant or `_`",
        )),
    }
}
