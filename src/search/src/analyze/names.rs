//! Tells what may be the name of a person by its surname and its length. A name differs from another one in a single
//! character, so it is no misspelling of it.

/// The commonest surnames, which nineteen of twenty people bear.
const SURNAMES: &str = "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程\
    苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔\
    向汤温康施文牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符舒阮柯纪梅童凌毕单季裴霍涂\
    成苗谷盛曲翁冉骆蓝路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳时穆农司卓古吉缪简车项连芦麦褚娄窦戚岑景党宫费卜\
    冷晏席卫米柏宗瞿桂全佟应臧闵苟邬边卞姬师和仇栾隋商刁沙荣巫寇桑郎甄丛仲虞敖巩明佘池查麻苑迟邝";
/// Those of two characters.
const LONG_SURNAMES: [&str; 8] = [
    "欧阳", "上官", "司马", "诸葛", "皇甫", "尉迟", "令狐", "慕容",
];

/// Whether a text may be the name of a person.
pub(crate) fn is_person_name(text: &str) -> bool {
    let chars = text.chars().count();
    let is_long = LONG_SURNAMES.iter().any(|name| text.starts_with(name));
    match chars {
        2 | 3 => text.starts_with(|c| SURNAMES.contains(c)),
        4 => is_long,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_person_name_by_surname() {
        for (text, is_name) in [
            ("王建国", true),
            ("袁霞", true),
            ("欧阳春海", true),
            ("天燃气", false),
            ("王建国说过", false),
            ("wang", false),
        ] {
            assert_eq!(is_person_name(text), is_name, "{text}");
        }
    }
}
