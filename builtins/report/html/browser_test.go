//go:build e2e && unix

package html_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// timeout is the timeout of every browser operation.
const timeout = 30 * time.Second

// browser is a Chromium with one page, controlled through the pipes of its debugging
// protocol: JSON messages, each terminated by NUL.
type browser struct {
	t        *testing.T
	to       *os.File
	messages chan message
	session  string
	last     int
	events   []message // all events received
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

// startBrowser starts a headless Chromium that exits with the test.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	path := chromium(t)
	theirIn, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "--headless=new", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "--no-first-run",
		"--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--no-sandbox", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut} // become 3 and 4
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var log bytes.Buffer
	cmd.Stderr = &log
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()
	theirOut.Close()
	b := &browser{t: t, to: to, messages: make(chan message, 1024)}
	go b.read(from)
	t.Cleanup(func() {
		to.Close()
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Errorf("stop chromium: %v", err)
		}
		_ = cmd.Wait() // killed
		from.Close()
		if t.Failed() {
			t.Logf("chromium printed:\n%s", log.String())
		}
	})
	b.attach()
	return b
}

// chromium returns the path of the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{os.Getenv("PEX_E2E_CHROMIUM"), "chromium", "chromium-browser", "google-chrome", "chrome"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("no Chromium here: apt-get install chromium, or name one in PEX_E2E_CHROMIUM")
	return ""
}

func (b *browser) read(from *os.File) {
	defer close(b.messages)
	d := json.NewDecoder(nulToSpace{from})
	for {
		var m message
		if d.Decode(&m) != nil {
			return
		}
		b.messages <- m
	}
}

// nulToSpace converts the stream of messages to one of JSON values.
type nulToSpace struct{ from *os.File }

func (r nulToSpace) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	for i := range p[:n] {
		if p[i] == 0 {
			p[i] = '\n'
		}
	}
	return n, err
}

func (b *browser) attach() {
	b.t.Helper()
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct {
		SessionID string `json:"sessionId"`
	}
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.size(1280, 900)
}

// call sends a command and waits for its result.
func (b *browser) call(method string, params any, result any) {
	b.t.Helper()
	b.last++
	data, err := json.Marshal(map[string]any{"id": b.last, "method": method, "params": params, "sessionId": b.session})
	if err != nil {
		b.t.Fatal(err)
	}
	if b.session == "" {
		data = bytes.Replace(data, []byte(`,"sessionId":""`), nil, 1)
	}
	if params == nil {
		data = bytes.Replace(data, []byte(`"params":null`), []byte(`"params":{}`), 1)
	}
	if _, err := b.to.Write(append(data, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	m := b.wait(method, func(m message) bool { return m.ID == b.last })
	if m.Error != nil {
		b.t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(m.Result, result); err != nil {
			b.t.Fatalf("%s: %v", method, err)
		}
	}
}

// wait receives messages until one matches.
func (b *browser) wait(what string, wanted func(message) bool) message {
	b.t.Helper()
	deadline := time.After(timeout)
	for {
		select {
		case m, ok := <-b.messages:
			if !ok {
				b.t.Fatalf("%s: chromium ended", what)
			}
			if m.Method == "Page.javascriptDialogOpening" { // the page no longer responds
				b.t.Fatalf("%s: a dialog opened: %s", what, m.Params)
			}
			if m.Method != "" {
				b.events = append(b.events, m)
			}
			if wanted(m) {
				return m
			}
		case <-deadline:
			b.t.Fatalf("%s: nothing came for %v", what, timeout)
		}
	}
}

// open loads a page and waits until it is complete.
func (b *browser) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "about:blank"}, nil)
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.until(`document.readyState === "complete" && performance.getEntriesByName("ready").length > 0`)
}

// eval evaluates JavaScript in the page and stores its value.
func (b *browser) eval(source string, value any) {
	b.t.Helper()
	var out struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		ExceptionDetails json.RawMessage `json:"exceptionDetails"`
	}
	b.call("Runtime.evaluate", map[string]any{"expression": source, "returnByValue": true, "awaitPromise": true}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", source, out.ExceptionDetails)
	}
	if value != nil {
		if err := json.Unmarshal(out.Result.Value, value); err != nil {
			b.t.Fatalf("%s gave %s: %v", source, out.Result.Value, err)
		}
	}
}

// until waits for a condition in the page.
func (b *browser) until(condition string) {
	b.t.Helper()
	for end := time.Now().Add(timeout); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		var holds bool
		if b.eval("!!("+condition+")", &holds); holds {
			return
		}
	}
	b.t.Fatalf("this never became true: %s\n%s", condition, b.faults())
}

// text returns the text of the elements that match a selector.
func (b *browser) text(selector string) []string {
	b.t.Helper()
	var out []string
	b.eval(fmt.Sprintf("[...document.querySelectorAll(%q)].map((e) => e.innerText.trim())", selector), &out)
	return out
}

// key presses and releases a key.
func (b *browser) key(name string) {
	b.t.Helper()
	params := map[string]any{"type": "keyDown", "key": name}
	if len(name) == 1 {
		params["text"] = name
	}
	b.call("Input.dispatchKeyEvent", params, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": name}, nil)
}

func (b *browser) size(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

func (b *browser) scheme(name string) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": name}}}, nil)
}

// picture stores a screenshot as a test artifact (go test -artifacts).
func (b *browser) picture(name string) {
	b.t.Helper()
	var shot struct {
		Data string `json:"data"`
	}
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	data, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// eventsOf returns the parameters of the events of a method.
func (b *browser) eventsOf(method string) []string {
	var out []string
	for _, m := range b.events {
		if m.Method == method {
			out = append(out, string(m.Params))
		}
	}
	return out
}

// faults returns exceptions and errors of the page, such as CSP violations.
func (b *browser) faults() string {
	return strings.Join(append(append(b.eventsOf("Runtime.exceptionThrown"), b.eventsOf("Log.entryAdded")...), b.eventsOf("Runtime.consoleAPICalled")...), "\n")
}
