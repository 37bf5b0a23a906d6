//! Bytes to [`Page`]. In: the body of a response in pieces of any size. Out: the page. Never fails: what cannot be
//! parsed is left out and the page says so.
//!
//! lol_html tokenizes: it knows scripts, raw text, comments and tags that are split over pieces. It runs without
//! selectors, so it keeps no stack, and hands everything on in order to its output sink: a handler says beforehand
//! whether the next piece is text or a comment, all the rest are tags. Start and end tags, stray ones too, are
//! therefore read where they stand, and the structure is built by our own rules (`tree`).

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use lol_html::html_content::{Comment, Doctype, TextChunk, TextType};
use lol_html::send::{DocumentContentHandlers, HtmlRewriter, Settings};
use lol_html::{MemorySettings, OutputSink};

use super::config::Config;
use super::decode::Decoder;
use super::text::TextKind;
use super::tree::Tree;
use super::{CharsetSource, Page};
use crate::uri::CrawlUri;

/// Input is parsed in blocks of this size, however it arrives, so that the page does not depend on the pieces.
const BLOCK_BYTES: usize = 16 << 10;
/// The tokenizer holds a split tag or comment back whole; it may take as much as a page.
const TOKENIZER_BYTES_EXTRA: usize = 1 << 20;

/// What is known of a page besides its bytes.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    /// Address the page was fetched from.
    pub url: Option<CrawlUri>,
    /// Charset label of the response's Content-Type header, for example `gbk`.
    pub charset: Option<String>,
    /// Limits.
    pub limits: Config,
}

const MARKUP: u8 = 0;
const DATA: u8 = 1;
const RAW: u8 = 2;
const COMMENT: u8 = 3;

/// Where the tokenizer's output goes. It hands the tree back when it is dropped, which is the only way lol_html
/// gives a sink back.
struct Sink {
    next: Arc<AtomicU8>,
    progress: Arc<AtomicBool>,
    tree: Tree,
    finished: Arc<Mutex<Option<Tree>>>,
}

impl OutputSink for Sink {
    fn handle_chunk(&mut self, chunk: &[u8]) {
        self.progress.store(true, Ordering::Relaxed);
        match self.next.swap_if_set() {
            MARKUP if !chunk.is_empty() => self.tree.markup(chunk),
            DATA => self.tree.characters(chunk, TextKind::Data),
            RAW => self.tree.characters(chunk, TextKind::Raw),
            _ => self.tree.finish_text(),
        }
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let tree = std::mem::take(&mut self.tree);
        *self.finished.lock().unwrap_or_else(PoisonError::into_inner) = Some(tree);
    }
}

/// Reads the mark and resets it. Handlers and sink run on one thread in turn, so plain loads and stores do.
trait Mark {
    fn swap_if_set(&self) -> u8;
}

impl Mark for AtomicU8 {
    fn swap_if_set(&self) -> u8 {
        let mark = self.load(Ordering::Relaxed);
        self.store(MARKUP, Ordering::Relaxed);
        mark
    }
}

/// Builds a [`Page`] while its bytes arrive. It can be held across awaits.
pub struct Builder {
    hints: Hints,
    decoder: Decoder,
    /// Input that does not fill a block yet.
    pending: Vec<u8>,
    fed_bytes: usize,
    parser: Parser,
}

/// The tokenizer with its sink; `None` after an error, which it does not survive.
struct Parser {
    rewriter: Option<HtmlRewriter<'static, Sink>>,
    /// Set by the sink when something came through.
    progress: Arc<AtomicBool>,
    /// Bytes of a tag or comment that the tokenizer holds because its end has not come. It reads them again with
    /// each write, so writes grow with them: that keeps the work linear.
    stuck_bytes: usize,
    waiting: String,
    finished: Arc<Mutex<Option<Tree>>>,
    failed: bool,
}

impl Parser {
    fn new(limits: &Config) -> Self {
        let next = Arc::new(AtomicU8::new(MARKUP));
        let finished = Arc::new(Mutex::new(None));
        let progress = Arc::new(AtomicBool::new(false));
        let sink = Sink {
            next: Arc::clone(&next),
            progress: Arc::clone(&progress),
            tree: Tree::new(limits.clone()),
            finished: Arc::clone(&finished),
        };
        let (text, comment, doctype) = (Arc::clone(&next), Arc::clone(&next), next);
        let handlers = DocumentContentHandlers::default()
            .text(move |chunk: &mut TextChunk<'_>| {
                // The end of a text node is told by an empty chunk, which is not handed to the sink.
                if !chunk.as_str().is_empty() {
                    let kind = match chunk.text_type() {
                        TextType::Data | TextType::RCData => DATA,
                        _ => RAW,
                    };
                    text.store(kind, Ordering::Relaxed);
                }
                Ok(())
            })
            .comments(move |_: &mut Comment<'_>| {
                comment.store(COMMENT, Ordering::Relaxed);
                Ok(())
            })
            .doctype(move |_: &mut Doctype<'_>| {
                doctype.store(MARKUP, Ordering::Relaxed);
                Ok(())
            });
        let memory = MemorySettings::new()
            .with_max_allowed_memory_usage(limits.max_decoded_bytes + TOKENIZER_BYTES_EXTRA);
        let settings = Settings::new_send()
            .with_strict(false)
            .with_memory_settings(memory)
            .append_document_content_handler(handlers);
        Self {
            rewriter: Some(HtmlRewriter::new(settings, sink)),
            progress,
            stuck_bytes: 0,
            waiting: String::new(),
            finished,
            failed: false,
        }
    }

    fn write(&mut self, text: &str) {
        if self.stuck_bytes == 0 {
            self.write_now(text);
            return;
        }
        self.waiting.push_str(text);
        if self.waiting.len() >= self.stuck_bytes {
            let text = std::mem::take(&mut self.waiting);
            self.write_now(&text);
        }
    }

    fn write_now(&mut self, text: &str) {
        let Some(rewriter) = &mut self.rewriter else {
            return;
        };
        self.progress.store(false, Ordering::Relaxed);
        if rewriter.write(text.as_bytes()).is_err() {
            self.rewriter = None;
            self.failed = true;
        }
        if self.progress.load(Ordering::Relaxed) {
            self.stuck_bytes = 0;
        } else {
            self.stuck_bytes += text.len();
        }
    }

    fn finish(mut self) -> Tree {
        let rest = std::mem::take(&mut self.waiting);
        self.write_now(&rest);
        if let Some(rewriter) = self.rewriter.take() {
            self.failed |= rewriter.end().is_err();
        }
        let mut tree = self
            .finished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
            .unwrap_or_default();
        if self.failed {
            tree.truncated.get_or_insert("tokenizer");
        }
        tree
    }
}

impl Builder {
    /// A builder for one page.
    pub fn new(hints: Hints) -> Self {
        let tld = hints
            .url
            .as_ref()
            .and_then(|url| url.host().rsplit_once('.'))
            .map(|(_, tld)| tld.to_owned());
        Self {
            decoder: Decoder::new(hints.charset.as_deref(), tld.as_deref()),
            pending: Vec::new(),
            fed_bytes: 0,
            parser: Parser::new(&hints.limits),
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
        let mut tree = self.parser.finish();
        if self.fed_bytes > self.hints.limits.max_decoded_bytes {
            tree.truncated.get_or_insert("bytes");
        }
        tree.finish(self.hints.url, charset, charset_source)
    }

    fn decode(&mut self, block: &[u8], last: bool) {
        let parser = &mut self.parser;
        self.decoder
            .decode(block, last, &mut |text| parser.write(text));
    }
}

impl Tree {
    fn finish(
        mut self,
        url: Option<CrawlUri>,
        charset: &'static str,
        charset_source: CharsetSource,
    ) -> Page {
        self.finish_text();
        // Parents come before their children, so one pass backwards finds the end of each subtree.
        for at in (1..self.nodes.len()).rev() {
            let (parent, end) = (self.nodes[at].parent as usize, self.nodes[at].end);
            let parent = &mut self.nodes[parent];
            parent.end = parent.end.max(end);
        }
        self.nodes.shrink_to_fit();
        self.attributes.shrink_to_fit();
        self.arena.shrink_to_fit();
        let arena = String::from_utf8(self.arena)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        Page {
            url,
            charset,
            charset_source,
            truncated: self.truncated,
            nodes: self.nodes,
            arena,
            attributes: self.attributes,
            paths: self.paths.finish(),
        }
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
