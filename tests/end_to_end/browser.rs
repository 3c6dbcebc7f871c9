//! A page in headless Chromium, controlled over its debugging pipe.
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// Returns the program if it is installed.
pub fn chromium() -> Option<&'static str> {
    let works = |name: &&str| {
        let version = Command::new(name).arg("--version").stderr(Stdio::null()).output();
        version.is_ok_and(|output| output.status.success())
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(works)
}

/// An open page.
pub struct Page {
    browser: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    session: String,
    last: u64,
    /// Errors and warnings on the console, and uncaught exceptions.
    pub complaints: Vec<String>,
    _profile: TempDir,
}

impl Page {
    /// Opens a file and waits until its charts are drawn.
    pub fn open(program: &str, file: &Path, scheme: &str) -> Self {
        let path = file.canonicalize().expect("a file");
        let mut page = Page::go(program, &format!("file://{}", path.display()), scheme);
        page.wait_for("document.documentElement?.dataset.charts !== undefined");
        page
    }

    /// Starts the browser and goes to an address, without waiting for the page.
    pub fn go(program: &str, url: &str, scheme: &str) -> Self {
        let profile = tempfile::tempdir().expect("a folder");
        // The debugging pipe uses descriptors 3 and 4. A browser that hangs is ended after two minutes.
        let script = "exec timeout 120 \"$0\" --headless --no-sandbox --disable-gpu --no-first-run --remote-debugging-pipe \
                      --user-data-dir=\"$1\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut browser = Command::new("sh")
            .args(["-c", script, program])
            .arg(profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let (to, from) = (browser.stdin.take(), browser.stdout.take().expect("piped"));
        let mut page = Page {
            browser,
            to,
            from: BufReader::new(from),
            session: String::new(),
            last: 0,
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = page.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        page.session = page.call("Target.attachToTarget", attach)["sessionId"].as_str().expect("text").into();
        for domain in ["Runtime", "Log", "Page"] {
            page.call(&format!("{domain}.enable"), json!({}));
        }
        page.resize(1280, 1000);
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        page.call("Emulation.setEmulatedMedia", json!({"features": features}));
        page.call("Page.navigate", json!({"url": url}));
        page
    }

    /// Calls a method of the debugging protocol and returns its result.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let mut message = json!({"id": self.last, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = self.session.clone().into();
        }
        let to = self.to.as_mut().expect("open");
        to.write_all(format!("{message}\0").as_bytes()).expect("the browser reads");
        loop {
            let mut bytes = Vec::new();
            self.from.read_until(0, &mut bytes).expect("the browser writes");
            assert_eq!(bytes.pop(), Some(0), "{method}: the browser has ended");
            let message: Value = serde_json::from_slice(&bytes).expect("JSON");
            if message["id"] == self.last {
                assert!(message["error"].is_null(), "{method}: {message}");
                return message["result"].clone();
            }
            self.hear(&message);
        }
    }

    /// Records the complaint of an event, if it is one.
    fn hear(&mut self, event: &Value) {
        let what = &event["params"];
        let complains = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => what["type"] == "error" || what["type"] == "warning",
            Some("Log.entryAdded") => {
                what["entry"]["level"] == "error" || what["entry"]["level"] == "warning"
            }
            _ => false,
        };
        if complains {
            self.complaints.push(what.to_string());
        }
    }

    /// Evaluates JavaScript in the page and returns its value.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let result = self.call("Runtime.evaluate", parameters);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression is true.
    pub fn wait_for(&mut self, expression: &str) {
        for _ in 0..400 {
            if self.evaluate(expression) == true {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("{expression} never holds: {:?}", self.complaints);
    }

    /// Sets the size of the window in pixels.
    pub fn resize(&mut self, width: u32, height: u32) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
    }

    /// Returns a screenshot of the top of the page without scroll bars, PNG in Base64.
    pub fn top(&mut self, width: u32, height: u32) -> String {
        let clip = json!({"x": 0, "y": 0, "width": width, "height": height, "scale": 1});
        let picture =
            self.call("Page.captureScreenshot", json!({"clip": clip, "captureBeyondViewport": true}));
        picture["data"].as_str().expect("text").into()
    }

    /// Hides scroll bars, which narrow the page.
    pub fn hide_scroll_bars(&mut self) {
        self.call("Emulation.setScrollbarsHidden", json!({"hidden": true}));
    }

    /// Returns a screenshot of the page, PNG in Base64.
    pub fn picture(&mut self) -> String {
        let picture = self.call("Page.captureScreenshot", json!({}));
        picture["data"].as_str().expect("text").into()
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // The browser ends when its pipe closes.
        self.to = None;
        let _ = self.browser.wait();
    }
}
