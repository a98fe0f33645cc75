package blob

import (
	"errors"
	"fmt"
)

// Kind says why an operation of a Store failed.
type Kind string

// The kinds of an Error. Only Unreachable is temporary.
const (
	Missing     Kind = "missing"     // the store does not have the blob
	Damaged     Kind = "damaged"     // the content is not that of the Ref
	Denied      Kind = "denied"      // the store refused the access
	Full        Kind = "full"        // the store has no space left
	TooLarge    Kind = "too_large"   // the content is larger than MaxSize, or than the store accepts
	Unsupported Kind = "unsupported" // another version of pexctl wrote the store
	Unreachable Kind = "unreachable" // the store did not answer, or had an internal error
)

// remedies say what to do about an Error.
var remedies = map[Kind]string{
	Missing:     "it was deleted, or stored in another blob store; configure the same store for all processes, and restore the blob from a backup if it was deleted",
	Damaged:     "its content was changed; restore it from a backup",
	Denied:      "the store denies access; check the credentials and permissions",
	Full:        "the store is full; free some space",
	TooLarge:    "it is too large for the store",
	Unsupported: "the store has another format",
	Unreachable: "the store is not available",
}

// Error is a failed operation of a Store. Its text has no content and no credentials.
type Error struct {
	Kind  Kind
	Doing string // what was attempted: "read", "store" or "delete"
	Ref   Ref    // the zero Ref = no certain blob
	Store string // where the store is, without credentials
	Err   error  // the cause; may be nil
}

// Error says what failed, and what to do.
func (e *Error) Error() string {
	what := "blobs"
	if e.Ref != (Ref{}) {
		what = "blob " + e.Ref.String()
	}
	text := fmt.Sprintf("%s %s (%s): %s", e.Doing, what, e.Store, remedies[e.Kind])
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of an error of a Store, or "".
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// Verify returns an *Error unless a content is that of ref. store says where it was read.
func Verify(ref Ref, content []byte, store string) error {
	if found := Of(content); found != ref {
		return &Error{Damaged, "read", ref, store, fmt.Errorf("the content is that of %s", found)}
	}
	return nil
}

// CheckGet returns an *Error if a Ref cannot refer to a blob of a store.
func CheckGet(ref Ref, store string) error {
	if !ref.Valid() {
		return &Error{Missing, "read", ref, store, errors.New("the reference is not valid")}
	}
	return nil
}

// CheckPut returns an *Error if a content is too large for a blob.
func CheckPut(ref Ref, store string) error {
	if ref.Size > MaxSize {
		return &Error{TooLarge, "store", ref, store, fmt.Errorf("the maximum is %d bytes", MaxSize)}
	}
	return nil
}
