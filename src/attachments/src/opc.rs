//! Packages of Office Open XML (ECMA-376 part 2). A part is found by relation or content type and never by its name, which each
//! program chooses; names compare without case.

use std::io::{Cursor, Write as _};

use quick_xml::Reader;
use quick_xml::events::Event;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::draft::Draft;
use crate::metadata::parse_time;
use crate::package::{Package, resolve};
use crate::xml::{Node, find_texts, walk};
use crate::{Budget, FileType, Unreadable};

/// Relations of one part.
const MAX_RELATIONS: usize = 20_000;
/// Where the main part usually is, for packages that do not tell.
const USUAL_MAIN_PARTS: [&str; 3] = [
    "word/document.xml",
    "xl/workbook.xml",
    "ppt/presentation.xml",
];

/// An open package.
pub(crate) struct OfficePackage<'a> {
    package: Package<'a>,
    /// Parts with a type of their own, in lower case, without the slash at the beginning; then that type.
    types: Vec<(String, String)>,
}

/// A relation from one part to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Relation {
    pub(crate) id: String,
    /// Last step of its type, such as `worksheet`: the same in the transitional and the strict form.
    pub(crate) kind: String,
    /// Path of the part that it leads to.
    pub(crate) part: String,
}

impl<'a> OfficePackage<'a> {
    /// Opens a package; `None` if the archive is of another kind.
    pub(crate) fn open(package: Package<'a>, budget: &mut Budget) -> Option<Self> {
        let mut this = Self {
            package,
            types: Vec::new(),
        };
        let xml = this
            .package
            .read("[content_types].xml", budget)
            .unwrap_or_default();
        walk(&xml, |node| {
            if let Node::Start("Override", tag) = node
                && let (Some(part), Some(content_type)) =
                    (tag.get("PartName"), tag.get("ContentType"))
            {
                let part = part
                    .replace('\\', "/")
                    .trim_start_matches('/')
                    .to_lowercase();
                this.types.push((part, content_type.to_lowercase()));
            }
        });
        let is_package = !xml.is_empty() || this.package.contains("_rels/.rels");
        is_package.then_some(this)
    }

    /// Returns the path of the part that all others hang from.
    pub(crate) fn main_part(&mut self, budget: &mut Budget) -> Option<String> {
        let relations = self.relations("", budget);
        let main = relations
            .into_iter()
            .find(|relation| relation.kind == "officeDocument");
        if let Some(main) = main {
            return Some(main.part);
        }
        let mut types = self.types.iter();
        let typed = types.find(|(_, content_type)| content_type.contains(".main"));
        let typed = typed.map(|(part, _)| part.clone());
        let usual = USUAL_MAIN_PARTS
            .into_iter()
            .find(|part| self.package.contains(part));
        typed.or(usual.map(str::to_owned))
    }

    /// Returns what the package is by the type of its main part, or else by that part's root element.
    ///
    /// # Errors
    ///
    /// Returns [`Unreadable::NotRead`] for a workbook in the binary form.
    pub(crate) fn file_type(
        &mut self,
        budget: &mut Budget,
    ) -> Result<Option<FileType>, Unreadable> {
        let Some(main) = self.main_part(budget) else {
            return Ok(None);
        };
        let lower = main.trim_start_matches('/').to_lowercase();
        let content_type = self.types.iter().find(|(part, _)| *part == lower);
        let content_type = content_type.map_or("", |(_, content_type)| content_type);
        if content_type.contains("sheet.binary") || lower.ends_with(".bin") {
            return Err(Unreadable::NotRead("a binary Excel workbook".to_owned()));
        }
        for (family, file_type) in [
            ("wordprocessingml", FileType::Docx),
            ("ms-word", FileType::Docx),
            ("spreadsheetml", FileType::Xlsx),
            ("ms-excel", FileType::Xlsx),
            ("presentationml", FileType::Pptx),
            ("ms-powerpoint", FileType::Pptx),
        ] {
            if content_type.contains(family) {
                return Ok(Some(file_type));
            }
        }
        Ok(match &*root_element(&self.read(&main, budget)?) {
            "document" => Some(FileType::Docx),
            "workbook" => Some(FileType::Xlsx),
            "presentation" => Some(FileType::Pptx),
            _ => None,
        })
    }

    /// Returns the relations of a part, or those of the package for an empty path. External ones are left out.
    pub(crate) fn relations(&mut self, part: &str, budget: &mut Budget) -> Vec<Relation> {
        let (folder, name) = part
            .rsplit_once('/')
            .map_or(("", part), |(folder, name)| (folder, name));
        let path = format!("{folder}/_rels/{name}.rels");
        let xml = self.package.read(&path, budget).unwrap_or_default();
        let mut relations = Vec::new();
        walk(&xml, |node| {
            let Node::Start("Relationship", tag) = node else {
                return;
            };
            let is_external = tag
                .get("TargetMode")
                .is_some_and(|mode| mode.eq_ignore_ascii_case("external"));
            if is_external || relations.len() >= MAX_RELATIONS {
                return;
            }
            let kind = tag.get("Type").unwrap_or_default();
            relations.push(Relation {
                id: tag.get("Id").unwrap_or_default(),
                kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
                part: self.find_target(part, &tag.get("Target").unwrap_or_default()),
            });
        });
        relations
    }

    /// Returns the part that a relation of `base` leads to. Some programs write paths from the root without a slash, others escape
    /// what need not be.
    fn find_target(&self, base: &str, target: &str) -> String {
        let target = target.replace('\\', "/");
        let decoded = percent_encoding::percent_decode_str(&target).decode_utf8_lossy();
        let candidates = [
            resolve(base, &target),
            resolve(base, &decoded),
            resolve("", &target),
        ];
        let found = candidates.iter().find(|part| self.package.contains(part));
        found.unwrap_or(&candidates[0]).clone()
    }

    /// Returns the parts of a type, such as `worksheet+xml`, in the order of the content types.
    pub(crate) fn parts_of_type(&self, ending: &str) -> Vec<String> {
        let parts = self
            .types
            .iter()
            .filter(|(_, content_type)| content_type.ends_with(ending));
        parts.map(|(part, _)| part.clone()).collect()
    }

    /// Unpacks a part.
    pub(crate) fn read(&mut self, part: &str, budget: &mut Budget) -> Result<Vec<u8>, Unreadable> {
        self.package.read(part, budget)
    }

    /// Unpacks the first part that a relation of this kind leads to; empty if there is none or it cannot be read.
    pub(crate) fn read_related(
        &mut self,
        relations: &[Relation],
        kind: &str,
        budget: &mut Budget,
    ) -> Vec<u8> {
        let relation = relations.iter().find(|relation| relation.kind == kind);
        relation
            .and_then(|relation| self.read(&relation.part, budget).ok())
            .unwrap_or_default()
    }

    /// Takes title, author, times and pages from the properties of the package.
    pub(crate) fn read_properties(&mut self, draft: &mut Draft, budget: &mut Budget) {
        let relations = self.relations("", budget);
        let core = self.read_related(&relations, "core-properties", budget);
        for (name, text) in find_texts(&core, &["title", "creator", "created", "modified"]) {
            match &*name {
                "title" => draft.declared_title = Some(text),
                "creator" => draft.authors.push(text),
                "created" => draft.created = parse_time(&text),
                _ => draft.modified = parse_time(&text),
            }
        }
        let extended = self.read_related(&relations, "extended-properties", budget);
        let pages = find_texts(&extended, &["Pages"]).into_iter().next();
        let pages = pages.and_then(|(_, pages)| pages.trim().parse().ok());
        draft.pages = pages.filter(|pages| *pages > 0);
    }
}

/// Returns the local name of the first element, empty if there is none.
pub(crate) fn root_element(xml: &[u8]) -> String {
    let head = xml.get(..xml.len().min(ROOT_BYTES)).unwrap_or_default();
    let mut root = String::new();
    walk(head, |node| {
        if let Node::Start(name, _) = node
            && root.is_empty()
        {
            root = name.to_owned();
        }
    });
    root
}

/// The first element begins before; the head may end in it.
const ROOT_BYTES: usize = 64 << 10;

/// Returns the archive that a package in one XML file ("flat OPC") stands for; `None` if it is none or cannot be written.
pub(crate) fn pack_flat(xml: &str) -> Option<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let mut reader = Reader::from_str(xml);
    let mut types = String::new();
    let mut part = String::new();
    let mut data_start = None;
    loop {
        let before = usize::try_from(reader.buffer_position()).ok()?;
        match reader.read_event() {
            Ok(Event::Start(tag)) if tag.local_name().as_ref() == "part" => {
                let attribute = |name: &str| {
                    let mut attributes = tag.attributes().flatten();
                    let found = attributes.find(|a| a.key.local_name().as_ref() == name);
                    found.map(|a| a.value.to_string()).unwrap_or_default()
                };
                part = attribute("name");
                let content_type = attribute("contentType");
                types.push_str(&format!(
                    "<Override PartName=\"{part}\" ContentType=\"{content_type}\"/>"
                ));
            }
            Ok(Event::Start(tag)) if tag.local_name().as_ref() == "xmlData" => {
                data_start = usize::try_from(reader.buffer_position()).ok();
            }
            Ok(Event::End(tag)) if tag.local_name().as_ref() == "xmlData" => {
                let data = xml.get(data_start.take()?..before)?;
                archive
                    .start_file(part.trim_start_matches('/'), stored)
                    .ok()?;
                archive.write_all(data.as_bytes()).ok()?;
            }
            Ok(Event::Eof) | Err(_) => break,
            Ok(_) => {}
        }
    }
    if types.is_empty() {
        return None;
    }
    archive.start_file("[Content_Types].xml", stored).ok()?;
    archive
        .write_all(format!("<Types>{types}</Types>").as_bytes())
        .ok()?;
    archive.finish().ok().map(Cursor::into_inner)
}
