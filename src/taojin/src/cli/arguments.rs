//! Reports wrong arguments: as clap words them, or in Chinese by their kind.

use std::error::Error as _;

use clap::error::{ContextKind, ErrorKind};

use super::output;

/// Prints what is wrong, or the help that was asked for, and ends the program.
pub(super) fn exit(error: &clap::Error) -> ! {
    if output::is_chinese()
        && let Some(text) = describe(error)
    {
        output::error_as_is(&output::printable(&text));
        if let Some(usage) = error.get(ContextKind::Usage) {
            output::note(&chinese_usage(&usage.to_string()));
        }
        std::process::exit(error.exit_code())
    }
    error.exit()
}

/// Returns what is wrong in Chinese, or `None` for help and what is no mistake of the caller.
fn describe(error: &clap::Error) -> Option<String> {
    let find = |kind| {
        let text = error.get(kind).map(ToString::to_string);
        text.filter(|text| !text.is_empty())
    };
    let get = |kind| find(kind).unwrap_or_default();
    let (argument, value) = (get(ContextKind::InvalidArg), get(ContextKind::InvalidValue));
    let near = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
    ];
    let near = near.into_iter().find_map(find);
    let mut hint = near.map_or(String::new(), |near| {
        format!("；是不是 {}？", near.replace(", ", " 或 "))
    });
    for kind in [ContextKind::ValidValue, ContextKind::ValidSubcommand] {
        if let Some(known) = find(kind) {
            hint.push_str(&format!("；可以是 {}", known.replace(", ", "、")));
        }
    }
    let text = match error.kind() {
        ErrorKind::UnknownArgument => format!("没有参数 {argument}"),
        ErrorKind::InvalidSubcommand => format!("没有命令 {}", get(ContextKind::InvalidSubcommand)),
        ErrorKind::MissingRequiredArgument => format!("缺少参数 {}", argument.replace(", ", "、")),
        ErrorKind::MissingSubcommand => "缺少命令".to_owned(),
        ErrorKind::InvalidValue if value.is_empty() => format!("{argument} 缺少值"),
        ErrorKind::InvalidValue => format!("{argument} 的值 {value} 无效"),
        ErrorKind::ValueValidation => {
            let why = error.source().map(ToString::to_string).unwrap_or_default();
            format!("{argument} 的值 {value} 无效：{}", output::localized(&why))
        }
        ErrorKind::ArgumentConflict => match get(ContextKind::PriorArg) {
            prior if prior == argument => format!("{argument} 只能写一次"),
            prior => format!("{argument} 不能和 {} 一起使用", prior.replace(", ", "、")),
        },
        ErrorKind::TooManyValues => format!("{argument} 不再接受值 {value}"),
        ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            format!("{argument} 的值的个数不对")
        }
        ErrorKind::InvalidUtf8 => "参数不是 UTF-8 文本".to_owned(),
        _ => return None,
    };
    Some(text + &hint)
}

fn chinese_usage(usage: &str) -> String {
    let usage = usage.replacen("Usage: ", "用法：", 1);
    let usage = usage.replace("[OPTIONS]", "[选项]");
    format!(
        "{}\n详细说明：加 --help",
        usage.replace("<COMMAND>", "<命令>")
    )
}
