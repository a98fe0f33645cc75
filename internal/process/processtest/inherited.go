//go:build unix

package processtest

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
)

// Variable makes this test binary, run as a child, print what it inherited. A value other than 1 is the file to
// write to.
const Variable = "PEX_TEST_GIVEN"

// Inherited is what a process inherited from its parent.
type Inherited struct {
	Args  []string          `json:"args"`
	Env   []string          `json:"env"` // "name=value"
	Dir   string            `json:"dir"`
	Files map[int]string    `json:"files"` // open descriptors and their targets, if known
	Umask int               `json:"umask"`
	Limit map[string]uint64 `json:"limit"` // soft limits
}

// Main prints a Given and exits if the process was started as such a child; otherwise it does nothing. Call it
// first in TestMain.
func Main() {
	to := os.Getenv(Variable)
	if to == "" {
		return
	}
	out, err := json.Marshal(inherited())
	if err == nil && to == "1" {
		_, err = os.Stdout.Write(append(out, '\n'))
	} else if err == nil {
		err = os.WriteFile(to, out, 0o600)
	}
	if err != nil {
		syscall.Exit(1)
	}
	// Not os.Exit, which would also run hooks of the race detector and the coverage tool.
	syscall.Exit(0)
}

// Program returns the path of the program that prints a Given.
func Program() (string, error) { return os.Executable() }

func inherited() Inherited {
	g := Inherited{Args: os.Args[1:], Env: os.Environ(), Files: map[int]string{}, Umask: syscall.Umask(0), Limit: limits()}
	g.Dir, _ = os.Getwd()
	for fd := range 1024 {
		var st syscall.Stat_t
		if syscall.Fstat(fd, &st) != nil {
			continue
		}
		if name, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); !ours(name) {
			g.Files[fd] = name
		}
	}
	return g
}

// ours reports whether a descriptor belongs to the Go runtime of the child.
func ours(name string) bool {
	return strings.HasPrefix(name, "anon_inode:") || strings.HasPrefix(name, "/sys/") || strings.HasPrefix(name, "/proc/")
}

func limits() map[string]uint64 {
	out := map[string]uint64{}
	for name, which := range map[string]int{"core": syscall.RLIMIT_CORE, "files": syscall.RLIMIT_NOFILE, "size": syscall.RLIMIT_FSIZE} {
		var l syscall.Rlimit
		if syscall.Getrlimit(which, &l) == nil {
			out[name] = uint64(l.Cur)
		}
	}
	return out
}

// Read decodes the output of a child.
func Read(output string) (Inherited, error) {
	var g Inherited
	err := json.Unmarshal([]byte(output), &g)
	return g, err
}

// Declared is what a child may inherit.
type Declared struct {
	Env     []string // names, in addition to Variable
	Dir     string   // "" = any
	Secrets []string // texts that must not occur anywhere: canaries, paths of the store
}

// Check lists what a child inherited without declaration, and what it lacks.
func (g Inherited) Check(d Declared) (wrong []string) {
	add := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, v := range g.Env {
		if name, _, _ := strings.Cut(v, "="); name != Variable && !slices.Contains(d.Env, name) {
			add("variable %s was not declared", name)
		}
	}
	for _, name := range d.Env {
		if !slices.ContainsFunc(g.Env, func(v string) bool { return strings.HasPrefix(v, name+"=") }) {
			add("variable %s is missing", name)
		}
	}
	for fd := range 3 {
		if _, ok := g.Files[fd]; !ok {
			add("descriptor %d is not open", fd)
		}
	}
	for fd, name := range g.Files {
		if fd > 2 {
			add("descriptor %d is open: %s", fd, name)
		}
	}
	if d.Dir != "" && g.Dir != d.Dir {
		add("its working folder is %s, not %s", g.Dir, d.Dir)
	}
	if mask := syscall.Umask(0); syscall.Umask(mask) == 0 && g.Umask != mask {
		add("its umask is %03o, ours %03o", g.Umask, mask)
	}
	for name, ours := range limits() {
		if g.Limit[name] > ours {
			add("its limit of %s is %d, ours %d", name, g.Limit[name], ours)
		}
	}
	all, _ := json.Marshal(g) // cannot fail: strings and numbers
	for _, secret := range d.Secrets {
		if strings.Contains(string(all), secret) {
			add("it has the secret %s", secret)
		}
	}
	slices.Sort(wrong)
	return wrong
}
