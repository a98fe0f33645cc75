package process

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
)

// inherited are the variables of the machine that every child gets.
var inherited = []string{"PATH", "HOME", "LANG", "TMPDIR"}

// inheritedOnWindows are those without which hardly a program starts there.
var inheritedOnWindows = []string{"SystemRoot", "ComSpec", "PATHEXT", "TEMP", "TMP", "USERPROFILE"}

const plainPath = "/usr/local/bin:/usr/bin:/bin"

// Inherited is what a child gets of the machine's environment: the few variables
// that programs need to find others, their user and a place for files.
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

// Environ is an environment as a Command wants it, sorted.
func Environ(values map[string]string) ([]string, error) {
	var env []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if strings.ContainsRune(values[name], 0) {
			return nil, fmt.Errorf("environment variable %s holds a NUL byte, which no program can be given", name)
		}
		env = append(env, name+"="+values[name])
	}
	return env, nil
}
