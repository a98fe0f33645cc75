package payload

import (
	"bytes"
	"encoding/json"
	"fmt"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
)

// Values returns the conversion of values to payloads: []byte unchanged, json.RawMessage unchanged, everything else as
// JSON without escaped HTML characters. What must be equal byte for byte is passed as []byte, because JSON replaces
// invalid UTF-8 in strings.
func Values() converter.DataConverter {
	return converter.NewCompositeDataConverter(converter.NewNilPayloadConverter(), converter.NewByteSlicePayloadConverter(), jsonValues{})
}

// Converter returns a DataConverter behind the interceptor of Configure: it encodes nothing, and returns the error of a
// payload that could not be decoded when it was received.
func (c *Codec) Converter() converter.DataConverter {
	return converter.NewCodecDataConverter(Values(), remaining{c})
}

// jsonValues converts values to JSON.
type jsonValues struct{}

var _ converter.PayloadConverter = jsonValues{}

// ToPayload implements converter.PayloadConverter.
func (jsonValues) ToPayload(value any) (*commonpb.Payload, error) {
	var data []byte
	if raw, ok := value.(json.RawMessage); ok && raw != nil {
		if !json.Valid(raw) {
			return nil, fmt.Errorf("%w: the raw message is not valid JSON", converter.ErrUnableToEncode)
		}
		data = bytes.Clone(raw)
	} else {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(value); err != nil {
			return nil, fmt.Errorf("%w: %w", converter.ErrUnableToEncode, err)
		}
		data = bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	}
	return &commonpb.Payload{Metadata: map[string][]byte{metaEncoding: []byte(converter.MetadataEncodingJSON)}, Data: data}, nil
}

// FromPayload implements converter.PayloadConverter.
func (jsonValues) FromPayload(p *commonpb.Payload, to any) error {
	if raw, ok := to.(*json.RawMessage); ok {
		*raw = bytes.Clone(p.GetData())
		return nil
	}
	if err := json.Unmarshal(p.GetData(), to); err != nil {
		return fmt.Errorf("%w: %w", converter.ErrUnableToDecode, err)
	}
	return nil
}

// ToString implements converter.PayloadConverter.
func (jsonValues) ToString(p *commonpb.Payload) string { return string(p.GetData()) }

// Encoding implements converter.PayloadConverter.
func (jsonValues) Encoding() string { return converter.MetadataEncodingJSON }

// remaining decodes the payloads that the interceptor could not decode, to return the error, and encodes nothing.
type remaining struct{ codec *Codec }

// Encode implements converter.PayloadCodec.
func (remaining) Encode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	for _, p := range payloads {
		if size := len(p.GetData()); size > MaxSize {
			return nil, wrong(TooLarge, "encode", "it has %d bytes; the maximum is %d", size, MaxSize)
		}
	}
	return payloads, nil
}

// Decode implements converter.PayloadCodec.
func (r remaining) Decode(payloads []*commonpb.Payload) ([]*commonpb.Payload, error) {
	out := make([]*commonpb.Payload, len(payloads))
	for i, p := range payloads {
		out[i] = p
		if !isEncoded(p) {
			continue
		}
		decoded, err := r.codec.Decode([]*commonpb.Payload{p})
		if err != nil {
			return nil, err
		}
		out[i] = decoded[0]
	}
	return out, nil
}
