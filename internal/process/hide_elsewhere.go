//go:build !linux

package process

// HideSecrets does nothing: this system has no such setting, or always protects the environment of processes.
func HideSecrets() {}
