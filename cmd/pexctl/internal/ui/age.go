package ui

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseAge parses a Go duration, or days: 30d.
func ParseAge(s string) (time.Duration, error) {
	var age time.Duration
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err != nil || math.IsNaN(n) || n*24 > math.MaxInt64/float64(time.Hour) {
			return 0, errors.New("not a number of days")
		}
		age = time.Duration(n * 24 * float64(time.Hour))
	} else {
		var err error
		if age, err = time.ParseDuration(s); err != nil {
			return 0, err
		}
	}
	if age < 0 {
		return 0, errors.New("must not be negative")
	}
	return age, nil
}
