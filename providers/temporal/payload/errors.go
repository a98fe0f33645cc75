package payload

import (
	"errors"
	"fmt"

	"go.temporal.io/sdk/temporal"

	"github.com/pexctl/pex/engine/blob"
)

// Kind says why a payload could not be encoded or decoded.
type Kind string

// The kinds of an Error. Those of the blob store are blobKind + a blob.Kind, such as "blob_missing".
const (
	UnknownKey   Kind = "unknown_key"         // it is encrypted with a key that the process does not have
	WrongKey     Kind = "wrong_key"           // the process has another key of this name
	NotEncrypted Kind = "not_encrypted"       // the process has keys, and the payload was not encrypted
	Damaged      Kind = "damaged"             // it was changed, or is not what the metadata says
	Version      Kind = "unsupported_version" // a later version of pexctl encoded it
	TooLarge     Kind = "too_large"           // it is larger than MaxSize
	NoStore      Kind = "no_blob_store"       // it is in a blob store, or must be, and none is configured

	blobKind = "blob_"
)

// BlobKind returns the kind of an Error that a blob store caused.
func BlobKind(k blob.Kind) Kind { return blobKind + Kind(k) }

// Error is a payload that could not be encoded or decoded. Its text has neither content nor keys, and is never encrypted
// when it is the cause of a failure, so nothing confidential may be added when it is wrapped.
type Error struct {
	Kind  Kind
	Doing string // "encode" or "decode"
	Text  string // what is wrong and what to do
	Err   error  // the cause, if Text does not contain it; may be nil
}

// Error says what is wrong, and what to do.
func (e *Error) Error() string {
	text := e.Doing + " payload: " + e.Text
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Temporary reports whether the same operation may succeed later, although nothing is changed.
func (e *Error) Temporary() bool { return e.Kind == BlobKind(blob.Unreachable) }

// KindOf returns the kind of an error of a Codec, or "".
func KindOf(err error) Kind {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind
	}
	return ""
}

// FailureType starts the types of the failures that Failure returns.
const FailureType = "pex.payload."

// Failure returns an *Error in the chain of err as a failure of an activity or workflow that Temporal does not retry. Its
// type is FailureType followed by the kind. Other errors are returned unchanged.
func Failure(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	return temporal.NewNonRetryableApplicationError(e.Error(), FailureType+string(e.Kind), e)
}

func wrong(k Kind, doing, format string, args ...any) error {
	return &Error{Kind: k, Doing: doing, Text: fmt.Sprintf(format, args...)}
}

// fromStore returns an error of a blob store as one of a Codec.
func fromStore(doing string, err error) error {
	kind := blob.KindOf(err)
	if kind == "" {
		return fmt.Errorf("%s payload: %w", doing, err) // the context ended
	}
	return &Error{BlobKind(kind), doing, "the blob store failed", err}
}
