//! Builds a [`Page`] from the body of a response, which may arrive in pieces of any size. Never fails: what cannot be
//! parsed is skipped, and the page records it.
//!
//! lol_html tokenizes: it knows comments, scripts that hold what looks like one, and tags that are split over pieces.
//! It runs without selectors, so it keeps no stack, and hands everything on in order to its output sink: a handler
//! says beforehand that the next piece is a comment, all the rest are runs of whole tags and texts. Start and end
//! tags, stray ones too, and texts are therefore read where they are (`markup`), and the structure is
//! built by our own rules (`tree`).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lol_html::html_content::Comment;
use lol_html::send::{DocumentContentHandlers, HtmlRewriter, Settings};
use lol_html::{MemorySettings, OutputSink};
use taojin_uri::CrawlUri;

use super::Page;
use super::config::Config;
use super::decode::Decoder;
use super::markup::find_tag;
use super::naming::read_naming_tags;
use super::records::RecordReader;
use super::tree::{Swallowed, Tree};

/// Input is parsed in blocks of this size, however it arrives, so that the page does not depend on the pieces.
const BLOCK_BYTES: usize = 16 << 10;
/// The tokenizer holds a split tag or comment back whole; it may take as much as a page.
const TOKENIZER_BYTES_EXTRA: usize = 1 << 20;

/// What is known of a page besides its bytes.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// URL the page was fetched from.
    pub url: Option<CrawlUri>,
    /// Charset label of the response's Content-Type header, for example `gbk`.
    pub charset: Option<String>,
    /// Limits.
    pub limits: Config,
}

/// Where the tokenizer's output goes. It hands the tree back when it is dropped, which is the only way lol_html
/// gives a sink back.
struct Sink {
    /// Set by a handler when the next piece is a comment.
    announced: Arc<AtomicBool>,
    passed: Arc<AtomicUsize>,
    tree: Tree,
    finished: Arc<Mutex<Option<Tree>>>,
}

impl OutputSink for Sink {
    // Handlers and sink run on one thread in turn, so plain loads and stores do.
    fn handle_chunk(&mut self, chunk: &[u8]) {
        let passed = self.passed.load(Ordering::Relaxed) + chunk.len();
        self.passed.store(passed, Ordering::Relaxed);
        let announced = self.announced.load(Ordering::Relaxed);
        self.announced.store(false, Ordering::Relaxed);
        if announced {
            self.tree.finish_text();
        } else {
            self.tree.markup(chunk);
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let tree = std::mem::take(&mut self.tree);
        *self.finished.lock().unwrap_or_else(PoisonError::into_inner) = Some(tree);
    }
}

/// Builds a [`Page`] while its bytes arrive. It can be held across awaits.
pub struct Builder {
    hints: Hints,
    decoder: Decoder,
    /// Input that does not fill a block yet.
    pending: Vec<u8>,
    fed_bytes: usize,
    records: RecordReader,
    reader: Reader,
}

/// What reads the text of a page.
enum Reader {
    /// As it comes, all of it.
    Page(Box<Parser>),
    /// At its end, only what names URLs: the text so far.
    Naming(String),
}

/// The tokenizer with its sink.
pub(super) struct Parser {
    /// `None` after an error, which it does not survive.
    rewriter: Option<HtmlRewriter<'static, Sink>>,
    limits: Config,
    /// Bytes that came through the tokenizer, counted by the sink.
    passed: Arc<AtomicUsize>,
    written: usize,
    /// The beginning of a tag or comment whose end has not come; the tokenizer has it too. It reads it again with each
    /// write, so writes grow with it: that keeps the work linear.
    stuck: Vec<u8>,
    waiting: String,
    /// Inside a tag that is skipped; the quote it is in, if in one.
    skipping: Option<Skip>,
    finished: Arc<Mutex<Option<Tree>>>,
    failed: bool,
}

impl Parser {
    pub(super) fn new(limits: &Config) -> Self {
        let passed = Arc::new(AtomicUsize::new(0));
        let finished = Arc::new(Mutex::new(None));
        let tree = Tree::new(limits.clone());
        Self {
            rewriter: Some(make_tokenizer(tree, limits, &passed, &finished)),
            limits: limits.clone(),
            passed,
            written: 0,
            stuck: Vec::new(),
            waiting: String::new(),
            skipping: None,
            finished,
            failed: false,
        }
    }

    pub(super) fn write(&mut self, text: &str) {
        if self.waiting.is_empty() && text.len() >= self.stuck.len() {
            self.write_now(text);
            return;
        }
        self.waiting.push_str(text);
        if self.waiting.len() >= self.stuck.len() {
            let text = std::mem::take(&mut self.waiting);
            self.write_now(&text);
        }
    }

    fn write_now(&mut self, text: &str) {
        let mut rest = self.write_bytes(text.as_bytes());
        while let Some(bytes) = rest {
            rest = self.write_bytes(&bytes);
        }
    }

    /// Hands bytes to the tokenizer; what it gives back is after a tag that was skipped and comes next.
    fn write_bytes(&mut self, mut bytes: &[u8]) -> Option<Vec<u8>> {
        if let Some(skip) = &mut self.skipping {
            let end = skip.end(bytes)?;
            self.skipping = None;
            bytes = bytes.get(end..)?;
        }
        let failed = self.rewriter.as_mut()?.write(bytes).is_err();
        self.written += bytes.len();
        let passed = self.passed.load(Ordering::Relaxed);
        let stuck = self.written.saturating_sub(passed);
        match bytes.len().checked_sub(stuck) {
            Some(from) => {
                self.stuck.clear();
                self.stuck.extend_from_slice(bytes.get(from..)?);
            }
            None => self.stuck.extend_from_slice(bytes),
        }
        if failed || is_too_long(&self.stuck) {
            return self.leave_out();
        }
        None
    }

    /// Leaves the tag out that the tokenizer is stuck in or failed at; another tokenizer continues after it with the
    /// same tree.
    fn leave_out(&mut self) -> Option<Vec<u8>> {
        let held = std::mem::take(&mut self.stuck);
        self.rewriter = None;
        let Some(at) = find_long_tag(&held) else {
            self.failed = true;
            return None;
        };
        let mut tree = self.tree();
        tree.truncated.get_or_insert("tag");
        self.passed.store(0, Ordering::Relaxed);
        self.written = at;
        let next = make_tokenizer(tree, &self.limits, &self.passed, &self.finished);
        let (before, tag) = held.split_at(at);
        self.failed |= self.rewriter.insert(next).write(before).is_err();
        let mut skip = Skip::default();
        let Some(end) = skip.end(tag) else {
            self.skipping = Some(skip);
            return None;
        };
        tag.get(end..).map(<[u8]>::to_vec)
    }

    /// The tree that the sink gave back when it was dropped.
    fn tree(&self) -> Tree {
        let mut finished = self.finished.lock().unwrap_or_else(PoisonError::into_inner);
        finished.take().unwrap_or_default()
    }

    pub(super) fn finish(mut self) -> Tree {
        let rest = std::mem::take(&mut self.waiting);
        self.write_now(&rest);
        if let Some(rewriter) = self.rewriter.take() {
            self.failed |= rewriter.end().is_err();
        }
        let mut tree = self.tree();
        for _ in 0..MAX_REREADS {
            let Some(swallowed) = tree.text.swallowed.take() else {
                break;
            };
            tree = self.read_swallowed(tree, &swallowed);
        }
        if self.failed {
            tree.truncated.get_or_insert("tokenizer");
        }
        tree
    }

    /// Reads the end of the page that `<iframe/>` or the like has swallowed, since no end tag came: who wrote the tag meant
    /// XML, and all other tags of the name that close themselves are meant so too.
    fn read_swallowed(&mut self, tree: Tree, swallowed: &Swallowed) -> Tree {
        let bytes = close_tags(&swallowed.bytes, swallowed.tag.name());
        let mut rewriter = make_tokenizer(tree, &self.limits, &self.passed, &self.finished);
        let written = rewriter.write(&bytes);
        self.failed |= written.and_then(|()| rewriter.end()).is_err();
        self.tree()
    }
}

/// A tokenizer that hands everything on to `tree`.
fn make_tokenizer(
    tree: Tree,
    limits: &Config,
    passed: &Arc<AtomicUsize>,
    finished: &Arc<Mutex<Option<Tree>>>,
) -> HtmlRewriter<'static, Sink> {
    let announced = Arc::new(AtomicBool::new(false));
    let sink = Sink {
        announced: Arc::clone(&announced),
        passed: Arc::clone(passed),
        tree,
        finished: Arc::clone(finished),
    };
    let memory = MemorySettings::new()
        .with_max_allowed_memory_usage(limits.max_decoded_bytes + TOKENIZER_BYTES_EXTRA);
    let settings = announce_comments(announced)
        .with_strict(false)
        .with_memory_settings(memory);
    HtmlRewriter::new(settings, sink)
}

impl Builder {
    /// A builder for one page.
    pub fn new(hints: Hints) -> Self {
        let parser = Parser::new(&hints.limits);
        Self::with(hints, Reader::Page(Box::new(parser)))
    }

    /// A builder for one page of which only what names URLs is wanted: `<a>`, `<link>`, `<meta>`, frames. The page
    /// has no other element and no text then, and takes a fraction of the time.
    pub fn for_links(hints: Hints) -> Self {
        Self::with(hints, Reader::Naming(String::new()))
    }

    fn with(hints: Hints, reader: Reader) -> Self {
        let tld = hints
            .url
            .as_ref()
            .and_then(|url| url.host().rsplit_once('.'))
            .map(|(_, tld)| tld.to_owned());
        Self {
            decoder: Decoder::new(hints.charset.as_deref(), tld.as_deref()),
            pending: Vec::new(),
            fed_bytes: 0,
            records: RecordReader::default(),
            reader,
            hints,
        }
    }

    /// Takes the next bytes of the page, any number of them.
    pub fn feed(&mut self, bytes: &[u8]) {
        let room = self
            .hints
            .limits
            .max_decoded_bytes
            .saturating_sub(self.fed_bytes);
        let taken = bytes.get(..room.min(bytes.len())).unwrap_or_default();
        self.fed_bytes += bytes.len();
        let mut rest = taken;
        if !self.pending.is_empty() {
            let (head, tail) = rest.split_at((BLOCK_BYTES - self.pending.len()).min(rest.len()));
            self.pending.extend_from_slice(head);
            rest = tail;
            if self.pending.len() < BLOCK_BYTES {
                return;
            }
            let block = std::mem::take(&mut self.pending);
            self.decode(&block, false);
            self.pending = block;
            self.pending.clear();
        }
        let mut blocks = rest.chunks_exact(BLOCK_BYTES);
        for block in &mut blocks {
            self.decode(block, false);
        }
        self.pending.extend_from_slice(blocks.remainder());
    }

    /// The page of all bytes fed.
    pub fn finish(mut self) -> Page {
        let rest = std::mem::take(&mut self.pending);
        self.decode(&rest, true);
        let (charset, charset_source) = self.decoder.charset();
        let mut tree = match self.reader {
            Reader::Page(parser) => parser.finish(),
            Reader::Naming(text) => {
                let mut tree = Tree::new(self.hints.limits.clone());
                read_naming_tags(text.as_bytes(), &mut tree);
                tree
            }
        };
        if self.fed_bytes > self.hints.limits.max_decoded_bytes {
            tree.truncated.get_or_insert("bytes");
        }
        tree.finish(self.hints.url, charset, charset_source)
    }

    fn decode(&mut self, block: &[u8], last: bool) {
        let (reader, records) = (&mut self.reader, &mut self.records);
        self.decoder.decode(block, last, &mut |text| {
            let text = records.unwrap(text);
            match reader {
                Reader::Page(parser) => parser.write(&text),
                Reader::Naming(whole) => whole.push_str(&text),
            }
        });
    }
}

/// Says of each comment that it is one; all the rest is tags and texts. Were it to say so of texts, the tokenizer would
/// decode each of them, which takes longer than all else that it does.
fn announce_comments(announced: Arc<AtomicBool>) -> Settings<'static, 'static> {
    let handlers = DocumentContentHandlers::default().comments(move |_: &mut Comment<'_>| {
        announced.store(true, Ordering::Relaxed);
        Ok(())
    });
    Settings::new_send().append_document_content_handler(handlers)
}

/// A tag that the tokenizer fails at, which has no room for so many attributes, is at least so long.
const LONG_TAG_BYTES: usize = 64 << 10;
/// And a longer one is skipped when it has more attributes than this: the tokenizer notes each in some ten times as
/// many bytes as it has.
const MAX_ATTRIBUTES: usize = 4096;
/// A longer one is skipped whatever it holds. Pictures in attributes are shorter.
const MAX_TAG_BYTES: usize = 3 << 19;

/// Elements whose content is text up to their end tag. Each can swallow the end of a page once.
const MAX_REREADS: usize = 9;

/// What comes after a tag of this name that closes itself: its end tag, and the bytes with one behind each other such tag.
fn close_tags(bytes: &[u8], name: &str) -> Vec<u8> {
    let end_tag = format!("</{name}>").into_bytes();
    let mut out = end_tag.clone();
    let mut rest = bytes;
    while let Some(at) = find_tag(rest, name.as_bytes()) {
        let tag = rest.get(at..).unwrap_or_default();
        let Some(len) = Skip::default().end(tag) else {
            break;
        };
        let (head, tail) = rest.split_at(at + len);
        out.extend_from_slice(head);
        if head.ends_with(b"/>") {
            out.extend_from_slice(&end_tag);
        }
        rest = tail;
    }
    out.extend_from_slice(rest);
    out
}

/// Where in a tag that is skipped the page has come.
#[derive(Debug, Clone, Copy, Default)]
struct Skip {
    /// The quote that has to close.
    quote: Option<u8>,
    /// An equals sign was the last, but for white space: only there a quote opens a value.
    value: bool,
    /// White space outside of quotes, about as much as there are attributes.
    blanks: usize,
}

impl Skip {
    /// Bytes up to the end of the tag; `None` when it continues after all of them.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &b) in bytes.iter().enumerate() {
            match (self.quote, b) {
                (Some(quote), _) if b == quote => {
                    self.quote = None;
                    self.value = false;
                }
                (Some(_), _) => {}
                (None, b'>') => return Some(at + 1),
                (None, b'"' | b'\'') if self.value => self.quote = Some(b),
                (None, b'=') => self.value = true,
                (None, _) if b.is_ascii_whitespace() => self.blanks += 1,
                (None, _) => self.value = false,
            }
        }
        None
    }
}

/// Whether the tag that these bytes begin with, and that has no end yet, should be skipped.
fn is_too_long(bytes: &[u8]) -> bool {
    let is_tag = bytes.get(1).is_some_and(u8::is_ascii_alphabetic);
    if !is_tag || bytes.len() <= LONG_TAG_BYTES {
        return false;
    }
    let mut skip = Skip::default();
    let _ = skip.end(bytes);
    bytes.len() > MAX_TAG_BYTES || skip.blanks > MAX_ATTRIBUTES
}

/// Where the first tag begins that is long enough to be what a tokenizer fails at.
fn find_long_tag(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..)?;
        at += rest
            .windows(2)
            .position(|w| w[0] == b'<' && w[1].is_ascii_alphabetic())?;
        let tag = bytes.get(at..)?;
        let len = Skip::default().end(tag).unwrap_or(tag.len());
        if len >= LONG_TAG_BYTES {
            return Some(at);
        }
        at += len;
    }
}

impl Page {
    /// Parses a page whose bytes are all there.
    pub fn parse(bytes: &[u8], hints: Hints) -> Page {
        let mut builder = Builder::new(hints);
        builder.feed(bytes);
        builder.finish()
    }
}
