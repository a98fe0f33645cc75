// Package payload is the form in which values of pex travel through Temporal and are stored in its histories.
//
//	value -> Values (bytes, JSON) -> Payload -> Codec.Encode: zstd -> AES-256-GCM -> blob -> server
//	value <- Values               <- Payload <- Codec.Decode: blob -> AES-256-GCM -> zstd <- server
//
// Payloads above Threshold are compressed, and what is still large moves to a blob store. With a Ring of keys, every
// payload is encrypted, whatever its size. The form is persistent: wire.go describes it, and decodes every version.
//
// Configure installs the codec where requests leave the process. The data converter of a workflow would encode the
// arguments of its activities again whenever the workflow is replayed, and would wait for the blob store in workflow
// code. A payload that cannot be decoded remains encoded until a workflow or activity reads it, so that the error, an
// *Error, belongs to that workflow or activity and not to the connection; see unreadable.go.
//
// The package does not know what the payloads mean.
package payload
