package initcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/pexctl/pex/builtins/scaffold"
)

const (
	serverTimeout   = time.Second // for all requests to a model server
	maxServerReply  = 1 << 20     // bytes of one reply
	maxServedModels = 20          // models whose capabilities are requested
)

// serverOf returns the address of the model server that answers choose, with /v1 at its end, and the models it has. A server
// that does not answer has none; "" means that the provider is not a server of the user's.
func serverOf(ctx context.Context, a scaffold.Answers, env func(string) string) (base string, models []scaffold.Served) {
	ctx, cancel := context.WithTimeout(ctx, serverTimeout)
	defer cancel()
	switch {
	case a.Provider == "ollama":
		base = cmp.Or(a.BaseURL, ollamaBase(env("OLLAMA_HOST")))
		models = ollamaModels(ctx, strings.TrimSuffix(base, "/v1"))
	case a.BaseURL != "":
		base = a.BaseURL
		models = listedModels(ctx, base)
	}
	return base, models
}

// ollamaBase returns the base URL of the Ollama server that OLLAMA_HOST names, by the rules of Ollama's own client: scheme,
// port and host are optional, and an address that means "all interfaces" is this machine.
func ollamaBase(hostVar string) string {
	hostVar = strings.TrimSpace(hostVar)
	scheme, rest, ok := strings.Cut(hostVar, "://")
	port := map[string]string{"http": "80", "https": "443"}[scheme]
	if !ok {
		scheme, rest, port = "http", hostVar, "11434"
	}
	rest, path, _ := strings.Cut(rest, "/")
	host := rest
	if h, p, err := net.SplitHostPort(rest); err == nil {
		host, port = h, p
	}
	host = strings.Trim(host, "[]")
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	u := url.URL{Scheme: scheme, Host: net.JoinHostPort(host, port), Path: strings.TrimSuffix("/"+path, "/") + "/v1"}
	return u.String()
}

// ollamaModels returns the models that an Ollama server has and that generate text, those with tool calls first.
func ollamaModels(ctx context.Context, root string) []scaffold.Served {
	var tags struct {
		Models []struct {
			Name string `json:"name"`
		} `json:"models"`
	}
	if fetchJSON(ctx, root+"/api/tags", nil, &tags) != nil {
		return nil
	}
	var out []scaffold.Served
	for i, m := range tags.Models {
		served := scaffold.Served{Name: strings.TrimSuffix(m.Name, ":latest")}
		var show struct {
			Capabilities []string `json:"capabilities"`
		}
		if i < maxServedModels && fetchJSON(ctx, root+"/api/show", map[string]string{"model": m.Name}, &show) == nil && show.Capabilities != nil {
			if !slices.Contains(show.Capabilities, "completion") {
				continue // an embedding model
			}
			served.NoTools = !slices.Contains(show.Capabilities, "tools")
		}
		out = append(out, served)
	}
	slices.SortStableFunc(out, func(a, b scaffold.Served) int { return rank(a) - rank(b) })
	return out
}

func rank(m scaffold.Served) int {
	if m.NoTools {
		return 1
	}
	return 0
}

// listedModels returns the models that an OpenAI-compatible server lists.
func listedModels(ctx context.Context, base string) []scaffold.Served {
	var list struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
	}
	if fetchJSON(ctx, strings.TrimSuffix(base, "/")+"/models", nil, &list) != nil {
		return nil
	}
	var out []scaffold.Served
	for _, m := range list.Data {
		out = append(out, scaffold.Served{Name: m.ID})
	}
	return out
}

// fetchJSON decodes the reply to a GET, or to a POST if there is a body.
func fetchJSON(ctx context.Context, address string, body, into any) error {
	method, content := http.MethodGet, []byte(nil)
	if body != nil {
		method = http.MethodPost
		var err error
		if content, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(content))
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, maxServerReply)).Decode(into)
}
