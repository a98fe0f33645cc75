package tool_test

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	builtintool "github.com/pexctl/pex/builtins/tool"
	"github.com/pexctl/pex/engine/component"
	"github.com/pexctl/pex/engine/tool"
	"github.com/pexctl/pex/internal/httpclient/guardtest"
)

// reachers returns the tools that use HTTP, without allowed hosts, and the arguments with
// which each would call a URL.
func reachers(t *testing.T) map[string]func(at string) (tool.Tool, map[string]any, error) {
	t.Helper()
	get := newTool[builtintool.HTTPGetConfig](t, builtintool.HTTPGet, tool.Settings{}, nil)
	request := newTool[builtintool.HTTPRequestConfig](t, builtintool.HTTPRequest, tool.Settings{}, nil)
	return map[string]func(string) (tool.Tool, map[string]any, error){
		"http_get":     func(at string) (tool.Tool, map[string]any, error) { return get, args{"url": at}, nil },
		"http_request": func(at string) (tool.Tool, map[string]any, error) { return request, args{"url": at}, nil },
		// The model of an http tool cannot choose the host, so it uses its path argument.
		"http": func(at string) (tool.Tool, map[string]any, error) {
			t, err := try(builtintool.HTTP, tool.Settings{}, func(c *builtintool.HTTPConfig) {
				c.URL = template(t, "http://inside.example.com/${args.at}")
			})
			return t, args{"at": strings.NewReplacer("/", "", `\`, "").Replace(at)}, err
		},
		// The same holds for web_search: the query is part of the URL.
		"web_search": func(at string) (tool.Tool, map[string]any, error) {
			t, err := try(builtintool.WebSearch, tool.Settings{}, func(c *builtintool.WebSearchConfig) {
				c.URL = template(t, "http://inside.example.com/search")
			})
			return t, args{"query": at}, err
		},
	}
}

// Private addresses are never called, whatever a model writes and names resolve to.
func TestPrivateAddressesAreUnreachable(t *testing.T) {
	guardtest.ResolveInside(t)
	for name, reacher := range reachers(t) {
		t.Run(name, func(t *testing.T) {
			for _, at := range append(guardtest.Hostile, guardtest.Unresolvable...) {
				made, a, err := reacher(at)
				if err != nil {
					t.Fatal(err)
				}
				raw, err := json.Marshal(a)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				out, err := made.Call(ctx, &tool.Call{Args: raw})
				switch {
				case err == nil:
					t.Errorf("%s gave %+v", at, out)
				case strings.Contains(err.Error(), "refused"), ctx.Err() != nil:
					t.Errorf("connected to %s: %v", at, err)
				case strings.Contains(err.Error(), ":pass@"):
					t.Errorf("the error shows the password: %v", err)
				}
				cancel()
			}
		})
	}
}

// A permitted server cannot redirect to a forbidden one.
func TestRedirectsStayOnAllowedHosts(t *testing.T) {
	base, _ := site(t)
	port := base[strings.LastIndexByte(base, ':'):]
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	s := tool.Settings{}
	get := getter(t, base, nil)
	request := newTool(t, builtintool.HTTPRequest, s, func(c *builtintool.HTTPRequestConfig) { c.AllowHosts = []string{u.Host} })
	fixed := newTool(t, builtintool.HTTP, s, func(c *builtintool.HTTPConfig) {
		c.URL = component.Template{Text: base + "/out"}
		c.Query = map[string]component.Template{"to": template(t, "${args.to}")}
	})
	search := newTool(t, builtintool.WebSearch, s, func(c *builtintool.WebSearchConfig) {
		c.URL = component.Template{Text: base + "/out"}
		c.Query = map[string]component.Template{"to": template(t, "${args.query}")}
	})
	for _, to := range []string{
		"http://localhost" + port + "/page", "http://[::1]" + port + "/page", "http://127.0.0.2" + port, "http://169.254.169.254/latest/meta-data/",
		"//localhost" + port + "/page", "http://user:pass@" + u.Host + "/page", "file:///etc/passwd", "gopher://127.0.0.1" + port, "http://127.0.0.1:1/",
	} {
		at := base + "/out?to=" + url.QueryEscape(to)
		for _, tt := range []struct {
			made tool.Tool
			args args
		}{{get, args{"url": at}}, {request, args{"url": at}}, {fixed, args{"to": to}}, {search, args{"query": to}}} {
			if out, err := call(t, tt.made, tt.args); err == nil {
				t.Errorf("%s led %s to %+v", to, tt.made.Info().Name, out)
			} else if strings.Contains(err.Error(), "refused") {
				t.Errorf("connected to %s: %v", to, err)
			}
		}
	}
}
