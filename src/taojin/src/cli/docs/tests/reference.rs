//! `docs/cli.md`: the command line as Markdown, from the same description as `--help` and the manual pages.
//!
//! [`markdown`] writes it. The test compares the file with it, and writes the file where `TAOJIN_WRITE_DOCS` is set.

use clap::{Arg, Command, CommandFactory as _};

const PATH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
const MAKE: &str = "TAOJIN_WRITE_DOCS=1 cargo test -p taojin --lib cli::docs::tests::reference";

/// What no single command says.
const INTRODUCTION: &str = "\
**English** · [简体中文](cli.zh-CN.md)

`taojin COMMAND --help` prints the same about one command, `-h` the first sentence of each option. The query language is in
[search.md](search.md), every setting in `config/reference.toml`.

Results go to stdout, progress and logs to stderr. With `--json` the output is for programs and its format is stable. Where the
locale is Chinese, `status`, `check` and errors are in Chinese.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | failed. `crawl` also ends with it when a site yielded nothing because of a failure, `extract` when an input is not a page, `run` for what may pass by itself, such as a taken port, so that systemd starts it again |
| 2 | a mistake in the arguments, the configuration or the place (data in use, port taken), explained in one line: trying again changes nothing |
| 3 | done, but changes wait in the store for the search index, which cannot be written: the next command or daemon takes them in |
";

/// Returns the reference of a command with all below it; what is hidden is left out.
fn markdown(mut command: Command) -> String {
    command.build();
    let mut text = format!(
        "<!-- Made from src/taojin/src/cli. Do not edit; make it again with:\n     {MAKE} -->\n\n# Command line\n\n{INTRODUCTION}\n"
    );
    let commands = visible_commands(&command);
    text += "| command | what it does |\n|---|---|\n";
    for sub in &commands {
        let (name, about) = (sub.get_name(), about(sub));
        text += &format!("| [`{name}`](#taojin-{name}) | {about} |\n");
    }
    text += "\n## Options of all commands\n\n";
    for arg in command.get_arguments().filter(|a| is_listed(a)) {
        text += &describe(arg);
    }
    for sub in commands {
        add_command(&mut text, sub, "##");
    }
    text
}

fn add_command(text: &mut String, command: &Command, level: &str) {
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let usage = command.clone().render_usage().to_string();
    let usage = usage.strip_prefix("Usage: ").unwrap_or(&usage);
    *text += &format!(
        "\n{level} {name}\n\n{}\n\n```text\n{usage}\n```\n",
        about(command)
    );
    let own = |arg: &&Arg| is_listed(arg) && !arg.is_global_set();
    let args: Vec<&Arg> = command.get_arguments().filter(own).collect();
    if !args.is_empty() {
        text.push('\n');
    }
    for arg in args {
        *text += &describe(arg);
    }
    for sub in visible_commands(command) {
        add_command(text, sub, &format!("{level}#"));
    }
}

fn visible_commands(command: &Command) -> Vec<&Command> {
    let commands = command.get_subcommands();
    commands.filter(|sub| !sub.is_hide_set()).collect()
}

fn is_listed(arg: &Arg) -> bool {
    !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str())
}

fn about(command: &Command) -> String {
    let about = command.get_long_about().or(command.get_about());
    prose(&about.map(ToString::to_string).unwrap_or_default(), "")
}

/// One item of a list: how it is written, what it does, its default and its values.
fn describe(arg: &Arg) -> String {
    let takes_values = arg.get_action().takes_values();
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    let more = if arg.get_num_args().is_some_and(|n| n.max_values() > 1) {
        "…"
    } else {
        ""
    };
    let value = format!("{}{more}", names.join(" "));
    let short = arg.get_short().map(|c| format!("-{c}"));
    let long = arg.get_long().map(|name| format!("--{name}"));
    let flags: Vec<String> = short.into_iter().chain(long).collect();
    let written = match (flags.is_empty(), takes_values) {
        (true, _) => value,
        (false, true) => format!("{} {value}", flags.join(", ")),
        (false, false) => flags.join(", "),
    };
    let help = arg.get_long_help().or(arg.get_help());
    let help = help.map(ToString::to_string).unwrap_or_default();
    let mut text = format!("- `{written}`: {}", prose(&help, "  "));
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<String> = defaults
        .map(|value| format!("`{}`", value.to_string_lossy()))
        .filter(|value| value != "``")
        .collect();
    let values = arg.get_possible_values();
    let values = values.iter().filter(|value| !value.is_hide_set());
    let (explained, plain): (Vec<_>, Vec<_>) = values.partition(|value| value.get_help().is_some());
    let shows_values = takes_values && !arg.is_hide_possible_values_set();
    if shows_values && !plain.is_empty() {
        let names: Vec<String> = plain
            .iter()
            .map(|v| format!("`{}`", v.get_name()))
            .collect();
        text += &format!("\n  Values: {}.", names.join(", "));
    }
    if takes_values && !arg.is_hide_default_value_set() && !defaults.is_empty() {
        text += &format!("\n  Default: {}.", defaults.join(", "));
    }
    // A list of its own, behind what continues the paragraph.
    for value in explained.iter().filter(|_| shows_values) {
        let help = value.get_help().map(ToString::to_string);
        let help = prose(&help.unwrap_or_default(), "    ");
        text += &format!("\n  - `{}`: {help}", value.get_name());
    }
    text + "\n"
}

/// Help as Markdown: what would be a tag outside of code is escaped, further paragraphs are indented.
fn prose(help: &str, indent: &str) -> String {
    let parts = help.trim().split('`').enumerate();
    let escaped = parts.map(|(n, part)| {
        if n % 2 == 1 {
            format!("`{part}`")
        } else {
            part.replace('<', "\\<")
                .replace('*', "\\*")
                .replace('|', "\\|")
        }
    });
    let escaped: String = escaped.collect();
    let paragraphs = escaped.split("\n\n").map(|paragraph| {
        let lines = paragraph.lines().map(str::trim);
        lines.collect::<Vec<_>>().join(&format!("\n{indent}"))
    });
    paragraphs
        .collect::<Vec<_>>()
        .join(&format!("\n\n{indent}"))
}

#[test]
fn command_reference_is_current() {
    let made = markdown(crate::cli::Cli::command().disable_help_subcommand(true));
    if std::env::var_os("TAOJIN_WRITE_DOCS").is_some() {
        std::fs::write(PATH, &made).unwrap();
    }
    let present = std::fs::read_to_string(PATH).unwrap_or_default();
    let differs = present.lines().zip(made.lines()).find(|(a, b)| a != b);
    assert!(
        present == made,
        "docs/cli.md is not what the program says of itself; make it again with: {MAKE}\nfirst difference: {differs:?}"
    );
}

#[test]
fn markdown_shows_each_part_of_a_command() {
    let shown = Arg::new("level").long("level").short('l').value_name("N");
    let shown = shown
        .help("How much")
        .long_help("How much\n\nOf <all>, `<b>`.");
    let choice = Arg::new("order")
        .long("order")
        .value_name("ORDER")
        .help("Order");
    let command = Command::new("t").subcommand(
        Command::new("go")
            .about("Go | away")
            .arg(shown.default_value("3"))
            .arg(choice.value_parser(["up", "down"]))
            .arg(Arg::new("secret").long("secret").hide(true))
            .arg(
                Arg::new("files")
                    .value_name("FILE")
                    .num_args(1..)
                    .required(true)
                    .help("Files"),
            )
            .subcommand(Command::new("far").about("Far")),
    );
    let command = command
        .subcommand(Command::new("hidden").hide(true))
        .disable_help_subcommand(true);
    let text = markdown(command);
    let (_, section) = text.split_once("\n## t go\n").unwrap();
    assert_eq!(
        section,
        "\nGo \\| away\n\n```text\nt go [OPTIONS] <FILE>... [COMMAND]\n```\n\n\
         - `-l, --level N`: How much\n\n  Of \\<all>, `<b>`.\n  Default: `3`.\n\
         - `--order ORDER`: Order\n  Values: `up`, `down`.\n- `FILE…`: Files\n\n\
         ### t go far\n\nFar\n\n```text\nt go <FILE>... far\n```\n"
    );
    assert!(!text.contains("hidden"));
}
