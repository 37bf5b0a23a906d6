//! The sizes of the types of `src/`: at most 12 fields and 25 methods each, and no visible field in a type that has behaviour.
//!
//! `tests/sizes.toml` lists the types above these limits with today's numbers. Its numbers only fall: the test fails when a type
//! grows past its entry, when a type that has no entry passes a limit, and when an entry is higher than the code needs.
//!
//! What counts: the fields of a braced struct; the methods in inherent impls of all files of the crate, and free functions whose
//! first parameter is `&mut` of the type. An impl belongs to the type of that name in the nearest module. Fields of a private type
//! are not visible, and code under `cfg(test)` does not count. What it does not see: methods of traits, a type that was split by name
//! only, and a tuple that should be a type.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Deserialize;
use syn::{Attribute, Fields, FnArg, ImplItem, Item, Meta, Type, Visibility};

use crate::support::ROOT;

const MAX_FIELDS: usize = 12;
const MAX_METHODS: usize = 25;
/// A type with so many methods keeps its fields to itself; one with fewer is a record, whose fields are its interface.
const MIN_METHODS_OF_BEHAVIOUR: usize = 5;
/// What a record may mirror whose number of fields others decide.
const REASONS: [&str; 4] = ["row", "answer", "page", "settings"];

/// What is counted of a type; in the table, only what is above the limits.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Size {
    fields: usize,
    methods: usize,
    visible: usize,
}

impl Size {
    /// Returns the numbers that need an entry in the table.
    fn excess(self) -> Self {
        let above = |number, max| if number > max { number } else { 0 };
        let is_record = self.methods < MIN_METHODS_OF_BEHAVIOUR;
        Self {
            fields: above(self.fields, MAX_FIELDS),
            methods: above(self.methods, MAX_METHODS),
            visible: if is_record { 0 } else { self.visible },
        }
    }
}

/// A line of the table.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Ceiling {
    fields: usize,
    methods: usize,
    visible: usize,
    reason: Option<String>,
}

/// `tests/sizes.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    /// The sum of the visible fields of all entries.
    visible: usize,
    types: BTreeMap<String, Ceiling>,
}

/// The declarations of all files, before methods are given to their types.
#[derive(Debug, Default)]
struct Declarations {
    /// Module and name of each type.
    types: BTreeMap<(String, String), Size>,
    /// Module of the impl or function, and the name of its type.
    methods: Vec<(String, String)>,
    test_modules: BTreeSet<String>,
}

impl Declarations {
    fn add_items(&mut self, module: &str, items: &[Item]) {
        for item in items {
            match item {
                Item::Mod(inner) => {
                    let path = format!("{module}::{}", inner.ident);
                    if is_test_only(&inner.attrs) {
                        self.test_modules.insert(path);
                    } else if let Some((_, items)) = &inner.content {
                        self.add_items(&path, items);
                    }
                }
                Item::Struct(item) if !is_test_only(&item.attrs) => {
                    let is_private = is_hidden(&item.vis);
                    let mut size = Size::default();
                    if let Fields::Named(fields) = &item.fields {
                        let fields = fields.named.iter().filter(|f| !is_test_only(&f.attrs));
                        size.fields = fields.clone().count();
                        let visible = fields.filter(|f| !is_private && !is_hidden(&f.vis));
                        size.visible = visible.count();
                    }
                    self.add_type(module, item.ident.to_string(), size);
                }
                Item::Enum(item) if !is_test_only(&item.attrs) => {
                    self.add_type(module, item.ident.to_string(), Size::default());
                }
                Item::Impl(item) if item.trait_.is_none() && !is_test_only(&item.attrs) => {
                    let is_method = |part: &&ImplItem| match part {
                        ImplItem::Fn(method) => !is_test_only(&method.attrs),
                        _ => false,
                    };
                    let count = item.items.iter().filter(is_method).count();
                    if let Some(name) = type_name(&item.self_ty) {
                        let method = (module.to_owned(), name);
                        self.methods.extend(std::iter::repeat_n(method, count));
                    }
                }
                Item::Fn(item) if !is_test_only(&item.attrs) => {
                    if let Some(FnArg::Typed(first)) = item.sig.inputs.first()
                        && let Type::Reference(reference) = &*first.ty
                        && reference.mutability.is_some()
                        && let Some(name) = type_name(&reference.elem)
                    {
                        self.methods.push((module.to_owned(), name));
                    }
                }
                // A table such as `words! { … }` that declares types in Rust's own form.
                Item::Macro(item) => {
                    if let Ok(file) = syn::parse2::<syn::File>(item.mac.tokens.clone()) {
                        self.add_items(module, &file.items);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_type(&mut self, module: &str, name: String, size: Size) {
        let entry = self.types.entry((module.to_owned(), name));
        let known = entry.or_default();
        // One type for each system: the larger.
        if size.fields > known.fields {
            *known = size;
        }
    }

    /// Returns the size of each type by its path.
    fn into_sizes(mut self) -> BTreeMap<String, Size> {
        let tests = std::mem::take(&mut self.test_modules);
        let is_test = |module: &str| {
            let is_in = |test: &String| {
                let rest = module.strip_prefix(test.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
            };
            tests.iter().any(is_in)
        };
        self.types.retain(|(module, _), _| !is_test(module));
        for (module, name) in self.methods {
            if is_test(&module) {
                continue;
            }
            let of_name = self.types.iter_mut().filter(|((home, known), _)| {
                *known == name && home.split("::").next() == module.split("::").next()
            });
            let nearest = of_name.max_by_key(|((home, _), _)| {
                let own = home.split("::").zip(module.split("::"));
                own.take_while(|(a, b)| a == b).count()
            });
            if let Some((_, size)) = nearest {
                size.methods += 1;
            }
        }
        let named = self.types.into_iter();
        named
            .map(|((module, name), size)| (format!("{module}::{name}"), size))
            .collect()
    }
}

/// Whether an attribute says `cfg(test)`, or that with other conditions.
fn is_test_only(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => {
            let condition = list.tokens.to_string();
            let words: Vec<&str> = condition.split(|c: char| !c.is_alphanumeric()).collect();
            words.contains(&"test") && !words.contains(&"not")
        }
        _ => false,
    })
}

fn is_hidden(visibility: &Visibility) -> bool {
    match visibility {
        Visibility::Inherited => true,
        Visibility::Restricted(restricted) => restricted.path.is_ident("self"),
        Visibility::Public(_) => false,
    }
}

/// The last name of a path such as `super::Tree<'a>`.
fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
        _ => None,
    }
}

/// Counts the types of sources, each with the path of its module.
fn measure<'t>(sources: impl IntoIterator<Item = (&'t str, &'t str)>) -> BTreeMap<String, Size> {
    let mut declarations = Declarations::default();
    for (module, text) in sources {
        let file = syn::parse_file(text).unwrap_or_else(|e| panic!("{module}: {e}"));
        declarations.add_items(module, &file.items);
    }
    declarations.into_sizes()
}

/// Says where the types and the table differ; empty if the table is exact.
fn differences(sizes: &BTreeMap<String, Size>, table: &Table) -> Vec<String> {
    let mut found = Vec::new();
    let none = Ceiling::default();
    let names: BTreeSet<&String> = sizes.keys().chain(table.types.keys()).collect();
    for name in names {
        let excess = sizes.get(name).copied().unwrap_or_default().excess();
        let ceiling = table.types.get(name).unwrap_or(&none);
        for (what, number, ceiling, max) in [
            ("fields", excess.fields, ceiling.fields, MAX_FIELDS),
            ("methods", excess.methods, ceiling.methods, MAX_METHODS),
            ("visible fields", excess.visible, ceiling.visible, 0),
        ] {
            if number > ceiling {
                let at_most = ceiling.max(max);
                found.push(format!("{name}: {number} {what}, at most {at_most}"));
            } else if number < ceiling && number == 0 {
                found.push(format!("{name}: the entry for its {what} is not needed"));
            } else if number < ceiling {
                found.push(format!("{name}: lower {what} from {ceiling} to {number}"));
            }
        }
        if let Some(reason) = &ceiling.reason
            && (ceiling.fields == 0 || !REASONS.contains(&reason.as_str()))
        {
            found.push(format!("{name}: `{reason}` is no reason for its entry"));
        }
    }
    let visible: usize = sizes.values().map(|size| size.excess().visible).sum();
    if visible != table.visible {
        let listed = table.visible;
        found.push(format!("visible = {listed}: should be {visible}"));
    }
    found
}

/// The module of a file below `src/`: `crawl/src/store/mod.rs` is `crawl::store`; `None` for a build script.
fn module_of(file: &str) -> Option<String> {
    let (of_crate, inner) = file.strip_suffix(".rs")?.split_once("/src/")?;
    let path = format!("{of_crate}/{inner}");
    let module = ["/mod", "/lib", "/main"].iter();
    let short = module.fold(&*path, |path, end| path.strip_suffix(end).unwrap_or(path));
    Some(short.replace('/', "::"))
}

#[test]
fn types_keep_to_their_sizes() {
    let root = Path::new(ROOT).join("src");
    let mut files = Vec::new();
    super::sources(&root, &mut files);
    let mut sources = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).expect("below src");
        if let Some(module) = module_of(&name.to_string_lossy()) {
            let text = fs::read_to_string(&path).expect("source is UTF-8");
            sources.push((module, text));
        }
    }
    let sizes = measure(sources.iter().map(|(m, t)| (m.as_str(), t.as_str())));
    assert!(sizes.len() > 800, "only {} types found", sizes.len());
    let table = fs::read_to_string(Path::new(ROOT).join("tests/sizes.toml")).expect("the table");
    let table: Table = toml::from_str(&table).expect("tests/sizes.toml");
    let found = differences(&sizes, &table);
    assert!(
        found.is_empty(),
        "{} differences from tests/sizes.toml, whose numbers only fall:\n{}",
        found.len(),
        found.join("\n")
    );
}

/// A struct with so many private fields.
fn wide(name: &str, fields: usize) -> String {
    let fields: String = (0..fields).map(|n| format!("f{n}: u8, ")).collect();
    format!("pub struct {name} {{ {fields} }}\n")
}

/// An impl with so many methods.
fn tall(head: &str, methods: usize) -> String {
    let methods: String = (0..methods).map(|n| format!("fn m{n}() {{}} ")).collect();
    format!("{head} {{ {methods} }}\n")
}

#[test]
fn measure_counts_what_belongs_to_a_type() {
    let size = |fields, methods, visible| Size {
        fields,
        methods,
        visible,
    };
    let braces = "pub struct T { a: u8 } // } struct X { b: u8\n/* impl T { fn no() {} } */ \
                  impl T { fn m(&self) -> &str { \"} fn no() {\" } }";
    let generic = "pub struct T<'a, A: Clone, B = HashMap<A, u8>> where A: 'a { pub map: HashMap<A, B>, list: Vec<(A, B)> }\n\
                   impl<'a, A: Clone, B> T<'a, A, B> where HashMap<A, B>: Sized { fn a() {} async fn b() {} const fn c() {} }\n\
                   impl<A> From<A> for T<'_, A> { fn from(a: A) -> Self { T(a) } }";
    let tested = "pub struct T { a: u8, #[cfg(test)] seen: u8 } impl T { fn a() {} #[cfg(test)] fn no() {} }\n\
                  #[cfg(test)] impl T { fn no() {} } #[cfg(test)] mod tests { impl super::T { fn no() {} } struct U { a: u8 } }\n\
                  #[cfg(not(test))] impl T { fn b() {} }";
    let free = "pub struct T { a: u8 } fn a(t: &mut T, n: u8) {} fn no(t: &T) {} fn no_too(n: u8, t: &mut T) {}";
    let visible = "pub struct T { pub a: u8, pub(crate) b: u8, pub(super) c: u8, pub(self) d: u8, e: u8 }\n\
                   struct U { pub a: u8 }";
    let in_macro = "words! { pub struct T { a: u8, b: u8 } impl T { fn m() {} } }";
    for (case, text, expected) in [
        ("13 fields", wide("T", 13), size(13, 0, 0)),
        (
            "two impls",
            wide("T", 1) + &tall("impl T", 2) + &tall("impl T", 3),
            size(1, 5, 0),
        ),
        (
            "braces in comments and strings",
            braces.to_owned(),
            size(1, 1, 0),
        ),
        ("generics, where, traits", generic.to_owned(), size(2, 3, 1)),
        ("tests", tested.to_owned(), size(1, 2, 0)),
        ("free functions", free.to_owned(), size(1, 1, 0)),
        ("visible fields", visible.to_owned(), size(5, 0, 3)),
        ("a macro", in_macro.to_owned(), size(2, 1, 0)),
    ] {
        let sizes = measure([("one", &*text)]);
        assert_eq!(sizes.get("one::T"), Some(&expected), "{case}");
    }
    let hidden = measure([("one", visible)]);
    assert_eq!(hidden["one::U"], size(1, 0, 0), "a private type");
}

#[test]
fn measure_joins_the_files_of_a_crate() {
    let sizes = measure([
        ("one::page", &*wide("Tree", 2)),
        ("one::page::open", &*tall("impl super::Tree", 20)),
        ("one::other", &*tall("impl crate::page::Tree<'_>", 6)),
        ("one::page", "#[cfg(test)]\nmod trial;"),
        ("one::page::trial", &*tall("impl super::Tree", 9)),
        ("one::list", &*wide("Config", 3)),
        ("one::page", &*wide("Config", 4)),
        ("one::page::open", "fn set(config: &mut Config) {}"),
        ("two", &*tall("impl Tree", 9)),
    ]);
    let size = |name: &str| sizes.get(name).map(|s| (s.fields, s.methods));
    assert_eq!(size("one::page::Tree"), Some((2, 26)));
    assert_eq!(size("one::page::Config"), Some((4, 1)), "the nearest");
    assert_eq!(size("one::list::Config"), Some((3, 0)));
    assert_eq!(sizes.len(), 3, "{sizes:?}");
    for (file, module) in [
        ("crawl/src/lib.rs", Some("crawl")),
        ("crawl/src/store/mod.rs", Some("crawl::store")),
        (
            "crawl/src/store/sql/node.rs",
            Some("crawl::store::sql::node"),
        ),
        ("search/build.rs", None),
    ] {
        assert_eq!(module_of(file).as_deref(), module, "{file}");
    }
}

#[test]
fn table_differs_in_both_directions() {
    let text = wide("Wide", 14)
        + &wide("Tall", 1)
        + &tall("impl Tall", 27)
        + "pub struct Open { pub a: u8, pub b: u8 }"
        + &tall("impl Open", 5)
        + "pub struct Record { pub a: u8 }"
        + &tall("impl Record", 4);
    let sizes = measure([("one", &*text)]);
    for (case, visible, types, expected) in [
        (
            "exact",
            2,
            "'one::Wide' = { fields = 14, reason = 'row' }\n'one::Tall' = { methods = 27 }\n'one::Open' = { visible = 2 }",
            &[] as &[&str],
        ),
        (
            "new types",
            0,
            "",
            &[
                "one::Open: 2 visible fields, at most 0",
                "one::Tall: 27 methods, at most 25",
                "one::Wide: 14 fields, at most 12",
                "visible = 0: should be 2",
            ],
        ),
        (
            "grown types",
            1,
            "'one::Wide' = { fields = 13 }\n'one::Tall' = { methods = 26 }\n'one::Open' = { visible = 1 }",
            &[
                "one::Open: 2 visible fields, at most 1",
                "one::Tall: 27 methods, at most 26",
                "one::Wide: 14 fields, at most 13",
                "visible = 1: should be 2",
            ],
        ),
        (
            "fallen types",
            2,
            "'one::Wide' = { fields = 15 }\n'one::Tall' = { methods = 27, fields = 13 }\n'one::Open' = { visible = 2 }\n\
             'one::Gone' = { methods = 30 }",
            &[
                "one::Gone: the entry for its methods is not needed",
                "one::Tall: the entry for its fields is not needed",
                "one::Wide: lower fields from 15 to 14",
            ],
        ),
        (
            "bad reasons",
            2,
            "'one::Wide' = { fields = 14, reason = 'old' }\n'one::Tall' = { methods = 27, reason = 'row' }\n\
             'one::Open' = { visible = 2 }",
            &[
                "one::Tall: `row` is no reason for its entry",
                "one::Wide: `old` is no reason for its entry",
            ],
        ),
    ] {
        let table = format!("visible = {visible}\n[types]\n{types}\n");
        let table: Table = toml::from_str(&table).expect("a table");
        assert_eq!(differences(&sizes, &table), expected, "{case}");
    }
}
