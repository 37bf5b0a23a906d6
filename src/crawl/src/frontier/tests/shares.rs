//! What one site does with its hosts takes no more from the others than its share.

use std::net::IpAddr;

use super::*;
use crate::frontier::file_hosts::MAX_FILE_HOSTS;

const CONNECTIONS: usize = 64;
const SECOND: i64 = 1_000;

/// Two sites, `bad` and `good`, that share the connections.
fn two_sites(config: Config) -> Crawl {
    let mut crawl = Crawl::new(config);
    let sites = [site("bad", &["*.bad.test"]), site("good", &["*.good.test"])];
    crawl
        .frontier
        .set_sites(&mut crawl.store, scopes(&sites), crawl.now_ms)
        .unwrap();
    crawl.frontier.set_shares(Shares::new(CONNECTIONS, 0.25));
    crawl
}

fn polite() -> Config {
    Config {
        jitter: 0.0,
        ..Config::default()
    }
}

fn offer(crawl: &mut Crawl, site: &str, urls: impl Iterator<Item = String>) {
    let site: Arc<str> = Arc::from(site);
    let links = urls.map(|url| NewUrl::link(uri(&url), &site, 1));
    crawl.batch.urls = links.collect();
    crawl.commit();
}

/// One page on each of so many hosts of a site.
fn hosts(site: &str, count: usize) -> impl Iterator<Item = String> {
    (0..count).map(move |n| format!("http://h{n}.{site}.test/"))
}

/// Every lease that there is now, in order.
fn leases(crawl: &mut Crawl) -> Vec<Lease> {
    let next = std::iter::from_fn(|| match crawl.next() {
        Next::Fetch(lease) => Some(*lease),
        _ => None,
    });
    next.take(1_000).collect()
}

fn count(leases: &[Lease], site: &str) -> usize {
    let of_site = leases.iter().filter(|lease| &*lease.record.site == site);
    of_site.count()
}

#[test]
fn slow_site_leaves_connections_to_others() {
    let mut crawl = two_sites(polite());
    offer(&mut crawl, "bad", hosts("bad", 400));
    // Alone it may have most of them: none of its hosts ever answers.
    let alone = leases(&mut crawl);
    assert_eq!(alone.len(), CONNECTIONS - CONNECTIONS / 4);
    let full = Next::Wait {
        until_ms: crawl.now_ms + SECOND,
        due: true,
    };
    assert_eq!(crawl.next(), full);
    // The other site has what it wants at once, one page a second.
    let pages = (0..40).map(|n| format!("http://www.good.test/{n}"));
    offer(&mut crawl, "good", pages);
    for _ in 0..40 {
        let good = leases(&mut crawl);
        assert_eq!((good.len(), count(&good, "good")), (1, 1));
        crawl.finish(&good[0], &came());
        crawl.commit();
        crawl.now_ms += SECOND;
    }
    // The slow one comes down to a quarter as its pages end, and has no more while the other is asked.
    for lease in alone.iter().skip(10) {
        crawl.finish(lease, &came());
    }
    crawl.commit();
    assert_eq!(leases(&mut crawl).len(), CONNECTIONS / 4 - 10);
    // A minute later nobody else wants any.
    crawl.now_ms += 61 * SECOND;
    assert_eq!(
        crawl.frontier.in_flight() + leases(&mut crawl).len(),
        CONNECTIONS - CONNECTIONS / 4
    );
}

#[test]
fn sites_take_turns_before_hosts() {
    let mut crawl = two_sites(at_once());
    crawl.frontier.set_shares(Shares::new(CONNECTIONS, 1.0));
    offer(&mut crawl, "bad", hosts("bad", 300));
    offer(&mut crawl, "good", hosts("good", 5));
    let first: Vec<Lease> = leases(&mut crawl).into_iter().take(12).collect();
    assert_eq!(count(&first, "good"), 5);
}

#[test]
fn only_site_has_all_connections() {
    let mut crawl = Crawl::new(at_once());
    crawl.frontier.set_shares(Shares::new(CONNECTIONS, 0.25));
    offer(&mut crawl, "s", hosts("any", 400));
    assert_eq!(leases(&mut crawl).len(), CONNECTIONS);
    // A pass over one of several sites is alone as well.
    let mut crawl = two_sites(at_once());
    crawl.frontier.give_out_only(&[Arc::from("bad")]);
    offer(&mut crawl, "bad", hosts("bad", 400));
    assert_eq!(leases(&mut crawl).len(), CONNECTIONS);
}

#[test]
fn many_hosts_leave_places_in_memory() {
    let mut crawl = two_sites(Config {
        active_hosts: 40,
        ..polite()
    });
    // More of them are due, and longer, than there is room for, and none ever answers.
    offer(&mut crawl, "bad", hosts("bad", 200));
    crawl.now_ms += SECOND;
    offer(&mut crawl, "good", hosts("good", 3));
    crawl.now_ms += SECOND;
    assert_eq!(count(&leases(&mut crawl), "good"), 3);
    assert!(crawl.frontier.hosts.len() <= 33);
}

#[test]
fn share_outlives_reopening() {
    let mut crawl = two_sites(at_once());
    offer(&mut crawl, "bad", hosts("bad", 400));
    assert_eq!(leases(&mut crawl).len(), 48);
    crawl.frontier.release_all();
    crawl.frontier.reopen(&mut crawl.store).unwrap();
    let sites = [site("bad", &["*.bad.test"]), site("good", &["*.good.test"])];
    crawl
        .frontier
        .set_sites(&mut crawl.store, scopes(&sites), crawl.now_ms)
        .unwrap();
    assert_eq!(leases(&mut crawl).len(), 48);
}

#[test]
fn names_for_anothers_server_take_one_turn() {
    let ip: IpAddr = "192.0.2.7".parse().unwrap();
    let mut crawl = two_sites(polite());
    let pages = (0..20).map(|n| format!("http://www.good.test/{n}"));
    offer(&mut crawl, "good", pages);
    offer(&mut crawl, "bad", hosts("bad", 50));
    let report = FetchReport {
        ip: Some(ip),
        ..came()
    };
    let mut asked = Vec::new();
    for _ in 0..400 {
        for lease in leases(&mut crawl) {
            if lease.is_located() {
                asked.push(count(std::slice::from_ref(&lease), "good"));
                crawl.finish(&lease, &report);
            } else {
                crawl.frontier.located(&lease, ip, crawl.now_ms);
            }
        }
        crawl.commit();
        crawl.now_ms += 100;
    }
    let good: usize = asked.iter().sum();
    // In a cluster nodes take turns at the address as well.
    assert!(asked.len() >= 12, "one a second or two: {}", asked.len());
    assert!(
        good >= asked.len() / 3 && good <= asked.len() * 2 / 3,
        "{good} of {}",
        asked.len()
    );
}

#[test]
fn addresses_of_one_network_are_one_server() {
    let mut crawl = Crawl::new(polite());
    offer(&mut crawl, "s", hosts("any", 9));
    let answer = |n: usize| FetchReport {
        ip: format!("2001:db8:1:2::{n:x}").parse().ok(),
        ..came()
    };
    // Where they are is known after the first answer.
    for (n, lease) in leases(&mut crawl).iter().enumerate() {
        crawl.finish(lease, &answer(n));
    }
    crawl.commit();
    let again = (0..9).map(|n| format!("http://h{n}.any.test/2"));
    offer(&mut crawl, "s", again);
    crawl.now_ms += 30 * SECOND;
    let under_way = leases(&mut crawl);
    assert_eq!(under_way.len(), 1, "a /64 is one server");
    // IPv4 in the clothes of IPv6 is IPv4.
    let mapped = ["::ffff:192.0.2.1", "192.0.2.1"].map(|ip| ip.parse::<IpAddr>().unwrap());
    let mut addresses = Addresses::default();
    addresses.begin(mapped[0], 1, 0);
    assert_eq!(addresses.get(mapped[1]).map(|a| a.in_flight), Some(1));
}

#[test]
fn hosts_of_attachments_are_bounded() {
    let mut crawl = Crawl::new(at_once());
    crawl.set_site(site("s", &["www.bureau.test"]));
    let file = |host: usize, n: usize| NewUrl {
        class: UrlClass::Attachment,
        ..Crawl::link(&format!("http://f{host}.bureau.test/{n}.pdf"), 1)
    };
    let most = MAX_FILE_HOSTS;
    crawl.batch.urls = (0..most - 10).map(|host| file(host, 1)).collect();
    assert_eq!(crawl.commit().new_urls, most - 10);
    // They are known after a restart.
    let mut crawl = crawl.reopen();
    crawl.set_site(site("s", &["www.bureau.test"]));
    // Hosts of no site take no place.
    let foreign = (0..2 * most).map(|n| NewUrl {
        class: UrlClass::Attachment,
        ..Crawl::link(&format!("http://h{n}.elsewhere.test/a.pdf"), 1)
    });
    crawl.batch.urls = foreign.collect();
    assert_eq!(
        crawl.commit().refused.get(&Refusal::Host),
        Some(&(2 * most))
    );
    crawl.batch.urls = (0..2 * most).map(|host| file(host, 2)).collect();
    crawl.batch.urls.push(NewUrl {
        class: UrlClass::Attachment,
        ..Crawl::link("http://www.bureau.test/own.pdf", 1)
    });
    let report = crawl.commit();
    assert_eq!(report.new_urls, most + 1);
    assert_eq!(report.refused.get(&Refusal::FileHosts), Some(&most));
}

#[test]
fn reading_a_file_is_charged_to_host_and_site() {
    let config = Config {
        delay_factor: 2.0,
        ..polite()
    };
    let mut crawl = Crawl::new(config);
    let file = |n: usize| NewUrl {
        class: UrlClass::Attachment,
        ..Crawl::link(&format!("http://f{n}.test/{n}.pdf"), 1)
    };
    crawl.batch.urls = (0..3).map(file).collect();
    crawl.batch.urls.push(Crawl::link("http://f0.test/page", 1));
    crawl.commit();
    let first = crawl.lease();
    let read = |reading_ms| FetchReport {
        reading_ms,
        ..came()
    };
    crawl.finish(&first, &read(9_000));
    crawl.commit();
    let host = crawl.store.host_by_id(first.record.host).unwrap().unwrap();
    assert_eq!(
        host.not_before_ms,
        crawl.now_ms + 18_002,
        "the host rests as if it had taken that long"
    );
    // The time of the site for a cycle is spent: files wait for the next one, pages do not.
    let second = crawl.lease();
    crawl.finish(&second, &read(MAX_READING_MS));
    crawl.commit();
    let left: Vec<_> = crawl.drain().into_iter().map(|(_, url)| url).collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].ends_with("/page"));
    let counts = crawl.store.counts().unwrap();
    assert_eq!(counts.sites["s"].get(READING_LIMITS), Some(&1));
    crawl.begin_cycle();
    let left: Vec<_> = crawl.drain().into_iter().map(|(_, url)| url).collect();
    assert_eq!(left.len(), 1);
    assert!(left[0].ends_with(".pdf"));
}
