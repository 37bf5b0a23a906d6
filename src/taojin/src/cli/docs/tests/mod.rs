//! What is made from the command line's description is whole, and what the documents show of it is true.

mod examples;
mod reference;

use super::*;

#[test]
fn man_pages_are_complete() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = crate::cli::Cli::command().disable_help_subcommand(true);
    write(dir.path(), command.clone()).unwrap();
    command.build();
    for sub in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        let page = dir.path().join(format!("taojin-{}.1", sub.get_name()));
        let text = fs::read_to_string(&page).unwrap();
        assert!(text.contains(".SH SYNOPSIS"), "{}", page.display());
    }
    assert!(!dir.path().join("taojin-man.1").exists());
    let page = fs::read_to_string(dir.path().join("taojin.toml.5")).unwrap();
    let settings = toml::Table::try_from(crate::config::Config::default()).unwrap();
    let sections = settings
        .iter()
        .filter_map(|(n, v)| Some((n, v.as_table()?)));
    for (section, keys) in sections {
        let of_section = page.split(&format!(".SH [{section}]\n")).nth(1);
        let of_section = of_section.and_then(|t| t.split(".SH ").next()).unwrap();
        for key in keys.keys() {
            let entry = format!(".TP\n\\fB{key} = ");
            assert!(of_section.contains(&entry), "{section}.{key}\n{of_section}");
        }
    }
}
