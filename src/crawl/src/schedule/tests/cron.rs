//! Crontab lines, time zones, daylight saving.

use super::*;

/// The next runs after a time, as RFC 3339 in the zone of the schedule.
fn runs(line: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    let cron = Cron::parse(line, zone).unwrap();
    cron.next_runs(at(after), count)
        .into_iter()
        .map(|ms| {
            let utc = chrono::DateTime::from_timestamp_millis(ms).unwrap();
            utc.with_timezone(&cron.zone())
                .format("%m-%dT%H:%M:%S")
                .to_string()
        })
        .collect()
}

#[test]
fn lines_run_when_crontab_says() {
    // 2026-11-02 is a Monday.
    let after = "2026-11-02T00:00:00Z";
    for (line, expected) in [
        ("*/20 * * * *", ["11-02T00:20:00", "11-02T00:40:00"]),
        ("30 6 * * *", ["11-02T06:30:00", "11-03T06:30:00"]),
        ("0 0 * * 0", ["11-08T00:00:00", "11-15T00:00:00"]),
        ("0 0 * * 7", ["11-08T00:00:00", "11-15T00:00:00"]),
        ("0 12 * * 1-5", ["11-02T12:00:00", "11-03T12:00:00"]),
        ("0 12 * * 5-7", ["11-06T12:00:00", "11-07T12:00:00"]),
        ("0 12 * * Sat-Mon", ["11-02T12:00:00", "11-07T12:00:00"]),
        ("0 12 * * mon,WED", ["11-02T12:00:00", "11-04T12:00:00"]),
        ("0 12 * * */3", ["11-04T12:00:00", "11-07T12:00:00"]),
        ("0 12 1 1 *", ["01-01T12:00:00", "01-01T12:00:00"]),
        // Either day matches where both are given, as in crontab.
        ("0 0 10 * 5", ["11-06T00:00:00", "11-10T00:00:00"]),
        ("15 30 6 * * *", ["11-02T06:30:15", "11-03T06:30:15"]),
        ("0 0 0 * * 1 2027", ["01-04T00:00:00", "01-11T00:00:00"]),
        ("@hourly", ["11-02T01:00:00", "11-02T02:00:00"]),
        ("@daily", ["11-03T00:00:00", "11-04T00:00:00"]),
        ("@weekly", ["11-08T00:00:00", "11-15T00:00:00"]),
        (" @monthly ", ["12-01T00:00:00", "01-01T00:00:00"]),
    ] {
        assert_eq!(runs(line, "UTC", after, 2), expected, "{line}");
    }
}

#[test]
fn cron_time_zone() {
    let cron = Cron::parse("0 8 * * *", "Asia/Shanghai").unwrap();
    let next = cron.next_after(at("2026-11-02T00:00:00Z")).unwrap();
    assert_eq!(
        next,
        at("2026-11-03T00:00:00Z"),
        "8 in Shanghai is 0 UTC, and now does not count"
    );
}

#[test]
fn cron_daylight_saving() {
    // Berlin skips 02:00-03:00 on 2026-03-29 and has it twice on 2026-10-25.
    let berlin = "Europe/Berlin";
    let spring = runs("30 2 * * *", berlin, "2026-03-28T12:00:00Z", 2);
    assert_eq!(spring, ["03-29T03:00:00", "03-30T02:30:00"]);
    let autumn = runs("30 2 * * *", berlin, "2026-10-24T12:00:00Z", 2);
    assert_eq!(autumn, ["10-25T02:30:00", "10-26T02:30:00"]);
    let cron = Cron::parse("0 * * * *", berlin).unwrap();
    for start in ["2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z"] {
        let runs = cron.next_runs(at(start), 12);
        let gaps: Vec<i64> = runs.windows(2).map(|w| w[1] - w[0]).collect();
        assert!(
            gaps.iter().all(|g| *g == 3_600_000),
            "hourly is hourly: {gaps:?}"
        );
    }
}

#[test]
fn cron_year_in_zones() {
    for zone in [
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Shanghai",
        "America/Santiago",
    ] {
        for line in ["30 2 * * *", "15 0 * * *", "0 1 * * *", "45 1 * * *"] {
            let cron = Cron::parse(line, zone).unwrap();
            let runs = cron.next_runs(at("2026-01-10T12:00:00Z"), 365);
            let gaps = runs.windows(2).map(|w| (w[1] - w[0]) / 3_600_000);
            assert!(
                gaps.clone().all(|h| (22..=26).contains(&h)),
                "{zone} {line}"
            );
            assert_eq!(runs.len(), 365);
        }
    }
}

#[test]
fn cron_error_names_field() {
    for (line, part) in [
        ("", "0 fields"),
        ("* * *", "3 fields"),
        ("* * * * * * * *", "8 fields"),
        ("60 * * * *", "minute \"60\" is not 0-59"),
        ("x * * * *", "minute \"x\""),
        ("0 24 * * *", "hour \"24\" is not 0-23"),
        ("0 0 32 * *", "day of month \"32\""),
        ("0 0 * 13 *", "month \"13\""),
        ("0 0 * * 8", "weekday \"8\""),
        ("0 0 * * Mo", "weekday \"Mo\""),
        ("0 0 * * 1/0", "weekday"),
        ("0 0 30 2 *", "no day has this date"),
        ("@often", "1 fields"),
    ] {
        let message = Cron::parse(line, "UTC").unwrap_err().to_string();
        assert!(message.contains(part), "{line}: {message}");
    }
    let message = Cron::parse("@daily", "Asia/Peking")
        .unwrap_err()
        .to_string();
    assert!(message.contains("Asia/Shanghai"), "{message}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig {
        failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn cron_any_text(line in "[0-9*/,@a-zA-Z -]{0,30}") {
        if let Ok(cron) = Cron::parse(&line, "Asia/Shanghai")
            && let Some(next) = cron.next_after(1_800_000_000_000)
        {
            proptest::prop_assert!(next > 1_800_000_000_000);
        }
    }
}
