package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// RoundedError says that a whole number would lose digits: the values of a run
// hold such of 64 bits, as PlainJSON makes them.
type RoundedError struct{ Number string }

// Error implements error.
func (e *RoundedError) Error() string {
	return fmt.Sprintf("the whole number %s is beyond 64 bits and would be rounded", e.Number)
}

// Held is a *RoundedError where PlainJSON would round a whole number in JSON,
// else nil. What is written with a fraction or an exponent is no whole number.
func Held(b []byte) error {
	const short = 18 // digits fit whatever they are
	digits := 0
	for _, c := range b {
		if digits++; c < '0' || c > '9' {
			digits = 0
		}
		if digits > short {
			return held(decoded(b))
		}
	}
	return nil
}

func held(v any) (err error) {
	switch v := v.(type) {
	case json.Number:
		if _, no := v.Int64(); no != nil && !strings.ContainsAny(v.String(), ".eE") {
			return &RoundedError{v.String()}
		}
	case []any:
		for i := 0; i < len(v) && err == nil; i++ {
			err = held(v[i])
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err == nil {
				err = held(v[k])
			}
		}
	}
	return err
}
