package process

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
)

// inherited lists the environment variables that every child inherits.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// inheritedOnWindows lists variables without which few programs start on Windows.
var inheritedOnWindows = []string{"SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE"}

const plainPath = "/usr/local/bin:/usr/bin:/bin"

// Inherited returns the variables that a child inherits: the few that programs need to find other programs, their
// user and temporary files.
func Inherited(machine func(string) string) map[string]string {
	names := inherited
	if runtime.GOOS == "windows" {
		names = slices.Concat(inherited, inheritedOnWindows)
	}
	values := map[string]string{}
	for _, name := range names {
		if v := machine(name); v != "" {
			values[name] = v
		}
	}
	if values["PATH"] == "" {
		values["PATH"] = plainPath
	}
	return values
}

// Environ formats an environment for a Command, sorted.
func Environ(values map[string]string) ([]string, error) {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strings.ContainsRune(values[name], 0) {
			return nil, fmt.Errorf("environment variable %s has a NUL byte, which is not allowed", name)
		}
		env = append(env, name+"="+values[name])
	}
	return env, nil
}
