//! Generates `connect`, which marks every signal that a body drives. A mark is inside the same loops as the assignment.

use crate::calls::{MacroCall, call};
use crate::name::name;
use proc_macro2::TokenStream;
use quote::quote;
use std::collections::HashSet;
use syn::{Block, Expr, Member, Result, Stmt};

/// Returns the statements of `connect`. Each signal is marked once, even if the body assigns it several times.
pub fn connects(body: &Block) -> Result<TokenStream> {
    let mut out = TokenStream::new();
    block(body, &mut HashSet::new(), &mut out)?;
    Ok(out)
}

fn block(body: &Block, seen: &mut HashSet<String>, out: &mut TokenStream) -> Result<()> {
    for statement in &body.stmts {
        match statement {
            Stmt::Expr(expr, _) => expression(expr, seen, out)?,
            Stmt::Macro(statement) => {
                if let MacroCall::Registers(wired) = call(&statement.mac)? {
                    let me = &wired.block;
                    for register in &wired.registers {
                        mark(&quote!(#me.#register.clock), seen, out)?;
                        mark(&quote!(#me.#register.d), seen, out)?;
                    }
                }
            }
            Stmt::Local(_) | Stmt::Item(_) => {}
        }
    }
    Ok(())
}

fn expression(expr: &Expr, seen: &mut HashSet<String>, out: &mut TokenStream) -> Result<()> {
    match expr {
        Expr::Assign(assignment) => {
            if let Some(signal) = driven(&assignment.left) {
                mark(&quote!(#signal), seen, out)?;
            }
        }
        Expr::If(branches) => {
            block(&branches.then_branch, seen, out)?;
            if let Some((_, otherwise)) = &branches.else_branch {
                expression(otherwise, seen, out)?;
            }
        }
        Expr::Match(choice) => {
            for arm in &choice.arms {
                expression(&arm.body, seen, out)?;
            }
        }
        Expr::Block(inner) => block(&inner.block, seen, out)?,
        Expr::ForLoop(turns) => {
            // Inside a loop, elements are marked again: the loop variable may have the name of an outer one.
            let mut inside: HashSet<String> =
                seen.iter().filter(|name| !name.contains('[')).cloned().collect();
            let mut marks = TokenStream::new();
            block(&turns.body, &mut inside, &mut marks)?;
            let (variable, range) = (&turns.pat, &turns.expr);
            if !marks.is_empty() {
                out.extend(quote!(for #variable in #range { #marks }));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Returns the signal in `signal.next` or `signal.next.field`.
pub fn driven(target: &Expr) -> Option<&Expr> {
    let Expr::Field(field) = target else { return None };
    match &field.member {
        Member::Named(member) if member == "next" => Some(&field.base),
        _ => driven(&field.base),
    }
}

fn mark(signal: &TokenStream, seen: &mut HashSet<String>, out: &mut TokenStream) -> Result<()> {
    if seen.insert(name(signal)?) {
        out.extend(quote!(::selvedge_hw::rtl::source::Logic::connect(&mut #signal);));
    }
    Ok(())
}
