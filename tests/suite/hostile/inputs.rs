//! Pages made to cost more than they are long. In: how many bytes. Out: about as many, the same for the same number.
//! Used by the tests, which count what is built, and by `benches/hostile.rs`, which takes the time.

/// Makes a page of about so many bytes.
type Make = fn(usize) -> Vec<u8>;

/// All other kinds with their names.
const BUILT: &[(&str, Make)] = &[
    ("nested unknown elements", |n| {
        numbered(n, |i| format!("<x{i}>"))
    }),
    ("unclosed fonts", |n| {
        numbered(n, |i| format!("<font size={i}>x<p>"))
    }),
    ("unclosed links", |n| {
        numbered(n, |i| format!("<a href=/{i}>x<div>"))
    }),
    ("adoption over depth", |n| {
        let depth = "<div>".repeat(400);
        let mut page = format!("<b>{depth}").into_bytes();
        page.extend(fill("x</b><b>", n));
        page
    }),
    ("content moved out of a deep table", |n| {
        let mut page = "<div>".repeat(400).into_bytes();
        page.extend(wrapped("<table>", "x<tr>", n));
        page
    }),
    ("attributes of one tag", |n| {
        let mut page = b"<p>x<img ".to_vec();
        page.extend(numbered(n, |i| format!("a{i}=b ")));
        page.extend_from_slice(b">");
        page
    }),
    ("headings", |n| {
        numbered(n, |i| format!("<h1>产量增长{i}</h1>"))
    }),
    ("metas", |n| {
        numbered(n, |i| format!("<meta name=m{i} content='v'>"))
    }),
    ("links", |n| {
        numbered(n, |i| {
            format!("<a href=/news/{i}.html>石油产量稳步增长 {i}</a> ")
        })
    }),
    ("images", |n| {
        numbered(n, |i| format!("<img src=/{i}.jpg alt='图{i}'>"))
    }),
    ("json-ld of many things", |n| {
        let mut page = b"<script type=application/ld+json>{\"@graph\":[".to_vec();
        page.extend(fill(
            "{\"@type\":\"Article\",\"headline\":\"x\",\"datePublished\":\"2020-01-01\"},",
            n,
        ));
        page.extend_from_slice(b"{}]}</script><p>x");
        page
    }),
    ("deep closed json-ld", |n| {
        let depth = n / 2;
        format!(
            "<script type=application/ld+json>{}{}</script><p>x",
            "[".repeat(depth),
            "]".repeat(depth)
        )
        .into_bytes()
    }),
    ("dates", |n| {
        numbered(n, |i| {
            format!("<p>2019年{}月{}日 13:43</p>", i % 12 + 1, i % 28 + 1)
        })
    }),
    ("comment boxes", |n| {
        numbered(n, |i| {
            format!("<div class=comment><b>网友{i}</b><span>2020-01-01</span><p>好</div>")
        })
    }),
    ("blocks of every depth", |n| {
        numbered(n, |i| {
            "<div>".repeat(i % 50) + "石油产量增长。" + &"</div>".repeat(i % 50)
        })
    }),
    ("spans in spans", |n| {
        numbered(n, |i| {
            "<span>".repeat(i % 30) + "油" + &"</span>".repeat(i % 30)
        })
    }),
    ("text in data that is asked for often", |n| {
        let start = "<script>self.__next_f.push([1,\"1:T9,石油。0:[";
        wrapped(start, "\\\"$1\\\",", n)
    }),
    ("random bytes", |n| noise(n, 0, 255)),
    ("random bytes above ASCII", |n| noise(n, 128, 255)),
    ("random markup", |n| {
        let words = [
            "<div>",
            "</div>",
            "<b>",
            "</b>",
            "<table>",
            "</table>",
            "<tr>",
            "<td>",
            "<p>",
            "</p>",
            "<a href=x>",
            "</a>",
            "油",
            " ",
            "<li>",
            "<ul>",
            "</ul>",
            "<svg>",
            "</svg>",
            "<select>",
        ];
        noise(n / 4, 0, 255)
            .iter()
            .flat_map(|b| words[usize::from(*b) % words.len()].bytes())
            .collect()
    }),
    ("zeros", |n| vec![0; n]),
    ("broken utf-8", |n| {
        wrapped("<meta charset=utf-8><p>中文中文", "<b>\u{FFFD}中", n)
            .iter()
            .map(|&b| if b == 0xBF { 0x41 } else { b })
            .collect()
    }),
    ("charset that changes", |n| {
        let gbk = encoding_rs::GBK
            .encode("<p>石油产量增长</p>")
            .0
            .into_owned();
        let both = [gbk.as_slice(), "<p>石油产量增长</p>".as_bytes()].concat();
        both.repeat(n / both.len() + 1)
    }),
    ("utf-16", |n| {
        fill("<p>石油</p>", n)
            .iter()
            .flat_map(|&b| [b, 0])
            .collect()
    }),
    ("gbk", |n| {
        encoding_rs::GBK
            .encode(&"<p>石油产量稳步增长。</p>".repeat(n / 27 + 1))
            .0
            .into_owned()
    }),
];

/// A kind of page.
pub(crate) struct Input {
    pub(crate) name: String,
    make: Box<dyn Fn(usize) -> Vec<u8>>,
}

impl Input {
    /// A page of about so many bytes.
    pub(crate) fn make(&self, bytes: usize) -> Vec<u8> {
        (self.make)(bytes)
    }
}

/// A kind that repeats a piece after a start.
#[derive(serde::Deserialize)]
struct Repeated {
    name: String,
    start: String,
    piece: String,
}

/// Every kind: those of `tests/hostile.json`, which repeat a piece, and those that are built here.
pub(crate) fn inputs() -> impl Iterator<Item = Input> {
    let repeated = serde_json::from_str(include_str!("../../hostile.json"));
    let repeated: Vec<Repeated> = repeated.expect("kinds of pages");
    let repeated = repeated.into_iter().map(|kind| Input {
        name: kind.name,
        make: Box::new(move |bytes| wrapped(&kind.start, &kind.piece, bytes)),
    });
    let built = BUILT.iter().map(|(name, make)| Input {
        name: (*name).to_owned(),
        make: Box::new(make),
    });
    repeated.chain(built)
}

fn fill(piece: &str, bytes: usize) -> Vec<u8> {
    piece.repeat(bytes / piece.len() + 1).into_bytes()
}

fn wrapped(start: &str, piece: &str, bytes: usize) -> Vec<u8> {
    let mut page = start.as_bytes().to_vec();
    page.extend(fill(piece, bytes));
    page
}

fn numbered(bytes: usize, piece: impl Fn(usize) -> String) -> Vec<u8> {
    let mut page = Vec::with_capacity(bytes + 64);
    let mut i = 0;
    while page.len() < bytes {
        page.extend_from_slice(piece(i).as_bytes());
        i += 1;
    }
    page
}

/// Bytes of a fixed sequence between two values, both included (xorshift64).
fn noise(bytes: usize, from: u8, to: u8) -> Vec<u8> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let span = u64::from(to - from) + 1;
    (0..bytes)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            from + ((state >> 24) % span) as u8
        })
        .collect()
}
