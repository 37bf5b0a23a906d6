//! Turns the words of the pages, `words/{zh,en}.toml`, into types and values: a word that one language lacks, or that no page uses, is
//! found when the program is built.

use std::fmt::Write as _;
use std::{env, fs, path::Path};

use toml::{Table, Value};

fn main() {
    let [zh, en] = ["zh", "en"].map(read);
    let mut code = String::new();
    write_type(&mut code, "Labels", &zh);
    for (name, table) in [("ZH", &zh), ("EN", &en)] {
        let value = struct_value("Labels", table);
        let _ = writeln!(code, "pub(crate) static {name}: Labels = {value};");
    }
    let directory = env::var_os("OUT_DIR").expect("cargo sets it");
    fs::write(Path::new(&directory).join("labels.rs"), code).expect("the build directory");
}

fn read(lang: &str) -> Table {
    let file = format!("src/pages/words/{lang}.toml");
    println!("cargo::rerun-if-changed={file}");
    let text = fs::read_to_string(&file).expect("a file of words");
    toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Writes the type of a table, and before it the types of the tables in it.
fn write_type(code: &mut String, name: &str, table: &Table) {
    // The program asks what the words say; all others are the pages'.
    let visibility = if name == "InitLabels" {
        "pub"
    } else {
        "pub(crate)"
    };
    let mut fields = String::new();
    for (key, value) in table {
        let kind = match value {
            Value::Table(inner) if !is_counted(inner) => {
                write_type(code, &type_name(key), inner);
                type_name(key)
            }
            Value::Table(_) => "Counted".to_owned(),
            value => list_type(value),
        };
        let _ = writeln!(fields, "    {visibility} {key}: {kind},");
    }
    let _ = writeln!(
        code,
        "#[allow(missing_docs)]\n#[derive(Debug)]\n{visibility} struct {name} {{\n{fields}}}"
    );
}

fn type_name(key: &str) -> String {
    let mut name = String::new();
    for part in key.split('_') {
        let (first, rest) = part.split_at(1);
        name = name + &first.to_uppercase() + rest;
    }
    name + "Labels"
}

/// Whether a table is a sentence with a number.
fn is_counted(table: &Table) -> bool {
    table.keys().all(|key| key == "one" || key == "other")
}

fn list_type(value: &Value) -> String {
    match value.as_array() {
        Some(list) => format!("[{}; {}]", list_type(&list[0]), list.len()),
        None => "&'static str".to_owned(),
    }
}

fn struct_value(name: &str, table: &Table) -> String {
    let fields = table.iter().map(|(key, value)| {
        let value = match value {
            Value::Table(inner) if is_counted(inner) => {
                let text = |form: &str| inner.get(form).and_then(Value::as_str);
                let (one, other) = (text("one"), text("other").unwrap_or_default());
                format!("Counted {{ one: {one:?}, other: {other:?} }}")
            }
            Value::Table(inner) => struct_value(&type_name(key), inner),
            value => list_value(value),
        };
        format!("{key}: {value}")
    });
    format!("{name} {{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

fn list_value(value: &Value) -> String {
    match value {
        Value::Array(list) => {
            let values: Vec<String> = list.iter().map(list_value).collect();
            format!("[{}]", values.join(", "))
        }
        value => format!("{:?}", value.as_str().expect("words are texts")),
    }
}
