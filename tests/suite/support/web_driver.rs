//! A browser by WebDriver (W3C, 2018): the few commands that the test needs, over HTTP/1.1 written by hand. In: what a
//! person does. Out: what the page shows. Stops the browser when it is dropped.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use super::folder::{Process, RunExt as _};
use super::http::free_port;
use super::{PATIENCE, poll, wait_until};

/// Key under which the protocol names an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// Where Debian and others put the two programs.
const FOLDERS: [&str; 3] = ["/usr/bin", "/usr/local/bin", "/usr/lib/chromium"];

/// A running browser.
pub(crate) struct Browser {
    _driver: Process,
    port: u16,
    session: String,
    _profile: tempfile::TempDir,
}

/// An element of the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Element(String);

fn program(names: &[&str]) -> Option<String> {
    let paths = names
        .iter()
        .flat_map(|name| FOLDERS.map(|dir| format!("{dir}/{name}")));
    paths.into_iter().find(|path| Path::new(path).exists())
}

impl Browser {
    /// Starts a headless Chromium that prefers `lang`; or says which program is missing.
    pub(crate) fn start(lang: &str) -> Result<Browser, String> {
        let chromium = program(&["chromium", "chromium-browser", "google-chrome"])
            .ok_or("there is no chromium (Debian: apt-get install chromium)")?;
        let driver = program(&["chromedriver"])
            .ok_or("there is no chromedriver (Debian: apt-get install chromium-driver)")?;
        let profile = tempfile::tempdir().expect("temporary directory");
        let port = free_port();
        let driver = Command::new(driver).arg(format!("--port={port}")).started();
        let mut browser = Browser {
            _driver: driver,
            port,
            session: String::new(),
            _profile: profile,
        };
        browser.wait_for_driver();
        let dir = browser._profile.path().display();
        let options = json!({
            "binary": chromium,
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                "--disable-background-networking", "--disable-component-update", "--disable-sync",
                format!("--accept-lang={lang}"), format!("--user-data-dir={dir}"), "--window-size=1200,900",
            ],
        });
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" },
        } } });
        let made = browser.send("POST", "/session", Some(&wanted));
        let session = made["sessionId"].as_str().expect("a session");
        browser.session = format!("/session/{session}");
        Ok(browser)
    }

    fn wait_for_driver(&self) {
        wait_until("chromedriver listens", || {
            TcpStream::connect(("127.0.0.1", self.port)).is_ok()
        });
    }

    /// One command; what it answers.
    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        let answer = self
            .exchange(method, path, body)
            .expect("an answer of chromedriver");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let value = answer["value"].clone();
        assert!(value.get("error").is_none(), "{method} {path}: {value}");
        value
    }

    fn exchange(&self, method: &str, path: &str, body: Option<&Value>) -> std::io::Result<String> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let body = body.map(Value::to_string).unwrap_or_default();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let (mut line, mut length) = (String::new(), 0);
        while reader.read_line(&mut line)? > 2 {
            let lower = line.to_ascii_lowercase();
            if let Some(value) = lower.strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            line.clear();
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        self.send("POST", &format!("{}{path}", self.session), Some(body))
    }

    /// Goes to an address and waits for the page.
    pub(crate) fn go(&self, url: &str) {
        self.post("/url", &json!({ "url": url }));
    }

    /// Runs a script and gives what it returns.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// The elements that a selector finds now.
    pub(crate) fn all(&self, selector: &str) -> Vec<Element> {
        let found = self.post(
            "/elements",
            &json!({ "using": "css selector", "value": selector }),
        );
        let found = found.as_array().cloned().unwrap_or_default();
        let id = |value: Value| Element(value[ELEMENT].as_str().expect("an id").to_owned());
        found.into_iter().map(id).collect()
    }

    /// The first element that a selector finds, as soon as it is there.
    pub(crate) fn find(&self, selector: &str) -> Element {
        self.until(selector, || self.all(selector).into_iter().next())
    }

    /// Waits until `look` gives something.
    pub(crate) fn until<T>(&self, what: &str, look: impl Fn() -> Option<T>) -> T {
        let found = poll(PATIENCE, look);
        found.unwrap_or_else(|| panic!("still no {what} at {}", self.address()))
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> String {
        let value = self.send("GET", &format!("{}/url", self.session), None);
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks in the middle of an element, as a mouse does: the protocol's own click takes what lies in `<details>` for
    /// hidden, whatever the style says.
    pub(crate) fn click(&self, element: &Element) {
        let reference = json!({ ELEMENT: element.0 });
        let script = "arguments[0].scrollIntoView({ block: 'center', behavior: 'instant' })";
        self.post(
            "/execute/sync",
            &json!({ "script": script, "args": [reference] }),
        );
        self.post(
            "/actions",
            &json!({ "actions": [{ "type": "pointer", "id": "mouse", "actions": [
            { "type": "pointerMove", "origin": reference, "x": 0, "y": 0 },
            { "type": "pointerDown", "button": 0 }, { "type": "pointerUp", "button": 0 },
        ] }] }),
        );
    }

    /// Types into an element.
    pub(crate) fn write(&self, element: &Element, text: &str) {
        self.post(
            &format!("/element/{}/value", element.0),
            &json!({ "text": text }),
        );
    }

    /// Presses a key wherever the focus is; see the table of the standard for the codes.
    pub(crate) fn press(&self, key: &str) {
        self.post(
            "/actions",
            &json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": [
            { "type": "keyDown", "value": key }, { "type": "keyUp", "value": key },
        ] }] }),
        );
    }

    /// Makes the page so wide: a window is never narrower than 500, so this is the browser's own protocol.
    pub(crate) fn resize(&self, width: u32) {
        let params =
            json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500 });
        let command = json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": params });
        self.post("/goog/cdp/execute", &command);
    }

    /// The text of an element as it is shown.
    pub(crate) fn text(&self, element: &Element) -> String {
        let path = format!("{}/element/{}/text", self.session, element.0);
        let value = self.send("GET", &path, None);
        value.as_str().unwrap_or_default().to_owned()
    }

    /// What the console complained about: refused by the policy, missing, or wrong in a script.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let entries = self.post("/se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        let severe = |entry: &Value| entry["level"] == "SEVERE";
        let text = |entry: &Value| entry["message"].as_str().unwrap_or_default().to_owned();
        entries.iter().filter(|e| severe(e)).map(text).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // The browser ends with its session; if that fails, it ends with its driver.
            let _ = self.exchange("DELETE", &self.session, None);
        }
    }
}
