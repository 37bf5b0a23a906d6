//! What Chinese pages say by habit and not by elements: headings that are a bold paragraph of their own, chapters and articles of
//! laws, lists whose paragraphs begin with a number, captions below pictures.

use std::iter::Peekable;
use std::slice;

use crate::document::Image;
use crate::structure::{Block, BlockKind, Container, Span, SpanKind, Structure};

/// Most characters of a heading, of the name of a chapter, and of a caption.
const HEADING_CHARS: usize = 40;
const CHAPTER_CHARS: usize = 30;
const CAPTION_CHARS: usize = 80;
/// Fewest paragraphs that are a list.
const LIST_ITEMS: usize = 2;

/// Adds to the structure of a text what its plain paragraphs say by habit.
pub fn add_habits(text: &str, images: &[Image], structure: &mut Structure) {
    let paragraphs: Vec<&str> = text.lines().collect();
    let has_parts = paragraphs
        .iter()
        .any(|text| matches!(read_division(text), Some((Division::Part, _))));
    let mut blocks = std::mem::take(structure)
        .into_blocks()
        .into_iter()
        .peekable();
    let mut images = images.iter().peekable();
    let mut read: Vec<Block> = (0..)
        .zip(&paragraphs)
        .map(|(at, text)| {
            let block = blocks
                .next_if(|block| block.at == at)
                .unwrap_or_else(|| Block {
                    at,
                    ..Block::default()
                });
            let follows_picture = follows_picture(&mut images, at);
            let is_plain = block.kind == BlockKind::Plain && block.containers.is_empty();
            if is_plain {
                read_paragraph(text, block, has_parts, follows_picture)
            } else {
                block
            }
        })
        .collect();
    mark_lists(&paragraphs, &mut read);
    for block in read {
        structure.push(block);
    }
}

fn follows_picture(images: &mut Peekable<slice::Iter<'_, Image>>, at: u32) -> bool {
    let mut follows = false;
    while let Some(image) = images.next_if(|image| image.after <= at) {
        follows = image.after == at;
    }
    follows
}

fn read_paragraph(text: &str, block: Block, has_parts: bool, follows_picture: bool) -> Block {
    let is_bold = block
        .spans
        .iter()
        .any(|span| span.2 == SpanKind::Strong && span.range() == (0..text.len()));
    if let Some(level) = read_heading(text, is_bold, has_parts) {
        return Block {
            kind: BlockKind::Heading(level),
            ..block
        };
    }
    if follows_picture && is_caption(text) {
        return Block {
            kind: BlockKind::Caption,
            ..block
        };
    }
    match read_division(text) {
        Some((Division::Article, end)) if block.spans.is_empty() && end < text.len() => Block {
            spans: vec![Span::new(0..end, SpanKind::Strong)],
            ..block
        },
        _ => block,
    }
}

/// The level of a heading that is a paragraph of its own.
fn read_heading(text: &str, is_bold: bool, has_parts: bool) -> Option<u8> {
    let below = u8::from(has_parts);
    match read_division(text) {
        Some((Division::Article, _)) => return None,
        Some((division, end)) if is_name(text.get(end..)?) => {
            return Some(match division {
                Division::Part => 2,
                Division::Chapter => 2 + below,
                Division::Section | Division::Article => 3 + below,
            });
        }
        _ => {}
    }
    let ends_sentence = text.ends_with(['。', '；', '，', '！', ';', ',']);
    if !is_bold || ends_sentence || text.chars().count() > HEADING_CHARS {
        return None;
    }
    let rest = text.trim_start_matches(['（', '(']);
    let name = rest.trim_start_matches(is_numeral);
    if name.len() == rest.len() {
        return None;
    }
    match (rest.len() < text.len(), name.chars().next()?) {
        (false, '、') => Some(2),
        (true, '）' | ')') => Some(3),
        _ => None,
    }
}

/// The divisions of a law or a book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Division {
    Part,
    Chapter,
    Section,
    Article,
}

/// The division that a paragraph begins with, `第三章`, `第十二条之一`, and where its number ends.
fn read_division(text: &str) -> Option<(Division, usize)> {
    let rest = text.strip_prefix('第')?;
    let name = rest.trim_start_matches(|c| is_numeral(c) || c.is_ascii_digit());
    if name.len() == rest.len() {
        return None;
    }
    let kind = name.chars().next()?;
    let division = match kind {
        '编' | '編' | '篇' => Division::Part,
        '章' => Division::Chapter,
        '节' | '節' => Division::Section,
        '条' | '條' => Division::Article,
        _ => return None,
    };
    let behind = name.get(kind.len_utf8()..)?;
    let further = behind
        .strip_prefix('之')
        .map(|rest| rest.trim_start_matches(is_numeral));
    let behind = further
        .filter(|_| division == Division::Article)
        .unwrap_or(behind);
    let is_apart = behind.is_empty() || behind.starts_with(char::is_whitespace);
    is_apart.then(|| (division, text.len() - behind.len()))
}

/// Whether this is the name of a chapter: short, and no sentence.
fn is_name(text: &str) -> bool {
    let is_mark = |c: char| "。；，！？：;,:".contains(c);
    text.chars().count() <= CHAPTER_CHARS && !text.contains(is_mark)
}

fn is_numeral(c: char) -> bool {
    "〇零一二三四五六七八九十百千".contains(c)
}

/// Whether a paragraph below a picture says what it shows, or who took it.
fn is_caption(text: &str) -> bool {
    const BEGINNINGS: [&str; 8] = ["图为", "图：", "图/", "图片", "▲", "△", "▼", "图源"];
    const ENDS: [&str; 5] = ["摄", "摄）", "摄)", "供图", "供图）"];
    text.chars().count() <= CAPTION_CHARS
        && (BEGINNINGS.iter().any(|begin| text.starts_with(begin))
            || ENDS.iter().any(|end| text.ends_with(end)))
}

/// Marks paragraphs that follow each other and begin with 1. 2. 3. or ① ② ③ as the items of a list.
fn mark_lists(paragraphs: &[&str], blocks: &mut [Block]) {
    let mut at = 0;
    while at < paragraphs.len() {
        let numbers = paragraphs.iter().zip(blocks.iter()).skip(at).zip(1..);
        let items = numbers.take_while(|((text, block), number)| {
            let is_plain = block.kind == BlockKind::Plain && block.containers.is_empty();
            is_plain && read_number(text).is_some_and(|(found, _)| found == *number)
        });
        let count = items.count();
        if count >= LIST_ITEMS {
            for (text, block) in paragraphs
                .iter()
                .zip(blocks.iter_mut())
                .skip(at)
                .take(count)
            {
                mark_item(text, block);
            }
        }
        at += count.max(1);
    }
}

fn mark_item(text: &str, block: &mut Block) {
    let Some((number, marker)) = read_number(text) else {
        return;
    };
    block.begins = 1;
    if marker == 0 {
        block.containers = vec![Container::Item];
        return;
    }
    block.containers = vec![Container::Number(number)];
    // What is set off from the number on begins behind it.
    for span in &mut block.spans {
        span.0 = span.0.max(marker as u32);
    }
    block.spans.retain(|span| span.0 < span.1);
    block
        .spans
        .insert(0, Span::new(0..marker, SpanKind::Marker));
}

/// The number that a paragraph begins with, and where the sign behind it ends; 0 for one in a circle, which is its own sign.
fn read_number(text: &str) -> Option<(u32, usize)> {
    let first = text.chars().next()?;
    if let Some(number) = u32::from(first).checked_sub(0x2460).filter(|n| *n < 20) {
        return Some((number + 1, 0));
    }
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let number = text
        .get(..text.len() - rest.len())
        .filter(|digits| digits.len() <= 2)?;
    let sign = rest.chars().next().filter(|c| ".．、)）".contains(*c))?;
    let behind = rest.get(sign.len_utf8()..)?;
    // Not the beginning of 1.5 or of a time.
    let is_number = behind.starts_with(|c: char| c.is_ascii_digit());
    let shown = behind.trim_start();
    // Pages of other languages have lists for that.
    let is_chinese = |c: char| matches!(c, '\u{3400}'..='\u{9FFF}');
    (!is_number && shown.chars().take(HEADING_CHARS).any(is_chinese)).then_some(())?;
    Some((number.parse().ok()?, text.len() - shown.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, bold: &[u32], images: &[Image]) -> Structure {
        let lines: Vec<&str> = text.lines().collect();
        let blocks = bold.iter().map(|at| Block {
            at: *at,
            spans: vec![Span::new(0..lines[*at as usize].len(), SpanKind::Strong)],
            ..Block::default()
        });
        let mut structure = Structure::new(blocks.collect());
        add_habits(text, images, &mut structure);
        structure
    }

    fn kinds(structure: &Structure) -> Vec<(u32, BlockKind)> {
        let blocks = structure.blocks().iter();
        blocks.map(|block| (block.at, block.kind.clone())).collect()
    }

    #[test]
    fn bold_paragraphs_with_a_numeral_are_headings() {
        let text =
            "一、总体要求\n正文。\n（二）工作目标\n一、这是一句加粗的话。\n三、没有加粗\n要点";
        let structure = read(text, &[0, 2, 3, 5], &[]);
        let headings = [(0, BlockKind::Heading(2)), (2, BlockKind::Heading(3))];
        assert_eq!(kinds(&structure)[..2], headings);
        assert!(
            kinds(&structure)[2..]
                .iter()
                .all(|(_, kind)| *kind == BlockKind::Plain)
        );
    }

    #[test]
    fn divisions_of_a_law() {
        let text = "第一编　总则\n第一章 一般规定\n第一节 范围\n第一条　为了规范管理，制定本法。\n第十二条之一 另有规定的除外。\n第二章的内容是，下面的话。";
        let structure = read(text, &[], &[]);
        let wanted = [
            (0, BlockKind::Heading(2)),
            (1, BlockKind::Heading(3)),
            (2, BlockKind::Heading(4)),
            (3, BlockKind::Plain),
            (4, BlockKind::Plain),
        ];
        assert_eq!(kinds(&structure), wanted);
        let article = structure.block(4).expect("it has a span");
        assert_eq!(
            article.spans,
            [Span::new(0.."第十二条之一".len(), SpanKind::Strong)]
        );
    }

    #[test]
    fn paragraphs_with_numbers_are_a_list() {
        let text = "步骤如下：\n1.关阀\n2、卸压\n3) 拆卸\n1.5 倍是上限\n① 甲\n② 乙\n1. 单独一条";
        let structure = read(text, &[], &[]);
        let at: Vec<u32> = structure.blocks().iter().map(|block| block.at).collect();
        assert_eq!(at, [1, 2, 3, 5, 6]);
        assert_eq!(structure.blocks()[0].containers, [Container::Number(1)]);
        assert_eq!(
            structure.blocks()[2].spans,
            [Span::new(0..3, SpanKind::Marker)]
        );
        assert_eq!(structure.blocks()[3].containers, [Container::Item]);
    }

    #[test]
    fn captions_stand_below_pictures() {
        let image = |after| Image {
            after,
            ..Image::default()
        };
        let text =
            "正文一。\n图为施工现场。\n正文二。\n图为另一处。\n工人在检修 新华社记者 王伟 摄";
        let structure = read(text, &[], &[image(1), image(4)]);
        let wanted = [(1, BlockKind::Caption), (4, BlockKind::Caption)];
        assert_eq!(kinds(&structure), wanted);
    }
}
