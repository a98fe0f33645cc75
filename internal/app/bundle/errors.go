package bundle

import (
	"errors"
	"fmt"

	"github.com/pexctl/pex/internal/app/version"
)

// ErrDamaged is returned for bytes that are no bundle, or not the one that was asked for.
var ErrDamaged = errors.New("the bundle of the program is damaged")

// ErrTooLarge is returned for a program with more or larger files than a bundle may have.
var ErrTooLarge = errors.New("the program is too large to be sent to other machines")

// damaged returns an ErrDamaged with its reason.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// FormatError is returned for a bundle of another format.
type FormatError struct{ Format string }

// Error names the formats and the version of pexctl.
func (e *FormatError) Error() string {
	return fmt.Sprintf("the bundle of the program has format %q, and pexctl %s reads only format %q: start a worker with the version of pexctl that starts the runs", e.Format, version.String(), format)
}

// BuildError is returned for a bundle that this version of pexctl compiles to another program than
// the version that packed it.
type BuildError struct {
	Name   string // of the program
	Packed string // version of pexctl that packed it
	Own    string // version of this pexctl
	Err    error  // the difference
}

// Error names both versions.
func (e *BuildError) Error() string {
	return fmt.Sprintf("the program %s was compiled by pexctl %s, and pexctl %s makes another one of it (%v): start workers with the version that starts the runs", e.Name, e.Packed, e.Own, e.Err)
}

// Unwrap returns the difference.
func (e *BuildError) Unwrap() error { return e.Err }
