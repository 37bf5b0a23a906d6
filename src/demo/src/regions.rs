//! Which rocks lie in which basin, and who lives above them. Geography, much simplified.

/// A basin with its rocks and the provinces it lies in.
pub(super) struct Region {
    /// Name of the basin.
    pub(super) basin: &'static str,
    /// Rocks that are drilled for there.
    pub(super) formations: &'static [&'static str],
    /// Provinces above it, or the coast beside it.
    pub(super) provinces: &'static [&'static str],
}

/// Where a story may take place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Regions {
    /// Anywhere on land.
    Land,
    /// Where shale gas is produced.
    Shale,
    /// At sea.
    Sea,
}

impl Regions {
    /// The regions of this kind.
    pub(super) fn table(self) -> &'static [Region] {
        match self {
            Self::Land => LAND,
            Self::Shale => SHALE,
            Self::Sea => SEA,
        }
    }
}

const LAND: &[Region] = &[
    Region {
        basin: "四川盆地",
        formations: &["须家河组", "茅口组", "栖霞组", "灯影组"],
        provinces: &["四川", "重庆"],
    },
    Region {
        basin: "鄂尔多斯盆地",
        formations: &["延长组长7段", "盒8段", "马家沟组", "山西组"],
        provinces: &["陕西", "甘肃", "内蒙古", "宁夏"],
    },
    Region {
        basin: "塔里木盆地",
        formations: &["奥陶系", "寒武系", "白垩系巴什基奇克组"],
        provinces: &["新疆"],
    },
    Region {
        basin: "准噶尔盆地",
        formations: &["三工河组", "石炭系", "百口泉组", "芦草沟组"],
        provinces: &["新疆"],
    },
    Region {
        basin: "渤海湾盆地",
        formations: &["沙河街组三段", "东营组", "馆陶组", "孔店组"],
        provinces: &["山东", "河北", "天津", "辽宁"],
    },
    Region {
        basin: "松辽盆地",
        formations: &["青山口组", "扶余油层", "营城组"],
        provinces: &["黑龙江", "吉林"],
    },
    Region {
        basin: "柴达木盆地",
        formations: &["下干柴沟组", "路乐河组", "基岩"],
        provinces: &["青海"],
    },
    Region {
        basin: "江汉盆地",
        formations: &["潜江组", "新沟嘴组"],
        provinces: &["湖北"],
    },
    Region {
        basin: "苏北盆地",
        formations: &["阜宁组", "戴南组"],
        provinces: &["江苏"],
    },
];

const SHALE: &[Region] = &[
    Region {
        basin: "四川盆地",
        formations: &["龙马溪组", "五峰组—龙马溪组", "筇竹寺组", "吴家坪组"],
        provinces: &["四川", "重庆"],
    },
    Region {
        basin: "四川盆地南部",
        formations: &["龙马溪组", "茅口组"],
        provinces: &["四川", "贵州", "云南"],
    },
    Region {
        basin: "鄂尔多斯盆地东缘",
        formations: &["山西组", "太原组"],
        provinces: &["山西", "陕西"],
    },
    Region {
        basin: "宜昌斜坡带",
        formations: &["牛蹄塘组", "五峰组"],
        provinces: &["湖北"],
    },
];

const SEA: &[Region] = &[
    Region {
        basin: "渤海湾盆地",
        formations: &["东营组", "馆陶组", "明化镇组"],
        provinces: &["天津", "河北", "辽宁", "山东"],
    },
    Region {
        basin: "珠江口盆地",
        formations: &["珠江组", "恩平组", "文昌组"],
        provinces: &["广东"],
    },
    Region {
        basin: "琼东南盆地",
        formations: &["陵水组", "黄流组"],
        provinces: &["海南"],
    },
    Region {
        basin: "北部湾盆地",
        formations: &["流沙港组", "涠洲组"],
        provinces: &["广西", "广东"],
    },
    Region {
        basin: "东海陆架盆地",
        formations: &["平湖组", "花港组"],
        provinces: &["浙江", "上海"],
    },
];
