package version

import (
	"runtime/debug"
	"sync"
)

// stamped is set by the Makefile.
var stamped = ""

// String returns the stamped version, else what Go knows of the build.
func String() string { return find() }

var find = sync.OnceValue(func() string {
	if stamped != "" {
		return stamped
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
})

// UserAgent returns how pexctl names itself to servers.
func UserAgent() string { return "pexctl/" + String() }
