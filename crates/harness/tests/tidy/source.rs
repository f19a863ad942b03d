//! Rust sources as the compiler reads them: what a crate's modules define and use, and how long functions are.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Attribute, Expr, ExprLit, Item, Lit, Macro, UseTree, Visibility,
    visit::{self, Visit},
};

/// Names of modules from the root of a crate to one of them; empty for the root.
pub(crate) type ModulePath = Vec<String>;

/// One `use`, with groups taken apart: what is named, by which name, and whether others may name it here.
#[derive(Debug)]
struct Use {
    path: Vec<String>,
    name: String,
    exported: bool,
}

/// What one module defines and uses; what it holds for tests alone is left out.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// Structures, enumerations, traits, unions and type aliases.
    pub(crate) types: Vec<String>,
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths of two names or more that stand in its code.
    paths: Vec<Vec<String>>,
}

/// The modules of one crate.
pub(crate) type Modules = BTreeMap<ModulePath, Module>;

fn parsed(text: &str) -> TokenStream {
    text.parse().unwrap_or_else(|error| panic!("{error} in a source: {text:.80}"))
}

/// The code of a source without comments, white space and what strings and characters hold.
pub(crate) fn code(text: &str) -> String {
    fn append(tokens: TokenStream, code: &mut String) {
        let mut after_word = false;
        for token in tokens {
            let word = matches!(token, TokenTree::Ident(_));
            if word && after_word {
                code.push(' ');
            }
            after_word = word;
            match token {
                TokenTree::Group(group) => {
                    let [open, close] = match group.delimiter() {
                        Delimiter::Parenthesis => ['(', ')'],
                        Delimiter::Brace => ['{', '}'],
                        Delimiter::Bracket | Delimiter::None => ['[', ']'],
                    };
                    code.push(open);
                    append(group.stream(), code);
                    code.push(close);
                }
                TokenTree::Literal(_) => code.push('0'),
                other => *code += &other.to_string(),
            }
        }
    }
    let mut code = String::new();
    append(parsed(text), &mut code);
    code
}

/// Names of functions with their number of lines, from the line of `fn` to the closing brace, also of
/// those that stand in macros.
pub(crate) fn functions(text: &str) -> Vec<(String, usize)> {
    fn append(tokens: TokenStream, found: &mut Vec<(String, usize)>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (i, token) in tokens.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if word == "fn" => {
                    // A function type has no name, a declaration ends before a body.
                    let Some(TokenTree::Ident(name)) = tokens.get(i + 1) else { continue };
                    let body = tokens[i..].iter().find(|token| match token {
                        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
                        TokenTree::Punct(mark) => mark.as_char() == ';',
                        _ => false,
                    });
                    if let Some(TokenTree::Group(body)) = body {
                        let lines = body.span_close().end().line - word.span().start().line + 1;
                        found.push((name.to_string(), lines));
                    }
                }
                TokenTree::Group(group) => append(group.stream(), found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    append(parsed(text), &mut found);
    found
}

/// The modules of a crate from its files, each with the path of the module it holds.
pub(crate) fn modules(files: &[(ModulePath, String)]) -> Modules {
    let mut reader = Reader::default();
    for (path, text) in files {
        reader.path.clone_from(path);
        reader.modules.entry(path.clone()).or_default();
        let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        reader.visit_file(&file);
    }
    let Reader { mut modules, tests, .. } = reader;
    modules.retain(|path, _| !tests.iter().any(|test| path.starts_with(test)));
    modules
}

#[derive(Default)]
struct Reader {
    modules: Modules,
    /// Modules that exist for tests alone.
    tests: Vec<ModulePath>,
    /// Of the module being read.
    path: ModulePath,
}

impl Reader {
    fn here(&mut self) -> &mut Module {
        self.modules.entry(self.path.clone()).or_default()
    }

    fn add_use(&mut self, tree: &UseTree, mut path: Vec<String>, exported: bool) {
        let mut add = |path: Vec<String>, name: String| {
            self.here().uses.push(Use { path, name, exported });
        };
        match tree {
            UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.add_use(&inner.tree, path, exported);
            }
            UseTree::Name(leaf) if leaf.ident == "self" => {
                let name = path.last().cloned().unwrap_or_default();
                add(path, name);
            }
            UseTree::Name(leaf) => {
                path.push(leaf.ident.to_string());
                add(path, leaf.ident.to_string());
            }
            UseTree::Rename(leaf) => {
                if leaf.ident != "self" {
                    path.push(leaf.ident.to_string());
                }
                add(path, leaf.rename.to_string());
            }
            UseTree::Glob(_) => add(path, "*".to_owned()),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_use(tree, path.clone(), exported));
            }
        }
    }

    /// Paths among the tokens of a macro's call, which are not parsed.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if colons != 2 {
                        self.add_path(std::mem::take(&mut path));
                    }
                    path.push(word.to_string());
                    colons = 0;
                }
                TokenTree::Punct(mark) if mark.as_char() == ':' => colons += 1,
                other => {
                    self.add_path(std::mem::take(&mut path));
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        self.add_path(path);
    }

    fn add_path(&mut self, path: Vec<String>) {
        if path.len() > 1 {
            self.here().paths.push(path);
        }
    }
}

fn only_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let condition = attribute.meta.require_list();
        attribute.path().is_ident("cfg")
            && condition.is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

/// The stem of the file that a `path` attribute names.
fn file_named(attribute: &Attribute) -> Option<String> {
    let named = attribute.meta.require_name_value().ok().filter(|m| m.path.is_ident("path"))?;
    match &named.value {
        Expr::Lit(ExprLit { lit: Lit::Str(file), .. }) => {
            Some(file.value().trim_end_matches(".rs").to_owned())
        }
        _ => None,
    }
}

impl Visit<'_> for Reader {
    fn visit_item(&mut self, item: &Item) {
        let (attributes, name, is_type) = match item {
            Item::Struct(item) => (&item.attrs, Some(&item.ident), true),
            Item::Enum(item) => (&item.attrs, Some(&item.ident), true),
            Item::Trait(item) => (&item.attrs, Some(&item.ident), true),
            Item::Union(item) => (&item.attrs, Some(&item.ident), true),
            Item::Type(item) => (&item.attrs, Some(&item.ident), true),
            Item::Fn(item) => (&item.attrs, Some(&item.sig.ident), false),
            Item::Const(item) => (&item.attrs, Some(&item.ident), false),
            Item::Static(item) => (&item.attrs, Some(&item.ident), false),
            Item::Macro(item) => (&item.attrs, item.ident.as_ref(), false),
            Item::Mod(item) => (&item.attrs, None, false),
            Item::Use(item) => (&item.attrs, None, false),
            Item::Impl(item) => (&item.attrs, None, false),
            _ => return,
        };
        if only_for_tests(attributes) {
            if let Item::Mod(item) = item {
                // By `path` a file beside this one is named, not one below.
                let file = item.attrs.iter().find_map(file_named);
                let inside = if file.is_some() { self.path.len() - 1 } else { self.path.len() };
                let name = file.unwrap_or_else(|| item.ident.to_string());
                self.tests.push([&self.path[..inside], &[name]].concat());
            }
            return;
        }
        if let Some(name) = name {
            let here = self.here();
            here.items.insert(name.to_string());
            if is_type {
                here.types.push(name.to_string());
            }
        }
        match item {
            Item::Mod(module) => {
                self.path.push(module.ident.to_string());
                visit::visit_item(self, item);
                self.path.pop();
            }
            Item::Use(item) => {
                let exported = !matches!(item.vis, Visibility::Inherited);
                self.add_use(&item.tree, Vec::new(), exported);
            }
            _ => visit::visit_item(self, item),
        }
    }

    fn visit_block(&mut self, block: &syn::Block) {
        // What a function defines inside is its own: no other module can name it.
        for statement in &block.stmts {
            match statement {
                syn::Stmt::Item(Item::Use(item)) => self.add_use(&item.tree, Vec::new(), false),
                syn::Stmt::Item(item) => visit::visit_item(self, item),
                other => self.visit_stmt(other),
            }
        }
    }

    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            self.add_path(path.segments.iter().map(|s| s.ident.to_string()).collect());
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &Macro) {
        self.visit_path(&call.path);
        self.add_tokens(call.tokens.clone());
    }
}

/// The module of this crate that a path from `base` names something of; none where it leaves the crate.
/// What a module only hands on is that of the module which defines it.
fn resolve(modules: &Modules, base: &[String], path: &[String], depth: u32) -> Option<ModulePath> {
    let mut here = base.to_vec();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => {
            here.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|name| name == "super") {
                here.pop()?;
                rest = &rest[1..];
            }
        }
        child if modules.contains_key(&[base, &[child.to_owned()]].concat()) => {}
        _ => return None,
    }
    while let [name, tail @ ..] = rest {
        let child = [&here[..], std::slice::from_ref(name)].concat();
        if modules.contains_key(&child) {
            (here, rest) = (child, tail);
            continue;
        }
        let module = modules.get(&here)?;
        if depth > 0 && !module.items.contains(name) {
            let handed_on = module.uses.iter().filter(|found| found.exported);
            for found in handed_on.filter(|found| found.name == *name || found.name == "*") {
                let target = resolve(modules, &here, &found.path, depth - 1);
                let holds = |path: &ModulePath| modules[path].items.contains(name);
                if let Some(target) = target.filter(|path| found.name != "*" || holds(path)) {
                    return Some(target);
                }
            }
        }
        break;
    }
    Some(here)
}

/// Circles of sibling modules, each as a sentence. A module uses another where anything inside the one
/// names anything inside the other; a parent and its children do not count.
pub(crate) fn circles(modules: &Modules) -> Vec<String> {
    type Graph = BTreeMap<String, BTreeMap<String, String>>;
    const HANDED_ON: u32 = 6;
    let mut graphs: BTreeMap<ModulePath, Graph> = BTreeMap::new();
    for (from, module) in modules {
        let paths = module.uses.iter().map(|found| &found.path).chain(&module.paths);
        for path in paths {
            let Some(to) = resolve(modules, from, path, HANDED_ON) else { continue };
            let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
            if let (Some(a), Some(b)) = (from.get(common), to.get(common)) {
                let graph = graphs.entry(from[..common].to_vec()).or_default();
                let why = format!("{} names {}", from.join("::"), path.join("::"));
                graph.entry(a.clone()).or_default().entry(b.clone()).or_insert(why);
            }
        }
    }
    let mut circles = Vec::new();
    for graph in graphs.values() {
        let reached: BTreeMap<&String, BTreeSet<&String>> =
            graph.keys().map(|from| (from, reach(graph, from))).collect();
        for from in graph.keys() {
            let back = |to: &&String| reached.get(to).is_some_and(|set| set.contains(from));
            let members: Vec<&String> = reached[from].iter().copied().filter(back).collect();
            // Told once, by its first member.
            if members.first() == Some(&from) {
                let inside = |(to, _): &(&String, &String)| members.contains(to);
                let uses = members.iter().flat_map(|member| graph[*member].iter().filter(inside));
                let uses: Vec<&str> = uses.map(|(_, why)| why.as_str()).collect();
                circles.push(format!("circle of {members:?}: {}", uses.join("; ")));
            }
        }
    }
    circles
}

/// All that can be reached from a node, itself only where a circle leads back.
fn reach<'a>(
    graph: &'a BTreeMap<String, BTreeMap<String, String>>,
    from: &String,
) -> BTreeSet<&'a String> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&String> = vec![from];
    while let Some(node) = open.pop() {
        for next in graph.get(node).into_iter().flat_map(BTreeMap::keys) {
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    seen
}

#[test]
fn functions_are_measured_whatever_their_text_holds() {
    let source = "fn a() {\n  let s = \"{ fn b() {\";\n  let c = '{'; // {\n}\n\
                  fn d<'a>(x: &'a str) -> &'a str where 'a: 'static {\n  if x.is_empty() {\n  }\n  x\n}\n\
                  trait T { fn e(&self); }\ntype F = fn (u8);\nfn g() { r#\"}\"#; }\n\
                  fn h() -> [u8; 2] {\n  [0; 2]\n}\nproptest! {\n  fn i() {\n  }\n}\n";
    let expected = [("a", 4), ("d", 5), ("g", 1), ("h", 3), ("i", 2)];
    assert_eq!(functions(source), expected.map(|(name, lines)| (name.to_owned(), lines)));
}

#[test]
fn code_is_read_without_comments_and_strings() {
    let source = "/// HashMap\nfn a() { let b = \"HashMap\"; /* HashMap */ std :: time::now(b) }";
    assert_eq!(code(source), "#[doc=0]fn a(){let b=0;std::time::now(b)}");
}

/// The circles of a crate made of files.
#[cfg(test)]
fn circles_of(files: &[(&str, &str)]) -> usize {
    let path = |name: &str| name.split("::").filter(|n| !n.is_empty()).map(str::to_owned).collect();
    let files: Vec<(ModulePath, String)> =
        files.iter().map(|(name, text)| (path(name), (*text).to_owned())).collect();
    circles(&modules(&files)).len()
}

#[test]
fn circles_are_found_through_paths_macros_and_what_is_handed_on() {
    let root = ("", "mod a; mod b; pub use b::B;");
    let b = ("b", "pub struct B; fn f() { crate::a::f() }");
    assert_eq!(circles_of(&[root, ("a", "use super::b::B;"), b]), 1);
    assert_eq!(circles_of(&[root, ("a", "pub fn f() { let _ = crate::B; }"), b]), 1);
    assert_eq!(circles_of(&[root, ("a", "fn f() { assert!(crate::b::B) }"), b]), 1);
    assert_eq!(circles_of(&[root, ("a", "use std::b::B;"), b]), 0);
    // A glob hands on what the module behind it defines.
    let inner = ("b::inner", "pub struct C; use crate::a;");
    let glob = ("b", "mod inner; pub use inner::*;");
    assert_eq!(circles_of(&[("", "mod a; mod b;"), ("a", "use crate::b::C;"), glob, inner]), 1);
}

#[test]
fn circles_count_siblings_only_and_no_tests() {
    let child =
        [("", "mod a;"), ("a", "mod b; use b::B; pub struct A;"), ("a::b", "use super::A;")];
    assert_eq!(circles_of(&child), 0);
    let tests = [
        ("", "mod a; mod b;"),
        ("a", "use crate::b::B; pub struct A;"),
        ("b", "pub struct B; #[cfg(test)] mod tests; #[cfg(test)] #[path = \"c.rs\"] mod more;"),
        ("b::tests", "use crate::a::A;"),
        ("c", "use crate::{a::A, b::B};"),
    ];
    assert_eq!(circles_of(&tests), 0);
}
