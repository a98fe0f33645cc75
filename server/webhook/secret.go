package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Secrets are the keys that sign the messages of a hook. While a receiver changes its key,
// there are two, and each message has a signature of both.
type Secrets [][]byte

const (
	secretPrefix = "whsec_"
	minSecret    = 24 // bytes, as in the specification
	maxSecret    = 64
)

// ParseSecrets parses one or more secrets, separated by spaces. The error does not contain
// them.
func ParseSecrets(s string) (Secrets, error) {
	var out Secrets
	words := strings.Fields(s)
	for i, word := range words {
		which := ""
		if len(words) > 1 {
			which = fmt.Sprintf("secret %d: ", i+1)
		}
		encoded, ok := strings.CutPrefix(word, secretPrefix)
		if !ok {
			return nil, fmt.Errorf("%sa secret must start with %s", which, secretPrefix)
		}
		key, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return nil, fmt.Errorf("%swhat follows %s must be base64", which, secretPrefix)
		}
		if len(key) < minSecret || len(key) > maxSecret {
			return nil, fmt.Errorf("%sthe secret has %d bytes; it must have %d to %d", which, len(key), minSecret, maxSecret)
		}
		out = append(out, key)
	}
	if len(out) == 0 {
		return nil, errors.New("there is no secret")
	}
	return out, nil
}

// sign returns the value of the header webhook-signature.
func (s Secrets) sign(id string, at time.Time, body []byte) string {
	var out []string
	for _, key := range s {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + strconv.FormatInt(at.Unix(), 10) + "."))
		mac.Write(body)
		out = append(out, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	}
	return strings.Join(out, " ")
}
