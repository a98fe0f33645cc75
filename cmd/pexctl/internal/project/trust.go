package project

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/pexctl/pex/builtins/tty"
	"github.com/pexctl/pex/cmd/pexctl/internal/ui"
	"github.com/pexctl/pex/dsl"
	"github.com/pexctl/pex/internal/app/failure"
	"github.com/pexctl/pex/internal/app/fspath"
	"github.com/pexctl/pex/internal/app/trust"
)

// trustAll is the value of --trust that takes whatever there is.
const trustAll = "all"

// TrustFlag is --trust, of commands that start or reach what a spec names.
func TrustFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "trust", Usage: "what a spec has from outside of its project may be started and reached: `DIGEST` as it is told when this is asked, or all; no yes is kept"}
}

// CheckTrust asks whether what a spec has from elsewhere may be started and reached;
// nil = it may, or there is nothing of the kind. Home is where a yes is kept.
func CheckTrust(c *ui.Call, spec *dsl.Spec, home string) error {
	given := c.Trust
	for _, word := range given {
		if word != trustAll && !trust.TrustedDigest.MatchString(word) {
			return failure.Usagef("--trust %s: write all, or sha256: and at least 16 digits of the digest", word)
		}
	}
	lines := trust.Access(spec.Foreign)
	if len(lines) == 0 {
		return nil
	}
	digest := spec.Foreign.Digest()
	if slices.ContainsFunc(given, func(word string) bool { return word == trustAll || strings.HasPrefix(digest, word) }) {
		return nil
	}
	if len(given) == 0 {
		known, err := trust.Open(home)
		if err != nil {
			return err
		}
		if known.Has(digest) {
			return nil
		}
	}
	showForeign(c, spec, lines)
	return askTrust(c, spec, home, len(given) > 0)
}

// askTrust asks at the terminal, and keeps a yes. Who was told a digest by
// --trust that is not the one of the files is not asked.
func askTrust(c *ui.Call, spec *dsl.Spec, home string, told bool) error {
	digest := spec.Foreign.Digest()
	_, in := ui.Terminal(c.Stdin)
	_, out := ui.Terminal(c.Stderr)
	switch {
	case told:
		return failure.Usagef("%s has other files from outside of its project than --trust names: they are %s", fspath.Shown(spec.File), digest)
	case !in || !out:
		return failure.Usagef("%s would start or reach what was defined outside of its project: without a terminal to ask at, --trust %s accepts these files as they are (--trust all whatever they are)", fspath.Shown(spec.File), digest)
	}
	fmt.Fprint(c.Stderr, "start and reach this, now and as long as these files stay as they are? [y/N] ")
	line, err := bufio.NewReader(c.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return failure.Infra(fmt.Errorf("read the answer: %w", err))
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return trust.Add(home, spec.Foreign)
	}
	return ui.Exit(ui.ExitNegative, errors.New("nothing was started"))
}

// showForeign says on stderr what a spec has from elsewhere. Nothing of it
// reaches the terminal as it is.
func showForeign(c *ui.Call, spec *dsl.Spec, lines []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has these files from outside of its project, or by way of those:\n", shownLine(fspath.Shown(spec.File)))
	for _, f := range spec.Foreign.Files {
		fmt.Fprintf(&b, "  %s %s\n", f.Digest, shownLine(cmp.Or(f.Name, f.Path)))
	}
	fmt.Fprintf(&b, "All of them together are %s. What is defined there would, once it is used:\n", spec.Foreign.Digest())
	for _, line := range lines {
		fmt.Fprintf(&b, "  %s\n", shownLine(line))
	}
	fmt.Fprint(c.Stderr, b.String())
}

// shownLine is a text on one line, safe and otherwise as it is.
func shownLine(s string) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(tty.Safe(s))
}
