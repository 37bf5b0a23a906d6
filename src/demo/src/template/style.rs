//! Style sheets and pictures, so that the sample web is pleasant to click through. Both are generated, not stored.

use super::super::rng::Rng;
use super::super::sites::Template;

const SHARED: &str = "body{margin:0;font:16px/1.8 'Noto Sans CJK SC','Microsoft YaHei','PingFang SC',sans-serif;color:#222}\
img{max-width:100%}a{color:#14508c;text-decoration:none}a:hover{text-decoration:underline}\
.error-box{max-width:32em;margin:15vh auto;text-align:center}.error-box h1{font-size:5em;margin:0;color:#bbb}\n";

/// The style sheet of a template.
pub(crate) fn sheet(template: Template) -> String {
    let own = match template {
        Template::Newspaper => {
            ".masthead{background:#0b3d66;color:#fff;padding:1em 2em}.masthead a{color:#fff}.logo{font-size:1.9em;font-weight:700}\
             .channel ul{display:flex;gap:1.5em;list-style:none;padding:0}.wrap{display:flex;gap:2em;max-width:1080px;margin:1.5em auto;padding:0 1em}\
             main{flex:1;min-width:0}.sidebar{width:260px;font-size:.9em}.info{color:#777;font-size:.9em}.news-list{list-style:none;padding:0}\
             .news-list li{display:flex;justify-content:space-between;border-bottom:1px dotted #ccc}.date{color:#999}.article-content p{margin:.8em 0}\
             .copyright{background:#f2f4f6;color:#888;font-size:.8em;padding:1em 2em}@media(max-width:700px){.wrap{display:block}.sidebar{width:auto}}"
        }
        Template::Portal => {
            "body{font-size:14px;background:#eef}table{background:#fff}.top .logo{font-size:26px;color:#c00;padding:8px}.nav,.bar{background:#c00;color:#fff;padding:4px}\
             .nav a,.bar a{color:#fff}.biaoti{padding:12px}.xinxi{color:#888;border-bottom:1px solid #ccc}.neirong{font-size:16px;line-height:1.9}\
             .hot,.liebiao{border-bottom:1px dashed #ddd}.foot{color:#888}"
        }
        Template::Bulletin => {
            "#header{background:#b40000;color:#ffe9a8;text-align:center;padding:12px}.menu{margin:auto}.menu a{color:#fff;padding:0 1em}\
             #main{max-width:960px;margin:1em auto;padding:0 1em}.xxgk{width:100%;border:1px solid #ddd;font-size:14px}.xxgk th{background:#f6f6f6}\
             h1{font-size:24px;text-align:center}.laiyuan{text-align:center;color:#888;font-size:14px}.liebiao li span{float:right;color:#888}\
             #footer{text-align:center;color:#999;font-size:13px;border-top:2px solid #b40000}"
        }
        Template::Blog => {
            "body{background:#fbfaf6;font-family:Georgia,'Noto Serif CJK SC',serif}#page{max-width:980px;margin:auto;padding:1em}.site-branding a{font-size:1.8em}\
             #content{display:flex;gap:3em}#primary{flex:1;min-width:0}#secondary{width:220px;font-size:.85em}.entry-meta{color:#998}.comment-list{list-style:none;padding:0}\
             .comment{border-top:1px solid #e5e0d0}@media(max-width:700px){#content{display:block}#secondary{width:auto}}"
        }
        Template::Forum => {
            "body{font-size:14px}.wp{max-width:980px;margin:auto}#hd{background:#2b7acd;padding:6px 20px}#hd a{color:#fff}#nv ul{display:flex;gap:1em;list-style:none;padding:0}\
             .plhin{width:100%;border:1px solid #c2d5e3;margin:8px 0}.pls{width:150px;background:#e5edf2;vertical-align:top;padding:8px}.plc{padding:8px;vertical-align:top}\
             .tl{width:100%}.tl th{text-align:left;font-weight:400}.pi{color:#999}"
        }
        Template::Agency => {
            "body{background:#f4f6f8}.g-top{background:#fff;border-bottom:3px solid #0a8f6a;padding:.8em 2em;display:flex;gap:2em}.brand a{font-size:1.4em;color:#0a8f6a}\
             .tab{margin-right:1.2em}.g-body{display:flex;gap:1.5em;max-width:1100px;margin:1.2em auto;padding:0 1em}.g-left{flex:1;min-width:0;background:#fff;padding:1.2em}\
             .g-right{width:270px;font-size:.88em}.sub span{color:#888;margin-right:1em}.para{margin:.9em 0;text-indent:2em}.row{display:flex;justify-content:space-between;border-bottom:1px solid #eee}\
             .tm{color:#aaa}.g-foot span{margin:0 1em;color:#999;font-size:.8em}@media(max-width:700px){.g-body{display:block}.g-right{width:auto}}"
        }
    };
    format!("{SHARED}{own}\n")
}

/// A picture: a sky, a ground, a derrick; colours and place follow from `seed`.
pub(crate) fn image(seed: u64) -> String {
    let mut rng = Rng::of(seed, &[0x1F]);
    let (hue, x, sun) = (
        rng.between(180, 230),
        rng.between(140, 480),
        rng.between(60, 580),
    );
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" width=\"640\" height=\"360\"><rect width=\"640\" height=\"360\" fill=\"hsl({hue},55%,72%)\"/>\
         <circle cx=\"{sun}\" cy=\"80\" r=\"34\" fill=\"#ffe9a0\"/><rect y=\"270\" width=\"640\" height=\"90\" fill=\"hsl({ground},38%,46%)\"/>\
         <path d=\"M{x} 90 l-46 180 h92 z M{x} 90 l-30 118 h60 z M{x} 90 l-15 60 h30 z\" fill=\"none\" stroke=\"#333\" stroke-width=\"5\"/></svg>\n",
        ground = rng.between(28, 120),
    )
}
