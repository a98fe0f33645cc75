package toolcmd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/engine/lockfile"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/host"
)

// finish prints the result, and writes the lock files unless they are only
// checked or still need confirmation.
func (l *lockUpdate) finish(wantJSON bool) error {
	if !wantJSON {
		l.printChanges()
	}
	write, err := l.confirmed(wantJSON)
	if write && err == nil {
		err = l.write()
	}
	if wantJSON {
		if jerr := l.printJSON(write && err == nil); jerr != nil {
			return failure.Infra(jerr)
		}
	} else if write && err == nil {
		for _, root := range l.order {
			fmt.Fprintln(l.c.Stderr, "wrote", fspath.Shown(filepath.Join(root, lockfile.FileName)))
		}
	}
	return err
}

func (l *lockUpdate) any(status ...lockStatus) bool {
	return slices.ContainsFunc(l.found, func(f lockedServer) bool { return slices.Contains(status, f.Status) })
}

// confirmed reports whether the lock files may be written; an error explains what is
// missing.
func (l *lockUpdate) confirmed(wantJSON bool) (bool, error) {
	switch {
	case len(l.found) == 0:
		if !wantJSON {
			fmt.Fprintln(l.c.Stderr, "no spec uses a tool server; nothing to pin")
		}
		return false, nil
	case l.c.check:
		if l.any(lockedNew, lockedChanged, lockedGone) {
			return false, ui.Exit(ui.ExitNegative, errors.New("the tools differ from pex.lock; review the changes, then pin them with pexctl tools lock SPEC --update"))
		}
		return false, nil
	case !l.any(lockedChanged) || l.c.update:
		return true, nil
	}
	_, in := ui.Terminal(l.c.Stdin)
	_, out := ui.Terminal(l.c.Stderr)
	refused := ui.Exit(ui.ExitNegative, errors.New("nothing was written; review the changes, then pin them with --update"))
	if wantJSON || !in || !out {
		return false, refused
	}
	fmt.Fprint(l.c.Stderr, "Pin the changed tools? [y/N] ")
	line, err := bufio.NewReader(l.c.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, failure.Infra(fmt.Errorf("read the answer: %w", err))
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return true, nil
	}
	return false, refused
}

// printChanges prints for each server what is new and what changed: the difference on
// stdout, warnings on stderr.
func (l *lockUpdate) printChanges() {
	out, notes := l.c.Stdout, l.c.Stderr
	for _, f := range l.found {
		fmt.Fprintln(out, ui.Safe(out, fmt.Sprintf("%s: tools.%s: %s", f.Spec, f.Entry, f.summary())))
		if f.drift != nil {
			fmt.Fprint(out, ui.Safe(out, host.DriftDiff(f.drift, 0, "")))
		}
		for _, w := range f.Warnings {
			fmt.Fprintln(notes, "warning:", tty.Safe(w))
		}
		if len(f.Destructive) > 0 && f.Status != lockedSame {
			fmt.Fprintln(notes, "warning:", tty.Safe(fmt.Sprintf("tools.%s: its server marks %s as destructive", f.Entry, ui.List(f.Destructive))))
		}
	}
}

func (f *lockedServer) summary() string {
	text := fmt.Sprintf("%s, %s", f.Status, ui.Count(len(f.Tools), "tool"))
	if f.Status == lockedGone {
		return "no longer in the spec"
	}
	if f.Server != "" {
		text += " of " + f.Server
	}
	return text
}

func (l *lockUpdate) printJSON(written bool) error {
	out := struct {
		Locks   []string       `json:"locks"`
		Written bool           `json:"written"`
		Servers []lockedServer `json:"servers"`
	}{Locks: []string{}, Written: written, Servers: append([]lockedServer{}, l.found...)}
	for _, root := range l.order {
		out.Locks = append(out.Locks, fspath.Shown(filepath.Join(root, lockfile.FileName)))
	}
	for i := range out.Servers {
		s := &out.Servers[i]
		s.Tools, s.Destructive = append([]string{}, s.Tools...), append([]string{}, s.Destructive...)
		s.Changes, s.Warnings = append([]lockfile.Change{}, s.Changes...), append([]string{}, s.Warnings...)
	}
	return ui.PrintJSON(l.c.Call, out)
}

// warningsOf returns the warnings about one entry of tools.
func warningsOf(name string, all []string) []string {
	var out []string
	for _, w := range all {
		if strings.HasPrefix(w, "tools."+name+":") {
			out = append(out, w)
		}
	}
	return out
}
