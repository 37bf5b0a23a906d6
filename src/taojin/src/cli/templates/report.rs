//! The report of `templates learn`. In: what was learned and one page of each template. Out: one HTML file that loads
//! nothing and runs nothing: the pages stand in sandboxed frames.

use std::collections::BTreeMap;

use super::{input, show};
use htmlize::escape_attribute as escape;
use taojin_extract::template::{Field, Guide, Keys, Learned, colour, frame, framed_html};

/// The report as HTML.
pub(super) fn html(
    learned: &Learned,
    articles: usize,
    pages: &BTreeMap<usize, input::Saved>,
) -> String {
    let mut out = String::from(
        "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>templates</title>\n<style>body{font:15px/1.5 sans-serif;margin:1em auto;max-width:70em;padding:0 1em}\
         iframe{width:100%;height:40em;border:1px solid #999}pre{overflow-x:auto;background:#f4f4f4;padding:.6em;\
         font-size:12px}:root{color-scheme:light;background:#fff;color:#222}\
         .legend span{padding:.1em .6em;border-radius:.3em;margin-right:.4em;white-space:nowrap}</style></head><body>\n\
         <h1>Templates</h1>\n",
    );
    out.push_str(&format!(
        "<p>{} articles, {} templates. What stands on every page of a template has a whole line around it, what is \
         optional a broken one; the colours say what a place holds:</p>\n",
        articles,
        learned.templates.len()
    ));
    out.push_str(&legend(&Field::ALL));
    for (number, template) in learned.templates.iter().enumerate() {
        out.push_str(&format!(
            "<h2>Template {}: {} pages, mean distance {:.2}</h2>\n",
            number + 1,
            template.pages,
            template.mean_distance
        ));
        out.push_str(&legend(&show::fields(template)));
        if let Some(saved) = pages.get(&number) {
            let keys = Keys::of(&saved.page);
            let guide = Guide::new(template, &keys, &saved.page);
            let page = framed_html(
                &saved.page,
                &guide,
                &|_| false,
                &|field| field.map_or("other", Field::name),
                None,
            );
            out.push_str(&format!(
                "<p>{}</p>\n<iframe sandbox srcdoc=\"{}\"></iframe>\n",
                escape(&saved.name),
                escape(frame(&page))
            ));
        }
        let lines: Vec<String> = show::lines(template)
            .iter()
            .map(|l| escape(l).into_owned())
            .collect();
        out.push_str(&format!(
            "<details><summary>Nodes and regions</summary><pre>{}</pre></details>\n",
            lines.join("\n")
        ));
    }
    out.push_str("</body></html>\n");
    out
}

/// Fields in their colours.
fn legend(fields: &[Field]) -> String {
    let chip = |field: &Field| {
        let (colour, name) = (colour(*field), field.name());
        format!("<span style=\"background:{colour}\">{name}</span> ")
    };
    let chips: String = fields.iter().map(chip).collect();
    format!("<p class=\"legend\">{chips}</p>\n")
}
