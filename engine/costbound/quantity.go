package costbound

import "encoding/json"

// Quantity is an upper bound. If there is none, Unbounded is the reason and Most is 0.
type Quantity[T int | float64] struct {
	Most      T      `json:"most"`
	Unbounded string `json:"unbounded,omitempty"`
}

// MarshalJSON encodes {"most": 20} or {"unbounded": "..."}.
func (f Quantity[T]) MarshalJSON() ([]byte, error) {
	if f.Known() {
		return json.Marshal(map[string]T{"most": f.Most})
	}
	return json.Marshal(map[string]string{"unbounded": f.Unbounded})
}

// Count is calls, attempts or tokens.
type Count = Quantity[int]

// Money is USD.
type Money = Quantity[float64]

// maxCount is the largest count distinguished; no run comes near it.
const maxCount = 1 << 52

// Known reports whether there is a bound.
func (f Quantity[T]) Known() bool { return f.Unbounded == "" }

// Exceeds reports whether a bound exceeds most, or is unknown.
func (f Quantity[T]) Exceeds(most T) bool { return !f.Known() || f.Most > most }

func most[T int | float64](n T) Quantity[T] {
	if float64(n) > maxCount {
		return unbounded[T]("the number is too large to count")
	}
	return Quantity[T]{Most: n}
}

func unbounded[T int | float64](why string) Quantity[T] { return Quantity[T]{Unbounded: why} }

// plus keeps the first reason.
func (f Quantity[T]) plus(o Quantity[T]) Quantity[T] {
	switch {
	case !f.Known():
		return f
	case !o.Known():
		return o
	}
	return most(f.Most + o.Most)
}

// times returns 0 if either is 0, and keeps its own reason.
func (f Quantity[T]) times(n Count) Quantity[T] {
	switch {
	case f.Known() && f.Most == 0, n.Known() && n.Most == 0:
		return Quantity[T]{}
	case !f.Known():
		return f
	case !n.Known():
		return unbounded[T](n.Unbounded)
	case float64(f.Most)*float64(n.Most) > maxCount:
		return most(T(maxCount) * 2)
	}
	return most(f.Most * T(n.Most))
}

// or returns the higher of two.
func (f Quantity[T]) or(o Quantity[T]) Quantity[T] {
	if !f.Known() || o.Known() && o.Most <= f.Most {
		return f
	}
	return o
}

// minus returns what is left of a bound, at least 0.
func (f Quantity[T]) minus(n T) Quantity[T] {
	if f.Known() {
		f.Most = max(f.Most-n, 0)
	}
	return f
}

// within returns the quantity under a limit; 0 = no limit.
func (f Quantity[T]) within(limit T) Quantity[T] {
	if limit > 0 && f.Exceeds(limit) {
		return Quantity[T]{Most: limit}
	}
	return f
}

// capAt returns the quantity, at most to.
func (f Quantity[T]) capAt(to T) Quantity[T] {
	if f.Exceeds(to) {
		return Quantity[T]{Most: to}
	}
	return f
}
