//! Pages made to cost more than they are long. In: how many bytes. Out: about as many, the same for the same number.
//! Used by the tests, which count what is built, and by `benches/hostile.rs`, which takes the time.

/// Makes a page of about so many bytes.
type Make = fn(usize) -> Vec<u8>;

/// Every kind with its name.
pub(crate) const INPUTS: &[(&str, Make)] = &[
    ("nested divs", |n| fill("<div>", n)),
    ("nested divs with text", |n| fill("<div>石油", n)),
    ("nested unknown elements", |n| {
        numbered(n, |i| format!("<x{i}>"))
    }),
    ("nested tables", |n| fill("<table><tr><td>x", n)),
    ("tables directly in tables", |n| fill("<table>", n)),
    ("nested lists", |n| fill("<ul><li>x", n)),
    ("nested templates", |n| fill("<template>", n)),
    ("nested svg", |n| fill("<svg><g>", n)),
    ("nested foreign html", |n| {
        fill("<svg><foreignObject><p>", n)
    }),
    ("nested framesets", |n| fill("<frameset>", n)),
    ("text", |n| {
        wrapped("<p>", "油田今年产量稳步增长，安全生产形势平稳。", n)
    }),
    ("text of one letter", |n| fill("a", n)),
    ("text without a sentence", |n| fill("中", n)),
    ("sentence marks", |n| fill("。", n)),
    ("lines", |n| fill("x\n", n)),
    ("breaks", |n| fill("x<br>", n)),
    ("white space", |n| wrapped("<p>x", " \n\t", n)),
    ("preformatted", |n| wrapped("<pre>", " x\n", n)),
    ("paragraphs", |n| fill("<p>石油产量增长。", n)),
    ("paragraphs of a word", |n| fill("<p>x", n)),
    ("unclosed bold paragraphs", |n| fill("<b>x<p>", n)),
    ("unclosed fonts", |n| {
        numbered(n, |i| format!("<font size={i}>x<p>"))
    }),
    ("unclosed links", |n| {
        numbered(n, |i| format!("<a href=/{i}>x<div>"))
    }),
    ("unclosed tags of all kinds", |n| {
        fill("<b><i><u><em><strong><code><span><p><div><li><td><h1>", n)
    }),
    ("end tags without start", |n| {
        fill("</div></b></p></table></li></x>", n)
    }),
    ("crossed formatting", |n| {
        fill("<b class=a><i class=b><u class=c><p>x</b>y</i>z</u>", n)
    }),
    ("adoption of blocks", |n| fill("<a><div></a>", n)),
    ("adoption over depth", |n| {
        let depth = "<div>".repeat(400);
        let mut page = format!("<b>{depth}").into_bytes();
        page.extend(fill("x</b><b>", n));
        page
    }),
    ("formatting in tables", |n| fill("<table><b><tr><td>x", n)),
    ("content moved out of a table", |n| {
        wrapped("<table>", "x<tr><td>y", n)
    }),
    ("content moved out of a deep table", |n| {
        let mut page = "<div>".repeat(400).into_bytes();
        page.extend(wrapped("<table>", "x<tr>", n));
        page
    }),
    ("formatting moved out of a table", |n| {
        wrapped("<table>", "<b>x<tr>", n)
    }),
    ("options", |n| wrapped("<select>", "<option>x", n)),
    ("one huge attribute", |n| wrapped("<p>x<img alt='", "油", n)),
    ("one attribute that never ends", |n| {
        wrapped("<p>x<img alt=\"", "y", n)
    }),
    ("attributes of one tag", |n| {
        let mut page = b"<p>x<img ".to_vec();
        page.extend(numbered(n, |i| format!("a{i}=b ")));
        page.extend_from_slice(b">");
        page
    }),
    ("kept attributes of one tag", |n| {
        wrapped("<p>x<a ", "class=b id=c href=d ", n)
    }),
    ("entities", |n| wrapped("<p>", "&amp;&#x4e2d;&nbsp;", n)),
    ("entities without end", |n| {
        wrapped("<p>", "&notanentityatall", n)
    }),
    ("numbers of characters without end", |n| {
        wrapped("<p>&#", "9", n)
    }),
    ("ampersands", |n| wrapped("<p>", "&", n)),
    ("comments", |n| fill("<!-- x -->y", n)),
    ("a comment that never ends", |n| {
        wrapped("<p>x<!--", " -", n)
    }),
    ("tags that never end", |n| fill("<p <p <p ", n)),
    ("angle brackets", |n| fill("<", n)),
    ("less than", |n| fill("a < b ", n)),
    ("declarations", |n| fill("<!x><?y?>", n)),
    ("cdata", |n| wrapped("<svg>", "<![CDATA[x]]>", n)),
    ("one huge title", |n| wrapped("<title>", "石油", n)),
    ("titles", |n| fill("<title>石油</title>", n)),
    ("headings", |n| {
        numbered(n, |i| format!("<h1>产量增长{i}</h1>"))
    }),
    ("one huge heading", |n| {
        wrapped("<title>石油产量增长</title><h1>", "石油产量增长", n)
    }),
    ("metas", |n| {
        numbered(n, |i| format!("<meta name=m{i} content='v'>"))
    }),
    ("metas of titles and dates", |n| {
        fill(
            "<meta property=og:title content='产量'><meta name=pubdate content='2020-01-01'>",
            n,
        )
    }),
    ("links", |n| {
        numbered(n, |i| {
            format!("<a href=/news/{i}.html>石油产量稳步增长 {i}</a> ")
        })
    }),
    ("the same link", |n| fill("<a href=/a>x</a>", n)),
    ("images", |n| {
        numbered(n, |i| format!("<img src=/{i}.jpg alt='图{i}'>"))
    }),
    ("hidden elements", |n| {
        fill("<p style='display:none'>x</p>", n)
    }),
    ("one script", |n| {
        wrapped("<script>", "var publish_time = '2020-01-01';\n", n)
    }),
    ("scripts", |n| fill("<script>publishTime:1</script>", n)),
    ("scripts in a script", |n| {
        wrapped("<script><!--", "<script></script", n)
    }),
    ("end tags in a script", |n| {
        wrapped("<script>", "</script</scrip>", n)
    }),
    ("end tags in a style", |n| wrapped("<style>", "</style", n)),
    ("dashes in a script", |n| {
        wrapped("<script><!--", "--<!--", n)
    }),
    ("plaintext", |n| {
        wrapped("<plaintext>", "<b></plaintext>", n)
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
    ("deep json-ld", |n| {
        wrapped("<script type=application/ld+json>", "[{\"a\":", n)
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
    ("broken json-ld", |n| {
        fill(
            "<script type=application/ld+json>{\"datePublished\":\"</script>",
            n,
        )
    }),
    ("dates", |n| {
        numbered(n, |i| {
            format!("<p>2019年{}月{}日 13:43</p>", i % 12 + 1, i % 28 + 1)
        })
    }),
    ("dates in one text", |n| {
        wrapped("<p>", "2019-09-07 13:43 ", n)
    }),
    ("digits", |n| wrapped("<p>", "0123456789", n)),
    ("beginnings of dates", |n| {
        wrapped("<p>", "2019年9月昨天", n)
    }),
    ("digits of full width", |n| wrapped("<p>", "２０１９－", n)),
    ("times", |n| fill("<time datetime=2020-01-01>x</time>", n)),
    ("bylines", |n| {
        fill("<p>来源：新华社 作者：张三 责任编辑：李四</p>", n)
    }),
    ("bylines in one text", |n| {
        wrapped("<p>", "来源：作者：编辑：", n)
    }),
    ("copyright lines", |n| {
        fill("<p>版权所有 © 2020 转载请注明</p>", n)
    }),
    ("comment boxes", |n| {
        numbered(n, |i| {
            format!("<div class=comment><b>网友{i}</b><span>2020-01-01</span><p>好</div>")
        })
    }),
    ("cells", |n| wrapped("<table><tr>", "<td>1", n)),
    ("rows", |n| wrapped("<table>", "<tr><td>1<td>2", n)),
    ("list items", |n| wrapped("<ul>", "<li>石油产量增长", n)),
    ("definition lists", |n| wrapped("<dl>", "<dt>x<dd>y", n)),
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
    ("quotes in data that are escaped", |n| data("\"\\", n)),
    ("quotes in data that never end", |n| data("\"'`\\\n", n)),
    ("nested data", |n| data("[{a:", n)),
    ("texts in data", |n| {
        data("{title:\"a\",content:\"石油产量增长，安全生产。\"},", n)
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

fn fill(piece: &str, bytes: usize) -> Vec<u8> {
    piece.repeat(bytes / piece.len() + 1).into_bytes()
}

fn wrapped(start: &str, piece: &str, bytes: usize) -> Vec<u8> {
    let mut page = start.as_bytes().to_vec();
    page.extend(fill(piece, bytes));
    page
}

/// A script that is told as data.
fn data(piece: &str, bytes: usize) -> Vec<u8> {
    wrapped(
        "<title>石油产量增长</title><script>window.__DATA__=[",
        piece,
        bytes,
    )
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
