//! Removes lines that are about the text rather than part of it: date and source, editor, share bar, notes of rights,
//! insertions. Only short lines are removed.
//!
//! Parts of the page are removed as well if they follow the text, have another place, layout and name, or follow the
//! element that is named as the text: comments below an article, other articles, consent to cookies.

use std::collections::HashSet;
use std::sync::LazyLock;

use foldhash::fast::RandomState;

use super::judgement::FLOOR;
use super::{Body, DecidedBy};
use crate::classify::features::{View, link_share};
use crate::cues::compile_begun;
use crate::cues::phrases::{Phrase, strip_signs};
use crate::date::stamp::Clock;
use crate::date::text::{DateForm, FoundDate, find_dates};
use crate::fields::author::find_author;
use crate::fields::headline::Headline;
use crate::fields::likeness::{likeness_from, normal_form};
use crate::hash_line;
use crate::lines::Line;
use crate::lines::hints::Marks;
use crate::lines::outline::{Outline, is_prose};
use crate::literals::Beginnings;
use crate::page::measure::ends_sentence;
use crate::page::{Kind, NodeId, Page, PathId};
use crate::template::Guide;

/// Longest line that is checked as a note about the text, in tokens.
const NOTE_TOKENS: u32 = 60;
/// Longest invitation, in tokens: a longer line that has such words says more.
const PROMO_TOKENS: u32 = 44;
/// Kept lines at the head of the text among which notes may be below a first sentence.
const HEAD_LINES: usize = 4;
/// Longest line of date and names above the text, in tokens.
const BYLINE_TOKENS: u32 = 24;
/// Fewest tokens of a line that is a copy of another and not like it by chance.
const COPY_TOKENS: u32 = 12;
/// Fewer tokens than this are no text.
const LEAST_TOKENS: u32 = 4;
/// The same of a page without a headline, which may be a robots.txt or the answer of a program.
const LEAST_NAMELESS: u32 = 15;

/// Log-odds of a line that is a notice of the site.
const NOTICE: f32 = -8.0;
/// Lines below a notice that may say how to reach who gives it.
const CONTACT_LINES: usize = 4;

/// Rules out the notices of the site, by their words or because other pages say the same, and the ways to reach it below them,
/// before lines are chosen: of a picture with a short text the notice below may be the longest sentence. A page that says
/// nothing else keeps them.
pub(crate) fn rule_out_notices(
    page: &Page,
    view: &View<'_>,
    guide: Option<&Guide<'_>>,
    odds: &mut [f32],
) {
    let lines = &view.outline.lines;
    let mut notices = view.notices().to_vec();
    if let Some(guide) = guide {
        let likely = (0..lines.len()).filter(|i| odds[*i] > FLOOR);
        notices.extend(likely.filter(|i| is_repeated_notice(page, &lines[*i], guide)));
    }
    let is_text = |i: usize| odds[i] > FLOOR && is_prose(&lines[i]) && !notices.contains(&i);
    if notices.is_empty() || !(0..lines.len()).any(is_text) {
        return;
    }
    for i in &notices {
        let below = (i + 1..lines.len()).take(CONTACT_LINES);
        let contact =
            below.take_while(|j| is_contact(view.outline.text(page, &lines[*j]), &lines[*j]));
        for j in std::iter::once(*i).chain(contact) {
            odds[j] = odds[j].min(NOTICE);
        }
    }
}

/// True for a line that several pages of the site say but for a number. Where the numbers are many, it is a row of data.
fn is_repeated_notice(page: &Page, line: &Line, guide: &Guide<'_>) -> bool {
    /// Tokens that there are for each number of a sentence.
    const WORDS_OF_NUMBER: u32 = 8;
    line.all.numbers * WORDS_OF_NUMBER <= line.all.tokens
        && !guide.is_said(line.block)
        && guide.is_notice(hash_line(page, line))
}

/// True for a line of a telephone, an e-mail address or hours: a label and numbers.
fn is_contact(text: &str, line: &Line) -> bool {
    /// Longest label, in characters.
    const LABEL: usize = 8;
    line.all.numbers > 0 && text.chars().take(LABEL).any(|c| matches!(c, ':' | '：'))
}

/// Drops lines that are about the text: the headline itself, date and source, editor, share bar, notes of
/// rights. Only short lines, and most kinds only above the first or below the last prose.
pub(crate) fn drop_notes(
    page: &Page,
    outline: &Outline,
    headline: &Headline,
    clock: &Clock,
    body: &mut Body,
) {
    let notes = Notes::new(page, outline, headline, clock, body);
    let lines = &mut body.lines;
    let mut next = 0;
    let mut signed = None;
    lines.retain(|i| {
        // A signature and its day close a notice.
        let closes = *i > notes.last && i.checked_sub(1).is_some_and(|b| signed == Some(b));
        signed = notes.phrases[next].is_none().then_some(*i);
        next += 1;
        !notes.hold(*i, next - 1, closes)
    });
    if !notes.one_text || body.decided_by == DecidedBy::Posts {
        drop_copies(page, outline, lines);
    }
    let tokens = outline.tokens_of(lines);
    let least = match headline.text {
        Some(_) => LEAST_TOKENS,
        None => LEAST_NAMELESS,
    };
    if tokens < least {
        lines.clear();
    }
}

/// Lines of so many bytes are prose in scripts whose sentences have no marks.
const LONG_BYTES: usize = 300;

/// What identifies the notes among the lines kept.
struct Notes<'a> {
    page: &'a Page,
    outline: &'a Outline,
    /// Other pages are made of boxes.
    one_text: bool,
    /// The headline may stand in the text again: in posts, and among facts without prose.
    says_headline: bool,
    /// Of each line kept what it says that is not text.
    phrases: Vec<Option<Phrase>>,
    /// Of the first lines kept whether they give the day or the writer.
    bylines: Vec<bool>,
    /// Marks of boxes that are insertions.
    inserted: Marks,
    /// The first and the last line of prose.
    first: usize,
    last: usize,
    /// The first line below the prose that names files of the text, kept or not: links below it may name more.
    attachments: usize,
    /// Line of the headline, if it is above the prose.
    title: Option<usize>,
    /// Normal form of the headline.
    headline: Option<Vec<char>>,
}

impl<'a> Notes<'a> {
    fn new(
        page: &'a Page,
        outline: &'a Outline,
        headline: &Headline,
        clock: &Clock,
        body: &Body,
    ) -> Self {
        let lines = &body.lines;
        let one_text = body.kind == Kind::Article;
        let byline = |i: &usize| {
            let line = &outline.lines[*i];
            line.all.tokens <= BYLINE_TOKENS && is_byline(outline.text(page, line), clock)
        };
        let mut notes = Self {
            page,
            outline,
            one_text,
            says_headline: body.is_thread,
            phrases: lines.iter().map(|i| body.phrases[*i]).collect(),
            bylines: lines.iter().take(HEAD_LINES).map(byline).collect(),
            inserted: if one_text {
                find_insertions(outline, lines)
            } else {
                Marks::default()
            },
            first: usize::MAX,
            last: 0,
            attachments: usize::MAX,
            title: None,
            headline: headline.text.as_deref().map(normal_form),
        };
        let mut prose = (0..lines.len()).filter(|n| notes.is_prose(lines[*n], *n));
        let last = prose.clone().next_back();
        let first = prose.find(|n| !notes.is_byline(*n));
        notes.first = first.map_or(usize::MAX, |n| lines[n]);
        notes.last = last.map_or(0, |n| lines[n]);
        let mut below = notes.last..body.phrases.len();
        let attachments = below.find(|i| body.phrases[*i] == Some(Phrase::Attachment));
        notes.attachments = attachments.unwrap_or(usize::MAX);
        notes.title = headline.line.filter(|t| *t <= notes.first);
        let is_long = |i: &usize| outline.text(page, &outline.lines[*i]).len() >= LONG_BYTES;
        let is_prose = notes.first <= notes.last || lines.iter().any(is_long);
        notes.says_headline |= !is_prose;
        notes
    }

    /// True if line `i`, the `n`th of those kept, is prose of the text.
    fn is_prose(&self, i: usize, n: usize) -> bool {
        let line = &self.outline.lines[i];
        let cookies =
            || line.marks.any(Marks::POPUP) && is_cookie_notice(self.outline.text(self.page, line));
        is_prose(line) && self.phrases[n].is_none() && !self.in_card(line) && !cookies()
    }

    fn is_byline(&self, n: usize) -> bool {
        self.bylines.get(n) == Some(&true)
    }

    /// In the card of a writer.
    fn in_card(&self, line: &Line) -> bool {
        self.one_text && line.marks.any(Marks::AUTHOR)
    }

    /// True for a line of an article with prose that is links and nothing else, unless it is a whole sentence.
    fn is_bare_link(&self, line: &Line, text: &str) -> bool {
        /// Fewest tokens of a sentence that is more than a headline.
        const SENTENCE: u32 = 12;
        let is_sentence = line.all.tokens >= SENTENCE && ends_sentence(text);
        let is_bare = line.links > 0 && line.plain_tokens() == 0;
        self.one_text && self.first <= self.last && is_bare && !is_sentence
    }

    /// True if line `i`, the `n`th of those kept, is a note; `closes` if it is right below a signature.
    fn hold(&self, i: usize, n: usize, closes: bool) -> bool {
        let line = &self.outline.lines[i];
        if line.all.tokens > NOTE_TOKENS {
            return false;
        }
        let text = self.outline.text(self.page, line);
        let (above, below) = (i < self.first, i > self.last);
        let outside = above || below || n < HEAD_LINES;
        let headed = !self.says_headline && i <= self.first;
        let again = |headline: &Vec<char>| headed && is_repeated(headline, text);
        let before_text = self.is_byline(n) || self.title.is_some_and(|t| i < t);
        if self.headline.as_ref().is_some_and(again)
            || line.marks.any(self.inserted)
            || (below && is_cookie_notice(text))
            || (self.one_text && is_teaser(line, text))
            || (below && i < self.attachments && self.is_bare_link(line, text))
            || (self.first <= self.last && outside && self.in_card(line))
            || (above && before_text)
        {
            return true;
        }
        match self.phrases[n] {
            Some(Phrase::Editor | Phrase::Tools | Phrase::Paging) => true,
            Some(Phrase::Related) if link_share(line) > 0.5 => true,
            Some(Phrase::Source) if closes && is_bare_day(text) => false,
            Some(
                Phrase::Source | Phrase::Footer | Phrase::Comments | Phrase::Crumbs | Phrase::Tags,
            ) => outside,
            Some(Phrase::Promo) => outside && !above && line.all.tokens <= PROMO_TOKENS,
            Some(Phrase::Legal | Phrase::Related) => outside && !above,
            Some(Phrase::OriginalTitle | Phrase::Attachment) | None => false,
        }
    }
}

/// Drops the lines that say again, word for word, what a line above them says: a post that is quoted, a box that is there
/// for each width of window. An article may say a thing twice, and refrains are short.
fn drop_copies(page: &Page, outline: &Outline, lines: &mut Vec<usize>) {
    let mut said: HashSet<_, RandomState> = HashSet::default();
    let mut copies: Vec<bool> = lines
        .iter()
        .map(|i| {
            let text = outline.text(page, &outline.lines[*i]);
            !said.insert(xxhash_rust::xxh3::xxh3_64(text.as_bytes()))
        })
        .collect();
    // A short line alone may be the same by chance, but not the heading of a copy.
    let mut below = false;
    for (copy, i) in copies.iter_mut().zip(lines.iter()).rev() {
        *copy &= below || outline.lines[*i].all.tokens >= COPY_TOKENS;
        below = *copy;
    }
    let mut copies = copies.into_iter();
    lines.retain(|_| copies.next() != Some(true));
}

/// Marks of boxes that are insertions in this text: advertisements and banners, where all of them together hold little
/// of it. A template may call each paragraph a promotion.
fn find_insertions(outline: &Outline, lines: &[usize]) -> Marks {
    /// Most that boxes, and dialogs over the page, may hold of the text.
    const BOXES: f32 = 0.12;
    const DIALOGS: f32 = 0.3;
    let tokens = |of: &dyn Fn(&Line) -> bool| {
        let lines = lines.iter().map(|i| &outline.lines[*i]);
        lines.filter(|l| of(l)).map(|l| l.all.tokens).sum::<u32>() as f32
    };
    let whole = tokens(&|_| true);
    [(Marks::PROMO, BOXES), (Marks::POPUP, DIALOGS)]
        .into_iter()
        .filter(|(marks, most)| tokens(&|l| l.marks.any(*marks)) <= most * whole)
        .fold(Marks::default(), |all, (marks, _)| all.with(marks))
}

/// True for a line in an article that is a link to another text: its element is named so, or a label like `Read:` is before
/// it. Other links alone on their lines are mostly of the text.
fn is_teaser(line: &Line, text: &str) -> bool {
    /// A line with a smaller share in the link is a sentence.
    const LINKED: f32 = 0.5;
    static LABELS: LazyLock<Beginnings> = LazyLock::new(|| compile_begun(&["teaser.label"]));
    if link_share(line) <= LINKED {
        return false;
    }
    let first = strip_signs(text);
    let is_label = |len: usize| {
        let behind = first.get(len..).unwrap_or_default().trim_start();
        behind.starts_with([':', '：'])
    };
    line.marks.any(Marks::RELATED) || LABELS.of_text(first).any(|(_, len)| is_label(len))
}

/// True for a banner that says what the site uses cookies for.
fn is_cookie_notice(text: &str) -> bool {
    text.contains("cookies") && (text.contains(" use") || text.contains("使用"))
}

/// True for a line that is a day and nothing else.
fn is_bare_day(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().count() <= 12
        && !text.contains([':', '：'])
}

/// True for a line that says the same as the headline.
fn is_repeated(headline: &[char], text: &str) -> bool {
    const SAME: f64 = 0.9;
    let chars = text.chars().count();
    // NFKC and dropped quotes do not change a length by more.
    chars <= 4 * headline.len() + 16
        && likeness_from(headline, &normal_form(text), usize::MAX, SAME).is_some()
}

/// True for a line that gives the day or the writer and is no sentence. A day without a year counts where the line
/// begins with it and has a clock.
fn is_byline(text: &str, clock: &Clock) -> bool {
    // From one day to another something is on.
    if text.contains(['～', '~']) {
        return false;
    }
    let begins = text.starts_with(|c: char| c.is_ascii_digit()) && text.contains([':', '：']);
    let dates = |d: &FoundDate| {
        d.form == DateForm::Full || (begins && d.at == 0 && d.form == DateForm::NoYear)
    };
    !ends_sentence(text)
        && (find_author(text).is_some() || find_dates(text, clock).iter().any(dates))
}

/// Tokens that the text must have before what is elsewhere can be foreign to it.
const TEXT_TOKENS: u32 = 60;
/// Share of tokens in lines of tag paths that the text has, from which a part is more of it.
const SAME_PATHS: f32 = 0.3;
/// Share of a part that must lie in elements marked against being text.
const MARKED: f32 = 0.6;
/// Marks of elements that call themselves the text.
const NAMED: Marks = Marks::BODY.with(Marks::DECLARED).with(Marks::ARTICLE);
/// Lines above a part that may hold its heading.
const HEADING_LINES: usize = 4;

/// What is known of the text so far.
struct Text<'a> {
    view: &'a View<'a>,
    tokens: u32,
    paths: HashSet<PathId, RandomState>,
    marks: Marks,
    /// Its last line.
    last: usize,
}

/// Drops the foreign parts from `lines`, which are in order. The text is the element around the first prose below the
/// headline; each element around it adds to the text what follows in it, or is left without it.
pub(crate) fn drop_foreign(page: &Page, view: &View<'_>, lines: &mut Vec<usize>) {
    let Some(first) = find_first_prose(view, lines) else {
        return;
    };
    let mut part = page.node(view.outline.lines[first].block).parent;
    let mut range = kept_in(page, view, lines, part);
    let mut text = Text::new(view);
    text.add(lines.get(range.clone()).unwrap_or_default());
    let mut foreign = vec![false; lines.len()];
    while part != 0 {
        part = page.node(part).parent;
        let wider = kept_in(page, view, lines, part);
        let after = range.end..wider.end;
        let added = lines.get(after.clone()).unwrap_or_default();
        if text.is_foreign(added) {
            foreign
                .iter_mut()
                .take(after.end)
                .skip(after.start)
                .for_each(|f| *f = true);
        } else {
            text.add(added);
        }
        text.add(lines.get(wider.start..range.start).unwrap_or_default());
        range = wider;
    }
    let mut foreign = foreign.into_iter();
    lines.retain(|_| foreign.next() != Some(true));
}

/// The first kept line of prose at or below the headline.
fn find_first_prose(view: &View<'_>, lines: &[usize]) -> Option<usize> {
    let title = view.title.unwrap_or(0);
    let mut below = lines.iter().copied().filter(|i| *i >= title);
    below.find(|i| is_prose(&view.outline.lines[*i]))
}

/// Which of the kept lines are inside an element.
fn kept_in(page: &Page, view: &View<'_>, lines: &[usize], node: NodeId) -> std::ops::Range<usize> {
    let range = view.outline.range(page, node);
    let before = |end: usize| lines.partition_point(|i| *i < end);
    before(range.start)..before(range.end)
}

impl<'a> Text<'a> {
    fn new(view: &'a View<'a>) -> Self {
        Self {
            view,
            tokens: 0,
            paths: HashSet::default(),
            marks: Marks::default(),
            last: 0,
        }
    }

    fn add(&mut self, lines: &[usize]) {
        for i in lines {
            let line = &self.view.outline.lines[*i];
            self.tokens += line.all.tokens;
            self.paths.insert(line.path);
            self.marks = self.marks.with(line.marks);
            self.last = self.last.max(*i);
        }
    }

    /// True if the lines below the text are not more of it.
    fn is_foreign(&self, below: &[usize]) -> bool {
        let Some(begin) = below
            .first()
            .copied()
            .filter(|_| self.tokens >= TEXT_TOKENS)
        else {
            return false;
        };
        let against = Marks::AGAINST.with(Marks::AUTHOR).without(self.marks);
        let (mut whole, mut alike, mut marked) = (0, 0, 0);
        for line in below.iter().map(|i| &self.view.outline.lines[*i]) {
            whole += line.all.tokens;
            alike += line.all.tokens * u32::from(self.paths.contains(&line.path));
            marked += line.all.tokens * u32::from(line.marks.any(against));
        }
        let share = |of: u32| of as f32 / whole.max(1) as f32;
        if share(alike) >= SAME_PATHS {
            return false;
        }
        let from = (self.last + 1).max(begin.saturating_sub(HEADING_LINES));
        let headed = (from..=begin).any(|i| {
            matches!(
                self.view.phrases[i],
                Some(Phrase::Related | Phrase::Comments | Phrase::Footer)
            )
        });
        // Behind an element that calls itself the text is something else.
        let is_named = |i: &usize| self.view.outline.lines[*i].marks.any(NAMED);
        let outside = self.marks.any(NAMED) && !below.iter().any(is_named);
        outside || headed || share(marked) >= MARKED
    }
}

#[cfg(test)]
mod tests {
    use crate::page::{Hints, Page};
    use crate::{Context, extract};

    /// The text of a page.
    fn text_of(html: &str) -> String {
        let page = Page::parse(html.as_bytes(), Hints::default());
        extract(&page, &Context::default()).text
    }

    #[test]
    fn notice_below_pictures() {
        let page = |pictures: &str| {
            text_of(&format!(
                "<title>油轮触礁</title><h1>油轮触礁</h1>{pictures}<p>声明：</p>\
                 <p>凡注明为其他媒体来源的信息，均为转载自其他媒体，转载并不代表本网赞同其观点，也不代表本网对其真实性负责。\
                 您若对该稿件内容有任何疑问或质疑，请即与本网联系，本网将迅速给您回应并做处理。</p>\
                 <p>电话：021-5555123 传真：021-5555124</p>"
            ))
        };
        let text = page(
            "<p><img src=a.jpg></p><p>图为昨日公布的游轮触礁后水下部分的景象，船体出现倾斜。</p>\
             <p><img src=b.jpg></p><p>救援人员正在搜寻失踪的乘客。</p>",
        );
        assert!(text.contains("水下部分"), "{text}");
        assert!(!text.contains("凡注明") && !text.contains("电话"), "{text}");
        // A page of nothing else is about it.
        assert!(page("").contains("凡注明"));
    }

    #[test]
    fn notice_inside_article() {
        let story = |i: usize| {
            format!(
                "<p>The bridge over the river was closed on day {i}, and the town has waited for its repair since.</p>"
            )
        };
        for (notice, is_text) in [
            (
                "This article is for subscribers only, so please choose one of our offers.",
                false,
            ),
            (
                "La suite est réservée aux abonnés, il vous reste la moitié de cet article à lire.",
                false,
            ),
            (
                "Ces pages sont réservées aux abonné(e)s, merci de vous connecter.",
                false,
            ),
            (
                "Your comments are subject to moderation by our staff and appear here the next day.",
                false,
            ),
            (
                "Редакция портала не несёт ответственности за сказанное читателями, их письма мы не правим.",
                false,
            ),
            (
                "Byłeś świadkiem lub uczestnikiem wypadku na moście? Zadzwoń do nas, czekamy na zdjęcia.",
                false,
            ),
            (
                "来这里是为了互相帮助。请勿发布广告和与题目无关的回答，谢谢大家的配合。",
                false,
            ),
            (
                "Hold the arrow keys to advance by ten seconds, or press the letter m to mute the clip.",
                false,
            ),
            (
                "The mayor has been a subscriber of the local paper since his youth, he says.",
                true,
            ),
            (
                "All that is said in the council is subject to moderation by its chair, whose comments are short.",
                true,
            ),
        ] {
            let text = text_of(&format!(
                "<title>The bridge</title><h1>The bridge</h1><article>{}{}<p>{notice}</p>{}</article>",
                story(1),
                story(2),
                story(3)
            ));
            assert_eq!(text.contains(notice), is_text, "{notice}");
        }
    }

    #[test]
    fn teaser_inside_article() {
        let story: String = (1..=3)
            .map(|i| format!("<p>The ferry to the island was cancelled on day {i}, and the post has come by plane since.</p>"))
            .collect();
        for (teaser, is_text) in [
            (
                "<p>Also: <a href=/2>Islanders ask for a tunnel to the coast</a></p>",
                false,
            ),
            (
                "<p><a href=/2>Photos: Islanders wait for a tunnel to the coast</a></p>",
                false,
            ),
            (
                "<p>Baca: <a href=/2>Islanders ask for a tunnel to the coast</a></p>",
                false,
            ),
            (
                "<p class=related-story><a href=/2>Islanders wait for a tunnel to the coast</a></p>",
                false,
            ),
            (
                "<p><a href=/2>Islanders wait for a tunnel to the coast</a></p>",
                true,
            ),
            (
                "<p>Read: Islanders wait for a tunnel, as the <a href=/2>paper</a> says.</p>",
                true,
            ),
            (
                "<p>Website: <a href=http://tunnel.example>Islanders for a tunnel to the coast</a></p>",
                true,
            ),
        ] {
            let text = text_of(&format!(
                "<title>The ferry</title><h1>The ferry</h1><article>{story}{teaser}{story}</article>"
            ));
            assert_eq!(text.contains("Islanders"), is_text, "{teaser}: {text}");
        }
    }

    #[test]
    fn foot_of_a_list_and_lines_without_headline_are_no_text() {
        let threads: String = (1..=4)
            .map(|i| {
                format!(
                    "<tr><th class=common><a href=/thread-{i}.html class=xst>第{i}口井固井后环空带压，大家都怎么处理\
                     </a></th><td class=by><cite>油城子弟</cite> <em>2026-11-0{i}</em></td><td class=num>3</td></tr>"
                )
            })
            .collect();
        let list = format!(
            "<title>钻采现场 - 石化论坛</title><body id=nv_forum><div id=hd><h2><a href=/forum.php>石化论坛</a></h2></div>\
             <div id=wp><div id=pt><a href=/forum.php>论坛</a> › 钻采现场</div><table id=threadlisttableid>{threads}\
             </table></div><div id=ft><p><strong>石化论坛</strong> 石油化工人自己的技术社区，发言请遵守保密规定，\
             不得上传图纸、配方和未公开的生产数据</p><p>GMT+8, 页面执行 0.0217 秒</p></div>"
        );
        for (html, case) in [
            (list.as_str(), "a board of a forum"),
            (
                "User-agent: *\nDisallow:\nSitemap: http://oil.example/sitemap-news.xml",
                "a robots.txt under another name",
            ),
        ] {
            assert_eq!(text_of(html), "", "{case}");
        }
    }

    #[test]
    fn links_below_article() {
        let story: String = (1..=5)
            .map(|i| format!("<p>The ferry to the island was cancelled on day {i}, and the post has come by plane since.</p>"))
            .collect();
        for (below, is_text) in [
            (
                "<p><a href=/3>Islanders ask for a tunnel to the coast</a></p>",
                false,
            ),
            (
                "<p><b><a href=/3>Islanders have a newspaper</a> <a href=/4>and a radio</a></b></p>",
                false,
            ),
            (
                "<p>附件：</p><p><a href=/a.doc>1. 航班时刻表.doc</a></p><p><a href=/b.doc>2. Islanders名单.doc</a></p>",
                true,
            ),
            (
                "<p><a href=/3>Islanders who have to go to the coast take a boat of their own, or wait.</a></p>",
                true,
            ),
        ] {
            let text = text_of(&format!(
                "<title>The ferry</title><h1>The ferry</h1><article itemprop=articleBody>{story}{below}</article>"
            ));
            assert_eq!(text.contains("Islanders"), is_text, "{below}: {text}");
        }
    }

    #[test]
    fn notes_above_prose() {
        let story = "<p>工藝展邀請二十位匠人到場，示範竹編、漆器與藍染，觀眾可以在導覽員帶領下親手試做。</p>".repeat(3);
        for (line, is_text) in [
            ("活動日期：2022.02.09～2022.02.20", true),
            ("日期：2022.02.09", false),
            (
                "觀眾集滿三枚印章後可以到一樓服務台換取明信片，也可以在出發之前下載導覽APP，用手機掃描展品旁邊的標籤，聽匠人說自己的故事。",
                true,
            ),
        ] {
            let text = text_of(&format!(
                "<title>春天工藝展</title><h1>春天工藝展</h1><article><p>{line}</p>{story}<p>{line}</p></article>"
            ));
            assert_eq!(text.contains(line), is_text, "{line}: {text}");
        }
    }

    #[test]
    fn notes_after_named_text() {
        let story: String = (1..=5)
            .map(|i| format!("<p>储气库扩建工程第{i}标段日前通过验收，注气能力比去年提高三成，现场设备运行平稳。</p>"))
            .collect();
        let notice: String = (1..=4)
            .map(|i| format!("<li><p>账号可以在{i}台设备上登录，但不能同时阅读，请在设置中退出其他设备。</p></li>"))
            .collect();
        let text = |name: &str| {
            let html = format!(
                "<title>储气库扩建</title><h1>储气库扩建</h1><div class='{name}'>{story}</div><section><ul>{notice}</ul></section>"
            );
            extract(
                &Page::parse(html.as_bytes(), Hints::default()),
                &Context::default(),
            )
            .text
        };
        assert!(text("article-content").contains("第5标段"));
        assert!(!text("article-content").contains("账号"));
        // Where nothing is named, no place is behind the text.
        assert!(text("x1").contains("账号"));
    }
}
