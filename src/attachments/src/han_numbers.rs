//! Numbers in Chinese characters, as Word and Excel write them.

/// How a number is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HanStyle {
    /// 一百二十三
    Everyday,
    /// 壹佰贰拾叁, in which sums of money are written
    Financial,
}

impl HanStyle {
    fn digits(self) -> [char; 10] {
        match self {
            Self::Everyday => ['〇', '一', '二', '三', '四', '五', '六', '七', '八', '九'],
            Self::Financial => ['零', '壹', '贰', '叁', '肆', '伍', '陆', '柒', '捌', '玖'],
        }
    }

    fn units(self) -> [&'static str; 4] {
        match self {
            Self::Everyday => ["", "十", "百", "千"],
            Self::Financial => ["", "拾", "佰", "仟"],
        }
    }

    /// Returns a digit; any other character as it is.
    pub(crate) fn digit(self, c: char) -> char {
        let digit = c.to_digit(10).and_then(|digit| usize::try_from(digit).ok());
        digit
            .and_then(|digit| self.digits().get(digit).copied())
            .unwrap_or(c)
    }

    /// Writes a number digit by digit: 二〇二五.
    pub(crate) fn spell(self, text: &str) -> String {
        text.chars().map(|c| self.digit(c)).collect()
    }

    /// Writes a number with units: 一百二十三, 十二. Above 10^16 digit by digit.
    pub(crate) fn count(self, number: u64) -> String {
        const MYRIADS: [&str; 4] = ["", "万", "亿", "万亿"];
        if number == 0 {
            return "零".to_owned();
        }
        if number >= 10_u64.pow(16) {
            return self.spell(&number.to_string());
        }
        let mut text = String::new();
        let mut needs_zero = false;
        for (power, myriad) in MYRIADS.iter().enumerate().rev() {
            let group = number / 10_000_u64.pow(u32::try_from(power).unwrap_or_default()) % 10_000;
            for (place, unit) in self.units().iter().enumerate().rev() {
                let digit = group / 10_u64.pow(u32::try_from(place).unwrap_or_default()) % 10;
                if digit == 0 {
                    needs_zero |= !text.is_empty();
                    continue;
                }
                if std::mem::take(&mut needs_zero) {
                    text.push('零');
                }
                // 十二, not 一十二, where nothing stands before it.
                if !(self == Self::Everyday && digit == 1 && place == 1 && text.is_empty()) {
                    text.extend(
                        char::from_digit(u32::try_from(digit).unwrap_or_default(), 10)
                            .map(|c| self.digit(c)),
                    );
                }
                text.push_str(unit);
            }
            if group > 0 {
                text.push_str(myriad);
            }
        }
        text
    }
}
