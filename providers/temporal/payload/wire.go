package payload

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/pexctl/pex/engine/blob"
)

// The metadata of an encoded payload. Its data is the body, or with metaStorage a blob.Ref as JSON:
//
//	body   = payload of the value as a protobuf message, compressed, then sealed
//	sealed = salt (16 bytes), nonce (12 bytes), ciphertext, tag (16 bytes); see seal.go
const (
	metaEncoding    = converter.MetadataEncoding
	metaVersion     = "pex-version"     // "1"
	metaCompression = "pex-compression" // "zstd"; absent = none
	metaKey         = "pex-key"         // name of the key; absent = not encrypted
	metaKeyCheck    = "pex-key-check"   // tells different keys of one name apart
	metaStorage     = "pex-storage"     // "blob"; absent = the data is the body
	metaRefused     = "pex-refused"     // in memory only: why the payload that was here was not decoded

	encoding = "binary/pex"
	version  = "1"
	zstdName = "zstd"
	inBlob   = "blob"
)

// header is the metadata of an encoded payload.
type header struct {
	compression string
	key, check  string
	storage     string
}

func isEncoded(p *commonpb.Payload) bool { return string(p.GetMetadata()[metaEncoding]) == encoding }

// payload returns an encoded payload.
func (h header) payload(data []byte) *commonpb.Payload {
	m := map[string][]byte{metaEncoding: []byte(encoding), metaVersion: []byte(version)}
	for name, value := range map[string]string{metaCompression: h.compression, metaKey: h.key, metaKeyCheck: h.check, metaStorage: h.storage} {
		if value != "" {
			m[name] = []byte(value)
		}
	}
	return &commonpb.Payload{Metadata: m, Data: data}
}

// parseHeader returns the header of an encoded payload.
func parseHeader(p *commonpb.Payload) (header, error) {
	text := func(name string) string { return string(p.Metadata[name]) }
	if text(metaRefused) != "" {
		return header{}, notEncrypted()
	}
	h := header{text(metaCompression), text(metaKey), text(metaKeyCheck), text(metaStorage)}
	switch {
	case text(metaVersion) != version:
		return h, wrong(Version, "decode", "it has version %.20q of the encoding; use the version of pexctl that wrote it, or a later one", text(metaVersion))
	case h.compression != "" && h.compression != zstdName, h.storage != "" && h.storage != inBlob:
		return h, wrong(Version, "decode", "it has compression %.20q and storage %.20q, which this version of the encoding lacks; use the version of pexctl that wrote it, or a later one", h.compression, h.storage)
	case h.key != "" && !isKeyID(h.key), (h.key == "") != (h.check == ""):
		return h, wrong(Damaged, "decode", "its metadata has an invalid key name")
	}
	return h, nil
}

// associated is what encryption authenticates besides the body. Not the storage: a sealed body may move.
func (h header) associated() []byte {
	return []byte(strings.Join([]string{encoding, version, h.compression, h.key, h.check}, "\n"))
}

func parseRef(data []byte) (blob.Ref, error) {
	var ref blob.Ref
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if len(data) > 1024 || d.Decode(&ref) != nil || !ref.Valid() || d.More() {
		return blob.Ref{}, wrong(Damaged, "decode", "its reference to a blob is not valid")
	}
	return ref, nil
}

// marshal returns a payload as a protobuf message, which is always the same for the same payload: the library's order
// of metadata is random.
func marshal(p *commonpb.Payload) []byte {
	const metadata, data = 1<<3 | 2, 2<<3 | 2 // number and wire type of the fields
	field := func(to []byte, tag uint64, value []byte) []byte {
		to = binary.AppendUvarint(to, tag)
		to = binary.AppendUvarint(to, uint64(len(value)))
		return append(to, value...)
	}
	out := make([]byte, 0, len(p.GetData())+256)
	for _, name := range slices.Sorted(maps.Keys(p.GetMetadata())) {
		entry := field(nil, 1<<3|2, []byte(name))
		out = field(out, metadata, field(entry, 2<<3|2, p.Metadata[name]))
	}
	if len(p.GetData()) > 0 {
		out = field(out, data, p.Data)
	}
	return out
}

// unmarshal is the reverse of marshal.
func unmarshal(body []byte) (*commonpb.Payload, error) {
	p := &commonpb.Payload{}
	if err := p.Unmarshal(body); err != nil {
		return nil, wrong(Damaged, "decode", "its content is not a payload")
	}
	return p, nil
}
