package jsonvalue

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// PrecisionError says that a whole number would lose digits: the values of a run
// hold such of 64 bits, as Plain makes them.
type PrecisionError struct{ Number string }

// Error implements error.
func (e *PrecisionError) Error() string {
	return fmt.Sprintf("the integer %s does not fit 64 bits and would be rounded", e.Number)
}

// CheckPrecision is a *PrecisionError where Plain would round a whole number in JSON,
// else nil. What is written with a fraction or an exponent is no whole number.
func CheckPrecision(b []byte) error {
	const short = 18 // digits fit whatever they are
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
