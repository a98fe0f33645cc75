package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// settings override configuration of the repository or user that could make git start programs or connect to servers.
var settings = []string{
	"safe.bareRepository=explicit",
	"core.fsmonitor=false",
	"core.hooksPath=" + os.DevNull,
	"core.untrackedCache=false",
	"core.pager=cat",
	"core.askPass=",
	"core.sshCommand=false",
	"core.alternateRefsCommand=",
	"credential.helper=",
	"diff.external=",
	"log.showSignature=false",
	"protocol.allow=never",
	"submodule.recurse=false",
}

// inherited lists the variables that git needs from the caller's environment: to be found, and to find the user's
// ignore file.
var inherited = []string{"PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "USERPROFILE", "SYSTEMROOT", "TEMP", "TMP"}

// Commit returns the id of the commit with a name. Names are never parsed as flags. A name shared by several
// references is an error.
func (r *Repo) Commit(ctx context.Context, ref string) (string, error) {
	id, err := r.Output(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	if err != nil {
		return "", err
	}
	same, err := r.Output(ctx, "", "for-each-ref", "--format=%(refname)", "refs/tags/"+ref, "refs/heads/"+ref, "refs/remotes/"+ref)
	if names := exactly(string(same), ref); err == nil && len(names) > 1 {
		return "", &AmbiguousError{names}
	}
	return strings.TrimSpace(string(id)), nil
}

// AmbiguousError is returned for a short name that several references share.
type AmbiguousError struct{ Names []string }

func (e *AmbiguousError) Error() string {
	return "ambiguous reference: write " + strings.Join(e.Names, " or ")
}

// exactly removes references below the name, because for-each-ref also lists folders.
func exactly(list, ref string) (names []string) {
	for name := range strings.SplitSeq(strings.TrimSpace(list), "\n") {
		if strings.HasSuffix(name, "/"+ref) {
			names = append(names, name)
		}
	}
	return names
}

// HasSubmodule reports whether a folder of the work tree is a submodule.
func (r *Repo) HasSubmodule(ctx context.Context, dir string) bool {
	rel, err := filepath.Rel(r.top, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return false
	}
	out, err := r.Output(ctx, "", "--literal-pathspecs", "ls-files", "--stage", "-z", "--", filepath.ToSlash(rel))
	return err == nil && bytes.HasPrefix(out, []byte("160000 "))
}

// Dirty reports whether tracked files differ from the checked-out commit.
func (r *Repo) Dirty(ctx context.Context) (bool, error) {
	changed, err := r.Compare(ctx, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
	return len(bytes.TrimSpace(changed)) > 0, err
}

// Output runs git on the repository with an input, in the top folder of its work tree, and returns its stdout. The
// error contains stderr.
func (r *Repo) Output(ctx context.Context, input string, args ...string) ([]byte, error) {
	return r.run(ctx, nil, input, args)
}

// Compare is Output for commands that read files of the work tree. It disables the filter programs of the
// configuration.
func (r *Repo) Compare(ctx context.Context, args ...string) ([]byte, error) {
	off, err := r.filtersOff(ctx)
	if err != nil {
		return nil, err
	}
	return r.run(ctx, off, "", args)
}

func (r *Repo) run(ctx context.Context, environ []string, input string, args []string) ([]byte, error) {
	all := []string{"--git-dir=" + r.dir, "--work-tree=" + r.top, "--no-optional-locks", "--no-replace-objects", "--no-pager"}
	for _, s := range settings {
		all = append(all, "-c", s)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir = r.top
	cmd.Env = append(environment(), environ...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && stderr.Len() > 0 {
		err = errors.Join(err, errors.New(strings.TrimSpace(stderr.String())))
	}
	return out, err
}

func environment() []string {
	env := []string{
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=",
		"GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "GIT_PAGER=cat", "LC_ALL=C",
	}
	for _, name := range inherited {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// filtersOff returns variables that disable all configured filters.
func (r *Repo) filtersOff(ctx context.Context) ([]string, error) {
	out, err := r.Output(ctx, "", "config", "-z", "--includes", "--name-only", "--get-regexp", `^filter\.`)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil, nil // no filters
	}
	if err != nil {
		return nil, fmt.Errorf("git config: %w", err)
	}
	var env []string
	seen := map[string]bool{}
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		driver := name[:strings.LastIndexByte(name, '.')]
		if seen[driver] {
			continue
		}
		seen[driver] = true
		for _, setting := range []string{"clean=", "smudge=", "process=", "required=false"} {
			key, value, _ := strings.Cut(setting, "=")
			n := strconv.Itoa(len(env) / 2)
			env = append(env, "GIT_CONFIG_KEY_"+n+"="+driver+"."+key, "GIT_CONFIG_VALUE_"+n+"="+value)
		}
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(env)/2)), nil
}
