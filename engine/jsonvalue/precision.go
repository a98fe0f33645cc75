package jsonvalue

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// PrecisionError reports an integer that would lose digits: Plain supports 64 bits.
type PrecisionError struct{ Number string }

// Error implements error.
func (e *PrecisionError) Error() string {
	return fmt.Sprintf("the integer %s does not fit in 64 bits and would be rounded", e.Number)
}

// CheckPrecision returns a *PrecisionError if Plain would round an integer in b. Numbers
// with a fraction or exponent are not integers.
func CheckPrecision(b []byte) error {
	const short = 18 // numbers with fewer digits always fit
	digits := 0
	for _, c := range b {
		if digits++; c < '0' || c > '9' {
			digits = 0
		}
		if digits > short {
			return checkPrecision(Decode(b))
		}
	}
	return nil
}

func checkPrecision(v any) (err error) {
	switch v := v.(type) {
	case json.Number:
		if _, no := v.Int64(); no != nil && !strings.ContainsAny(v.String(), ".eE") {
			return &PrecisionError{v.String()}
		}
	case []any:
		for i := 0; i < len(v) && err == nil; i++ {
			err = checkPrecision(v[i])
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if err == nil {
				err = checkPrecision(v[k])
			}
		}
	}
	return err
}
