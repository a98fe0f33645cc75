package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/engine/tool"
)

// placeholder replaces values while templates are checked.
const placeholder = "\uE003"

var _ component.Checker[tool.Settings] = (*Config)(nil)

// Check finds mistakes that prevent every start of the server, one fault per mistake.
func (c *Config) Check(tool.Settings) component.Faults {
	out := c.checkTarget()
	out = append(out, c.checkEnv()...)
	out = append(out, c.checkHeaders()...)
	out = append(out, c.checkAuth()...)
	for _, list := range []struct {
		at    string
		globs []string
	}{{"/include", c.Include}, {"/exclude", c.Exclude}, {"/prompts", c.Prompts}} {
		for i, g := range list.globs {
			if _, err := path.Match(g, ""); err != nil || g == "" {
				out = append(out, fault(list.at+"/"+strconv.Itoa(i), fmt.Sprintf("%q is not a valid glob", g), "write a name or a glob such as read_*"))
			}
		}
	}
	return out
}

// checkTarget checks that either command or url is set, and the keys that belong to it.
func (c *Config) checkTarget() component.Faults {
	command, address := !c.Command.IsZero(), c.URL.Text != ""
	switch {
	case command && address:
		return component.Faults{fault("/url", "command and url are mutually exclusive", "remove one of them")}
	case !command && !address:
		return component.Faults{fault("/command", "neither command nor url is set", "write command: [npx, -y, some-server] or url: https://host/mcp")}
	case command:
		return append(c.misplacedKeys("command", map[string]bool{"/headers": len(c.Headers) > 0, "/allow_hosts": len(c.AllowHosts) > 0, "/allow_private": c.AllowPrivate, "/auth": c.Auth != nil}), c.checkCommand()...)
	}
	return append(c.misplacedKeys("url", map[string]bool{"/args": len(c.Args) > 0, "/cwd": c.Cwd != "", "/env": len(c.Env) > 0}), c.checkURL()...)
}

// misplacedKeys reports keys of the other kind of server.
func (c *Config) misplacedKeys(with string, set map[string]bool) (out component.Faults) {
	for _, at := range slices.Sorted(maps.Keys(set)) {
		if set[at] {
			out = append(out, fault(at, strings.TrimPrefix(at, "/")+" has no effect with "+with, "remove it"))
		}
	}
	return out
}

// program returns the program and arguments in command, and whether command is a single string. ok is false if it is
// neither a string nor a list of strings.
func (c *Config) program() (argv []string, alone, ok bool) {
	var one string
	if json.Unmarshal(c.Command.JSON, &one) == nil {
		return []string{one}, true, true
	}
	return argv, false, json.Unmarshal(c.Command.JSON, &argv) == nil
}

func (c *Config) checkCommand() component.Faults {
	argv, alone, ok := c.program()
	const listed = "write a list: [npx, -y, some-server]"
	switch {
	case !ok:
		return component.Faults{fault("/command", "command must be a program, or a list of a program and its arguments, all strings", listed)}
	case len(argv) == 0 || strings.TrimSpace(argv[0]) == "":
		return component.Faults{fault("/command", "command names no program", listed)}
	case alone && strings.ContainsAny(argv[0], " \t") && len(c.Args) == 0 && !reference().MatchString(argv[0]):
		return component.Faults{fault("/command", "command runs without a shell, so its arguments are not split", "write a list: ["+strings.Join(strings.Fields(argv[0]), ", ")+"]")}
	}
	return nil
}

var reference = text.Regexp(`\$[{<]`)

func (c *Config) checkEnv() (out component.Faults) {
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if name == "" || strings.ContainsAny(name, "=\x00") {
			out = append(out, fault("/env"+component.Key(name), fmt.Sprintf("%q is not a valid environment variable name", name), ""))
		}
	}
	return out
}

// reservedHeaders are set by the HTTP client or the protocol.
var reservedHeaders = []string{
	"Host", "Content-Length", "Content-Type", "Transfer-Encoding", "Connection", "Upgrade", "Te", "Trailer", "Expect", "Accept", "Accept-Encoding",
	"Mcp-Session-Id", "Mcp-Protocol-Version", "Last-Event-Id",
}

var headerName = text.Regexp("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func (c *Config) checkHeaders() (out component.Faults) {
	for _, name := range slices.Sorted(maps.Keys(c.Headers)) {
		switch at := "/headers" + component.Key(name); {
		case !headerName().MatchString(name):
			out = append(out, fault(at, fmt.Sprintf("%q is not a valid header name", name), "use only letters, digits and -"))
		case slices.Contains(reservedHeaders, http.CanonicalHeaderKey(name)):
			out = append(out, fault(at, "header "+name+" is set by the HTTP client", "remove it"))
		}
	}
	return out
}

// checkURL checks the URL without the environment, which is checked when the server is
// used.
func (c *Config) checkURL() component.Faults {
	text := c.URL.Render(func(ns, _ string) (any, bool) { return placeholder + ns, true })
	u, err := url.Parse(text)
	switch server := text[:authority(text)]; {
	case strings.Contains(server, placeholder+"parameters"):
		return component.Faults{fault("/url", "parameters cannot choose the host of url", "write the host, or use ${env.X}")}
	case strings.Contains(server, placeholder):
		return nil
	case err != nil || !isHTTPURL(u):
		return component.Faults{fault("/url", "url is not an http or https URL", "write a URL such as https://host/mcp")}
	case u.User != nil:
		return component.Faults{fault("/url", "url contains a user name", "send credentials under headers, as Authorization")}
	}
	return nil
}

func isHTTPURL(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != ""
}

// authority returns the index where the host part of a URL ends.
func authority(s string) int {
	from := 0
	if i := strings.Index(s, "://"); i >= 0 {
		from = i + len("://")
	}
	if i := strings.IndexAny(s[from:], `/?#\`); i >= 0 {
		return from + i
	}
	return len(s)
}

// hostPort returns the host of a URL as an allow_hosts entry.
func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.TrimSuffix(u.Hostname(), "."), port)
}

func fault(at, message, hint string) component.Fault {
	return component.Fault{At: at, Message: message, Hint: hint}
}
