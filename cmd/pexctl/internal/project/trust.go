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

// trustAll is the value of --trust that accepts any files.
const trustAll = "all"

// TrustFlag returns --trust, for commands that start programs or connect to
// servers.
func TrustFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "trust", Category: ui.GroupSpec, Usage: "Allow programs and servers defined in files outside the project if the files' digest is `DIGEST`; \"all\" accepts any digest. Without --trust, the command shows the digest and asks you; without a terminal, it fails"}
}

// CheckTrust asks whether to trust what a spec uses from outside its project. It
// returns nil if it is trusted, or if there is nothing of that kind. The answer
// is stored in home.
func CheckTrust(c *ui.Call, spec *dsl.Spec, home string) error {
	given := c.Trust
	for _, word := range given {
		if word != trustAll && !trust.TrustedDigest().MatchString(word) {
			return failure.Usagef("invalid value %q for --trust; use all, or sha256: and at least 16 digits of the digest", word)
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

// askTrust asks at the terminal, and stores a yes. If --trust has another digest
// (mismatch), it fails without asking.
func askTrust(c *ui.Call, spec *dsl.Spec, home string, mismatch bool) error {
	digest := spec.Foreign.Digest()
	_, in := ui.Terminal(c.Stdin)
	_, out := ui.Terminal(c.Stderr)
	switch {
	case mismatch:
		return failure.Usagef("--trust does not match: the external files of %s have digest %s", fspath.Shown(spec.File), digest)
	case !in || !out:
		return failure.WithHintf(failure.Usagef("%s uses files from outside its project that are not trusted, and pexctl cannot prompt without a terminal", fspath.Shown(spec.File)), "to trust these files as they are now, add --trust %s; to trust any, --trust all", digest)
	}
	fmt.Fprint(c.Stderr, "Trust these files until they change? [y/N] ")
	line, err := bufio.NewReader(c.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return failure.Infra(fmt.Errorf("read the answer: %w", err))
	}
	switch strings.ToLower(strings.TrimSpace(line)) {
	case "y", "yes":
		return trust.Add(home, spec.Foreign)
	}
	return ui.Exit(ui.ExitNegative, errors.New("not trusted; nothing was started"))
}

// showForeign lists on stderr what a spec uses from outside its project, escaped.
func showForeign(c *ui.Call, spec *dsl.Spec, lines []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s uses files from outside its project:\n", shownLine(fspath.Shown(spec.File)))
	for _, f := range spec.Foreign.Files {
		fmt.Fprintf(&b, "  %s %s\n", f.Digest, shownLine(cmp.Or(f.Name, f.Path)))
	}
	fmt.Fprintf(&b, "Combined digest: %s\nThey define this access:\n", spec.Foreign.Digest())
	for _, line := range lines {
		fmt.Fprintf(&b, "  %s\n", shownLine(line))
	}
	fmt.Fprint(c.Stderr, b.String())
}

// shownLine returns a text on one line, escaped.
func shownLine(s string) string {
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(tty.Safe(s))
}
