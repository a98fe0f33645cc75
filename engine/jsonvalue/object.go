package jsonvalue

import "strconv"

// Object appends a JSON object member by member, as encoding/json writes a struct but
// without reflection. Keys must need no escaping.
type Object struct {
	b     []byte
	empty bool
}

// NewObject starts an object at the end of b.
func NewObject(b []byte) Object { return Object{append(b, '{'), true} }

// Key appends a key; its value must follow through Value.
func (o *Object) Key(k string) {
	if !o.empty {
		o.b = append(o.b, ',')
	}
	o.empty = false
	o.b = append(append(append(o.b, '"'), k...), '"', ':')
}

// Value passes the bytes written so far to f, which appends the value of the last key.
func (o *Object) Value(f func(b []byte) []byte) { o.b = f(o.b) }

// String appends a string.
func (o *Object) String(k, v string) {
	o.Key(k)
	o.b = AppendString(o.b, v)
}

// Text appends a string unless it is empty.
func (o *Object) Text(k, v string) {
	if v != "" {
		o.String(k, v)
	}
}

// Int appends a number.
func (o *Object) Int(k string, v int64) {
	o.Key(k)
	o.b = strconv.AppendInt(o.b, v, 10)
}

// Count appends a number unless it is 0.
func (o *Object) Count(k string, v int64) {
	if v != 0 {
		o.Int(k, v)
	}
}

// True appends true, or nothing.
func (o *Object) True(k string, v bool) {
	if v {
		o.Key(k)
		o.b = append(o.b, "true"...)
	}
}

// Raw appends JSON unless it is empty.
func (o *Object) Raw(k string, raw []byte) {
	if len(raw) > 0 {
		o.Key(k)
		o.b = append(o.b, raw...)
	}
}

// End completes the object and returns all bytes.
func (o *Object) End() []byte { return append(o.b, '}') }
