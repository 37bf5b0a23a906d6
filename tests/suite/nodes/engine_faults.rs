//! What is wrong with OpenSearch, or with the way there: each fault is one line that says what to do, and no document is lost.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::gate::{Act, Gate, certificates, encrypted};
use crate::support::folder::{Folder, Ran, assert_has, fed, imported};
use crate::support::http::Reply;
use crate::support::opensearch::Engine;
use crate::support::say;

/// A fault is told by then, whatever the engine does.
const SOON: Duration = Duration::from_secs(30);
/// `taojin:right`, as a client sends it.
const ACCOUNT: &str = "Basic dGFvamluOnJpZ2h0";

/// A data folder whose index is in the engine behind a gate.
struct Installation<'e> {
    folder: Folder,
    gate: Gate,
    engine: &'e Engine,
}

impl<'e> Installation<'e> {
    fn new(engine: &'e Engine, index: &str) -> Self {
        let gate = Gate::new(engine.port(0));
        let config = format!(
            "[search]\nengine = \"opensearch\"\nurl = \"http://127.0.0.1:{}\"\nindex = {index:?}\nreplicas = 0\n\
             user = \"taojin\"\npassword_file = \"password\"\n",
            gate.port
        );
        let folder = Folder::new(&config, &[]);
        let installation = Self {
            folder,
            gate,
            engine,
        };
        installation.set_password("right");
        installation.open();
        installation
    }

    /// Lets through whoever has the password.
    fn open(&self) {
        self.gate.set(|request| {
            let is_known = request.header("authorization").as_deref() == Some(ACCOUNT);
            (!is_known).then(|| Reply::refusal(401, "Unauthorized"))
        });
    }

    fn set_password(&self, password: &str) {
        self.folder.write("password", password);
    }

    fn set_port(&self, from: u16, to: u16) {
        let port = |port| format!("127.0.0.1:{port}");
        self.folder.replace("taojin.toml", &port(from), &port(to));
    }

    fn set_read_only(&self, is_set: bool) {
        let value = if is_set { json!(true) } else { Value::Null };
        let cluster = json!({"persistent": {"cluster.blocks.read_only": value}});
        self.engine.change("PUT", "/_cluster/settings", &cluster);
    }

    /// What the engine does where its disks are nearly full: it makes no index and takes no document.
    fn set_full(&self, indexes: &str, is_full: bool) {
        let value = if is_full { json!(true) } else { Value::Null };
        let cluster = json!({"persistent": {"cluster.blocks.create_index": value}});
        self.engine.change("PUT", "/_cluster/settings", &cluster);
        let index = json!({"index.blocks.read_only_allow_delete": value});
        let target = format!("/{indexes}/_settings?allow_no_indices=true");
        self.engine.change("PUT", &target, &index);
    }

    /// Answers this in place of the engine wherever something is written.
    fn refuse(&self, status: u16, answer: &str) {
        let reply = Reply::refusal(status, answer);
        self.gate
            .set(move |request| (request.method != "GET").then(|| reply.clone()));
    }

    /// Answers an error in place of the engine wherever something is written.
    fn fail(&self, status: u16, kind: &str, reason: &str) {
        let cause = json!({"type": kind, "reason": reason});
        let error = json!({"root_cause": [cause], "type": kind, "reason": reason});
        self.refuse(
            status,
            &json!({"error": error, "status": status}).to_string(),
        );
    }

    /// Answers this in place of the engine at one address.
    fn answer(&self, path: &'static str, answer: Value) {
        let reply = Reply::page(&answer.to_string());
        self.gate
            .set(move |request| (request.path == path).then(|| reply.clone()));
    }

    /// The document stays in the store, and one line says so and why, soon.
    fn assert_refused(&self, number: usize, said: &[&str]) {
        let began = Instant::now();
        let ran = self.import(number);
        let took = began.elapsed();
        assert!(took < SOON, "{said:?}: {took:?}");
        assert_eq!(ran.code, Some(3), "{said:?}: {ran:?}");
        assert_eq!(ran.err.lines().count(), 1, "{said:?}: {ran:?}");
        assert_has(&ran.err, &["is in the store and waits there"]);
        assert_has(&ran.err, said);
    }

    fn import(&self, number: usize) -> Ran {
        let url = format!("https://a.example/{number}");
        let document = imported(&url, "日报", "储气库注采");
        fed(&mut self.folder.taojin(&["import", "-"]), [document])
    }
}

/// What is done to an installation.
type Change = fn(&Installation<'_>);

struct Fault {
    name: &'static str,
    comes: Change,
    goes: Change,
    said: &'static [&'static str],
}

/// So many of the faults are tried with an index as well.
const TWICE: usize = 8;

const FAULTS: [Fault; 21] = [
    Fault {
        name: "nothing-listens",
        comes: |it| it.set_port(it.gate.port, 1),
        goes: |it| it.set_port(1, it.gate.port),
        said: &["Connection refused"],
    },
    Fault {
        name: "web-server",
        comes: |it| {
            let page = Reply::page("<html>Welcome to nginx!</html>");
            it.gate.set(move |_| Some(page.clone()));
        },
        goes: |it| it.open(),
        said: &["is search.url the address of OpenSearch?"],
    },
    Fault {
        name: "other-service",
        comes: |it| it.answer("/", json!({"name": "couchdb"})),
        goes: |it| it.open(),
        said: &["neither OpenSearch nor Elasticsearch", "search.url"],
    },
    Fault {
        name: "older-version",
        comes: |it| {
            let version = json!({"distribution": "opensearch", "number": "1.3.20"});
            it.answer("/", json!({"version": version}));
        },
        goes: |it| it.open(),
        said: &["OpenSearch 1.3.20 is too old"],
    },
    Fault {
        name: "wrong-password",
        comes: |it| it.set_password("wrong"),
        goes: |it| it.set_password("right"),
        said: &["status 401", "search.password_file"],
    },
    Fault {
        name: "missing-right",
        comes: |it| {
            let reason = "no permissions for [indices:data/write/bulk] and User [name=taojin]";
            it.fail(403, "security_exception", reason);
        },
        goes: |it| it.open(),
        said: &["status 403", "no permissions for [indices:data/write/bulk]"],
    },
    Fault {
        name: "full-cluster",
        comes: |it| it.set_full("_all", true),
        goes: |it| it.set_full("_all", false),
        said: &["disks are nearly full"],
    },
    Fault {
        name: "full-node",
        comes: |it| it.set_full("full-node-v*,-*-state", true),
        goes: |it| it.set_full("full-node-v*,-*-state", false),
        said: &["disks are nearly full"],
    },
    Fault {
        name: "read-only-cluster",
        comes: |it| it.set_read_only(true),
        goes: |it| it.set_read_only(false),
        said: &["somebody set a block", "cluster read-only"],
    },
    Fault {
        name: "write-block",
        comes: |it| {
            let reason = "index [a] blocked by: [FORBIDDEN/8/index write (api)];";
            it.fail(403, "cluster_block_exception", reason);
        },
        goes: |it| it.open(),
        said: &["somebody set a block"],
    },
    Fault {
        name: "starting-cluster",
        comes: |it| {
            let reason = "blocked by: [SERVICE_UNAVAILABLE/1/state not recovered / initialized];";
            it.fail(503, "cluster_block_exception", reason);
        },
        goes: |it| it.open(),
        said: &["it is starting", "wait a while"],
    },
    Fault {
        name: "no-cluster-manager",
        comes: |it| it.fail(503, "cluster_manager_not_discovered_exception", "timed out"),
        goes: |it| it.open(),
        said: &["no cluster manager"],
    },
    Fault {
        name: "red-index",
        comes: |it| {
            it.fail(
                503,
                "unavailable_shards_exception",
                "primary shard is not active",
            )
        },
        goes: |it| it.open(),
        said: &["some of its shards are not available", "taojin reindex"],
    },
    Fault {
        name: "busy-engine",
        comes: |it| it.fail(429, "rejected_execution_exception", "queue full"),
        goes: |it| it.open(),
        said: &["it has too much to do (status 429)"],
    },
    Fault {
        name: "small-proxy",
        comes: |it| it.refuse(413, "<html>413 Request Entity Too Large</html>"),
        goes: |it| it.open(),
        said: &["too large for it (status 413)", "http.max_content_length"],
    },
    Fault {
        name: "proxy-asks-for-password",
        comes: |it| {
            let page = Reply::refusal(401, "<html>\n401 Authorization Required\n</html>");
            it.gate.set(move |_| Some(page.clone()));
        },
        goes: |it| it.open(),
        said: &["it refuses this user (status 401): set search.user and search.password_file"],
    },
    Fault {
        name: "proxy-without-engine",
        comes: |it| {
            let page = Reply::refusal(502, "<html>\nBad Gateway\n</html>");
            it.gate.set(move |_| Some(page.clone()));
        },
        goes: |it| it.open(),
        said: &["answers with status 502 and no word of the engine"],
    },
    Fault {
        name: "tls-before-plain-server",
        comes: |it| it.folder.replace("taojin.toml", "http://", "https://"),
        goes: |it| it.folder.replace("taojin.toml", "https://", "http://"),
        said: &["speaks HTTP without TLS", "write http:// in search.url"],
    },
    Fault {
        name: "hanging-host",
        comes: |it| it.gate.set(|_| Act::Hang),
        goes: |it| it.open(),
        said: &["no answer from http://127.0.0.1:", "within 1 s"],
    },
    Fault {
        name: "dripping-host",
        comes: |it| it.gate.set(|_| Act::Drip),
        goes: |it| it.open(),
        said: &["no answer from http://127.0.0.1:", "within 1 s"],
    },
    Fault {
        name: "broken-connections",
        comes: |it| it.gate.set(|_| Act::Lose),
        goes: |it| it.open(),
        said: &["broke the connection off"],
    },
];

#[test]
fn engine_fault_is_one_line_and_loses_nothing() {
    let Some(engine) = Engine::start("engine_fault_is_one_line_and_loses_nothing", 1) else {
        return;
    };
    for (at, fault) in FAULTS.iter().enumerate() {
        let it = Installation::new(&engine, fault.name);
        // Before there is an index and, where that may differ, after that.
        let rounds: &[usize] = if at < TWICE { &[1, 3] } else { &[1] };
        for number in rounds {
            (fault.comes)(&it);
            it.assert_refused(*number, fault.said);
            (fault.goes)(&it);
            it.import(number + 1).good();
            let found = it.folder.total("储气库");
            assert_eq!(found, *number as u64 + 1, "{}", fault.name);
        }
    }
}

#[test]
fn engine_asks_for_certificates() {
    let test = "engine_asks_for_certificates";
    let Some(engine) = Engine::start(test, 1) else {
        return;
    };
    let it = Installation::new(&engine, "encrypted");
    if certificates(it.folder.path()).is_none() {
        say(&format!("{test}: skipped, openssl is not installed"));
        return;
    }
    let port = encrypted(engine.port(0), it.folder.path());
    let plain = format!("http://127.0.0.1:{}", it.gate.port);
    let https = format!("https://localhost:{port}");
    let open = format!("http://localhost:{port}");
    it.folder.replace("taojin.toml", &plain, &open);
    it.assert_refused(4, &["speaks TLS only", "write https:// in search.url"]);
    it.folder.replace("taojin.toml", &open, &https);
    it.assert_refused(1, &["UnknownIssuer", "search.ca_file"]);
    it.folder.configure("ca_file = \"ca.pem\"\n");
    it.assert_refused(
        2,
        &["CertificateRequired", "search.client_certificate_file"],
    );
    let own = "client_certificate_file = \"client.pem\"\nclient_key_file = \"client.key\"\n";
    it.folder.configure(own);
    it.folder.replace("taojin.toml", "client.pem", "old.pem");
    it.assert_refused(5, &["old.pem", "X.509 version 1, and version 3 is needed"]);
    it.folder.replace("taojin.toml", "old.pem", "client.pem");
    it.import(3).good();
    assert_eq!(it.folder.total("储气库"), 5);
}
