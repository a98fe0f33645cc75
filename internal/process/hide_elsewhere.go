//go:build !linux

package process

// HideSecrets does nothing: this system has no such setting, or protects the
// environment of processes by itself.
func HideSecrets() {}
