package engine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/pexctl/pex/engine/text"
)

// Limits of labels.
const (
	maxLabels     = 32
	maxLabelValue = 200 // bytes
)

// labelKey matches the key of a label.
var labelKey = text.Regexp(`^[A-Za-z0-9][A-Za-z0-9_./-]{0,62}$`)

// LabelError reports a label that a run cannot have.
type LabelError struct {
	Key     string // "" = there are too many
	Message string
}

// Error returns the message.
func (e *LabelError) Error() string { return e.Message }

// CheckLabels returns a *LabelError for the first label, by key, that a run cannot have.
func CheckLabels(labels map[string]string) error {
	if len(labels) > maxLabels {
		return &LabelError{"", fmt.Sprintf("%d labels; the maximum is %d", len(labels), maxLabels)}
	}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		switch value := labels[key]; {
		case !labelKey().MatchString(key):
			return &LabelError{key, fmt.Sprintf("invalid label key %q; use up to 63 letters, digits, '_', '.', '/' and '-', beginning with a letter or digit", key)}
		case len(value) > maxLabelValue:
			return &LabelError{key, fmt.Sprintf("label %s has %d bytes; the maximum is %d", key, len(value), maxLabelValue)}
		case strings.ContainsFunc(value, unicode.IsControl):
			return &LabelError{key, fmt.Sprintf("label %s has a control character", key)}
		}
	}
	return nil
}

// ParseLabels parses labels of the form KEY=VALUE. Without labels it returns nil.
func ParseLabels(all []string) (map[string]string, error) {
	var out map[string]string
	for _, s := range all {
		key, value, ok := strings.Cut(s, "=")
		if !ok {
			return nil, fmt.Errorf("invalid label %q; use KEY=VALUE", s)
		}
		if _, exists := out[key]; exists {
			return nil, fmt.Errorf("duplicate label %q", key)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[key] = value
	}
	if err := CheckLabels(out); err != nil {
		return nil, err
	}
	return out, nil
}

// FormatLabels formats labels on one line, sorted by key: env=prod, team=shop.
func FormatLabels(labels map[string]string) string {
	out := make([]string, 0, len(labels))
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		out = append(out, key+"="+labels[key])
	}
	return strings.Join(out, ", ")
}
