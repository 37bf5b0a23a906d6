//! Presentations of Office Open XML: the text of each slide that is shown, then its notes.

use crate::draft::Draft;
use crate::drawing::{drawing_text, related_text};
use crate::opc::OfficePackage;
use crate::xml::{Node, walk};
use crate::{Budget, Place, Unreadable, heading};

/// Slides that are read.
const MAX_SLIDES: usize = 5000;

/// Reads a presentation.
pub(crate) fn read(
    mut package: OfficePackage<'_>,
    budget: &mut Budget,
) -> Result<Draft, Unreadable> {
    let main = package.main_part(budget).ok_or(Unreadable::Damaged)?;
    let presentation = package.read(&main, budget)?;
    let relations = package.relations(&main, budget);
    let mut slides: Vec<String> = Vec::new();
    walk(&presentation, |node| {
        if let Node::Start("sldId", tag) = node {
            // It has a number (`id`) besides the relation (`r:id`).
            let ids = tag.all("id");
            let slide = relations
                .iter()
                .find(|relation| relation.kind == "slide" && ids.contains(&relation.id));
            slides.extend(slide.map(|slide| slide.part.clone()));
        }
    });
    if slides.is_empty() {
        slides = package.parts_of_type("slide+xml");
    }
    let mut draft = Draft::default();
    package.read_properties(&mut draft, budget);
    draft.is_cut = slides.len() > MAX_SLIDES;
    let mut shown = 0;
    for (number, part) in (1..).zip(slides.iter().take(MAX_SLIDES)) {
        let slide = match package.read(part, budget) {
            Ok(slide) => slide,
            Err(Unreadable::TooLarge) => return Err(Unreadable::TooLarge),
            Err(_) => continue,
        };
        let Some(read) = read_slide(&slide) else {
            continue;
        };
        shown += 1;
        for title in &read.titles {
            heading::push_heading(2, title, &mut draft.sections);
        }
        if number == 1 {
            draft.headings = read.titles;
        }
        draft.has_pictures |= read.has_pictures;
        let mut text = drawing_text(&slide);
        let relations = package.relations(part, budget);
        let mut drawings = related_text(&mut package, &relations, budget);
        for id in &read.drawings {
            text.push_str(&drawings.remove(id).unwrap_or_default());
        }
        for notes in relations
            .iter()
            .filter(|relation| relation.kind == "notesSlide")
        {
            text.push_str(&drawing_text(
                &package.read(&notes.part, budget).unwrap_or_default(),
            ));
        }
        draft.push(Place::Slide(number), text);
    }
    draft.pages = Some(shown);
    Ok(draft)
}

/// What of a slide is not its text.
#[derive(Default)]
struct Slide {
    titles: Vec<String>,
    /// Relations of SmartArt and charts, in their order.
    drawings: Vec<String>,
    has_pictures: bool,
}

/// Returns `None` for a slide that is not shown.
fn read_slide(xml: &[u8]) -> Option<Slide> {
    let mut slide = Slide::default();
    let (mut is_hidden, mut is_title, mut is_text) = (false, false, false);
    let mut title = String::new();
    walk(xml, |node| match node {
        Node::Start("sld", tag) => {
            is_hidden = matches!(tag.get("show").as_deref(), Some("0" | "false"))
        }
        Node::Start("ph", tag) => {
            is_title = tag
                .get("type")
                .is_some_and(|kind| kind == "title" || kind == "ctrTitle")
        }
        Node::End("sp") => {
            if is_title && !title.trim().is_empty() {
                slide.titles.push(title.trim().to_owned());
            }
            is_title = false;
            title.clear();
        }
        Node::Start("relIds", tag) => slide.drawings.extend(tag.get("dm")),
        Node::Start("chart", tag) => slide.drawings.extend(tag.get("id")),
        Node::Start("blip", _) => slide.has_pictures = true,
        Node::Start("t", _) => is_text = true,
        Node::End("t") => is_text = false,
        Node::Text(text) if is_title && is_text => title.push_str(text),
        _ => {}
    });
    (!is_hidden).then_some(slide)
}
