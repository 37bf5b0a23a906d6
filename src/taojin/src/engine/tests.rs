//! Hosts that fail in each way, over sockets of this machine.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Account, HttpTransport};
use taojin_search::index::CancellationToken;
use taojin_search::index::remote::{Body, EngineTrouble, Request, Transport as _, TroubleKind};

/// What a host does with a request, whose first bytes it is given.
type Behaviour = fn(&[u8], &mut TcpStream);

fn reply(stream: &mut TcpStream, status: u16, body: &str) {
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} x\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    let _ = stream.write_all(answer.as_bytes());
}

const UP: Behaviour = |_, stream| reply(stream, 200, "{\"up\":true}");
const HANGS: Behaviour = |_, stream| {
    let _ = stream.read(&mut [0]);
};
const DRIPS: Behaviour = |_, stream| {
    let head = "HTTP/1.1 200 x\r\nContent-Length: 100\r\n\r\n";
    for byte in head.as_bytes() {
        if stream.write_all(&[*byte]).is_err() {
            return;
        }
        thread::sleep(Duration::from_millis(200));
    }
};
const PROXY: Behaviour = |_, stream| reply(stream, 502, "<html>Bad Gateway</html>");
const RED: Behaviour = |_, stream| {
    let kind = "no_shard_available_action_exception";
    let error = json!({"error": {"type": kind, "reason": "none"}, "status": 503});
    reply(stream, 503, &error.to_string());
};
const WEB: Behaviour = |_, stream| reply(stream, 200, "<html>");
/// Answers what it knows by heart, and nothing else.
const STUCK: Behaviour = |request, stream| {
    if request.starts_with(b"GET / ") {
        UP(request, stream);
    } else {
        HANGS(request, stream);
    }
};
/// Does what it is asked for and breaks the connection off.
const LOSES: Behaviour = |request, stream| {
    if request.starts_with(b"GET / ") {
        UP(request, stream);
    }
};
/// As OpenSearch with TLS does it: what is no TLS is no answer worth.
const TLS: Behaviour = |request, stream| {
    if request.first() == Some(&22) {
        let _ = stream.write_all(&[21, 3, 3, 0, 2, 2, 70]);
    }
};

/// A host and how many requests it has had, look-ups left out.
fn host(behaviour: Behaviour) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let asked = Arc::new(AtomicUsize::new(0));
    serve(listener, behaviour, Arc::clone(&asked));
    (format!("http://{address}"), asked)
}

fn serve(listener: TcpListener, behaviour: Behaviour, asked: Arc<AtomicUsize>) {
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let asked = Arc::clone(&asked);
            thread::spawn(move || {
                let mut request = [0; 4_096];
                let length = stream.read(&mut request).unwrap_or(0);
                let request = request.get(..length).unwrap_or_default();
                if String::from_utf8_lossy(request).contains("/oil/") {
                    asked.fetch_add(1, Ordering::Relaxed);
                }
                behaviour(request, &mut stream);
            });
        }
    });
}

fn address(behaviour: Behaviour) -> String {
    host(behaviour).0
}

/// An address at which nothing listens: none that a host of another test may get.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.2:0").expect("a port");
    format!("http://{}", listener.local_addr().expect("an address"))
}

fn transport(addresses: &[String]) -> HttpTransport {
    HttpTransport::new(addresses.iter().map(String::as_str), Account::default())
}

type Answer = Result<(u16, Value), EngineTrouble>;

fn send(transport: &HttpTransport, request: &Request<'_>) -> (Answer, Duration) {
    let began = Instant::now();
    let answer = transport.send(request, &CancellationToken::default());
    (answer, began.elapsed())
}

fn look_up<'a>() -> Request<'a> {
    Request::new("GET", "/oil/_doc/state", Body::Empty)
}

fn work<'a>() -> Request<'a> {
    Request::new("POST", "/oil/_search", Body::Empty)
}

fn up() -> Answer {
    Ok((200, json!({"up": true})))
}

#[test]
fn next_host_is_asked() {
    for (name, first) in [
        ("nobody", nobody as fn() -> String),
        ("hangs", || address(HANGS)),
        ("drips", || address(DRIPS)),
        ("proxy", || address(PROXY)),
        ("red", || address(RED)),
        ("web server", || address(WEB)),
        ("loses answers", || address(LOSES)),
    ] {
        for (request, limit) in [(look_up(), 4_500), (work(), 4_900)] {
            let transport = transport(&[first(), address(UP)]);
            let (answer, took) = send(&transport, &request);
            assert_eq!(answer, up(), "{name}: {request:?}");
            assert!(took < Duration::from_millis(limit), "{name}: {took:?}");
            let (answer, took) = send(&transport, &request);
            assert_eq!(answer, up(), "{name}: {request:?}");
            assert!(took < Duration::from_millis(900), "{name}: {took:?}");
        }
    }
}

#[test]
fn circuit_is_open_while_host_fails() {
    for (first, is_up) in [
        (nobody as fn() -> String, false),
        (|| address(HANGS), false),
        (|| address(PROXY), false),
        (|| address(RED), true),
        (|| address(WEB), true),
        (|| address(STUCK), true),
        (|| address(LOSES), true),
    ] {
        let transport = transport(&[first(), address(UP)]);
        let _ = send(&transport, &look_up());
        let states: Vec<bool> = transport.hosts().iter().map(|host| host.is_up).collect();
        assert_eq!(states, [is_up, true]);
    }
}

#[test]
fn open_circuit_fails_at_once_and_closes() {
    let place = nobody();
    let first = transport(std::slice::from_ref(&place));
    let refused = send(&first, &work()).0.unwrap_err();
    assert_eq!(refused.kind(), TroubleKind::Unreachable);
    assert!(refused.detail().contains("Connection refused"), "{refused}");
    assert!(!refused.detail().contains("since"), "{refused}");

    // All transports of this process know it.
    let second = transport(std::slice::from_ref(&place));
    let (refused, took) = send(&second, &look_up());
    let refused = refused.unwrap_err();
    assert!(refused.detail().contains("(since 20"), "{refused}");
    assert!(took < Duration::from_millis(900), "{took:?}");

    let port = place.rsplit(':').next().expect("a port");
    let listener = TcpListener::bind(format!("127.0.0.2:{port}")).expect("the same port");
    serve(listener, UP, Arc::default());
    let began = Instant::now();
    while !first.hosts()[0].is_up {
        assert!(began.elapsed() < Duration::from_secs(8), "it is looked up");
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(send(&second, &work()).0, up());
}

#[test]
fn host_that_hangs_fails_in_time() {
    use TroubleKind::{Busy, Unreachable};
    for (behaviour, request, limit, kind, said) in [
        (
            HANGS,
            look_up(),
            4_900,
            Unreachable,
            "no answer from http://",
        ),
        (
            DRIPS,
            look_up(),
            4_900,
            Unreachable,
            "no answer from http://",
        ),
        (HANGS, work(), 4_900, Unreachable, "no answer from http://"),
        (
            STUCK,
            look_up(),
            4_900,
            Busy,
            "answers, but not this request",
        ),
    ] {
        let transport = transport(&[address(behaviour)]);
        let (answer, took) = send(&transport, &request);
        let trouble = answer.unwrap_err();
        assert_eq!(trouble.kind(), kind, "{trouble}");
        assert!(trouble.detail().contains(said), "{trouble}");
        assert!(took < Duration::from_millis(limit), "{request:?}: {took:?}");
    }
}

#[test]
fn work_goes_on_while_host_answers_look_ups() {
    const SLOW: Behaviour = |request, stream| {
        if !request.starts_with(b"GET / ") {
            thread::sleep(Duration::from_secs(5));
        }
        UP(request, stream);
    };
    // Nothing at all for a second and a half.
    const PAUSES: Behaviour = |request, stream| {
        thread::sleep(Duration::from_millis(1_500));
        UP(request, stream);
    };
    for (behaviour, request) in [(SLOW, work()), (PAUSES, work())] {
        let (address, asked) = host(behaviour);
        assert_eq!(send(&transport(&[address]), &request).0, up());
        assert_eq!(asked.load(Ordering::Relaxed), 1, "it is not sent again");
    }
}

#[test]
fn stopped_request_ends_at_once() {
    let stop = CancellationToken::default();
    let transport = transport(&[address(HANGS)]);
    let began = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(200));
            stop.stop();
        });
        let answer = transport.send(&work(), &stop);
        assert!(answer.is_err());
    });
    let took = began.elapsed();
    assert!(took < Duration::from_millis(900), "{took:?}");
}

#[test]
fn lost_answer_is_asked_for_again() {
    let once = Request {
        is_repeatable: false,
        ..work()
    };
    for (request, times) in [(work(), 2), (look_up(), 2), (once, 1)] {
        let (only, asked) = host(LOSES);
        let transport = transport(&[only]);
        let trouble = send(&transport, &request).0.unwrap_err();
        assert!(
            trouble.detail().contains("broke the connection off"),
            "{trouble}"
        );
        assert_eq!(asked.load(Ordering::Relaxed), times, "{request:?}");
        assert!(transport.hosts()[0].is_up, "it answers look-ups");
    }
    let (first, _) = host(LOSES);
    let (second, asked) = host(UP);
    assert!(send(&transport(&[first, second]), &once).0.is_err());
    assert_eq!(asked.load(Ordering::Relaxed), 0);
}

#[test]
fn answers_of_engine_are_given_as_they_are() {
    let (status, answer) = send(&transport(&[address(RED)]), &work())
        .0
        .expect("an answer");
    assert_eq!(status, 503);
    assert_eq!(
        answer["error"]["type"],
        "no_shard_available_action_exception"
    );
    const REFUSES: Behaviour = |_, stream| reply(stream, 401, "<html>401</html>");
    let answer = send(&transport(&[address(REFUSES), nobody()]), &work()).0;
    assert_eq!(answer, Ok((401, Value::from("<html>401</html>"))));
}

#[test]
fn wrong_protocol_is_named() {
    let https = |address: String| address.replace("http:", "https:");
    const HTTP: Behaviour = |_, stream| reply(stream, 400, "");
    for (address, said) in [
        (address(TLS), "write https:// in search.url"),
        (https(address(HTTP)), "write http:// in search.url"),
        (address(WEB), "is search.url the address of OpenSearch?"),
    ] {
        let trouble = send(&transport(&[address]), &look_up()).0.unwrap_err();
        assert_eq!(trouble.kind(), TroubleKind::Misdirected, "{trouble}");
        assert!(trouble.detail().contains(said), "{trouble}");
    }
}

/// A certificate without extensions and its key; none where openssl is not installed.
fn certificate_of_version_1(dir: &Path) -> Option<()> {
    let openssl = |args: &str| {
        let mut command = Command::new("openssl");
        let done = command.args(args.split(' ')).current_dir(dir).output();
        done.ok().filter(|output| output.status.success()).map(drop)
    };
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes";
    openssl(&format!(
        "req {key} -keyout own.key -out own.csr -subj /CN=own"
    ))?;
    std::fs::write(dir.join("none"), "").ok()?;
    openssl("x509 -req -in own.csr -signkey own.key -out own.pem -extfile none")
}

#[test]
fn certificate_of_version_1_is_named() {
    let dir = tempfile::tempdir().expect("a folder");
    if certificate_of_version_1(dir.path()).is_none() {
        return;
    }
    let account = Account {
        certificate: Some((dir.path().join("own.pem"), dir.path().join("own.key"))),
        ..Account::default()
    };
    let transport = HttpTransport::new(["http://127.0.0.1:1"].into_iter(), account);
    let trouble = send(&transport, &look_up()).0.unwrap_err();
    assert_eq!(trouble.kind(), TroubleKind::Misconfigured);
    for said in ["search.client_certificate_file", "version 1", "version 3"] {
        assert!(trouble.detail().contains(said), "{trouble}");
    }
}
