package chat

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/engine/runs"
	"github.com/pexctl/pex/engine/text"
	"github.com/pexctl/pex/internal/app/apiclient"
)

func (c *Chat) setModel(ctx context.Context, name string) error {
	all, err := c.o.Client.AgentModels(ctx, c.o.Agent)
	if err != nil {
		c.problem(err)
		return nil
	}
	all = slices.DeleteFunc(all, func(m apiclient.AgentModel) bool { return strings.ContainsAny(m.Name, "+.") }) // of roles
	if name == "" {
		c.listModels(all)
		return nil
	}
	sets, wrong := c.modelOverrides(all, name)
	if wrong != "" {
		c.problemf("%s", wrong)
		return nil
	}
	for _, set := range sets {
		c.override(set)
	}
	c.note("The next turns use %s", name)
	return nil
}

func (c *Chat) listModels(all []apiclient.AgentModel) {
	var b strings.Builder
	for _, m := range all {
		fmt.Fprintf(&b, "%-12s %s\n", m.Name, strings.TrimSuffix(m.Provider+"/"+m.Model, "/"))
	}
	for _, set := range c.set {
		if strings.HasPrefix(set, "llms.") {
			fmt.Fprintf(&b, "/set %s\n", set)
		}
	}
	c.show(Output, b.String())
}

// modelOverrides returns the overrides for which all models of the agent are the same: MODEL, or
// PROVIDER/MODEL. Clients of a server cannot change the provider.
func (c *Chat) modelOverrides(all []apiclient.AgentModel, name string) (sets []string, wrong string) {
	provider, model, isPair := strings.Cut(name, "/")
	for _, m := range all {
		switch {
		case isPair && (m.Provider == provider):
			sets = append(sets, "llms."+m.Name+".model="+quote(model))
		case isPair && c.o.Owner:
			sets = append(sets, fmt.Sprintf("llms.%s={provider: %s, model: %s}", m.Name, quote(provider), quote(model)))
		case isPair: // the agent may not use it
		default:
			sets = append(sets, "llms."+m.Name+".model="+quote(name))
		}
	}
	if len(sets) == 0 {
		return nil, "the agent has no model of this provider, and the server does not let clients change the provider; /model lists the models"
	}
	return sets, ""
}

// quote quotes a text for YAML if it is not plain; a server accepts only plain texts.
func quote(s string) string {
	if plainText()(s) {
		return s
	}
	b, _ := json.Marshal(s) //nolint:errchkjson // a string can be encoded
	return string(b)
}

// plainText reports whether a text needs no quotes in YAML and is not a number.
func plainText() func(string) bool {
	pattern := text.Regexp(`^[A-Za-z][A-Za-z0-9_.:/@-]*$`)
	return func(s string) bool { return pattern().MatchString(s) && !strings.HasSuffix(s, ":") }
}

// override adds an override, in place of one with the same key.
func (c *Chat) override(set string) {
	key, _, _ := strings.Cut(set, "=")
	i := slices.IndexFunc(c.set, func(old string) bool { return strings.HasPrefix(old, key+"=") })
	if i >= 0 && i < c.checked {
		c.checked--
	}
	if i >= 0 {
		c.set = slices.Delete(slices.Clone(c.set), i, i+1)
	}
	c.set = append(slices.Clip(c.set), set)
}

func (c *Chat) setValue(_ context.Context, arg string) error {
	key, value, ok := strings.Cut(arg, "=")
	switch {
	case arg == "" && len(c.set) == 0:
		c.note("No overrides; set one with /set KEY=VALUE, such as /set limits.max_steps=5")
	case arg == "":
		c.show(Output, strings.Join(c.set, "\n")+"\n")
	case !ok || strings.TrimSpace(key) == "":
		c.problemf("usage: /set KEY=VALUE, such as /set limits.max_steps=5")
	default:
		set := strings.TrimSpace(key) + "=" + strings.TrimSpace(value)
		c.override(set)
		c.note("The next turns use %s", set)
	}
	return nil
}

func (c *Chat) addFile(ctx context.Context, path string) error {
	name := filepath.ToSlash(filepath.Clean(path))
	if !filepath.IsLocal(path) {
		name = filepath.Base(path)
	}
	if slices.ContainsFunc(c.files, func(f apiclient.File) bool { return f.Name == name }) {
		c.problemf("the next question already has a file named %s", name)
		return nil
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		c.problemf("%s is not a file", path)
		return nil
	}
	id, err := c.o.Client.Upload(ctx, func() (io.ReadCloser, error) { return os.Open(path) })
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		c.problemf("%v", e)
		return nil
	}
	if e, ok := errors.AsType[*apiclient.Error](err); ok && e.Status == http.StatusRequestEntityTooLarge {
		c.problemf("%s: %v", path, e)
		return nil
	}
	if err != nil {
		c.problem(err)
		return nil
	}
	c.files = append(slices.Clip(c.files), apiclient.File{Name: name, Artifact: id})
	c.note("The next question has the file %s", name)
	return nil
}

func (c *Chat) fork(ctx context.Context, at string) error {
	if c.run == "" {
		c.problemf("there is no turn to fork yet")
		return nil
	}
	of, run := c.run, runs.NewID(c.o.Now())
	onDrift := ""
	if len(c.set) > 0 {
		onDrift = runs.DriftLive
	}
	c.note("Run %s repeats %s from %s", run, of, cmp.Or(at, "its end"))
	c.start(ctx, run, c.o.Client.Fork(ctx, of, apiclient.Fork{RunID: run, At: at, OnDrift: onDrift, Set: c.set}))
	return nil
}
