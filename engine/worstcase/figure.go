package worstcase

import "encoding/json"

// Figure is the most of something. Unbounded says why there is no most; then
// Most is 0, and is left out in JSON.
type Figure[T int | float64] struct {
	Most      T      `json:"most"`
	Unbounded string `json:"unbounded,omitempty"`
}

// MarshalJSON writes {"most": 20} or {"unbounded": "..."}: who looks for the
// number finds none where there is none.
func (f Figure[T]) MarshalJSON() ([]byte, error) {
	if f.Known() {
		return json.Marshal(map[string]T{"most": f.Most})
	}
	return json.Marshal(map[string]string{"unbounded": f.Unbounded})
}

// Count is calls, attempts or tokens.
type Count = Figure[int]

// Money is USD.
type Money = Figure[float64]

// countless is where counts are no longer told apart: no run comes near it.
const countless = 1 << 52

// Known says that there is a bound.
func (f Figure[T]) Known() bool { return f.Unbounded == "" }

// Exceeds says that a bound is higher than an allowance, or is not known.
func (f Figure[T]) Exceeds(most T) bool { return !f.Known() || f.Most > most }

func most[T int | float64](n T) Figure[T] {
	if float64(n) > countless {
		return never[T]("the number is too large to count")
	}
	return Figure[T]{Most: n}
}

func never[T int | float64](why string) Figure[T] { return Figure[T]{Unbounded: why} }

// plus keeps the first reason.
func (f Figure[T]) plus(o Figure[T]) Figure[T] {
	switch {
	case !f.Known():
		return f
	case !o.Known():
		return o
	}
	return most(f.Most + o.Most)
}

// times is nothing where either is nothing, and keeps its own reason.
func (f Figure[T]) times(n Count) Figure[T] {
	switch {
	case f.Known() && f.Most == 0, n.Known() && n.Most == 0:
		return Figure[T]{}
	case !f.Known():
		return f
	case !n.Known():
		return never[T](n.Unbounded)
	case float64(f.Most)*float64(n.Most) > countless:
		return most(T(countless) * 2)
	}
	return most(f.Most * T(n.Most))
}

// or is the higher of two.
func (f Figure[T]) or(o Figure[T]) Figure[T] {
	if !f.Known() || o.Known() && o.Most <= f.Most {
		return f
	}
	return o
}

// within is the figure under a limit; 0 is none.
func (f Figure[T]) within(limit T) Figure[T] {
	if limit > 0 && f.Exceeds(limit) {
		return Figure[T]{Most: limit}
	}
	return f
}

// cut is the figure where something else is known to be the most.
func (f Figure[T]) cut(to T) Figure[T] {
	if f.Exceeds(to) {
		return Figure[T]{Most: to}
	}
	return f
}
