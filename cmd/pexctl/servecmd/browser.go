package servecmd

import (
	"os"
	"os/exec"
	"runtime"

	"github.com/pexctl/pex/internal/app/procguard"
)

// hasDisplay reports whether a browser can show pages to the user of this terminal.
func hasDisplay() bool {
	if os.Getenv("BROWSER") != "" { // such as in editors with remote terminals
		return true
	}
	if os.Getenv("SSH_CONNECTION") != "" {
		return false
	}
	switch runtime.GOOS {
	case "darwin", "windows":
		return true
	default:
		return os.Getenv("DISPLAY") != "" || os.Getenv("WAYLAND_DISPLAY") != ""
	}
}

// openBrowser opens an address in the browser of the user, which outlives this command.
func openBrowser(url string) error {
	var argv []string
	switch runtime.GOOS {
	case "darwin":
		argv = []string{"open", url}
	case "windows":
		argv = []string{"rundll32", "url.dll,FileProtocolHandler", url}
	default:
		argv = []string{"xdg-open", url}
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.SysProcAttr = procguard.NewSession() // Ctrl-C must not end it
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _ = cmd.Wait() }() // the address is printed, too
	return nil
}
