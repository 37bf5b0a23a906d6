//! Reads one page from end to end. A [`Reading`] holds its lines, main text, headline, date, comments and labels, each
//! derived from those before it, and makes the document of them.

use crate::body::{DecidedBy, facts, guided, notes, thread as posts};
use crate::date::stamp::{CHINA_OFFSET_MIN, Clock};
use crate::date::text::find_dates;
use crate::document::{Comment, Document, Image, Kind, Meta, Provenance, RobotsTags};
use crate::fields::author::{self, NameTrace};
use crate::fields::head::{self, Head};
use crate::fields::pages::Pages;
use crate::fields::{headline, images, labels, links, script_links, title_parts};
use crate::lines::language;
use crate::lines::outline::{self, Outline};
use crate::page::{self, Page};
use crate::paragraphs::habits::add_habits;
use crate::paragraphs::join_paragraphs;
use crate::structure::Structure;
use crate::template::{Field, Guide};
use crate::{Config, Context, Method, body, comments, date};

/// Lines with more tokens name no date, writer or source.
const FIELD_TOKENS: u32 = 60;
/// Lines around headline and text that may name them.
const NEAR: usize = 6;

/// The main text of a page.
#[derive(Debug, Default)]
pub(crate) struct MainText {
    pub(crate) text: String,
    pub(crate) structure: Structure,
    pub(crate) images: Vec<Image>,
}

/// Everything that was found out about a page.
pub(crate) struct Reading<'a> {
    pub(crate) head: Head<'a>,
    pub(crate) outline: Outline,
    pub(crate) language: Option<String>,
    pub(crate) clock: Clock,
    pub(crate) guess: Option<usize>,
    pub(crate) body: body::Body,
    pub(crate) headline: headline::Headline,
    pub(crate) anchors: date::Anchors,
    pub(crate) published: Option<date::DateCandidate>,
    pub(crate) posts: posts::Posts,
    pub(crate) labels: Meta,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(page: &'a Page, context: &Context<'_>, config: &Config) -> Self {
        Self::with(page, context, config, false, None)
    }

    /// With `hidden_too`, what the page hides is read as well.
    pub(crate) fn with(
        page: &'a Page,
        context: &Context<'_>,
        config: &Config,
        hidden_too: bool,
        guide: Option<&Guide<'_>>,
    ) -> Self {
        let head = Head::read(page);
        let mut outline = Outline::new(page, hidden_too);
        let language = detect_scripts(page, &outline).language(head.language);
        let clock = make_clock(page, context, language.as_deref(), head.language);
        let title = title_parts::Title::parse(&head.title);
        let headings = headline::find_headings(page, &outline, &title.forms);
        let guess = headline::guess_headline(page, &outline, &title.forms, &headings);
        outline.spread_marks(page, guess);
        let judged = page::classify_page(page, None);
        let posts = posts::Posts::find(page, &outline);
        let search = body::judgement::LineContext {
            page,
            outline: &outline,
            title: guess,
            head: &head,
            judged: &judged,
            posts: &posts,
            weights: context.weights(config),
        };
        let mut body = body::extract_main_text(&search, config, guide);
        // What the ratios propose stays as it is.
        let by_model = config.method == Method::Model;
        if body.is_thread {
            posts::add_posts(page, &outline, &posts, &mut body.lines);
            body.decided_by = DecidedBy::Posts;
        } else if by_model {
            posts::leave_out_comments(&outline, &posts, &mut body.lines);
        }
        let headline =
            headline::find_headline(page, &outline, &head, &title, &headings, &body.lines);
        let labels = labels::read_labels(page, &outline);
        if by_model {
            notes::drop_notes(page, &outline, &headline, &clock, &mut body);
            if body.decided_by != DecidedBy::Posts {
                facts::add_facts(page, &outline, headline.line, &mut body);
            }
        }
        let anchors = date::Anchors {
            title: headline.line,
            body_start: body.lines.first().copied(),
            body_end: body.lines.last().map_or(0, |l| l + 1),
        };
        let sources = date::Sources {
            page,
            outline: &outline,
            head: &head,
            anchors,
            opening: find_opening(&posts, &body),
            clock: &clock,
        };
        let published = date::choose(&sources);
        Self {
            head,
            outline,
            language,
            clock,
            guess,
            body,
            headline,
            anchors,
            published,
            posts,
            labels,
        }
    }

    /// Tokens of the main text.
    pub(crate) fn tokens(&self) -> u32 {
        self.outline.tokens_of(&self.body.lines)
    }

    /// The main text with its structure and its pictures.
    pub(crate) fn text(&self, page: &Page) -> MainText {
        let lines = &self.body.lines;
        let paragraphs = join_paragraphs(page, &self.outline, lines);
        let body = images::BodyLines {
            title: self.headline.line,
            lines,
            paragraphs: &paragraphs.counts,
        };
        let images = images::select_images(page, &self.outline, &body);
        let (text, mut structure) = (paragraphs.text, paragraphs.structure);
        add_habits(&text, &images, &mut structure);
        MainText {
            text,
            structure,
            images,
        }
    }

    /// Writer and media source.
    pub(crate) fn names(&self, page: &Page) -> (Option<String>, Option<String>) {
        let names = author::find_names(page, &self.outline, &self.head, self.anchors, false);
        let first = |names: Vec<NameTrace>| names.into_iter().next().map(|n| n.text);
        (first(names.authors), first(names.sources))
    }

    /// What each line was taken for.
    pub(crate) fn votes(&self, page: &Page) -> Vec<Option<Field>> {
        let outline = &self.outline;
        let mut votes: Vec<Option<Field>> = vec![None; outline.lines.len()];
        for i in &self.body.lines {
            votes[*i] = Some(Field::Body);
        }
        let title = self.headline.line;
        let (author, source) = self.names(page);
        let first = self.body.lines.first().copied().unwrap_or(usize::MAX);
        let from = title
            .unwrap_or(first.min(outline.lines.len()))
            .saturating_sub(NEAR);
        let to = first.saturating_add(2).min(title.unwrap_or(0) + 4 * NEAR);
        let range = from..to.min(outline.lines.len()).max(from);
        let near = outline.lines.iter().zip(&mut votes);
        for (line, vote) in near.take(range.end).skip(range.start) {
            if line.all.tokens > FIELD_TOKENS || vote.is_some() {
                continue;
            }
            let text = outline.text(page, line);
            let dated = self.published.is_some_and(|published| {
                find_dates(text, &self.clock)
                    .iter()
                    .any(|found| found.stamp.date == published.stamp.date)
            });
            let names =
                |name: &Option<String>| name.as_ref().is_some_and(|n| text.contains(n.as_str()));
            *vote = if dated {
                Some(Field::Published)
            } else if names(&author) {
                Some(Field::Author)
            } else if names(&source) {
                Some(Field::Source)
            } else {
                None
            };
        }
        if let Some(title) = title {
            votes[title] = Some(Field::Title);
        }
        self.vote_comments(&mut votes);
        votes
    }

    /// Lines with the text of comments, where they are not the main text as on a thread.
    fn vote_comments(&self, votes: &mut [Option<Field>]) {
        let said = self.posts.found.comments.iter();
        let mut nodes: Vec<_> = said.flat_map(|c| c.nodes.iter().copied()).collect();
        nodes.sort_unstable();
        for (line, vote) in self.outline.lines.iter().zip(votes) {
            let next = nodes.partition_point(|node| *node < line.first);
            if vote.is_none() && nodes.get(next).is_some_and(|node| *node < line.end) {
                *vote = Some(Field::Comments);
            }
        }
    }

    /// The comments and posts for the document; later there are none.
    pub(crate) fn take_comments(&mut self, page: &Page) -> Vec<Comment> {
        let said = self.body.lines.iter().copied();
        let below_headline: Vec<usize> =
            said.filter(|at| self.headline.line != Some(*at)).collect();
        let thread_body = self.body.is_thread.then_some(below_headline.as_slice());
        let posts = std::mem::take(&mut self.posts);
        posts.into_comments(page, &self.outline, thread_body, &self.clock)
    }

    /// The document; takes what it needs out of the reading, but for lines and headline.
    pub(crate) fn document(
        &mut self,
        page: &Page,
        context: &Context<'_>,
        config: &Config,
        guide: Option<&Guide<'_>>,
    ) -> Document {
        let (author, source) = self.names(page);
        let mut links = page::links(page, config.max_outlinks);
        let is_article = self.body.kind == Kind::Article;
        script_links::add_script_links(page, &mut links, config.max_outlinks, is_article);
        // The pages of a thread are documents of their own.
        let pages = if self.body.is_thread {
            Pages::default()
        } else {
            Pages::find(page, &self.outline, &links, self.anchors)
        };
        let (links, attachments) =
            links::classify_links(page, &self.outline, self.headline.line, &self.clock, links);
        let MainText {
            text,
            structure,
            images,
        } = self.text(page);
        let comments = self.take_comments(page);
        let url = page
            .url
            .as_ref()
            .map(|u| u.as_str().to_owned())
            .unwrap_or_default();
        let asks = |directive| {
            let header = context.robots_header;
            self.head.asks(directive) || header.is_some_and(|h| head::has_directive(h, directive))
        };
        let mut document = Document {
            addresses: Vec::new(),
            canonical: resolve_canonical(page, &self.head).filter(|c| *c != url),
            url,
            site: context.site.map(str::to_owned),
            published: self.published.map(|best| best.stamp.iso(&self.clock)),
            author,
            source,
            text,
            structure,
            images,
            meta: std::mem::take(&mut self.labels),
            attachments,
            file: None,
            comment_endpoints: comments::find_endpoints(page),
            comments,
            links,
            pages: pages.following,
            part_of: pages.first,
            kind: self.body.kind,
            method: self.body.decided_by.as_str().to_owned(),
            charset: page.charset.clone(),
            provenance: Provenance {
                confidence: self.body.confidence,
                date_source: self.published.map(|best| best.origin.source()),
                ratio_lines: self.body.ratio_lines,
                text_cut: false,
            },
            asks: RobotsTags {
                noindex: asks("noindex"),
                nofollow: asks("nofollow"),
            },
            title: self.headline.text.take(),
            language: self.language.take(),
        };
        if context.is_document
            && matches!(document.kind, Kind::Hub | Kind::Other)
            && !document.text.is_empty()
        {
            document.kind = Kind::Article;
        }
        if document.is_short_wall() {
            document.kind = Kind::Error;
        }
        if let Some(guide) = guide {
            let found = (self.headline.line, &self.clock);
            guided::fill_fields(&mut document, page, &self.outline, guide, found);
        }
        document
    }
}

/// When the first post of a thread was written, as printed.
pub(crate) fn find_opening<'a>(posts: &'a posts::Posts, body: &body::Body) -> Option<&'a str> {
    let first = posts.found.opening.as_ref().filter(|_| body.is_thread)?;
    first.time.as_deref()
}

/// The scripts of the page: of its prose, and where there is little of the lines that come first.
fn detect_scripts(page: &Page, outline: &Outline) -> language::Scripts {
    const FIRST: usize = 200;
    let mut scripts = language::Scripts::default();
    let prose = outline.lines.iter().filter(|l| outline::is_prose(l));
    for line in prose.chain(outline.lines.iter().take(FIRST)) {
        if !scripts.add(outline.text(page, line)) {
            break;
        }
    }
    scripts
}

fn resolve_canonical(page: &Page, head: &Head<'_>) -> Option<String> {
    let reference = head.canonical?;
    let parsed = page::resolve(page, page.url.as_ref(), reference);
    parsed.map(|u| u.as_str().to_owned())
}

pub(crate) fn make_clock(
    page: &Page,
    context: &Context<'_>,
    language: Option<&str>,
    declared: Option<&str>,
) -> Clock {
    let host = page.url.as_ref().map(|u| u.host()).unwrap_or_default();
    let chinese = language == Some("zh") || host.ends_with(".cn");
    let american = declared.is_some_and(|d| d.eq_ignore_ascii_case("en-us"))
        || !(host.ends_with(".uk") || host.ends_with(".au"));
    let tag = declared.unwrap_or_default().to_ascii_lowercase();
    Clock {
        republic: host.ends_with(".tw") || (tag.starts_with("zh") && tag.ends_with("-tw")),
        now_ms: context.now_ms,
        offset_min: context
            .default_offset_min
            .or(chinese.then_some(CHINA_OFFSET_MIN)),
        month_first: language == Some("en") && american,
    }
}
